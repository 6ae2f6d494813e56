#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/fingerprint.hpp"
#include "ports/broker.hpp"
#include "recovery/decision.hpp"
#include "recovery/letter.hpp"

namespace holdfast::recovery {

// What a dry run has seen: what would go where, by type, target and what it died of.
class Plan {
 public:
  static constexpr std::size_t kMostRows = 1000;

  struct Row {
    std::string type = {};
    Decision::What what = Decision::What::skip;
    ports::Address to = {};    // of what would be recovered
    std::string why = {};      // of what would be kept
    Fingerprint group = {};    // of the death's reason
    std::string reason = {};   // of the first such message
    std::string example = {};  // its id, or the start of its body
    std::uint64_t count = 0;
    // What could be found out of the target without sending anything.
    enum class Found : std::uint8_t { unchecked, there, missing };
    Found target = Found::unchecked;
  };

  void note(const Letter& letter, const Decision& decision);
  void clear();

  // Most first.
  [[nodiscard]] std::vector<Row> rows() const;
  [[nodiscard]] std::uint64_t others() const noexcept { return others_; }

  // Queues and exchanges that are named as targets.
  struct Target {
    bool is_exchange = false;
    std::string name = {};

    auto operator<=>(const Target&) const = default;
  };
  [[nodiscard]] std::vector<Target> targets() const;
  void checked(const Target& target, bool is_there);
  // Messages that would be recovered, if their target was there.
  [[nodiscard]] std::uint64_t missing() const;

 private:
  [[nodiscard]] static Target target_of(const Row& row);

  std::map<std::string, Row> rows_;
  std::uint64_t others_ = 0;  // of rows beyond the most
};

}  // namespace holdfast::recovery
