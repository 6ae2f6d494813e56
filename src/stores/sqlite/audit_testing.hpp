#pragma once

#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <stdlib.h>

#include <holdfast/testing.hpp>

#include "core/rules.hpp"
#include "stores/sqlite/database.hpp"
#include "stores/sqlite/open.hpp"

namespace holdfast::stores::sqlite {

// A file with one task in each state, made through the store, in a folder that is removed with it.
// Tasks are called by their state; "other" is one that waits in a queue of its own, and "again" is
// one that failed three times and waits.
class SampleFile {
 public:
  SampleFile() {
    std::string name = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    folder_ = name;
    fill();
  }
  ~SampleFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  SampleFile(const SampleFile&) = delete;
  SampleFile& operator=(const SampleFile&) = delete;

  [[nodiscard]] std::string path() const { return folder_ / "tasks.db"; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::string id(const std::string& name) const { return ids_.at(name).text(); }
  [[nodiscard]] TaskId task_id(const std::string& name) const { return ids_.at(name); }
  [[nodiscard]] int seq(const std::string& name) const { return seqs_.at(name); }
  [[nodiscard]] ports::OpenStore open() const {
    auto store = sqlite::open({.path = path(), .synchronous = "off"}, clock());
    if (!store) throw std::runtime_error(store.error().text());
    return std::move(*store);
  }
  // Changes the file behind the store's back. Nobody may have it open.
  void plant(const std::string& sql) const { Database(path(), Database::Mode::write).execute(sql); }

  static inline const WallTime kStart = WallTime(std::chrono::seconds(1'800'000'000));

 private:
  static Clock& clock() {
    static testing::FakeClock clock;
    return clock;
  }

  void submit(ports::Store& store, const std::string& name, const std::string& queue) {
    const int seq = static_cast<int>(seqs_.size()) + 1;
    seqs_[name] = seq;
    ids_[name] = TaskId::parse(fmt::format("00000000-0000-7000-8000-{:012}", seq)).value();
    const auto accepted = ports::ask(store, ports::Submit{{{.id = ids_[name],
                                                            .type = "send",
                                                            .queue = queue,
                                                            .payload = "to " + name,
                                                            .created = kStart,
                                                            .due = kStart,
                                                            .key = "key of " + name}}});
    if (!accepted.value().at(0)) throw std::runtime_error(accepted->at(0).error().text());
  }

  static ports::TaskRecord claim(ports::Store& store, WallTime now) {
    ports::Claim verb{.queue = "mail", .max = 1, .owner = "worker-1", .now = now};
    return ports::ask(store, std::move(verb)).value().tasks.at(0);
  }

  static void settle(ports::Store& store, const ports::TaskRecord& record,
                     const core::Outcome& outcome, Verdict verdict, WallTime now) {
    testing::FakeRandom random;
    const core::TaskPolicy policy{.wait = retry::fixed(std::chrono::hours(1))};
    ports::Change::One change{
        .id = record.id,
        .token = record.task.token,
        .transition = core::decide(record.task, outcome, verdict, policy, now, random).value(),
        .result = "sent"};
    if (const auto& failure = change.transition.failure) {
      change.fingerprint = fingerprint(failure->message);
    }
    change_one(store, std::move(change));
  }

  static void change_one(ports::Store& store, ports::Change::One change) {
    const auto done = ports::ask(store, ports::Change{{std::move(change)}});
    if (done.value().at(0) != ports::Change::Done::applied) throw std::runtime_error("moved on");
  }

  void fill() {
    const auto store = open();
    ports::Store& writer = *store.writer;
    const Failure refused{.message = "connection refused"};
    const Verdict retry{.kind = VerdictKind::retry};

    submit(writer, "succeeded", "mail");
    settle(writer, claim(writer, kStart), core::Success{}, retry, kStart);
    submit(writer, "failed", "mail");
    settle(writer, claim(writer, kStart), Failure{.message = "no such user"},
           {.kind = VerdictKind::give_up}, kStart);
    submit(writer, "dead", "mail");
    settle(writer, claim(writer, kStart), refused, {.kind = VerdictKind::ambiguous}, kStart);
    submit(writer, "canceled", "mail");
    const auto canceled = claim(writer, kStart);
    change_one(writer, {.id = canceled.id,
                        .token = canceled.task.token,
                        .transition = core::cancel(canceled.task, kStart).value()});
    submit(writer, "again", "mail");
    for (int hours = 0; hours < 3; ++hours) {
      const WallTime now = kStart + std::chrono::hours(hours);
      settle(writer, claim(writer, now), refused, retry, now);
    }
    submit(writer, "running", "mail");
    (void)claim(writer, kStart);
    submit(writer, "pending", "mail");
    submit(writer, "other", "slow");
  }

  std::filesystem::path folder_;
  std::map<std::string, TaskId> ids_;
  std::map<std::string, int> seqs_;
};

}  // namespace holdfast::stores::sqlite
