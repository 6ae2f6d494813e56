#include "io/map_file.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "core/json_text.hpp"
#include "core/nearest_name.hpp"
#include "io/text_file.hpp"
#include "io/toml.hpp"

namespace holdfast::io {
namespace {

constexpr std::string_view kReadMapOperation = "read map";
constexpr std::size_t kMostBytes = 4 << 20;
constexpr std::size_t kMostName = 255;  // bytes of a name, at any broker of AMQP

constexpr std::array<std::string_view, 1> kFileKeys = {"map"};
constexpr std::array<std::string_view, 2> kRowKeys = {"exchange", "routing_key"};

using Trouble = std::optional<Error>;

class MapReader {
 public:
  MapReader(std::string_view file, const std::string& exchange)
      : file_(file), exchange_(exchange) {}

  Result<TypeMap> read(const toml::table& document) {
    for (const auto& [key, value] : document) {
      if (key == "map") continue;
      return std::unexpected(error(key.source(), fmt::format("unknown key {}{}", quoted(key.str()),
                                                             did_you_mean(key.str(), kFileKeys))));
    }
    const toml::node* node = document.get("map");
    const toml::table* rows = node ? node->as_table() : nullptr;
    if (!rows) {
      const toml::source_region where = node ? node->source() : document.source();
      return std::unexpected(error(where,
                                   "there is no table [map]: types stand below it, each "
                                   "with its routing key"));
    }
    TypeMap map;
    for (const auto& [type, value] : *rows) {
      ports::Address address{.exchange = exchange_};
      if (Trouble trouble = read_row(value, address)) return std::unexpected(*std::move(trouble));
      if (type.str().empty()) return std::unexpected(error(type.source(), "a type has a name"));
      map.emplace(type.str(), std::move(address));
    }
    if (map.empty()) return std::unexpected(error(rows->source(), "the map is empty"));
    return map;
  }

  [[nodiscard]] Error error(const toml::source_region& where, std::string_view what) const {
    return {ErrorCode::invalid_argument, std::string(kReadMapOperation),
            fmt::format("{}:{}:{}: {}", file_, where.begin.line, where.begin.column, what)};
  }

 private:
  Trouble read_row(const toml::node& value, ports::Address& into) const {
    if (value.is_string()) return read_name(value, into.routing_key, false);
    const toml::table* row = value.as_table();
    if (!row) {
      return error(value.source(),
                   R"(this must be a routing key, or { exchange = "…", routing_key = "…" })");
    }
    for (const auto& [key, inner] : *row) {
      Trouble trouble;
      if (key == "exchange") {
        trouble = read_name(inner, into.exchange, true);
      } else if (key == "routing_key") {
        trouble = read_name(inner, into.routing_key, true);
      } else {
        trouble = error(key.source(), fmt::format("unknown key {}{}", quoted(key.str()),
                                                  did_you_mean(key.str(), kRowKeys)));
      }
      if (trouble) return trouble;
    }
    if (!row->contains("routing_key")) return error(row->source(), "there is no routing_key");
    if (into.exchange.empty() && into.routing_key.empty()) {
      return error(row->source(), "without an exchange the routing key names a queue");
    }
    return std::nullopt;
  }

  Trouble read_name(const toml::node& value, std::string& into, bool may_be_empty) const {
    const auto* text = value.as_string();
    if (!text) return error(value.source(), "this must be text, in quotes");
    if (text->get().empty() && !may_be_empty && exchange_.empty()) {
      return error(value.source(), "this must not be empty");
    }
    if (text->get().size() > kMostName) {
      return error(value.source(),
                   fmt::format("brokers take names of at most {} bytes", kMostName));
    }
    into = text->get();
    return std::nullopt;
  }

  std::string file_;
  const std::string& exchange_;
};

}  // namespace

Result<TypeMap> parse_type_map(std::string_view text, std::string_view name,
                               const std::string& exchange) {
  MapReader reader(name, exchange);
  const toml::parse_result parsed = toml::parse(text, name);
  if (!parsed) {
    return std::unexpected(reader.error(parsed.error().source(), parsed.error().description()));
  }
  return reader.read(parsed.table());
}

Result<TypeMap> load_type_map(const std::string& path, const std::string& exchange) {
  const auto text = io::read_text_file(path, kReadMapOperation, kMostBytes);
  if (!text) return std::unexpected(text.error());
  return parse_type_map(*text, path, exchange);
}

}  // namespace holdfast::io
