#include <cerrno>
#include <exception>
#include <future>
#include <stdexcept>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

#include <holdfast/failure.hpp>

namespace holdfast::failure_test {
namespace {

template <class Function>
std::exception_ptr thrown_by(Function function) {
  try {
    function();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

TEST(ToFailure, keeps_the_text_of_an_exception) {
  EXPECT_EQ(to_failure(std::runtime_error("no route")), Failure{.message = "no route"});
  EXPECT_EQ(to_failure(std::string_view("plain")), Failure{.message = "plain"});
}

TEST(ToFailure, takes_the_os_error_of_a_system_error) {
  const std::system_error refused(ECONNREFUSED, std::generic_category(), "connect");
  const Failure failure = to_failure(static_cast<const std::exception&>(refused));
  EXPECT_EQ(failure.os_error, ECONNREFUSED);
  EXPECT_EQ(failure.kind, FailureKind::error);
  EXPECT_EQ(failure.message, "connect: Connection refused");
  EXPECT_EQ(to_failure(std::error_code(EPIPE, std::system_category())).os_error, EPIPE);
}

TEST(ToFailure, codes_of_other_categories_are_no_os_errors) {
  const std::error_code code = make_error_code(std::future_errc::broken_promise);
  EXPECT_EQ(to_failure(code).os_error, std::nullopt);
  EXPECT_EQ(to_failure(code).message, code.message());
  EXPECT_EQ(to_failure(std::future_error(std::future_errc::broken_promise)).os_error, std::nullopt);
}

TEST(ToFailure, the_code_of_success_is_no_os_error) {
  EXPECT_EQ(to_failure(std::error_code()).os_error, std::nullopt);
}

TEST(ToFailure, a_timed_out_code_is_a_timeout) {
  EXPECT_EQ(to_failure(make_error_code(std::errc::timed_out)).kind, FailureKind::timeout);
  EXPECT_EQ(to_failure(std::system_error(ETIMEDOUT, std::system_category())).kind,
            FailureKind::timeout);
}

TEST(ToFailure, an_error_of_our_own_keeps_operation_and_message) {
  const Failure failure = to_failure(Error{ErrorCode::timeout, "submit", "no answer in 5s"});
  EXPECT_EQ(failure.message, "submit: no answer in 5s");
  EXPECT_EQ(failure.kind, FailureKind::timeout);
  EXPECT_EQ(to_failure(Error{ErrorCode::conflict, "submit", "exists"}).kind, FailureKind::error);
}

TEST(ToFailure, nested_exceptions_append_their_causes) {
  const auto error = thrown_by([] {
    try {
      try {
        throw std::system_error(ETIMEDOUT, std::generic_category(), "read");
      } catch (...) {
        std::throw_with_nested(std::runtime_error("query failed"));
      }
    } catch (...) {
      std::throw_with_nested(std::logic_error("cannot load"));
    }
  });
  const Failure failure = to_failure(error);
  EXPECT_EQ(failure.message, "cannot load: query failed: read: Connection timed out");
  EXPECT_EQ(failure.os_error, ETIMEDOUT);
  EXPECT_EQ(failure.kind, FailureKind::timeout);
}

TEST(ToFailure, an_outer_os_error_wins_over_its_cause) {
  const auto error = thrown_by([] {
    try {
      throw std::system_error(EPIPE, std::generic_category(), "write");
    } catch (...) {
      std::throw_with_nested(std::system_error(EIO, std::generic_category(), "save"));
    }
  });
  EXPECT_EQ(to_failure(error).os_error, EIO);
}

TEST(ToFailure, a_cause_of_unknown_type_is_named_so) {
  const auto error = thrown_by([] {
    try {
      throw 42;
    } catch (...) {
      std::throw_with_nested(std::runtime_error("outer"));
    }
  });
  EXPECT_EQ(to_failure(error).message, "outer: unknown exception");
}

TEST(ToFailure, an_endless_chain_of_causes_is_cut) {
  std::exception_ptr chain = std::make_exception_ptr(std::runtime_error("0"));
  for (int i = 0; i < 1000; ++i) {
    chain = thrown_by([&] {
      try {
        std::rethrow_exception(chain);
      } catch (...) {
        std::throw_with_nested(std::runtime_error("x"));
      }
    });
  }
  EXPECT_LT(to_failure(chain).message.size(), 100U);
}

TEST(ToFailure, whatever_was_thrown_becomes_a_failure) {
  EXPECT_EQ(to_failure(thrown_by([] { throw 42; })).message, "unknown exception");
  EXPECT_EQ(to_failure(thrown_by([] { throw "text"; })).message, "text");
  EXPECT_EQ(to_failure(thrown_by([] { throw std::string("text"); })).message, "text");
  EXPECT_EQ(to_failure(thrown_by([] { throw Failure{.message = "f", .http_status = 503}; })),
            (Failure{.message = "f", .http_status = 503}));
  EXPECT_EQ(to_failure(thrown_by([] { throw Error{ErrorCode::timeout, "a", "b"}; })).kind,
            FailureKind::timeout);
  EXPECT_EQ(
      to_failure(thrown_by([] { throw std::error_code(EIO, std::generic_category()); })).os_error,
      EIO);
  EXPECT_EQ(to_failure(std::exception_ptr()).message, "no exception");
}

}  // namespace
}  // namespace holdfast::failure_test
