#include "config/outside_values.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "config/plain_values.hpp"
#include "core/json_text.hpp"

namespace holdfast::config {
namespace {

constexpr std::size_t kLeastSecretBytes = 16;
constexpr std::string_view kEnv = "env:";
constexpr std::string_view kFile = "file:";

bool is_reference(std::string_view text) {
  return text.starts_with(kEnv) || text.starts_with(kFile);
}

// What "env:NAME" or "file:PATH" stands for; nothing: there is nothing, and that was said.
std::optional<Secret> fetch(const Spot& spot, const std::string& reference) {
  Reading& reading = spot.reading;
  if (reference.starts_with(kEnv)) {
    const std::string name = reference.substr(kEnv.size());
    auto text = name.empty() || name.find('\0') != std::string::npos
                    ? std::nullopt
                    : reading.outside.variable(name);
    if (text && !text->empty()) return Secret(*std::move(text), reference);
    spot.wrong(fmt::format("the environment variable {} is {}", holdfast::quoted(name),
                           text ? "empty" : "not set"),
               "set it where the server is started, or write \"file:PATH\"");
    return std::nullopt;
  }
  const std::string path = reading.resolve(reference.substr(kFile.size()));
  auto text = reading.outside.secret_file(path);
  if (text && !text->empty()) return Secret(*std::move(text), "file:" + path);
  spot.wrong(text ? path + ": this file is empty" : text.error().message);
  return std::nullopt;
}

bool is_visible_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c > ' ' && c < 0x7f; });
}

// How many bytes base64 stands for; nothing: it is none.
std::optional<std::size_t> base64_bytes(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  for (int i = 0; i < 2 && text.ends_with('='); ++i)
    text.remove_suffix(1);
  const bool good = std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
  });
  return good ? std::optional(text.size() * 3 / 4) : std::nullopt;
}

// What is wrong with a secret, in words that tell nothing of it.
std::string trouble_with(std::string_view secret, SecretText::Use use) {
  constexpr std::string_view kStandard = "whsec_";
  if (use == SecretText::Use::token && !is_visible_ascii(secret)) {
    return "a token has only letters, digits and signs of ASCII, or no client could send it";
  }
  if (use == SecretText::Use::key) {  // whoever made it has chosen its length
    return is_visible_ascii(secret) ? "" : "a key has only letters, digits and signs of ASCII";
  }
  std::size_t bytes = secret.size();
  if (use == SecretText::Use::signature && secret.starts_with(kStandard)) {
    const auto decoded = base64_bytes(secret.substr(kStandard.size()));
    if (!decoded) return "after whsec_ this is not base64";
    bytes = *decoded;
  }
  if (bytes >= kLeastSecretBytes) return {};
  return fmt::format("this secret has {} bytes: {} are the least", bytes, kLeastSecretBytes);
}

bool equal_letters(std::string_view a, std::string_view lower) {
  return std::ranges::equal(a, lower, {}, [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
}

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::any_of(names, [&](auto other) { return equal_letters(name, other); });
}

// What is wrong with the name of a header; empty: nothing is.
std::string trouble_with_header(std::string_view name) {
  static constexpr std::array<std::string_view, 11> kOurs = {
      "host",    "content-length", "transfer-encoding", "connection",  "upgrade",   "te",
      "trailer", "expect",         "user-agent",        "traceparent", "tracestate"};
  static constexpr std::string_view kSigns = "!#$%&'*+-.^_`|~";
  const bool good = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kSigns.find(c) != kSigns.npos;
  });
  if (!good) return fmt::format("{} cannot be the name of a header", holdfast::quoted(name));
  const bool prefixed =
      equal_letters(name.substr(0, 8), "webhook-") || equal_letters(name.substr(0, 9), "holdfast-");
  if (prefixed || is_one_of(name, kOurs)) {
    return fmt::format("the header {} is set by Holdfast itself", holdfast::quoted(name));
  }
  return {};
}

bool is_credential(std::string_view header) {
  static constexpr std::array<std::string_view, 5> kCredentials = {
      "authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"};
  return is_one_of(header, kCredentials);
}

