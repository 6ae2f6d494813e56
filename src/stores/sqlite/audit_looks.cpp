#include "stores/sqlite/audit_looks.hpp"

#include "core/states.hpp"
#include "ports/records.hpp"

namespace holdfast::stores::sqlite {
namespace {

// The numbers in the texts below are those of core::State, core::Event, core::DeadReason and
// FailureKind, as the file keeps them.
static_assert(static_cast<int>(core::State::pending) == 0);
static_assert(static_cast<int>(core::State::retrying) == 2);
static_assert(static_cast<int>(core::State::failed) == 4);
static_assert(static_cast<int>(core::State::dead) == 5);
static_assert(static_cast<int>(core::State::canceled) == 6);
static_assert(static_cast<int>(core::Event::success) == 1);
static_assert(static_cast<int>(core::Event::error) == 3);
static_assert(static_cast<int>(core::Event::close) == 14);
static_assert(static_cast<int>(core::DeadReason::ambiguous) == 2);
static_assert(static_cast<int>(core::DeadReason::replays) == 5);
static_assert(ports::kKeptAttempts == 20);

// A name can be anything but missing: tasks are found by it.
std::string nameless(const std::string& column) {
  return "not exists (select 1 from name where id = " + column + ")";
}

std::string give_name(const std::string& column) {
  return "insert or ignore into name select distinct " + column + ", 'unnamed-' || " + column +
         " $";
}

std::vector<Fault> of_settings() {
  return {
      Fault{nameless("q.queue"), "'the settings of queue number ' || q.queue || ' have no name'",
            give_name("q.queue")},
      Fault{"q.paused not in (0, 1) or q.concurrency not between 0 and 2147483647",
            "'the settings of queue number ' || q.queue || ' are paused ' || q.paused ||"
            " ', concurrency ' || q.concurrency",
            "update queue set paused = (paused <> 0),"
            " concurrency = min(max(cast(concurrency as integer), 0), 2147483647)"
            " where queue in (select q.queue $)"},
  };
}

std::vector<Fault> of_tasks() {
  return {
      Fault{"typeof(t.id) <> 'blob' or length(t.id) <> 16",
            "'has an id that is none (row ' || t.seq || ')'"},
      Fault{"typeof(t.queue) <> 'integer' or typeof(t.type) <> 'integer'"
            " or typeof(t.priority) <> 'integer' or typeof(t.created) <> 'integer'"
            " or typeof(t.token) <> 'integer' or typeof(t.due) <> 'integer'"
            " or typeof(t.changed) <> 'integer' or typeof(t.previous_wait) <> 'integer'"
            " or typeof(t.deadline) not in ('integer', 'null')"
            " or typeof(t.own_attempts) not in ('integer', 'null')"
            " or typeof(t.own_timeout) not in ('integer', 'null')",
            "'has something else where a number should be'",
            "update task set queue = cast(queue as integer), type = cast(type as integer),"
            " priority = cast(priority as integer), created = cast(created as integer),"
            " token = cast(token as integer), due = cast(due as integer),"
            " changed = cast(changed as integer), previous_wait = cast(previous_wait as integer),"
            " deadline = cast(deadline as integer), own_attempts = cast(own_attempts as integer),"
            " own_timeout = cast(own_timeout as integer) where seq in (select t.seq $)"},
      Fault{"t.state not in (0, 2)", "'has state ' || t.state || ', in which no task waits'",
            "update task set state = 0 where seq in (select t.seq $)"},
      Fault{"t.token < 0", "'has the token ' || t.token",
            "update task set token = max(coalesce((select max(token) from attempt a"
            " where a.seq = task.seq), 0), 0) where seq in (select t.seq $)"},
      Fault{"t.attempts not between 0 and 2147483647 or t.crashes not between 0 and 2147483647"
            " or t.deferrals not between 0 and 2147483647"
            " or t.replays not between 0 and 2147483647",
            "'has spent ' || t.attempts || ' attempts, ' || t.crashes || ' crashes, ' ||"
            " t.deferrals || ' deferrals, ' || t.replays || ' replays'",
            "update task set attempts = min(max(cast(attempts as integer), 0), 2147483647),"
            " crashes = min(max(cast(crashes as integer), 0), 2147483647),"
            " deferrals = min(max(cast(deferrals as integer), 0), 2147483647),"
            " replays = min(max(cast(replays as integer), 0), 2147483647)"
            " where seq in (select t.seq $)"},
      Fault{nameless("t.queue"), "'is in queue number ' || t.queue || ', which has no name'",
            give_name("t.queue")},
      Fault{nameless("t.type"), "'is of type number ' || t.type || ', which has no name'",
            give_name("t.type")},
  };
}

std::string waits_as(const std::string& row, const std::string& priority) {
  return "'(queue ' || " + row + ".queue || ', priority ' || " + priority + " || ', due ' || " +
         row + ".due || ', ' || case " + row +
         ".state when 0 then 'pending' when 2 then 'retrying' else 'state ' || " + row +
         ".state end || ', token ' || " + row + ".token || ')'";
}

std::vector<Fault> of_waiting() {
  return {
      Fault{"t.seq is null",
            "'waiting holds row ' || w.seq || ' of queue ' || w.queue || ', which is no task'",
            "delete from waiting where (queue, rank, due, seq) in"
            " (select w.queue, w.rank, w.due, w.seq $)"},
      Fault{"t.seq is not null and (w.queue is not t.queue or w.rank is not -t.priority"
            " or w.due is not t.due or w.state is not t.state or w.token is not t.token)",
            "'waits as ' || " + waits_as("w", "-w.rank") + " || ', but is ' || " +
                waits_as("t", "t.priority"),
            "insert or replace into waiting"
            " select queue, -priority, due, seq, state, token from task"
            " where seq in (select w.seq $) and seq not in (select seq from running)"
            " and seq not in (select seq from parked) and seq not in (select seq from succeeded);"
            "delete from waiting where (queue, rank, due, seq) in"
            " (select w.queue, w.rank, w.due, w.seq $)",
            Fault::Kind::misplaced},
  };
}

std::vector<Fault> of_places() {
  return {
      // The row may be older than what the task went through: so the greatest token that is known.
      Fault{"w.seq is null and r.seq is null and p.seq is null and s.seq is null",
            "'stands nowhere: it does not wait or run, and has not ended'",
            "update task set state = 0, token = max(token + 1, coalesce("
            "(select max(token) from attempt a where a.seq = task.seq), 0))"
            " where seq in (select t.seq $);"
            "insert into waiting select queue, -priority, due, seq, state, token from task"
            " where seq in (select t.seq $)",
            Fault::Kind::nowhere},
      Fault{"(w.seq is not null) + (r.seq is not null) + (p.seq is not null)"
            " + (s.seq is not null) > 1",
            "'stands in more than one place: ' || rtrim(iif(w.seq is null, '', 'waits, ') ||"
            " iif(r.seq is null, '', 'runs, ') || iif(p.seq is null, '', 'is parked, ') ||"
            " iif(s.seq is null, '', 'has succeeded'), ', ') || '; the last of these counts'",
            "delete from parked where seq in (select t.seq $ and s.seq is not null);"
            "delete from running where seq in"
            " (select t.seq $ and (s.seq is not null or p.seq is not null));"
            "delete from waiting where (queue, rank, due, seq) in"
            " (select w.queue, w.rank, w.due, w.seq $)"},
  };
}

std::vector<Fault> of_running() {
  return {
      Fault{"t.seq is null", "'running holds row ' || r.seq || ', which is no task'",
            "delete from running where seq in (select r.seq $)"},
      Fault{"typeof(r.token) <> 'integer' or typeof(r.started) <> 'integer'"
            " or typeof(r.lease_end) <> 'integer'",
            "'runs, with something else where a number should be'",
            "update running set token = cast(token as integer), started = cast(started as integer),"
            " lease_end = cast(lease_end as integer) where seq in (select r.seq $)"},
      // Tokens only grow, so the greater one is right.
      Fault{"t.seq is not null and r.token is not t.token + 1",
            "'runs with token ' || r.token || ', but was claimed with ' || (t.token + 1)",
            "update task set token = (select r.token - 1 from running r where r.seq = task.seq)"
            " where seq in (select t.seq $ and r.token > t.token);"
            "update running set token = (select t.token + 1 from task t where t.seq = running.seq)"
            " where seq in (select r.seq $)"},
      Fault{nameless("r.owner"), "'runs for owner number ' || r.owner || ', which has no name'",
            give_name("r.owner")},
  };
}

std::vector<Fault> of_succeeded() {
  return {
      Fault{"t.seq is null", "'succeeded holds row ' || s.seq || ', which is no task'",
            "delete from succeeded where seq in (select s.seq $)"},
      Fault{"s.token < t.token",
            "'has succeeded with token ' || s.token || ', before it was claimed last'",
            "update succeeded set token = (select t.token + 1 from task t"
            " where t.seq = succeeded.seq) where seq in (select s.seq $)"},
      Fault{"s.event not between 0 and 14",
            "'has succeeded by event ' || s.event || ', which is none'",
            "update succeeded set event = 1 where seq in (select s.seq $)"},
      Fault{nameless("s.owner"),
            "'has succeeded for owner number ' || s.owner || ', which has no name'",
            give_name("s.owner")},
  };
}

// What cannot be told any more is for a person to look at: ambiguous.
std::vector<Fault> of_parked() {
  return {
      Fault{"t.seq is null", "'parked holds row ' || p.seq || ', which is no task'",
            "delete from parked where seq in (select p.seq $)"},
      Fault{"p.state not between 4 and 6", "'is parked in state ' || p.state || ', which is none'",
            "update parked set state = 5, reason = 2 where seq in (select p.seq $)",
            Fault::Kind::ungrouped},
      Fault{"p.state = 5 and p.reason is null", "'is dead without a reason'",
            "update parked set reason = 2 where seq in (select p.seq $)"},
      Fault{"p.reason not between 0 and 5",
            "'is parked for reason ' || p.reason || ', which is none'",
            "update parked set reason = iif(state = 5, 2, null) where seq in (select p.seq $)"},
      Fault{"p.state = 6 and p.fingerprint is not null",
            "'is canceled, but in a group of failures'",
            "update parked set fingerprint = null where seq in (select p.seq $)"},
      Fault{"p.token < t.token",
            "'is parked with token ' || p.token || ', before it was claimed last'",
            "update parked set token = (select t.token + 1 from task t where t.seq = parked.seq)"
            " where seq in (select p.seq $)"},
      Fault{"p.state in (4, 5) and p.fingerprint is null",
            "'is ' || iif(p.state = 4, 'failed', 'dead') || ', but in no group of failures'", "",
            Fault::Kind::ungrouped},
  };
}

std::vector<Fault> of_attempts() {
  return {
      Fault{"t.seq is null",
            "'attempt holds row ' || a.seq || ', token ' || a.token || ', which is of no task'",
            "delete from attempt where (seq, token) in (select a.seq, a.token $)"},
      Fault{"a.event not between 0 and 14",
            "'has an attempt (token ' || a.token || ') that ended by event ' || a.event ||"
            " ', which is none'",
            "update attempt set event = 3 where (seq, token) in (select a.seq, a.token $)"},
      Fault{"a.kind not between 0 and 2",
            "'has an attempt (token ' || a.token || ') with a failure of kind ' || a.kind ||"
            " ', which is none'",
            "update attempt set kind = 0 where (seq, token) in (select a.seq, a.token $)"},
      Fault{nameless("a.owner"),
            "'has an attempt (token ' || a.token || ') for owner number ' || a.owner ||"
            " ', which has no name'",
            give_name("a.owner")},
  };
}

// The latest failure is kept before all others, as it is when attempts are written.
std::vector<Fault> of_histories() {
  return {
      Fault{
          "h.count > 20", "'has ' || h.count || ' attempts in its history; 20 are kept'",
          "delete from attempt where (seq, token) in (select seq, token from"
          " (select seq, token, row_number() over (partition by seq order by token is"
          " (select max(token) from attempt b where b.seq = c.seq and b.message is not null) desc,"
          " token desc) as place from attempt c where seq in (select h.seq $)) where place > 20)"},
  };
}

std::vector<Fault> of_keys() {
  return {
      Fault{"t.seq is null",
            "'the key \"' || k.key || '\" leads to row ' || k.seq || ', which is no task'",
            "delete from idempotency_key where key in (select k.key $)"},
      Fault{"t.seq is not null and t.key is not k.key",
            "'is led to by the key \"' || k.key || '\", which it does not have'",
            "delete from idempotency_key where key in (select k.key $)"},
  };
}

std::vector<Fault> of_keyed() {
  return {
      Fault{"k.seq is null", "'has the key \"' || t.key || '\", which does not lead to it'",
            "insert or ignore into idempotency_key select t.key, t.seq $ order by t.seq;"
            "update task set key = null where seq in (select t.seq"
            " from task t join idempotency_key k on k.key = t.key where k.seq <> t.seq)"},
      Fault{"k.seq is not null and k.seq is not t.seq",
            "'has the key \"' || t.key || '\", which is that of another task'",
            "update task set key = null where seq in (select t.seq $)"},
  };
}

}  // namespace

const Look& audit_look_since_2() {
  static const Look look{
      "limits of queues",
      "queue q",
      false,
      {Fault{"q.backlog not between 0 and 2147483647",
             "'the settings of queue number ' || q.queue || ' are backlog ' || q.backlog",
             "update queue set backlog = min(max(cast(backlog as integer), 0), 2147483647)"
             " where queue in (select q.queue $)"}}};
  return look;
}

const Look& audit_look_since_3() {
  static const Look look{
      "what brokers carry",
      "carried c left join task t on t.seq = c.seq",
      true,
      {Fault{"t.seq is null", "'carried holds row ' || c.seq || ', which is no task'",
             "delete from carried where seq in (select c.seq $)"}}};
  return look;
}

const Look& audit_look_since_4() {
  static const Look look{
      "what is brought back",
      "task t",
      true,
      {Fault{"t.retry_on_failure is null or t.retry_on_failure not in (0, 1)",
             "'has retry_on_failure ' || coalesce(t.retry_on_failure, 'null')",
             "update task set retry_on_failure = false where seq in (select t.seq $)"}}};
  return look;
}

namespace {

std::vector<Look> looks_at_tasks() {
  return {
      {"settings of queues", "queue q", false, of_settings()},
      {"tasks", "task t", true, of_tasks()},
      {"waiting tasks", "waiting w left join task t on t.seq = w.seq", true, of_waiting()},
      {"places of tasks",
       "task t left join waiting w on w.queue = t.queue and w.rank = -t.priority"
       " and w.due = t.due and w.seq = t.seq left join running r on r.seq = t.seq"
       " left join parked p on p.seq = t.seq left join succeeded s on s.seq = t.seq",
       true, of_places()},
      {"running tasks", "running r left join task t on t.seq = r.seq", true, of_running()},
      {"succeeded tasks", "succeeded s left join task t on t.seq = s.seq", true, of_succeeded()},
      {"failed, dead and canceled tasks", "parked p left join task t on t.seq = p.seq", true,
       of_parked()},
      {"attempts", "attempt a left join task t on t.seq = a.seq", true, of_attempts()},
      {"histories",
       "(select seq, count(*) as count from attempt group by seq) h join task t on t.seq = h.seq",
       true, of_histories()},
      {"keys", "idempotency_key k left join task t on t.seq = k.seq", true, of_keys()},
      {"tasks with keys",
       "(select seq, id, key from task where key is not null) t"
       " left join idempotency_key k on k.key = t.key",
       true, of_keyed()},
  };
}

}  // namespace

const std::vector<Look>& audit_looks() {
  static const std::vector<Look> looks = [] {
    std::vector<Look> all = looks_at_tasks();
    for (Look& look : audit_looks_at_groups())
      all.push_back(std::move(look));
    return all;
  }();
  return looks;
}

}  // namespace holdfast::stores::sqlite
