#include <gtest/gtest.h>

#include <holdfast/classify.hpp>

#include "core/preset_rows.hpp"

namespace holdfast::preset_database_test {
namespace {

using enum VerdictKind;

TEST(DatabasePreset, database_that_gives_up) {
  expect_rows({
      {"ERROR: duplicate key value violates unique constraint \"users_email_key\" (SQLSTATE 23505)",
       give_up, "database.duplicate"},
      {"(1062, \"Duplicate entry 'a@b.c' for key 'users.email'\")", give_up, "database.duplicate"},
      {"UNIQUE constraint failed: users.email", give_up, "database.duplicate"},
      {"E11000 duplicate key error collection: a.b index: _id_", give_up, "database.duplicate"},
      {"insert or update on table \"a\" violates foreign key constraint \"a_b_fkey\"", give_up,
       "database.constraint"},
      {"FOREIGN KEY constraint failed", give_up, "database.constraint"},
      {"null value in column \"x\" of relation \"a\" violates not-null constraint", give_up,
       "database.constraint"},
      {"syntax error at or near \"SELCT\"", give_up, "database.syntax"},
      {"near \"SELCT\": syntax error", give_up, "database.syntax"},
      {"You have an error in your SQL syntax; check the manual", give_up, "database.syntax"},
      {"relation \"tasks\" does not exist", give_up, "database.undefined"},
      {"column \"x\" of relation \"tasks\" does not exist", give_up, "database.undefined"},
      {"Table 'shop.tasks' doesn't exist", give_up, "database.undefined"},
      {"no such table: tasks", give_up, "database.undefined"},
      {"permission denied for table tasks", give_up, "database.not-allowed"},
      {"connection to server at \"10.0.0.5\", port 5432 failed: FATAL:  password authentication "
       "failed "
       "for user \"app\"",
       give_up, "database.not-allowed"},
      {"NOAUTH Authentication required.", give_up, "database.not-allowed"},
      {"WRONGTYPE Operation against a key holding the wrong kind of value", give_up,
       "database.bad-value"},
      {"invalid input syntax for type integer: \"abc\"", give_up, "database.bad-value"},
      {"error: value too long for type character varying(5), code: '22001'", give_up,
       "database.bad-value"},
      {"database disk image is malformed", give_up, "database.corrupt"},
  });
}

TEST(DatabasePreset, database_that_recovers) {
  expect_rows({
      {"ERROR: deadlock detected (SQLSTATE 40P01)", retry, "database.conflict"},
      {"Deadlock found when trying to get lock; try restarting transaction", retry,
       "database.conflict"},
      {"could not serialize access due to concurrent update", retry, "database.conflict"},
      {"SQLSTATE[40001]: retry the transaction", retry, "database.conflict"},
      {"Lock wait timeout exceeded; try restarting transaction", retry, "database.locked"},
      {"SQLITE_BUSY: database is locked", retry, "database.locked"},
      {"FATAL: sorry, too many clients already", retry, "database.connections"},
      {"Too many connections", retry, "database.connections"},
      {"FATAL:  the database system is starting up", retry, "database.starting"},
      {"cannot execute INSERT in a read-only transaction", retry, "database.starting"},
      {"server closed the connection unexpectedly\n\tThis probably means the server terminated "
       "abnormally",
       retry, "database.connection-lost"},
      {"MySQL server has gone away", retry, "database.connection-lost"},
      {"canceling statement due to statement timeout", retry, "database.too-slow"},
      {"LOADING Redis is loading the dataset in memory", retry, "database.redis-busy"},
      {"READONLY You can't write against a read only replica.", retry, "database.redis-busy"},
      {"CLUSTERDOWN The cluster is down", retry, "database.redis-busy"},
      {"BUSY Redis is busy running a script.", retry, "database.redis-busy"},
      {"OOM command not allowed when used memory > 'maxmemory'.", retry, "database.full"},
  });
}

TEST(DatabasePreset, a_connection_lost_at_the_commit_is_ambiguous) {
  const char* rule = "database.commit-unknown";
  expect_rows({
      {"COMMIT failed: server closed the connection unexpectedly", ambiguous, rule},
      {"failed to commit: unexpected: connection reset by peer", ambiguous, rule},
      {"connection lost while committing transaction", ambiguous, rule},
      {"ERROR: result is ambiguous (error=rpc error) (SQLSTATE 40003)", ambiguous, rule},
      {"failed to fetch commit 1f3a9c: connection reset by peer", retry, "network.connection-lost"},
  });
}

}  // namespace
}  // namespace holdfast::preset_database_test
