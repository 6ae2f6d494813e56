#include "recovery/plan.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace holdfast::recovery {
namespace {

constexpr std::size_t kExampleBytes = 80;

std::string example_of(const Letter& letter) {
  const auto& id = letter.message().message_id;
  if (id && !id->empty()) return *id;
  return letter.message().body.substr(0, kExampleBytes);
}

}  // namespace

void Plan::note(const Letter& letter, const Decision& decision) {
  const std::string reason = letter.reason_text();
  const Fingerprint group = fingerprint(reason);
  std::string key = letter.type;
  key.append(1, '\0').append(1, static_cast<char>('0' + static_cast<int>(decision.what)));
  key.append(decision.to.exchange).append(1, '\0').append(decision.to.routing_key);
  key.append(1, '\0').append(decision.why).append(1, '\0').append(group.text());
  auto row = rows_.find(key);
  if (row == rows_.end()) {
    if (rows_.size() >= kMostRows) {
      ++others_;
      return;
    }
    row = rows_
              .emplace(std::move(key), Row{.type = letter.type,
                                           .what = decision.what,
                                           .to = decision.to,
                                           .why = decision.why,
                                           .group = group,
                                           .reason = reason,
                                           .example = example_of(letter)})
              .first;
  }
  ++row->second.count;
}

void Plan::clear() {
  rows_.clear();
  others_ = 0;
}

std::vector<Plan::Row> Plan::rows() const {
  std::vector<Row> rows;
  rows.reserve(rows_.size());
  for (const auto& [key, row] : rows_)
    rows.push_back(row);
  std::ranges::sort(rows, [](const Row& a, const Row& b) {
    return std::tie(b.count, a.type, a.to, a.why, a.group) <
           std::tie(a.count, b.type, b.to, b.why, b.group);
  });
  return rows;
}

Plan::Target Plan::target_of(const Row& row) {
  if (row.to.exchange.empty()) return {.is_exchange = false, .name = row.to.routing_key};
  return {.is_exchange = true, .name = row.to.exchange};
}

std::vector<Plan::Target> Plan::targets() const {
  std::set<Target> targets;
  for (const auto& [key, row] : rows_) {
    if (row.what == Decision::What::recover) targets.insert(target_of(row));
  }
  return {targets.begin(), targets.end()};
}

void Plan::checked(const Target& target, bool is_there) {
  for (auto& [key, row] : rows_) {
    if (row.what != Decision::What::recover || target_of(row) != target) continue;
    row.target = is_there ? Row::Found::there : Row::Found::missing;
  }
}

std::uint64_t Plan::missing() const {
  std::uint64_t count = 0;
  for (const auto& [key, row] : rows_)
    count += row.target == Row::Found::missing ? row.count : 0;
  return count;
}

}  // namespace holdfast::recovery
