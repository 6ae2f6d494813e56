#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/time.hpp>

#include "config/address.hpp"
#include "config/document.hpp"
#include "config/reading.hpp"
#include "core/json_text.hpp"
#include "core/nearest_name.hpp"

// Kinds of values, each with its limits: read() puts what the file says where it belongs, or says
// what is wrong with it; show() writes a value as TOML, and nothing at all for one that is not
// given. Those that look outside of the file are in outside_values.hpp.
namespace holdfast::config {

struct YesNo {
  static constexpr std::string_view kKind = "true or false";
  void read(const Spot& spot, const Value& value, bool& into) const;
  [[nodiscard]] std::string show(bool value) const;
};

struct Whole {
  static constexpr std::string_view kKind = "number";
  int least = 0;
  int most = 0;
  void read(const Spot& spot, const Value& value, int& into) const;
  [[nodiscard]] std::string show(int value) const;
};

struct Fraction {
  static constexpr std::string_view kKind = "number";
  double least = 0;
  double most = 0;
  void read(const Spot& spot, const Value& value, double& into) const;
  [[nodiscard]] std::string show(double value) const;
};

struct Span {
  static constexpr std::string_view kKind = "duration";
  Duration least = {};
  Duration most = {};
  void read(const Spot& spot, const Value& value, Duration& into) const;
  [[nodiscard]] std::string show(Duration value) const;
};

// A span, or none at all, for which there is a word.
struct SpanOr {
  static constexpr std::string_view kKind = "duration";
  std::string_view nothing;
  Span span;
  void read(const Spot& spot, const Value& value, std::optional<Duration>& into) const;
  [[nodiscard]] std::string show(const std::optional<Duration>& value) const;
};

struct Size {
  static constexpr std::string_view kKind = "size";
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  void read(const Spot& spot, const Value& value, std::uint64_t& into) const;
  [[nodiscard]] std::string show(std::uint64_t value) const;
};

// What is wrong with a text; empty: nothing is.
using TextCheck = std::string (*)(std::string_view text);

struct Text {
  static constexpr std::string_view kKind = "text";
  TextCheck check;
  void read(const Spot& spot, const Value& value, std::string& into) const;
  [[nodiscard]] std::string show(const std::string& value) const;
};

// A text with places that are filled in from a payload.
struct TemplateText {
  static constexpr std::string_view kKind = "text";
  void read(const Spot& spot, const Value& value, std::string& into) const;
  [[nodiscard]] std::string show(const std::string& value) const;
};

struct Texts {
  static constexpr std::string_view kKind = "list of texts";
  TextCheck check;  // of each of them
  void read(const Spot& spot, const Value& value, std::vector<std::string>& into) const;
  [[nodiscard]] std::string show(const std::vector<std::string>& value) const;
};

struct ListenAt {
  static constexpr std::string_view kKind = "address and port";
  void read(const Spot& spot, const Value& value, Listen& into) const;
  [[nodiscard]] std::string show(const Listen& value) const;
};

struct Networks {
  static constexpr std::string_view kKind = "list of networks";
  void read(const Spot& spot, const Value& value, std::vector<Network>& into) const;
  [[nodiscard]] std::string show(const std::vector<Network>& value) const;
};

// The text of a value, which is neither empty nor has control characters; nothing: it is none such,
// and that was said.
[[nodiscard]] const std::string* read_text(const Spot& spot, const Value& value);
// The texts of a list and where they stand; nothing: it is none, and that was said.
[[nodiscard]] std::optional<std::vector<std::pair<std::string, Place>>> read_texts(
    const Spot& spot, const Value& value);
[[nodiscard]] std::string show_texts(std::span<const std::string> texts);
// What did_you_mean says, as a suggestion of its own.
[[nodiscard]] std::string suggest(std::string_view name, std::span<const std::string_view> known);

// One of a few words.
template <class E>
struct Choice {
  static constexpr std::string_view kKind = "word";
  std::string_view what;  // "level"
  std::span<const std::pair<std::string_view, E>> words;

  void read(const Spot& spot, const Value& value, E& into) const {
    const std::string* text = read_text(spot, value);
    if (text == nullptr) return;
    std::vector<std::string_view> known;
    for (const auto& [word, meaning] : words) {
      known.push_back(word);
      if (word != *text) continue;
      into = meaning;
      return;
    }
    spot.wrong("unknown " + std::string(what) + " " + holdfast::quoted(*text),
               suggest(*text, known));
  }

  [[nodiscard]] std::string show(E value) const {
    for (const auto& [word, meaning] : words) {
      if (meaning == value) return holdfast::quoted(word);
    }
    return {};
  }
};

}  // namespace holdfast::config
