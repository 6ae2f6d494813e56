#include "core/text_shapes.hpp"

#include <algorithm>
#include <array>

namespace holdfast::shapes {
namespace {

template <class Accept>
[[nodiscard]] std::size_t run_of(std::string_view text, Accept accept) noexcept {
  const auto end = std::ranges::find_if_not(text, accept);
  return static_cast<std::size_t>(end - text.begin());
}

[[nodiscard]] char at(std::string_view text, std::size_t index) noexcept {
  return index < text.size() ? text[index] : '\0';
}

[[nodiscard]] bool is_one_of(char c, std::string_view set) noexcept {
  return c != '\0' && set.find(c) != set.npos;
}

// Longer ends come first where one is the start of another.
constexpr std::array<std::string_view, 33> kSourceEndings{
    "java", "json", "yaml", "toml", "conf", "scala", "swift", "cpp", "hpp", "mjs", "cjs",
    "tsx",  "jsx",  "php",  "sql",  "xml",  "yml",   "log",   "txt", "exs", "erl", "dll",
    "go",   "py",   "rs",   "js",   "ts",   "cc",    "kt",    "rb",  "cs",  "sh",  "c"};

[[nodiscard]] bool has_source_ending(std::string_view name) noexcept {
  const auto dot = name.rfind('.');
  if (dot == name.npos || dot == 0) return false;
  return std::ranges::find(kSourceEndings, name.substr(dot + 1)) != kSourceEndings.end();
}

// ":42" or ":42:7", as compilers and stack traces write places; 0 if there is none.
[[nodiscard]] std::size_t line_and_column(std::string_view text) noexcept {
  std::size_t length = 0;
  for (int part = 0; part < 2; ++part) {
    if (at(text, length) != ':') break;
    const std::size_t digits = digit_run(text.substr(length + 1));
    if (digits == 0 || !ends_word(text, length + 1 + digits)) break;
    length += 1 + digits;
  }
  return length;
}

[[nodiscard]] bool is_path_char(char c) noexcept {
  return is_alnum(c) || is_one_of(c, "._-/@%+~$&?#=*");
}

// Where a sentence ends with the path, its full stop is not part of it.
[[nodiscard]] std::size_t without_trailing(std::string_view text, std::size_t length,
                                           std::string_view trailing) noexcept {
  while (length > 0 && is_one_of(text[length - 1], trailing))
    --length;
  return length;
}

[[nodiscard]] std::size_t windows_path(std::string_view text) noexcept {
  const bool has_drive =
      is_letter(at(text, 0)) && at(text, 1) == ':' && is_one_of(at(text, 2), "\\/");
  const bool is_share = text.starts_with("\\\\") && is_alnum(at(text, 2));
  if (!has_drive && !is_share) return 0;
  const std::size_t start = has_drive ? 2 : 0;
  const std::size_t run =
      run_of(text.substr(start), [](char c) { return is_path_char(c) || c == '\\'; });
  return without_trailing(text, start + run, ".?*");
}

[[nodiscard]] std::size_t unix_path(std::string_view text) noexcept {
  std::size_t start = 0;
  if (text.starts_with("../")) start = 2;
  if (text.starts_with("./") || text.starts_with("~/")) start = 1;
  if (at(text, start) != '/') return 0;
  if (!is_alnum(at(text, start + 1)) && !is_one_of(at(text, start + 1), "._-~@%+")) return 0;
  return without_trailing(text, run_of(text, is_path_char), ".?*");
}

[[nodiscard]] std::size_t relative_path(std::string_view text) noexcept {
  if (!is_alnum(at(text, 0))) return 0;
  // Without the marks of queries: of caller=src/main.go, the path begins after the "=".
  const auto is_plain = [](char c) { return is_alnum(c) || is_one_of(c, "._-/@+~"); };
  const std::size_t length = without_trailing(text, run_of(text, is_plain), "./");
  const std::string_view name = text.substr(0, length);
  const auto slashes = std::ranges::count(name, '/');
  if (slashes >= 2 || (slashes == 1 && has_source_ending(name))) return length;
  return 0;
}

constexpr std::array<std::string_view, 14> kGluedDurations{
    "nanoseconds", "milliseconds", "seconds", "minutes", "hours", "mins", "secs",
    "min",         "sec",          "hrs",     "ms",      "us",    "ns",   "\u00b5s"};
constexpr std::string_view kGluedDurationLetters = "smhd";
constexpr std::array<std::string_view, 27> kSpacedDurations{
    "nanoseconds", "microseconds", "milliseconds", "millisecond", "millis", "msec", "ms",
    "us",          "\u00b5s",      "ns",           "seconds",     "second", "secs", "sec",
    "s",           "minutes",      "minute",       "mins",        "min",    "m",    "hours",
    "hour",        "hrs",          "hr",           "h",           "days",   "day"};
constexpr std::array<std::string_view, 20> kSizes{"KiB", "MiB", "GiB", "TiB", "Ki", "Mi", "Gi",
                                                  "Ti",  "kB",  "KB",  "MB",  "GB", "TB", "kb",
                                                  "mb",  "B",   "K",   "M",   "G",  "k"};

// The longest of the words that `text` begins with.
template <std::size_t N>
[[nodiscard]] std::size_t longest_of(const std::array<std::string_view, N>& words,
                                     std::string_view text) noexcept {
  std::size_t longest = 0;
  for (const std::string_view word : words) {
    if (text.starts_with(word)) longest = std::max(longest, word.size());
  }
  return longest;
}

[[nodiscard]] std::size_t decimal(std::string_view text) noexcept {
  const std::size_t whole = digit_run(text);
  if (whole == 0 || at(text, whole) != '.') return whole;
  const std::size_t fraction = digit_run(text.substr(whole + 1));
  return fraction == 0 ? whole : whole + 1 + fraction;
}

// How often letters and digits take turns: names hardly do it, ids do it all the time.
[[nodiscard]] int turns(std::string_view run) noexcept {
  int count = 0;
  for (std::size_t i = 1; i < run.size(); ++i)
    count += is_digit(run[i]) != is_digit(run[i - 1]);
  return count;
}

}  // namespace

std::size_t alnum_run(std::string_view text) noexcept {
  return run_of(text, is_alnum);
}

std::size_t digit_run(std::string_view text) noexcept {
  return run_of(text, is_digit);
}

bool ends_word(std::string_view text, std::size_t length) noexcept {
  return !is_alnum(at(text, length));
}

std::size_t uuid(std::string_view text) noexcept {
  constexpr std::size_t kLength = 36;
  if (text.size() < kLength || !ends_word(text, kLength)) return 0;
  for (std::size_t i = 0; i < kLength; ++i) {
    const bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
    if (hyphen ? text[i] != '-' : !is_hex_digit(text[i])) return 0;
  }
  return kLength;
}

std::size_t hex_pairs(std::string_view text) noexcept {
  const char joint = at(text, 2);
  if (joint != ':' && joint != '-') return 0;
  std::size_t length = 0;
  int pairs = 0;
  while (is_hex_digit(at(text, length)) && is_hex_digit(at(text, length + 1))) {
    length += 2;
    ++pairs;
    if (at(text, length) != joint || !is_hex_digit(at(text, length + 1))) break;
    ++length;
  }
  return pairs >= 6 && ends_word(text, length) ? length : 0;
}

std::size_t ipv4(std::string_view text) noexcept {
  std::size_t length = 0;
  for (int group = 0; group < 4; ++group) {
    if (group > 0 && at(text, length++) != '.') return 0;
    const std::size_t digits = digit_run(text.substr(length));
    if (digits == 0 || digits > 3) return 0;
    length += digits;
  }
  if (!ends_word(text, length)) return 0;
  if (at(text, length) == '.' && is_digit(at(text, length + 1))) return 0;  // a fifth group
  for (const char mark : {':', '/'}) {
    const std::size_t digits = digit_run(text.substr(std::min(length + 1, text.size())));
    const bool follows = at(text, length) == mark && digits > 0;
    if (follows && ends_word(text, length + 1 + digits)) length += 1 + digits;
  }
  return length;
}

std::size_t ipv6(std::string_view text) noexcept {
  if (at(text, 0) == '[') {
    if (at(text, 1) == '[') return 0;
    const std::size_t inner = ipv6(text.substr(1));
    if (inner == 0 || at(text, inner + 1) != ']') return 0;
    const std::size_t length = inner + 2;
    if (at(text, length) != ':') return length;
    const std::size_t port = digit_run(text.substr(length + 1));
    return port > 0 && ends_word(text, length + 1 + port) ? length + 1 + port : length;
  }
  constexpr std::size_t kLongest = 45;
  const std::string_view window = text.substr(0, kLongest + 1);
  std::size_t length =
      run_of(window, [](char c) { return is_hex_digit(c) || c == ':' || c == '.'; });
  length = without_trailing(text, length, ".");
  if (length > 2 && text[length - 1] == ':' && text[length - 2] != ':') --length;
  const std::string_view address = text.substr(0, length);
  if (length > kLongest || !ends_word(text, length)) return 0;
  if (address.starts_with(':') && !address.starts_with("::")) return 0;
  if (std::ranges::none_of(address, is_digit)) return 0;  // a namespace: abc::def
  const auto colons = std::ranges::count(address, ':');
  const bool has_tail = address.find('.') != address.npos;  // ::ffff:10.0.0.1
  const bool is_short = address.find("::") != address.npos;
  if (address.find(":::") != address.npos || colons > 7 || colons < 2) return 0;
  if (!is_short && colons != (has_tail ? 6 : 7)) return 0;
  std::size_t group = 0;
  for (const char c : address) {
    group = c == ':' || c == '.' ? 0 : group + 1;
    if (group > 4) return 0;
  }
  if (at(text, length) == '%') {  // the zone: fe80::1%eth0
    const std::size_t zone = alnum_run(text.substr(length + 1));
    if (zone > 0) length += 1 + zone;
  }
  return length;
}

std::size_t email(std::string_view text) noexcept {
  const std::size_t local =
      run_of(text, [](char c) { return is_alnum(c) || is_one_of(c, "._%+-"); });
  if (local == 0 || at(text, local) != '@') return 0;
  const std::string_view after = text.substr(local + 1);
  std::size_t domain = run_of(after, [](char c) { return is_alnum(c) || c == '.' || c == '-'; });
  domain = without_trailing(after, domain, ".-");
  const auto dot = after.substr(0, domain).rfind('.');
  if (dot == after.npos || dot == 0 || !is_letter(at(after, dot + 1))) return 0;
  return local + 1 + domain;
}

std::size_t host_and_port(std::string_view text) noexcept {
  const std::size_t host = run_of(text, [](char c) { return is_alnum(c) || c == '.' || c == '-'; });
  if (host == 0 || at(text, host) != ':') return 0;
  const std::string_view name = text.substr(0, host);
  const auto dot = name.rfind('.');
  const bool is_dotted = dot != name.npos && dot > 0 && is_letter(at(name, dot + 1));
  if (name != "localhost" && (!is_dotted || has_source_ending(name))) return 0;
  const std::size_t port = digit_run(text.substr(host + 1));
  return port > 0 && ends_word(text, host + 1 + port) ? host + 1 + port : 0;
}

std::size_t source_line(std::string_view text) noexcept {
  const std::size_t name =
      run_of(text, [](char c) { return is_alnum(c) || c == '.' || c == '-' || c == '_'; });
  if (!has_source_ending(text.substr(0, name))) return 0;
  const std::size_t place = line_and_column(text.substr(name));
  return place == 0 ? 0 : name + place;
}

std::size_t path(std::string_view text) noexcept {
  std::size_t length = windows_path(text);
  if (length == 0) length = unix_path(text);
  if (length == 0) length = relative_path(text);
  return length == 0 ? 0 : length + line_and_column(text.substr(length));
}

// Each further part is taken only if the word ends with it: of "1.5.0ab" only "1.5" is a number.
std::size_t number(std::string_view text) noexcept {
  std::size_t length = digit_run(text);
  const auto extend = [&](std::size_t mark, std::size_t most_digits) {
    const std::size_t start = std::min(length + mark, text.size());
    const std::size_t digits = digit_run(text.substr(start));
    if (digits == 0 || digits > most_digits || !ends_word(text, start + digits)) return false;
    length = start + digits;
    return true;
  };
  if (length == 0) return 0;
  if (length <= 3) {
    while (at(text, length) == ',' && digit_run(text.substr(length + 1)) == 3 && extend(1, 3)) {
    }
  }
  while (at(text, length) == '.' && extend(1, text.size())) {
  }
  if (is_one_of(at(text, length), "eE")) {
    (void)extend(is_one_of(at(text, length + 1), "+-") ? 2 : 1, text.size());
  }
  return ends_word(text, length) ? length : 0;
}

std::size_t hex_literal(std::string_view text) noexcept {
  if (at(text, 0) != '0' || !is_one_of(at(text, 1), "xX")) return 0;
  const std::size_t digits = run_of(text.substr(2), is_hex_digit);
  return digits > 0 && ends_word(text, 2 + digits) ? 2 + digits : 0;
}

std::size_t duration(std::string_view text) noexcept {
  std::size_t length = 0;
  while (true) {
    const std::size_t value = decimal(text.substr(length));
    if (value == 0) return 0;
    length += value;
    if (at(text, length) == ' ') {
      const std::size_t unit = longest_of(kSpacedDurations, text.substr(length + 1));
      return unit > 0 && ends_word(text, length + 1 + unit) ? length + 1 + unit : 0;
    }
    std::size_t unit = longest_of(kGluedDurations, text.substr(length));
    if (unit == 0 && is_one_of(at(text, length), kGluedDurationLetters)) unit = 1;
    if (unit == 0) return 0;
    length += unit;
    if (ends_word(text, length)) return length;
  }
}

std::size_t size(std::string_view text) noexcept {
  const std::size_t value = decimal(text);
  if (value == 0) return 0;
  const std::size_t unit = longest_of(kSizes, text.substr(value));
  return unit > 0 && ends_word(text, value + unit) ? value + unit : 0;
}

std::size_t base64(std::string_view text) noexcept {
  constexpr std::size_t kShortest = 24;
  const std::size_t length = run_of(
      text, [](char c) { return is_alnum(c) || c == '+' || c == '/' || c == '_' || c == '-'; });
  if (length < kShortest) return 0;
  const std::string_view run = text.substr(0, length);
  const bool has_upper = std::ranges::any_of(run, [](char c) { return c >= 'A' && c <= 'Z'; });
  const bool has_lower = std::ranges::any_of(run, [](char c) { return c >= 'a' && c <= 'z'; });
  const auto digits = std::ranges::count_if(run, is_digit);
  const auto joints = std::ranges::count_if(run, [](char c) { return !is_alnum(c); });
  // Words joined by hyphens or slashes have many joints; one in eight is as many as base64 has.
  if (!has_upper || !has_lower || digits < 3 || turns(run) < 5) return 0;
  if (static_cast<std::size_t>(joints) * 8 > length) return 0;
  std::size_t padding = 0;
  while (padding < 2 && at(text, length + padding) == '=')
    ++padding;
  return length + padding;
}

bool is_bare_hex(std::string_view run) noexcept {
  if (run.size() < 8 || !std::ranges::all_of(run, is_hex_digit)) return false;
  const auto digits = std::ranges::count_if(run, is_digit);
  const auto letters = static_cast<std::ptrdiff_t>(run.size()) - digits;
  if (digits == 0 || letters == 0) return run.size() >= 16 && digits == 0;
  // "AB012345" is rather a code of some product than a number in base 16.
  const bool starts_upper = run.front() >= 'A' && run.front() <= 'F';
  return run.size() >= 16 || !starts_upper || turns(run) >= 2;
}

bool is_opaque(std::string_view run) noexcept {
  const auto digits = std::ranges::count_if(run, is_digit);
  if (run.size() == 20 && (run.starts_with("AKIA") || run.starts_with("ASIA"))) return true;
  if (run.size() >= 8 && digits >= 3 && turns(run) >= 4) return true;
  return run.size() >= 16 && digits >= 2 && turns(run) >= 3;
}

}  // namespace holdfast::shapes