std::string secret_text(const Secret& secret) {
  if (!secret.is_set()) return {};
  return secret.source().empty()
             ? "\"***\""
             : holdfast::quoted(fmt::format("*** ({})", secret.source()), std::string::npos);
}

std::optional<Header> read_header(const Spot& spot, const Member& member) {
  if (std::string trouble = trouble_with_header(member.key); !trouble.empty()) {
    spot.at(member.place).wrong(std::move(trouble));
    return std::nullopt;
  }
  const Spot at = {spot.reading, join_key(spot.key, member.key), member.value.place};
  const std::string* text = read_text(at, member.value);
  if (text == nullptr) return std::nullopt;
  std::optional<Secret> value;
  if (is_reference(*text)) {
    value = fetch(at, *text);
  } else if (is_credential(member.key)) {
    at.wrong("secrets do not belong into this file", R"(write "env:NAME" or "file:PATH")");
  } else {
    value = Secret(*text, "");
  }
  if (!value) return std::nullopt;
  const bool good = std::ranges::all_of(
      value->reveal(), [](unsigned char c) { return c == '\t' || (c >= ' ' && c != 0x7f); });
  if (good) return Header{member.key, *std::move(value)};
  at.wrong("the value of a header has no line breaks and no control characters");
  return std::nullopt;
}

}  // namespace

void Path::read(const Spot& spot, const Value& value, std::string& into) const {
  const std::string* text = read_text(spot, value);
  if (text == nullptr) return;
  const std::string path = spot.reading.resolve(*text);
  const auto good = spot.reading.outside.check_path(path, use);
  if (!good) return spot.wrong(good.error().message);
  into = path;
}

std::string Path::show(const std::string& value) const {
  return value.empty() ? "" : holdfast::quoted(value, std::string::npos);
}

void NewFile::read(const Spot& spot, const Value& value, std::string& into) const {
  const std::string* text = read_text(spot, value);
  if (text != nullptr) into = spot.reading.resolve(*text);
}

std::string NewFile::show(const std::string& value) const {
  return value.empty() ? "" : holdfast::quoted(value, std::string::npos);
}

namespace {

template <class Parse>
void read_url(const Spot& spot, const Value& value, Parse parse, Url& into) {
  const std::string* text = read_text(spot, value);
  if (text == nullptr) return;
  std::optional<Secret> fetched;
  if (is_reference(*text)) {
    fetched = fetch(spot, *text);
    if (!fetched) return;
  }
  auto url = fetched ? parse(fetched->reveal(), fetched->source()) : parse(*text, "");
  if (!url) return spot.wrong(std::move(url).error());
  into = *std::move(url);
}

}  // namespace

void Endpoint::read(const Spot& spot, const Value& value, Url& into) const {
  read_url(spot, value, parse_url, into);
}

void StoreUrl::read(const Spot& spot, const Value& value, Url& into) const {
  const auto parse = [&](std::string_view text,
                         std::string source) -> std::expected<Url, std::string> {
    constexpr std::string_view kSqlite = "sqlite:";
    if (is_redis_url(text)) return parse_redis_url(text, std::move(source));
    if (text.starts_with("memory:")) return plain_url(std::string(text));
    if (text.starts_with(kSqlite) && text.size() > kSqlite.size()) {
      return plain_url(std::string(kSqlite) + spot.reading.resolve(text.substr(kSqlite.size())));
    }
    return std::unexpected(
        "this is no place for tasks that is known here; write \"sqlite:PATH\" for a file, "
        "\"redis://HOST:PORT\" for Redis, or \"memory:NAME\" in tests");
  };
  read_url(spot, value, parse, into);
}

std::string StoreUrl::show(const Url& value) const {
  return holdfast::quoted(value.shown, std::string::npos);
}

void BrokerAt::read(const Spot& spot, const Value& value, Url& into) const {
  const auto parse = [this](std::string_view text, std::string source) {
    return parse_broker_url(text, std::move(source), part);
  };
  read_url(spot, value, parse, into);
}

std::string BrokerAt::show(const Url& value) const {
  return Endpoint{}.show(value);
}

