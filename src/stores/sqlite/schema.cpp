#include "stores/sqlite/schema.hpp"

#include <array>
#include <string_view>

namespace holdfast::stores::sqlite {
namespace {

// "HfSt" in the file's header, so that another program's database is not taken for ours.
constexpr int kApplicationId = 0x48665374;

// A task has one wide row in `task`, written when it is submitted and again only when it is put
// off, and one narrow row in exactly one of `waiting`, `running`, `succeeded` and `parked`: that
// is where it stands. So the way of a task that succeeds at once moves narrow rows only.
constexpr std::string_view kVersion1 = R"sql(
-- Queues, types and owners, as small numbers in all other tables.
create table name (
  id integer primary key,
  text text not null unique
);

create table queue (
  queue integer primary key,
  paused integer not null,
  concurrency integer not null
);

-- How many there are: `what` is a state (0–6: present), 10 + a state (removed), or 20 (accepted).
create table tally (
  queue integer not null,
  what integer not null,
  count integer not null,
  primary key (queue, what)
) without rowid;

-- state, token, due, changed: as the task waits, or waited when it was claimed last.
-- The payload comes last, so that the rest is read without it.
create table task (
  seq integer primary key,
  id blob not null,
  queue integer not null,
  type integer not null,
  priority integer not null,
  created integer not null,
  state integer not null,
  token integer not null,
  due integer not null,
  changed integer not null,
  attempts integer not null,
  crashes integer not null,
  deferrals integer not null,
  replays integer not null,
  previous_wait integer not null,
  deadline integer,
  own_attempts integer,
  own_timeout integer,
  key text,
  payload blob not null
);
create unique index task_by_id on task (id);

-- rank is the priority with its sign turned: claims go by ascending order.
create table waiting (
  queue integer not null,
  rank integer not null,
  due integer not null,
  seq integer not null,
  state integer not null,
  token integer not null,
  primary key (queue, rank, due, seq)
) without rowid;
create index waiting_retrying on waiting (queue, rank, due, seq) where state = 2;

create table running (
  seq integer primary key,
  token integer not null,
  owner integer not null,
  started integer not null,
  lease_end integer not null
);

create table succeeded (
  seq integer primary key,
  token integer not null,
  owner integer not null,
  started integer not null,
  ended integer not null,
  event integer not null,
  result blob
);
create index succeeded_by_end on succeeded (ended);

-- failed, dead and canceled. first_error is of the group: see failure_group.
create table parked (
  seq integer primary key,
  state integer not null,
  token integer not null,
  ended integer not null,
  reason integer,
  fingerprint integer
);
create index parked_by_end on parked (state, ended);
create index parked_by_group on parked (state, fingerprint, ended) where fingerprint is not null;

create table failure_group (
  state integer not null,
  fingerprint integer not null,
  count integer not null,
  first_seen integer not null,
  last_seen integer not null,
  example text not null,
  primary key (state, fingerprint)
) without rowid;

-- Attempts that ended otherwise than well; message is null where there was no failure.
create table attempt (
  seq integer not null,
  token integer not null,
  event integer not null,
  started integer not null,
  ended integer not null,
  owner integer not null,
  kind integer,
  http_status integer,
  exit_code integer,
  os_error integer,
  retry_after integer,
  message text,
  primary key (seq, token)
) without rowid;

create table idempotency_key (
  key text primary key,
  seq integer not null
) without rowid;
)sql";

// Columns are added at the end of their tables, behind the payload: what is read without the
// payload (pages of tasks) should do without the trace, too.
constexpr std::string_view kVersion2 = R"sql(
alter table task add column trace text;
alter table queue add column backlog integer not null default 0;
)sql";

// With which token a broker last had a message for the task: of queues that a broker carries only,
// so that all others pay nothing for it.
constexpr std::string_view kVersion3 = R"sql(
create table carried (
  seq integer primary key,
  token integer not null
);
)sql";

// Whether a queue may bring it back by itself (C2.1). The default is the answer for the rows that
// are there: none of them is without one, and none is rewritten for it.
constexpr std::string_view kVersion4 = R"sql(
alter table task add column retry_on_failure boolean default false;
)sql";

// What groups of failures are made of, for whatever comes to them from now on; `whole`: all that is
// in it was counted. Counted are the tasks of a queue and type that are in it now, and how many
// came in a slot of ten minutes since 1970. The pages of groups go by when they were seen last.
//
// Notes are for what belongs to no task. They have rowids: their texts may be long.
constexpr std::string_view kVersion5 = R"sql(
alter table failure_group add column errors integer not null default 0;
alter table failure_group add column timeouts integer not null default 0;
alter table failure_group add column crashes integer not null default 0;
alter table failure_group add column whole integer not null default 0;
create index failure_group_by_last_seen on failure_group (last_seen);

create table group_part (
  state integer not null,
  fingerprint integer not null,
  queue integer not null,
  type integer not null,
  count integer not null,
  primary key (state, fingerprint, queue, type)
) without rowid;

create table group_slot (
  state integer not null,
  fingerprint integer not null,
  slot integer not null,
  count integer not null,
  primary key (state, fingerprint, slot)
) without rowid;

create table note (
  shelf blob not null,
  key blob not null,
  version integer not null,
  text blob not null,
  primary key (shelf, key)
);
)sql";

// Each entry brings a file from the version before to its own. Entries are never changed once
// released: files of that version exist.
constexpr std::array kVersions{kVersion1, kVersion2, kVersion3, kVersion4, kVersion5};

bool has_table(Database& database, std::string_view name) {
  bool found = false;
  Statement statement(database, "select 1 from sqlite_master where type = 'table' and name = ?1");
  statement.first([&](Row) { found = true; }, name);
  return found;
}

}  // namespace

int newest_version() noexcept {
  return static_cast<int>(kVersions.size());
}

Result<int> version_of(Database& database, const std::string& path) {
  const bool empty = database.number("select count(*) from sqlite_master") == 0;
  if (empty) return 0;
  if (database.number("pragma application_id") != kApplicationId ||
      !has_table(database, "schema_version")) {
    return fail(ErrorCode::invalid_argument, "open " + path,
                "is an SQLite database, but not one of Holdfast's; it is left as it is");
  }
  const auto found = static_cast<int>(database.number("select max(version) from schema_version"));
  if (found <= newest_version()) return found;
  return fail(ErrorCode::invalid_argument, "open " + path,
              "was written by a newer Holdfast (schema " + std::to_string(found) +
                  "; this one knows up to " + std::to_string(newest_version()) +
                  "): use that one; the file is left as it is");
}

Result<int> migrate(Database& database, const std::string& path, WallTime now) {
  const Result<int> found = version_of(database, path);
  if (!found || *found == newest_version()) return found;
  database.execute("begin immediate");
  if (*found == 0) {
    database.execute("pragma application_id = " + std::to_string(kApplicationId));
    database.execute(
        "create table schema_version (version integer primary key, applied integer not null)");
  }
  for (int version = *found + 1; version <= newest_version(); ++version) {
    database.execute(std::string(kVersions[static_cast<std::size_t>(version - 1)]));
    Statement(database, "insert into schema_version values (?1, ?2)").run(version, now);
  }
  database.execute("commit");
  return found;
}

}  // namespace holdfast::stores::sqlite
