#include "stores/redis/store.hpp"

#include <algorithm>
#include <utility>

#include "stores/redis/layout.hpp"
#include "stores/redis/scripts.hpp"

namespace holdfast::stores::redis {

using ports::Asked;
using ports::Claim;
using ports::Submit;

namespace {

std::unexpected<Error> refusal() {
  return fail(ErrorCode::invalid_argument, "store", "a reader was asked to change something");
}

// Tasks that follow each other and are alike, as their script is handed them.
struct Submissions {
  std::size_t queue;  // which, from 1
  unsigned flags;
  int priority;
  WordList words = {};  // kSubmissionWords for each

  [[nodiscard]] bool takes(const Submissions& other) const {
    return queue == other.queue && flags == other.flags && priority == other.priority;
  }
  void add(const ports::NewTask& task) {
    words.add(id_bytes(task.id));
    add_number(words, microseconds(task.due));
    append_new_record(words, task);
  }
};
constexpr std::size_t kSubmissionWords = 4;
constexpr std::size_t kSubmissionHeadWords = 4;

Submissions alike(const ports::NewTask& task, std::size_t queue) {
  return {.queue = queue,
          .flags = (task.key.empty() ? 0U : 1U) | (task.delivered ? 2U : 0U),
          .priority = task.priority};
}

Result<Submit::Accepted> accepted(std::string_view told, const ports::NewTask& task) {
  const char how = told.empty() ? ' ' : told.front();
  const auto other = [&] { return task_id(told.substr(1)); };
  switch (how) {
    case 'a': return Submit::Accepted{.id = task.id, .existed = false};
    case 'e': return Submit::Accepted{.id = other(), .existed = true};
    case 'k':
      return fail(ErrorCode::conflict, "submit",
                  "the key \"" + task.key + "\" belongs to task " + other().text() +
                      ", which has another type, queue or payload");
    case 'i':
      return fail(ErrorCode::conflict, "submit",
                  "task " + task.id.text() + " exists with another type, queue, payload or key");
    case 'f':
      return fail(ErrorCode::overloaded, "submit",
                  "as many tasks wait in queue \"" + task.queue + "\" as its backlog allows (" +
                      std::string(told.substr(1)) + "): try again later");
    default: return not_ours("the answer of submit");
  }
}

// The record of a task that was claimed, from what it was while it waited.
std::optional<ports::TaskRecord> claimed(std::string_view record, std::string_view attempts,
                                         const Claim& verb, WallTime now, WallTime lease_end,
                                         const TaskId& id) {
  auto kept = read_record(id, record);
  if (!kept || !read_last_failure(attempts, kept->record)) return std::nullopt;
  ports::TaskRecord& task = kept->record;
  task.queue = verb.queue;
  task.key.clear();
  task.waited_as = task.task.state;
  task.was_due = task.task.due;
  task.task.state = core::State::running;
  ++task.task.token.value;
  task.task.due = now;
  task.changed = now;
  task.owner = verb.owner;
  task.lease_end = lease_end;
  return std::move(task);
}

}  // namespace

std::unexpected<Error> not_ours(const std::string& what) {
  return fail(ErrorCode::corrupt, "store", what + " is not what was written: run holdfast verify");
}

RedisStore::RedisStore(SessionOptions session, Options options)
    : options_(std::move(options)),
      root_("{" + options_.space + "}"),
      session_(std::move(session)) {}

void RedisStore::carry_out(std::span<ports::Request> batch) {
  for (ports::Request& request : batch) {
    if (options_.only_reads && !ports::is_query(request)) {
      std::visit([](auto& asked) { asked.answer = refusal(); }, request);
      continue;
    }
    std::visit([this](auto& asked) { plan(asked); }, request);
  }
  flush();
}

void RedisStore::call(const Script& script, const Words& words) {
  pipeline_.call(script, root_, words);
}

// The caller is this store and the place in the pipeline, so that each place has one last answer;
// the number is new with each pipeline, and the same when that is sent again.
void RedisStore::call_once(const Script& script, const Words& words) {
  if (call_text_.empty()) call_text_ = std::to_string(++call_);
  const std::string caller = options_.instance + "." + std::to_string(pipeline_.size());
  Words all;
  all.reserve(words.size() + 2);
  all.push_back(caller);
  all.push_back(call_text_);
  all.insert(all.end(), words.begin(), words.end());
  pipeline_.call(script, root_, all);
}

void RedisStore::then(std::size_t first, std::move_only_function<void(Replies)> answered) {
  planned_.push_back({first, pipeline_.size() - first, std::move(answered)});
}

void RedisStore::flush() {
  std::vector<Result<OwnedReply>> replies;
  if (!pipeline_.empty()) replies = session_.run(pipeline_);
  pipeline_.clear();
  call_text_.clear();
  for (Planned& planned : std::exchange(planned_, {})) {
    planned.answered(Replies(replies).subspan(planned.first, planned.calls));
  }
}

Result<OwnedReply> RedisStore::ask_now(const Script& script, const Words& words) {
  flush();
  call(script, words);
  return run_now();
}

Result<OwnedReply> RedisStore::ask_now_once(const Script& script, const Words& words) {
  flush();
  call_once(script, words);
  return run_now();
}

Result<OwnedReply> RedisStore::run_now() {
  auto replies = session_.run(pipeline_);
  pipeline_.clear();
  call_text_.clear();
  return std::move(replies.at(0));
}

std::string RedisStore::told_time(WallTime now) const {
  return options_.time_is_told ? std::to_string(microseconds(now)) : "";
}

void RedisStore::learn_time(std::string_view eight_bytes) {
  if (options_.clock && eight_bytes.size() == 8) options_.clock->told(wall_time(eight_bytes));
}

void RedisStore::plan(Asked<Submit>& asked) {
  const std::vector<ports::NewTask>& tasks = asked.verb.tasks;
  asked.answer = Submit::Answer();
  const std::size_t first = pipeline_.size();
  std::vector<std::size_t> sent;  // those that are not refused here
  for (std::size_t at = 0; at < tasks.size();) {
    Words queues;
    std::vector<Submissions> companies;
    std::size_t bytes = 0;
    const std::size_t sent_before = sent.size();
    for (; at < tasks.size() && sent.size() - sent_before < kMostTasks && bytes < kMostBytes;
         ++at) {
      const ports::NewTask& task = tasks[at];
      if (task.payload.size() > ports::kMostPayloadBytes) continue;
      auto queue = std::ranges::find(queues, std::string_view(task.queue));
      if (queue == queues.end()) queue = queues.insert(queues.end(), task.queue);
      Submissions like = alike(task, static_cast<std::size_t>(queue - queues.begin()) + 1);
      if (companies.empty() || !companies.back().takes(like)) companies.push_back(std::move(like));
      companies.back().add(task);
      bytes += task.payload.size();
      sent.push_back(at);
    }
    if (companies.empty()) continue;
    const std::string many = std::to_string(queues.size());
    WordList heads;
    for (const Submissions& company : companies) {
      add_number(heads, static_cast<std::int64_t>(company.queue));
      add_number(heads, company.flags);
      add_number(heads, company.priority + 100);
      add_number(heads, static_cast<std::int64_t>(company.words.size() / kSubmissionWords));
    }
    Words words{many};
    words.insert(words.end(), queues.begin(), queues.end());
    std::size_t next = 0;
    for (const Submissions& company : companies) {
      for (std::size_t i = 0; i < kSubmissionHeadWords; ++i)
        words.push_back(heads[next++]);
      company.words.append_to(words);
    }
    call_once(scripts().submit, words);
  }
  then(first, [&asked, sent = std::move(sent)](Replies replies) {
    const std::vector<ports::NewTask>& all = asked.verb.tasks;
    Submit::Answer answers;
    for (const ports::NewTask& task : all) {
      answers.push_back(fail(ErrorCode::invalid_argument, "submit",
                             "a payload of " + std::to_string(task.payload.size()) +
                                 " bytes: at most " + std::to_string(ports::kMostPayloadBytes)));
    }
    std::size_t next = 0;
    for (auto& reply : replies) {
      if (!reply) {
        asked.answer = std::unexpected(reply.error());
        return;
      }
      for (std::size_t at = 0; at < reply->view().size() && next < sent.size(); ++at, ++next) {
        answers[sent[next]] = accepted(reply->view()[at].text(), all[sent[next]]);
      }
    }
    asked.answer = std::move(answers);
  });
}

void RedisStore::plan(Asked<Claim>& asked) {
  if (asked.verb.only) return plan_claim_these(asked);
  const Claim& verb = asked.verb;
  const std::size_t first = pipeline_.size();
  const std::string now = told_time(verb.now);
  const std::string lease =
      std::to_string(std::chrono::floor<std::chrono::microseconds>(verb.lease).count());
  const std::string bytes = std::to_string(kMostBytes);
  std::size_t left = verb.max;
  do {
    const std::string max = std::to_string(std::min(left, kMostTasks));
    call_once(scripts().claim, {now, verb.queue, max, verb.owner, lease, options_.instance, bytes});
    left -= std::min(left, kMostTasks);
  } while (left > 0);
  then(first, [this, &asked](Replies replies) {
    Claim::Answer answer;
    const auto owner = std::make_shared<const std::string>(asked.verb.owner);
    for (auto& reply : replies) {
      if (!reply) {
        if (!answer.tasks.empty()) break;  // what the calls before have given is claimed
        asked.answer = std::unexpected(reply.error());
        return;
      }
      const Reply told = reply->view();
      answer.blocked = told[0].text() == "1";
      answer.next_due =
          told[1].text().empty() ? std::nullopt : std::optional(wall_time(told[1].text()));
      learn_time(told[2].text());
      answer.tasks.reserve(answer.tasks.size() + told.size() / 3);
      for (std::size_t at = 4; at + 1 < told.size(); at += 3) {
        auto record =
            claimed(told[at + 1].text(), told[at + 2].text(), asked.verb, wall_time(told[2].text()),
                    wall_time(told[3].text()), task_id(told[at].text()));
        if (!record) {
          asked.answer = not_ours("a task of queue \"" + asked.verb.queue + "\"");
          return;
        }
        remember(record->id, {.token = record->task.token,
                              .head = std::string(told[at + 1].text().substr(0, kHeadBytes)),
                              .attempts = std::string(told[at + 2].text()),
                              .type = record->type,
                              .owner = owner,
                              .since = record->changed});
        answer.tasks.push_back(*std::move(record));
      }
    }
    asked.answer = std::move(answer);
  });
}

void RedisStore::plan_claim_these(Asked<Claim>& asked) {
  const Claim& verb = asked.verb;
  const std::size_t first = pipeline_.size();
  const std::string now = told_time(verb.now);
  const std::string lease =
      std::to_string(std::chrono::floor<std::chrono::microseconds>(verb.lease).count());
  const std::string max = std::to_string(verb.max);
  Words words{now, verb.queue, max, verb.owner, lease, options_.instance};
  for (const TaskId& id : *verb.only)
    words.push_back(id_bytes(id));
  call_once(scripts().claim_these, words);
  then(first, [this, &asked](Replies replies) {
    if (!replies[0]) {
      asked.answer = std::unexpected(replies[0].error());
      return;
    }
    const Reply told = replies[0]->view();
    Claim::Answer answer;
    answer.blocked = told[0].text() == "1";
    learn_time(told[1].text());
    for (std::size_t at = 0; at < asked.verb.only->size(); ++at) {
      const TaskId& id = (*asked.verb.only)[at];
      const std::string_view record = told[4 + 3 * at].text();
      if (told[3 + 3 * at].text() == "t") {
        auto task = claimed(record, told[5 + 3 * at].text(), asked.verb, wall_time(told[1].text()),
                            wall_time(told[2].text()), id);
        if (!task) {
          asked.answer = not_ours("task " + id.text());
          return;
        }
        answer.tasks.push_back(*std::move(task));
        continue;
      }
      Claim::Left& left = answer.left.emplace_back(Claim::Left{.id = id});
      if (record.empty()) continue;
      left.state = static_cast<core::State>(record[0]);
      left.token.value = read_big_endian(record.substr(19, 8));
      const bool waits =
          *left.state == core::State::pending || *left.state == core::State::retrying;
      if (waits) left.due = wall_time(record.substr(27, 8));
      left.carried =
          (record[1] & 4) != 0 && read_big_endian(record.substr(79, 8)) == left.token.value;
    }
    asked.answer = std::move(answer);
  });
}

void RedisStore::plan(Asked<ports::Renew>& asked) {
  const std::size_t first = pipeline_.size();
  std::string lease_end;
  append_8(lease_end, static_cast<std::uint64_t>(microseconds(asked.verb.lease_end)));
  std::vector<std::string> claims;
  for (const ports::Held& held : asked.verb.claims) {
    claims.emplace_back(id_bytes(held.id));
    append_8(claims.back(), held.token.value);
  }
  for (std::size_t at = 0; at < claims.size(); at += kMostTasks) {
    Words words{lease_end};
    const auto slice = std::span(claims).subspan(at, std::min(kMostTasks, claims.size() - at));
    words.insert(words.end(), slice.begin(), slice.end());
    call(scripts().renew, words);
  }
  then(first, [&asked](Replies replies) {
    ports::Renew::Answer answers;
    for (auto& reply : replies) {
      if (!reply) {
        asked.answer = std::unexpected(reply.error());
        return;
      }
      for (const char held : reply->view().text())
        answers.push_back(held == '1');
    }
    asked.answer = std::move(answers);
  });
}

void RedisStore::plan(Asked<ports::Overdue>& asked) {
  const std::size_t first = pipeline_.size();
  const std::string now = told_time(asked.verb.now);
  const std::string max = std::to_string(asked.verb.max);
  const std::string away =
      std::to_string(std::chrono::floor<std::chrono::microseconds>(options_.gone_after).count());
  // After a restart of the server everybody is away for a moment: who has just come back cannot
  // tell.
  const auto can_tell_now = [this] { return session_.connected_for() >= 3 * options_.gone_after; };
  const bool can_tell = can_tell_now();
  call(scripts().overdue, {now, asked.verb.sole_owner, max, away, can_tell ? "1" : "0"});
  then(first, [this, &asked, can_tell, can_tell_now](Replies replies) {
    if (!replies[0]) {
      asked.answer = std::unexpected(replies[0].error());
      return;
    }
    const Reply told = replies[0]->view();
    learn_time(told[0].text());
    const bool was_cut = can_tell && !can_tell_now();  // and sent again by one who has just come
    const bool by_lease_alone = was_cut && asked.verb.sole_owner.empty();
    ports::Overdue::Answer tasks;
    for (std::size_t at = 1; at + 4 < told.size(); at += 5) {
      const TaskId id = task_id(told[at].text());
      auto kept = read_record(id, told[at + 1].text());
      if (!kept || !read_last_failure(told[at + 2].text(), kept->record)) {
        asked.answer = not_ours("task " + id.text());
        return;
      }
      if (by_lease_alone && kept->record.lease_end >= wall_time(told[0].text())) continue;
      kept->record.queue = told[at + 3].text();
      kept->record.owner = told[at + 4].text();
      kept->record.key.clear();
      tasks.push_back(std::move(kept->record));
    }
    asked.answer = std::move(tasks);
  });
}

void RedisStore::plan(Asked<ports::Configure>& asked) {
  const ports::Configure& verb = asked.verb;
  for (const auto& [what, value] :
       {std::pair("concurrency", verb.concurrency), std::pair("backlog", verb.backlog)}) {
    if (!value || *value >= 0) continue;
    asked.answer = fail(ErrorCode::invalid_argument, "configure",
                        std::string("the ") + what + " of queue \"" + verb.queue + "\" cannot be " +
                            std::to_string(*value) + ": at least 0, which is no limit");
    return;
  }
  const std::size_t first = pipeline_.size();
  std::vector<std::pair<const char*, std::string>> settings;
  if (verb.paused) settings.emplace_back("paused", *verb.paused ? "1" : "0");
  if (verb.concurrency) settings.emplace_back("concurrency", std::to_string(*verb.concurrency));
  if (verb.backlog) settings.emplace_back("backlog", std::to_string(*verb.backlog));
  Words words{verb.queue};
  for (const auto& [setting, value] : settings) {
    words.emplace_back(setting);
    words.emplace_back(value);
  }
  call(scripts().configure, words);
  then(first, [&asked](Replies replies) {
    if (replies[0]) {
      asked.answer = ports::Configure::Answer();
    } else {
      asked.answer = std::unexpected(replies[0].error());
    }
  });
}

void RedisStore::plan(Asked<ports::Carried>& asked) {
  const std::size_t first = pipeline_.size();
  std::vector<std::string> tasks;
  for (const ports::Held& held : asked.verb.tasks) {
    tasks.emplace_back(id_bytes(held.id));
    append_8(tasks.back(), held.token.value);
  }
  for (std::size_t at = 0; at < tasks.size(); at += kMostTasks) {
    const auto slice = std::span(tasks).subspan(at, std::min(kMostTasks, tasks.size() - at));
    call(scripts().carried, Words(slice.begin(), slice.end()));
  }
  then(first, [&asked](Replies replies) {
    std::size_t noted = 0;
    for (auto& reply : replies) {
      if (!reply) {
        asked.answer = std::unexpected(reply.error());
        return;
      }
      noted += static_cast<std::size_t>(reply->view().integer());
    }
    asked.answer = noted;
  });
}

void RedisStore::plan(Asked<ports::Withdraw>& asked) {
  const std::size_t first = pipeline_.size();
  const std::vector<TaskId>& tasks = asked.verb.tasks;
  for (std::size_t at = 0; at < tasks.size(); at += kMostTasks) {
    Words words;
    for (std::size_t next = at; next < std::min(at + kMostTasks, tasks.size()); ++next)
      words.push_back(id_bytes(tasks[next]));
    call_once(scripts().withdraw, words);
  }
  then(first, [&asked](Replies replies) {
    ports::Withdraw::Answer answers;
    for (auto& reply : replies) {
      if (!reply) {
        asked.answer = std::unexpected(reply.error());
        return;
      }
      for (const char withdrawn : reply->view().text())
        answers.push_back(withdrawn == '1');
    }
    asked.answer = std::move(answers);
  });
}

}  // namespace holdfast::stores::redis
