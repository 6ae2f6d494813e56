#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "config/document.hpp"
#include "config/reading.hpp"

// Kinds of values that name something outside of the file, or are secret: as plain_values.hpp says.
namespace holdfast::config {

struct Path {
  static constexpr std::string_view kKind = "path";
  PathUse use;
  void read(const Spot& spot, const Value& value, std::string& into) const;
  [[nodiscard]] std::string show(const std::string& value) const;
};

// A file that need not be there yet.
struct NewFile {
  static constexpr std::string_view kKind = "path";
  void read(const Spot& spot, const Value& value, std::string& into) const;
  [[nodiscard]] std::string show(const std::string& value) const;
};

// Where tasks are kept, or where that can be read.
struct StoreUrl {
  static constexpr std::string_view kKind = "store";
  void read(const Spot& spot, const Value& value, Url& into) const;
  [[nodiscard]] std::string show(const Url& value) const;
};

// A URL, or where it can be read.
struct Endpoint {
  static constexpr std::string_view kKind = "URL";
  void read(const Spot& spot, const Value& value, Url& into) const;
  [[nodiscard]] std::string show(const Url& value) const;
};

// The URL of a broker, or where it can be read; with or without the name of a queue at its end.
struct BrokerAt {
  static constexpr std::string_view kKind = "URL";
  BrokerPart part;
  void read(const Spot& spot, const Value& value, Url& into) const;
  [[nodiscard]] std::string show(const Url& value) const;
};

// A program and its arguments.
struct Command {
  static constexpr std::string_view kKind = "list of texts";
  void read(const Spot& spot, const Value& value, std::vector<std::string>& into) const;
  [[nodiscard]] std::string show(const std::vector<std::string>& value) const;
};

struct RulesAt {
  static constexpr std::string_view kKind = "path";
  void read(const Spot& spot, const Value& value, RuleFile& into) const;
  [[nodiscard]] std::string show(const RuleFile& value) const;
};

struct Headers {
  static constexpr std::string_view kKind = "table of texts";
  void read(const Spot& spot, const Value& value, std::vector<Header>& into) const;
  [[nodiscard]] std::string show(const std::vector<Header>& value) const;
};

struct HashText {
  static constexpr std::string_view kKind = "hash";
  void read(const Spot& spot, const Value& value, std::optional<Sha256>& into) const;
  [[nodiscard]] std::string show(const std::optional<Sha256>& value) const;
};

struct SecretText {
  static constexpr std::string_view kKind = "secret";
  enum class Use : std::uint8_t { token, signature, key };
  Use use;
  void read(const Spot& spot, const Value& value, Secret& into) const;
  [[nodiscard]] std::string show(const Secret& value) const;
};

}  // namespace holdfast::config
