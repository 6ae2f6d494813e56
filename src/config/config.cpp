#include "config/config.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "config/checks.hpp"
#include "config/document.hpp"
#include "config/keys.hpp"
#include "config/plain_values.hpp"
#include "config/read_table.hpp"
#include "core/json_text.hpp"

namespace holdfast::config {

std::string home_of(std::string_view key) {
  for (const TableInfo& table : tables()) {
    for (const KeyInfo& info : table.keys) {
      if (info.name == key) return fmt::format("it belongs into [{}]", table.name);
    }
  }
  return {};
}

namespace {

constexpr std::size_t kMostBytes = 4 << 20;

// The tables of the file, one after the other, into a Config.
class Reader {
 public:
  explicit Reader(Reading& reading) : reading_(reading) {}

  Config read(const Value::Table& document) {
    for (const Member& member : document)
      read_top(member);
    return std::move(config_);
  }

 private:
  void read_top(const Member& member);
  template <class S>
  void read_section(const Section<S>& section, const Member& member, S& into);
  template <class S>
  void read_section(const Section<S>& section, const Member& member,
                    std::map<std::string, S>& into);
  template <class S>
  void read_named(const Section<S>& section, const Member& member, std::map<std::string, S>& into);

  Reading& reading_;
  Config config_;
};

void Reader::read_top(const Member& member) {
  bool known = false;
  std::vector<std::string_view> names;
  each_section([&]<class S>(const Section<S>& section, auto place) {
    names.push_back(section.name);
    if (section.name != member.key) return;
    known = true;
    read_section(section, member, config_.*place);
  });
  if (known) return;
  const bool is_table = member.value.as<Value::Table>() != nullptr;
  std::string suggestion = suggest(member.key, names);
  const std::string home = is_table ? "" : home_of(member.key);
  if (!home.empty()) suggestion = home;
  reading_.wrong(
      member.place, "",
      fmt::format("unknown {} {}", is_table ? "table" : "key", holdfast::quoted(member.key)),
      std::move(suggestion));
}

template <class S>
void Reader::read_section(const Section<S>& section, const Member& member, S& into) {
  if (member.value.as<Value::Table>() != nullptr) {
    return read_table(reading_, section, std::string(section.name), member.value, into);
  }
  reading_.wrong(member.place, member.key, "this is a table that is there once",
                 fmt::format("write [{}]", section.name));
}

template <class S>
void Reader::read_section(const Section<S>& section, const Member& member,
                          std::map<std::string, S>& into) {
  const auto* tables = member.value.as<Value::Table>();
  if (tables == nullptr) {
    return reading_.wrong(member.place, member.key, "this is a table for each name",
                          fmt::format("write [{}.{}]", section.name, section.placeholder));
  }
  for (const Member& named : *tables)
    read_named(section, named, into);
}

template <class S>
void Reader::read_named(const Section<S>& section, const Member& member,
                        std::map<std::string, S>& into) {
  const std::string path = join_key(section.name, member.key);
  if (member.value.as<Value::Table>() == nullptr) {
    return reading_.wrong(
        member.place, std::string(section.name),
        fmt::format("{} stands in a table without a name", holdfast::quoted(member.key)),
        fmt::format("write [{}.{}]", section.name, section.placeholder));
  }
  if (member.key.empty() || !is_visible(member.key)) {
    return reading_.wrong(member.place, path,
                          "a name has at least one letter, and no control characters");
  }
  // [task.scan.file] without quotes: TOML reads a table `file` within a table `scan`.
  const auto& inner = *member.value.as<Value::Table>();
  const bool dotted = !inner.empty() && std::ranges::all_of(inner, [&](const Member& key) {
    return key.value.as<Value::Table>() != nullptr &&
           std::ranges::none_of(section.rows, [&](const Row<S>& row) {
             return row.info.name.substr(0, row.info.name.find('.')) == key.key;
           });
  });
  if (!dotted) return read_table(reading_, section, path, member.value, into[member.key]);
  for (const Member& key : inner) {
    reading_.wrong(key.place, path, fmt::format("unknown key {}", holdfast::quoted(key.key)),
                   fmt::format("a name with a dot stands in quotes: [{}]",
                               join_key(section.name, member.key + "." + key.key)));
  }
}

std::expected<Config, Problems> check_in(std::string_view text, const std::string& file,
                                         std::string folder, Outside& outside) {
  const auto document = parse_document(text, file);
  if (!document) return std::unexpected(Problems{document.error()});
  Reading reading{.file = file, .folder = std::move(folder), .outside = outside};
  Config config = Reader(reading).read(*document);
  complete(reading, config);
  if (reading.problems.empty()) return config;
  std::ranges::sort(reading.problems, {}, [](const Problem& problem) {
    return std::pair(problem.place, std::string_view(problem.message));
  });
  return std::unexpected(std::move(reading.problems));
}

Result<Config> or_error(std::expected<Config, Problems> checked) {
  if (checked) return *std::move(checked);
  return std::unexpected(to_error(checked.error()));
}

}  // namespace

std::expected<Config, Problems> check(std::string_view text, const std::string& file,
                                      Outside& outside) {
  return check_in(text, file, std::filesystem::path(file).parent_path().string(), outside);
}

Result<Config> parse(std::string_view text, const std::string& file) {
  return or_error(check(text, file, system_outside()));
}

Result<Config> read(const std::string& path) {
  auto text = read_file(path, kMostBytes);
  if (!text) {
    text.error().operation = "read configuration";
    return std::unexpected(std::move(text).error());
  }
  // Absolute, so that a program that changes its folder later still finds what is named.
  std::error_code error;
  const auto whole = std::filesystem::absolute(path, error);
  const auto folder = (error ? std::filesystem::path(path) : whole).parent_path();
  return or_error(check_in(*text, path, folder.string(), system_outside()));
}

std::vector<Rule> Task::all_rules() const {
  std::vector<Rule> all = rules.rules;
  for (const std::string& name : presets) {
    auto some = presets::named(name);
    if (some) std::ranges::move(*some, std::back_inserter(all));
  }
  return all;
}

}  // namespace holdfast::config
