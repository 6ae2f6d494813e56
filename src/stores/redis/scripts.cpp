#include "stores/redis/scripts.hpp"

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>

namespace holdfast::stores_redis {

// Made by cmake/embed.cmake from lua/<name>.lua.
extern const std::string_view kCommon;
extern const std::string_view kSubmit;
extern const std::string_view kClaiming;
extern const std::string_view kClaim;
extern const std::string_view kClaimThese;
extern const std::string_view kRenew;
extern const std::string_view kGrouping;
extern const std::string_view kChanging;
extern const std::string_view kChange;
extern const std::string_view kSettle;
extern const std::string_view kTelling;
extern const std::string_view kOverdue;
extern const std::string_view kRemoving;
extern const std::string_view kPurge;
extern const std::string_view kWithdraw;
extern const std::string_view kCarried;
extern const std::string_view kConfigure;
extern const std::string_view kFetch;
extern const std::string_view kCount;
extern const std::string_view kGroups;
extern const std::string_view kPage;
extern const std::string_view kNumbers;
extern const std::string_view kAuditCounts;
extern const std::string_view kAuditTasks;
extern const std::string_view kAuditPlaces;
extern const std::string_view kAuditGroups;
extern const std::string_view kJot;
extern const std::string_view kNotes;

}  // namespace holdfast::stores_redis

namespace holdfast::stores::redis {
namespace {

namespace lua = holdfast::stores_redis;

// Under OOM a server refuses what would need memory before anything of it is done. What brings
// tasks to their end must go on all the same, or nothing would ever make room again.
enum class Flags : std::uint8_t { none, at_any_memory, only_reads };

Script script(std::string_view name, Flags flags, std::initializer_list<std::string_view> parts) {
  std::string text = "#!lua";
  if (flags == Flags::at_any_memory) text += " flags=allow-oom";
  if (flags == Flags::only_reads) text += " flags=no-writes";
  text += "\n";
  text += lua::kCommon;
  for (const std::string_view part : parts) {
    text += "\n";
    text += part;
  }
  text.shrink_to_fit();  // it is kept for as long as the process runs
  return {name, std::move(text)};
}

}  // namespace

const Scripts& scripts() {
  using enum Flags;
  static const Scripts all{
      .submit = script("submit", none, {lua::kSubmit}),
      .claim = script("claim", at_any_memory, {lua::kClaiming, lua::kClaim}),
      .claim_these = script("claim_these", at_any_memory, {lua::kClaiming, lua::kClaimThese}),
      .renew = script("renew", at_any_memory, {lua::kRenew}),
      .change = script("change", at_any_memory, {lua::kGrouping, lua::kChanging, lua::kChange}),
      .settle = script("settle", at_any_memory, {lua::kGrouping, lua::kChanging, lua::kSettle}),
      .overdue = script("overdue", at_any_memory, {lua::kTelling, lua::kOverdue}),
      .purge = script("purge", at_any_memory, {lua::kGrouping, lua::kRemoving, lua::kPurge}),
      .withdraw =
          script("withdraw", at_any_memory, {lua::kGrouping, lua::kRemoving, lua::kWithdraw}),
      .carried = script("carried", at_any_memory, {lua::kCarried}),
      .configure = script("configure", at_any_memory, {lua::kConfigure}),
      .jot = script("jot", at_any_memory, {lua::kJot}),
      .fetch = script("fetch", only_reads, {lua::kTelling, lua::kFetch}),
      .count = script("count", only_reads, {lua::kCount}),
      .groups = script("groups", only_reads, {lua::kGroups}),
      .page = script("page", only_reads, {lua::kPage}),
      .numbers = script("numbers", only_reads, {lua::kNumbers}),
      .notes = script("notes", only_reads, {lua::kNotes}),
      .audit_counts = script("audit_counts", at_any_memory, {lua::kAuditCounts}),
      .audit_tasks =
          script("audit_tasks", at_any_memory, {lua::kGrouping, lua::kRemoving, lua::kAuditTasks}),
      .audit_places = script("audit_places", at_any_memory, {lua::kAuditPlaces}),
      .audit_groups = script("audit_groups", at_any_memory, {lua::kGrouping, lua::kAuditGroups}),
  };
  return all;
}

std::span<const Script* const> all_scripts() {
  static const Scripts& s = scripts();
  static const std::array all{
      &s.submit,       &s.claim,        &s.claim_these, &s.renew,   &s.change,       &s.settle,
      &s.overdue,      &s.purge,        &s.withdraw,    &s.carried, &s.configure,    &s.fetch,
      &s.count,        &s.groups,       &s.page,        &s.numbers, &s.audit_counts, &s.audit_tasks,
      &s.audit_places, &s.audit_groups, &s.jot,         &s.notes};
  return all;
}

}  // namespace holdfast::stores::redis
