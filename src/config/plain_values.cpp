#include "config/plain_values.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/json_text.hpp"
#include "core/text_template.hpp"
#include "core/units.hpp"

namespace holdfast::config {
namespace {

// What stands there in place of what should.
std::string_view name_of(const Value& value) {
  switch (value.data.index()) {
    case 1: return "true or false";
    case 2: return "a whole number";
    case 3: return "a number";
    case 4: return "text";
    case 5: return "a list";
    case 6: return "a table";
    default: return "a date or time";
  }
}

void wrong_type(const Spot& spot, const Value& value, std::string_view wanted) {
  spot.wrong(fmt::format("this must be {}, and is {}", wanted, name_of(value)));
}

template <class T>
void out_of_range(const Spot& spot, const T& value, const T& least, const T& most) {
  spot.wrong(fmt::format("{} is out of range", value), fmt::format("from {} to {}", least, most));
}

// Nothing: it is no duration, and that was said.
std::optional<Duration> read_span(const Spot& spot, const Value& value, std::string_view wanted,
                                  std::string suggestion = {}) {
  if (const auto* whole = value.as<std::int64_t>()) {
    spot.wrong("a duration has a unit, and stands in quotes", fmt::format("\"{}s\"?", *whole));
    return std::nullopt;
  }
  const auto* text = value.as<std::string>();
  if (text == nullptr) {
    wrong_type(spot, value, wanted);
    return std::nullopt;
  }
  const auto span = parse_duration(*text);
  if (span) return *span;
  spot.wrong(span.error().message, std::move(suggestion));
  return std::nullopt;
}

}  // namespace

void YesNo::read(const Spot& spot, const Value& value, bool& into) const {
  const auto* yes = value.as<bool>();
  if (yes == nullptr) return wrong_type(spot, value, "true or false");
  into = *yes;
}

std::string YesNo::show(bool value) const {
  return value ? "true" : "false";
}

void Whole::read(const Spot& spot, const Value& value, int& into) const {
  const auto* number = value.as<std::int64_t>();
  if (number == nullptr) return wrong_type(spot, value, "a whole number");
  if (*number < least || *number > most) {
    return out_of_range<std::int64_t>(spot, *number, least, most);
  }
  into = static_cast<int>(*number);
}

std::string Whole::show(int value) const {
  return std::to_string(value);
}

void Fraction::read(const Spot& spot, const Value& value, double& into) const {
  double number = std::numeric_limits<double>::quiet_NaN();
  if (const auto* given = value.as<double>()) number = *given;
  if (const auto* whole = value.as<std::int64_t>()) number = static_cast<double>(*whole);
  if (value.as<double>() == nullptr && value.as<std::int64_t>() == nullptr) {
    return wrong_type(spot, value, "a number");
  }
  // Written so that nan is refused too.
  if (!(number >= least && number <= most)) return out_of_range(spot, number, least, most);
  into = number;
}

std::string Fraction::show(double value) const {
  return fmt::format("{}", value);
}

void Span::read(const Spot& spot, const Value& value, Duration& into) const {
  const auto span = read_span(spot, value, "a duration in quotes, such as \"30s\"");
  if (!span) return;
  if (*span < least || *span > most) {
    return out_of_range(spot, format_duration(*span), format_duration(least),
                        format_duration(most));
  }
  into = *span;
}

std::string Span::show(Duration value) const {
  return holdfast::quoted(format_duration(value));
}

void SpanOr::read(const Spot& spot, const Value& value, std::optional<Duration>& into) const {
  if (const auto* text = value.as<std::string>(); text != nullptr && *text == nothing) {
    into.reset();
    return;
  }
  const std::string wanted =
      fmt::format("a duration in quotes, such as \"30s\", or \"{}\"", nothing);
  const auto given = read_span(spot, value, wanted, fmt::format("or \"{}\"", nothing));
  if (!given) return;
  if (*given < span.least || *given > span.most) {
    return spot.wrong(fmt::format("{} is out of range", format_duration(*given)),
                      fmt::format("from {} to {}, or \"{}\"", format_duration(span.least),
                                  format_duration(span.most), nothing));
  }
  into = *given;
}

std::string SpanOr::show(const std::optional<Duration>& value) const {
  return value ? span.show(*value) : holdfast::quoted(nothing);
}

void Size::read(const Spot& spot, const Value& value, std::uint64_t& into) const {
  std::uint64_t bytes = 0;
  if (const auto* whole = value.as<std::int64_t>()) {
    if (*whole < 0) return spot.wrong("a size is not negative");
    bytes = static_cast<std::uint64_t>(*whole);
  } else if (const auto* text = value.as<std::string>()) {
    const auto size = parse_size(*text);
    if (!size) return spot.wrong(size.error().message);
    bytes = *size;
  } else {
    return wrong_type(spot, value, "a size in quotes, such as \"256KiB\"");
  }
  if (bytes < least || bytes > most) {
    return out_of_range(spot, format_size(bytes), format_size(least), format_size(most));
  }
  into = bytes;
}

std::string Size::show(std::uint64_t value) const {
  return holdfast::quoted(format_size(value));
}

const std::string* read_text(const Spot& spot, const Value& value) {
  const auto* text = value.as<std::string>();
  if (text == nullptr) {
    wrong_type(spot, value, "text in quotes");
    return nullptr;
  }
  if (text->empty()) {
    spot.wrong("this is empty", "leave the key out if there is nothing to say");
    return nullptr;
  }
  if (is_visible(*text)) return text;
  spot.wrong("control characters and other invisible letters have no place here");
  return nullptr;
}

void Text::read(const Spot& spot, const Value& value, std::string& into) const {
  const auto* text = value.as<std::string>();
  if (text == nullptr) return wrong_type(spot, value, "text in quotes");
  if (std::string trouble = check(*text); !trouble.empty()) return spot.wrong(std::move(trouble));
  into = *text;
}

std::string Text::show(const std::string& value) const {
  return holdfast::quoted(value, std::string::npos);
}

void TemplateText::read(const Spot& spot, const Value& value, std::string& into) const {
  const std::string* text = read_text(spot, value);
  if (text == nullptr) return;
  const auto parsed = TextTemplate::parse(*text);
  if (!parsed) return spot.wrong(parsed.error().message, "{{ and }} stand for braces themselves");
  into = *text;
}

std::string TemplateText::show(const std::string& value) const {
  return value.empty() ? "" : holdfast::quoted(value, std::string::npos);
}

std::optional<std::vector<std::pair<std::string, Place>>> read_texts(const Spot& spot,
                                                                     const Value& value) {
  const auto* list = value.as<Value::List>();
  if (list == nullptr) {
    wrong_type(spot, value, "a list of texts, in brackets");
    return std::nullopt;
  }
  std::vector<std::pair<std::string, Place>> texts;
  for (const Value& item : *list) {
    const auto* text = item.as<std::string>();
    if (text == nullptr) {
      wrong_type(spot.at(item.place), item, "text in quotes");
      return std::nullopt;
    }
    texts.emplace_back(*text, item.place);
  }
  return texts;
}

std::string show_texts(std::span<const std::string> texts) {
  std::string line = "[";
  for (const std::string& text : texts) {
    if (line.size() > 1) line += ", ";
    line += holdfast::quoted(text, std::string::npos);
  }
  return line + "]";
}

void Texts::read(const Spot& spot, const Value& value, std::vector<std::string>& into) const {
  const auto texts = read_texts(spot, value);
  if (!texts) return;
  std::vector<std::string> good;
  for (const auto& [text, place] : *texts) {
    std::string trouble = check(text);
    if (trouble.empty()) {
      good.push_back(text);
    } else {
      spot.at(place).wrong(std::move(trouble));
    }
  }
  into = std::move(good);
}

std::string Texts::show(const std::vector<std::string>& value) const {
  return show_texts(value);
}

void ListenAt::read(const Spot& spot, const Value& value, Listen& into) const {
  const std::string* text = read_text(spot, value);
  if (text == nullptr) return;
  auto listen = parse_listen(*text);
  if (!listen) return spot.wrong(std::move(listen).error());
  into = *std::move(listen);
}

std::string ListenAt::show(const Listen& value) const {
  return holdfast::quoted(value.text());
}

void Networks::read(const Spot& spot, const Value& value, std::vector<Network>& into) const {
  const auto texts = read_texts(spot, value);
  if (!texts) return;
  std::vector<Network> networks;
  for (const auto& [text, place] : *texts) {
    auto some = parse_network(text);
    if (some) {
      networks.insert(networks.end(), some->begin(), some->end());
    } else {
      spot.at(place).wrong(std::move(some).error());
    }
  }
  into = std::move(networks);
}

std::string Networks::show(const std::vector<Network>& value) const {
  std::vector<std::string> texts;
  texts.reserve(value.size());
  for (const Network& network : value)
    texts.push_back(network.text());
  return show_texts(texts);
}

std::string suggest(std::string_view name, std::span<const std::string_view> known) {
  return did_you_mean(name, known).substr(2);  // after "; "
}

}  // namespace holdfast::config
