#include <exception>
#include <string>
#include <system_error>

#include <holdfast/failure.hpp>

namespace holdfast {
namespace {

// A chain of causes this long is a loop in someone's error handling; the log needs no more of it.
constexpr int kMostCauses = 16;

[[nodiscard]] bool is_os_category(const std::error_category& category) noexcept {
  return category == std::generic_category() || category == std::system_category();
}

void note_code(Failure& failure, const std::error_code& code) {
  if (!code) return;
  if (is_os_category(code.category()) && !failure.os_error) failure.os_error = code.value();
  if (code == std::errc::timed_out) failure.kind = FailureKind::timeout;
}

void note(Failure& failure, const std::exception& error, int depth);

void note_cause(Failure& failure, const std::exception_ptr& cause, int depth) {
  if (!cause || depth > kMostCauses) return;
  failure.message += ": ";
  try {
    std::rethrow_exception(cause);
  } catch (const std::exception& error) {
    note(failure, error, depth);
  } catch (...) {
    failure.message += "unknown exception";
  }
}

// What this exception tells, and then what its causes tell: the outermost system error wins.
void note(Failure& failure, const std::exception& error, int depth) {
  failure.message += error.what();
  if (const auto* system = dynamic_cast<const std::system_error*>(&error)) {
    note_code(failure, system->code());
  }
  if (const auto* nested = dynamic_cast<const std::nested_exception*>(&error)) {
    note_cause(failure, nested->nested_ptr(), depth + 1);
  }
}

}  // namespace

Failure to_failure(const std::exception& error) {
  Failure failure;
  note(failure, error, 0);
  return failure;
}

Failure to_failure(const std::exception_ptr& error) {
  if (!error) return Failure{.message = "no exception"};
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    return to_failure(known);
  } catch (const Failure& failure) {
    return failure;
  } catch (const Error& failure) {
    return to_failure(failure);
  } catch (const std::error_code& code) {
    return to_failure(code);
  } catch (const std::string& text) {
    return to_failure(std::string_view(text));
  } catch (const char* text) {
    return to_failure(std::string_view(text ? text : "unknown exception"));
  } catch (...) {
    return Failure{.message = "unknown exception"};
  }
}

Failure to_failure(const std::error_code& error) {
  Failure failure{.message = error.message()};
  note_code(failure, error);
  return failure;
}

Failure to_failure(const Error& error) {
  Failure failure{.message = error.text()};
  if (error.code == ErrorCode::timeout) failure.kind = FailureKind::timeout;
  return failure;
}

Failure to_failure(std::string_view error) {
  return Failure{.message = std::string(error)};
}

}  // namespace holdfast
