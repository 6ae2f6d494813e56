#include "core/fingerprint.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace holdfast::fingerprint_test {
namespace {

using namespace std::string_literals;

TEST(Fingerprint, N1_what_is_different_stays_different) {
  const std::vector<std::pair<std::string_view, std::string_view>> pairs{
      {"Request failed with status code 404", "Request failed with status code 503"},
      {"HTTP 502", "HTTP 504"},
      {"HTTP/1.1 401 Unauthorized", "HTTP/1.1 403 Forbidden"},
      {"HTTP/1.1 400", "HTTP/1.1 422"},
      {"status=429", "status=500"},
      {R"({"status":429})", R"({"status":500})"},
      {"The requested URL returned error: 404", "The requested URL returned error: 500"},
      {"requests.exceptions.HTTPError: 502 Server Error",
       "requests.exceptions.HTTPError: 503 Server Error"},
      {"curl: (6) x", "curl: (7) x"},
      {"ERROR: x (SQLSTATE 23505)", "ERROR: x (SQLSTATE 23503)"},
      {"SQLSTATE[42S02]: x", "SQLSTATE[42S22]: x"},
      {"ERROR 1045 (28000): x", "ERROR 1045 (42000): x"},
      {"Error 1062: x", "Error 1213: x"},
      {"Error: 18456, Severity: 14, State: 1", "Error: 18456, Severity: 14, State: 8"},
      {"ORA-01017: x", "ORA-00942: x"},
      {"[MY-010457] x", "[MY-010119] x"},
      {"E11000 duplicate key", "E11600 duplicate key"},
      {"SQLITE_BUSY: x", "SQLITE_LOCKED: x"},
      {"(1045, 'x y')", "(2006, 'x y')"},
      {"(404, \"NOT_FOUND - no queue 'a'\")", "(404, \"NOT_FOUND - no exchange 'a'\")"},
      {"Exception (320) Reason: x", "Exception (504) Reason: x"},
      {"[Errno 111] x", "[Errno 104] x"},
      {"[WinError 10060] x", "[WinError 10061] x"},
      {"connect ECONNREFUSED 10.0.0.1:80", "connect ETIMEDOUT 10.0.0.1:80"},
      {"{ code: 'ECONNRESET' }", "{ code: 'EPIPE' }"},
      {"exit code 1", "exit code 137"},
      {"exit status 1", "exit status 2"},
      {"killed by signal 9", "killed by signal 11"},
      {"error code 0x80070005", "error code 0x80004005"},
      {R"({"code":-32000,"message":"x"})", R"({"code":-32602,"message":"x"})"},
      {R"({"code":-32000,"message":"nonce too low"})",
       R"({"code":-32000,"message":"already known"})"},
      {"rpc error: code = Unavailable desc = \"a b\"",
       "rpc error: code = Unavailable desc = \"c d\""},
      {"instance of 'std::bad_alloc'", "instance of 'std::out_of_range'"},
      {"panicked at 'a b', x.rs:1", "panicked at 'c d', x.rs:1"},
      {"E('[Errno 111] Connection refused')", "E: [Errno 111] Connection refused"},
      {"NewConnectionError('x: [Errno 111] refused')",
       "NewConnectionError('x: [Errno -2] unknown')"},
      {"java.net.ConnectException: x", "java.net.SocketException: x"},
      {"Log4j2Appender failed", "Log4j3Appender failed"},
      {"Sha256HashMismatchError", "Sha512HashMismatchError"},
      {"no such bucket in S3", "no such bucket in R2"},
      {"sha256 mismatch", "sha512 mismatch"},
      {"invalid utf8", "invalid utf16"},
      {"invalid UTF-8", "invalid UTF-16"},
      {"TLSv1.2 alert", "TLSv1.3 alert"},
      {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"},
      {"ERC20: x", "ERC721: x"},
      {"https://api.stripe.com/x failed", "https://api.github.com/x failed"},
      {"cannot find host", "can't find host"},
  };
  for (const auto& [one, other] : pairs) {
    EXPECT_NE(normalized(one), normalized(other));
    EXPECT_NE(fingerprint(one), fingerprint(other)) << one;
  }
}

TEST(Fingerprint, an_apostrophe_is_no_quote) {
  EXPECT_EQ(normalized("can't open 'a b', doesn't exist"), "can't open <str>, doesn't exist");
  EXPECT_EQ(normalized("the users' table isn't there"), "the users' table isn't there");
  EXPECT_EQ(normalized("'it's broken' she said"), "<str> she said");
  EXPECT_EQ(normalized("can’t open ‘a b’ or “c”"), "can't open <str> or <str>");
}

TEST(Fingerprint, an_unbalanced_quote_does_not_swallow_the_rest) {
  EXPECT_EQ(normalized("unexpected \" at 12: broken"), "unexpected \" at <n>: broken");
  EXPECT_EQ(normalized("unterminated 'abc at line 3"), "unterminated 'abc at line <n>");
  EXPECT_EQ(normalized("`x and 'y'"), "`x and <str>");
}

TEST(Fingerprint, quotes_may_hold_escaped_quotes_and_backslashes) {
  EXPECT_EQ(normalized(R"(bad value "a \"b\" c" here)"), "bad value <str> here");
  EXPECT_EQ(normalized(R"(cannot open 'C:\dir\' now)"), "cannot open <str> now");
  EXPECT_EQ(normalized(R"({"message":"bad \"x y\" at 3"})"), R"({"message":"bad <str> at <n>"})");
}

TEST(Fingerprint, a_quoted_word_in_an_exception_is_a_value_and_a_sentence_is_a_message) {
  EXPECT_EQ(normalized("KeyError('user_id')"), "KeyError(<str>)");
  EXPECT_EQ(normalized("OSError('disk is full')"), "OSError('disk is full')");
}

TEST(Fingerprint, counts_after_an_error_are_no_codes) {
  EXPECT_EQ(normalized("error: 3 nodes failed"), "error: <n> nodes failed");
  EXPECT_EQ(normalized("error: 404"), "error: 404");
}

TEST(Fingerprint, removes_colours_and_folds_white_space) {
  EXPECT_EQ(normalized(" \x1b[1;31mFAIL\x1b[0m\r\n\tat  once \x1b]0;title\x07 now\n"),
            "FAIL at once now");
  EXPECT_EQ(normalized("a\0b\x7f"s), "a b");
  EXPECT_EQ(normalized(""), "");
  EXPECT_EQ(normalized(" \n"), "");
  EXPECT_EQ(normalized("\x1b"), "");
}

TEST(Fingerprint, knows_dates_and_times_of_many_forms) {
  for (const std::string_view time :
       {"2024-01-02", "2024-01-02T03:04:05Z", "2024-01-02 03:04:05,678", "2024-01-02T03:04",
        "2024-01-02T03:04:05.123456+01:00", "2024/01/02 03:04:05", "20240102T030405Z", "03:04:05",
        "03:04:05.678", "Tue, 02 Jan 2024 03:04:05 GMT", "02 Jan 2024 03:04:05 +0000",
        "Jan  2 03:04:05", "Tue Jan  2 03:04:05 2024", "Tue Jan 2 03:04:05 UTC 2024",
        "02/Jan/2024:03:04:05 +0000", "01/02/2024", "02-JAN-24 03.04.05.678"}) {
    EXPECT_EQ(normalized("at " + std::string(time) + " it failed"), "at <time> it failed");
  }
  EXPECT_EQ(normalized("May I ask"), "May I ask");
}

TEST(Fingerprint, knows_addresses) {
  for (const std::string_view address :
       {"10.0.0.1", "10.0.0.1:80", "10.0.0.0/8", "::1", "[::1]:80", "fe80::1%eth0",
        "2001:db8::ff00:42:8329", "1:2:3:4:5:6:7:8", "::ffff:10.0.0.1", "localhost:6379",
        "db-1.prod.internal:5432"}) {
    EXPECT_EQ(normalized("to " + std::string(address) + ", gave up"), "to <addr>, gave up");
  }
  EXPECT_EQ(normalized("std::vector in abc::def"), "std::vector in abc::def");
}

TEST(Fingerprint, knows_paths_and_what_only_looks_like_one) {
  for (const std::string_view path :
       {"/etc/passwd", "/v1/users/42?x=1&y=2", "./a", "../b/c", "~/d", "src/main.rs:4:37", "a/b/c",
        "main.go:42", R"(C:\dir\file.txt)", R"(\\server\share)", "D:/x"}) {
    EXPECT_EQ(normalized("in " + std::string(path) + ": no"), "in <path>: no");
  }
  for (const std::string_view text :
       {"i/o timeout", "TCP/IP", "application/json", "and/or", "a / b"}) {
    EXPECT_EQ(normalized(text), text);
  }
}

TEST(Fingerprint, drops_the_secret_parts_of_urls) {
  EXPECT_EQ(normalized("cannot reach postgres://app:hunter2@db:5432/shop?x=1."),
            "cannot reach postgres://db<path>.");
}

TEST(Fingerprint, looks_at_the_first_part_of_a_long_text_only) {
  const std::string start(kFingerprintBytes, 'x');
  EXPECT_EQ(normalized(start + "b"), start);
  EXPECT_EQ(fingerprint(start + "b"), fingerprint(start + std::string(10'000'000, 'c')));
}

// These are stored: if this test fails, what changed is a migration.
TEST(Fingerprint, is_the_same_in_every_version) {
  EXPECT_EQ(fingerprint("").text(), "cbf29ce484222325");
  EXPECT_EQ(fingerprint("Connection refused").text(), "14799bbe5a62a1f1");
  EXPECT_EQ(fingerprint("dial tcp 10.0.0.1:80: connect: connection refused").text(),
            "aad698b841db200f");
  EXPECT_EQ(fingerprint("nonce too low: next nonce 12, tx nonce 10").text(), "1e39f188d14ffc9f");
  EXPECT_EQ(fingerprint("ORA-00942: table or view does not exist").text(), "bd6b570b84796d14");
}

TEST(Fingerprint, text_has_sixteen_digits) {
  EXPECT_EQ(Fingerprint(1).text(), "0000000000000001");
}

// Texts that look like errors: arbitrary bytes alone hardly ever reach the rules.
rc::Gen<std::string> error_text() {
  const auto piece = rc::gen::oneOf(
      rc::gen::element("error"s, "code"s, "status"s, "message"s, "can't"s, "ORA"s, "a"s, "http"s,
                       "Error"s, "arn:aws:sqs:"s, "https://"s, "<n>"s, "<str>"s, "Jan"s),
      rc::gen::element(" "s, ":"s, "-"s, "."s, "/"s, "\\"s, "\""s, "'"s, "`"s, "("s, ")"s, "="s,
                       "@"s, "_"s, ","s, "["s, "]"s, "{"s, "}"s, "\n"s, "\x1b["s),
      rc::gen::element("0"s, "42"s, "404"s, "12345"s, "0x1f"s, "deadbeef01"s, "1.5s"s, "10MB"s,
                       "10.0.0.1"s, "::1"s, "2024-01-02"s, "03:04:05"s, "x9Y8z7W6v5U4"s),
      rc::gen::container<std::string>(rc::gen::arbitrary<char>()));
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece), [](const auto& pieces) {
    std::string text;
    for (const std::string& each : pieces)
      text += each;
    return text;
  });
}

RC_GTEST_PROP(Fingerprint, normalizing_twice_gives_the_same_as_once, ()) {
  const std::string once = normalized(*error_text());
  RC_ASSERT(normalized(once) == once);
}

RC_GTEST_PROP(Fingerprint, any_bytes_give_a_bounded_text_on_one_line, ()) {
  const std::string text = *error_text();
  std::string many;
  while (!text.empty() && many.size() < 3 * kFingerprintBytes)
    many += text;
  for (const std::string& out : {normalized(text), normalized(many)}) {
    RC_ASSERT(out.size() <= kFingerprintBytes);
    RC_ASSERT(std::ranges::none_of(out, [](char c) { return c >= 0 && c < ' '; }));
  }
}

RC_GTEST_PROP(Fingerprint, N1_other_digits_in_a_number_change_nothing, ()) {
  const auto words =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(rc::gen::element(
          "failed after 5 tries"s, "took 1.5s"s, "pid=4242"s, "worker-7"s, "[17]"s, "1,234 rows"s,
          "at 2024-01-02 03:04:05"s, "10.0.0.1:80"s, "'x1'"s, "/tmp/j17"s, "line 12, column 3"s,
          "-5 left"s, "10MB of 3.5GiB"s, "1e5 items"s, "99.5%"s, "job #8"s, "(7)"s, "1.2.3"s)));
  std::string one;
  for (const std::string& word : words)
    one += word + "; ";
  std::string other = one;
  for (char& c : other) {
    if (c >= '0' && c <= '9') c = static_cast<char>('0' + *rc::gen::inRange(0, 10));
  }
  RC_ASSERT(normalized(one) == normalized(other));
}

}  // namespace
}  // namespace holdfast::fingerprint_test