std::string Endpoint::show(const Url& value) const {
  return value.is_set() ? holdfast::quoted(value.shown, std::string::npos) : "";
}

void Command::read(const Spot& spot, const Value& value, std::vector<std::string>& into) const {
  if (value.as<std::string>() != nullptr) {
    return spot.wrong("a command is a list, and no shell reads it",
                      R"(write ["program", "argument"])");
  }
  const auto texts = read_texts(spot, value);
  if (!texts) return;
  if (texts->empty() || texts->front().first.empty()) {
    return spot.wrong("a command begins with a program");
  }
  std::vector<std::string> words;
  for (const auto& [text, place] : *texts) {
    if (text.find('\0') != std::string::npos) {
      return spot.at(place).wrong("a program cannot be given a NUL byte");
    }
    words.push_back(text);
  }
  if (words.front().find('/') != std::string::npos) {  // else it is looked up when it is run
    words.front() = spot.reading.resolve(words.front());
    const auto good = spot.reading.outside.check_path(words.front(), PathUse::program);
    if (!good) return spot.at(texts->front().second).wrong(good.error().message);
  }
  into = std::move(words);
}

std::string Command::show(const std::vector<std::string>& value) const {
  return value.empty() ? "" : show_texts(value);
}

void RulesAt::read(const Spot& spot, const Value& value, RuleFile& into) const {
  const std::string* text = read_text(spot, value);
  if (text == nullptr) return;
  const std::string path = spot.reading.resolve(*text);
  auto rules = spot.reading.outside.rules(path);
  if (!rules) return spot.wrong(rules.error().message);
  into = {path, *std::move(rules)};
}

std::string RulesAt::show(const RuleFile& value) const {
  return value.path.empty() ? "" : holdfast::quoted(value.path, std::string::npos);
}

void Headers::read(const Spot& spot, const Value& value, std::vector<Header>& into) const {
  const auto* table = value.as<Value::Table>();
  if (table == nullptr) {
    return spot.wrong("headers are a table", R"(write { X-Name = "value" })");
  }
  std::vector<Header> headers;
  for (const Member& member : *table) {
    if (auto header = read_header(spot, member)) headers.push_back(*std::move(header));
  }
  into = std::move(headers);
}

std::string Headers::show(const std::vector<Header>& value) const {
  std::string line;
  for (const Header& header : value) {
    line += fmt::format("{} {} = \"***\"", line.empty() ? "" : ",", join_key("", header.name));
  }
  return line.empty() ? "{}" : "{" + line + " }";
}

void HashText::read(const Spot& spot, const Value& value, std::optional<Sha256>& into) const {
  constexpr std::string_view kPrefix = "sha256:";
  const std::string* text = read_text(spot, value);
  if (text == nullptr) return;
  const auto refuse = [&] {
    spot.wrong("a hash is sha256: and 64 hexadecimal digits",
               "printf %s \"$TOKEN\" | sha256sum prints the digits");
  };
  if (!text->starts_with(kPrefix) || text->size() != kPrefix.size() + 64) return refuse();
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  Sha256 hash{};
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const int high = digit((*text)[kPrefix.size() + 2 * i]);
    const int low = digit((*text)[kPrefix.size() + 2 * i + 1]);
    if (high < 0 || low < 0) return refuse();
    hash[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  into = hash;
}

std::string HashText::show(const std::optional<Sha256>& value) const {
  return value ? "\"sha256:***\"" : "";
}

void SecretText::read(const Spot& spot, const Value& value, Secret& into) const {
  const std::string* text = read_text(spot, value);
  if (text == nullptr) return;
  if (!is_reference(*text)) {
    return spot.wrong("secrets do not belong into this file", R"(write "env:NAME" or "file:PATH")");
  }
  auto secret = fetch(spot, *text);
  if (!secret) return;
  if (std::string trouble = trouble_with(secret->reveal(), use); !trouble.empty()) {
    return spot.wrong(std::move(trouble));
  }
  into = *std::move(secret);
}

std::string SecretText::show(const Secret& value) const {
  return secret_text(value);
}

}  // namespace holdfast::config
