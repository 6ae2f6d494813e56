#pragma once

#include <concepts>
#include <exception>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <holdfast/failure.hpp>

// How a policy, which is one value for functions of every kind, looks at what they end with.
namespace holdfast::retry {

namespace detail {

template <class T>
struct IsExpected : std::false_type {};
template <class T, class E>
struct IsExpected<std::expected<T, E>> : std::true_type {};

template <class F>
concept OneCallOperator = requires { &F::operator(); };

// The one parameter of a predicate: retry_if([](const HttpError& e) { … }) asks about HttpError.
template <class F>
struct Parameter {
  static_assert(OneCallOperator<F>,
                "say what the predicate is about: [](const MyError& e), not [](auto& e)");
};
template <OneCallOperator F>
struct Parameter<F> : Parameter<decltype(&F::operator())> {};
template <class R, class A>
struct Parameter<R (*)(A)> : std::type_identity<std::remove_cvref_t<A>> {};
template <class R, class A>
struct Parameter<R (*)(A) noexcept> : std::type_identity<std::remove_cvref_t<A>> {};
template <class R, class C, class A>
struct Parameter<R (C::*)(A) const> : std::type_identity<std::remove_cvref_t<A>> {};
template <class R, class C, class A>
struct Parameter<R (C::*)(A)> : std::type_identity<std::remove_cvref_t<A>> {};
template <class R, class C, class A>
struct Parameter<R (C::*)(A) const noexcept> : std::type_identity<std::remove_cvref_t<A>> {};

template <class E>
Failure describe(const E& error) {
  if constexpr (requires {
                  { to_failure(error) } -> std::convertible_to<Failure>;
                }) {
    return to_failure(error);
  } else if constexpr (std::is_same_v<E, std::errc> || std::is_error_code_enum_v<E>) {
    return to_failure(std::error_code(make_error_code(error)));
  } else if constexpr (requires {
                         { error.message() } -> std::convertible_to<std::string>;
                       }) {
    return {.message = error.message()};  // boost::system::error_code, among others
  } else if constexpr (std::is_enum_v<E>) {
    return {.message = "error " + std::to_string(static_cast<long long>(error))};
  } else if constexpr (std::is_arithmetic_v<E>) {
    return {.message = "error " + std::to_string(error)};
  } else {
    return {.message = std::string("error of type ") + typeid(E).name()};
  }
}

template <class T>
Failure describe_result(const T& result) {
  if constexpr (std::is_same_v<T, bool>) {
    return {.message = result ? "unwanted result true" : "unwanted result false"};
  } else if constexpr (std::is_arithmetic_v<T>) {
    return {.message = "unwanted result " + std::to_string(result)};
  } else if constexpr (requires {
                         { to_failure(result) } -> std::convertible_to<Failure>;
                       }) {
    return to_failure(result);
  } else {
    return {.message = "unwanted result"};
  }
}

}  // namespace detail

// What one attempt ended with, without its type: an exception, an error value, or a result value.
// Looks at the value; owns nothing but a share of the exception.
class Observed {
 public:
  [[nodiscard]] static Observed thrown(std::exception_ptr exception) {
    Observed observed;
    observed.exception_ = std::move(exception);
    return observed;
  }

  template <class E>
  [[nodiscard]] static Observed error(const E& error) {
    if constexpr (std::is_same_v<E, std::exception_ptr>) {
      return thrown(error);
    } else {
      Observed observed;
      observed.value_ = &error;
      observed.type_ = &typeid(E);
      observed.describe_ = [](const void* value) {
        return detail::describe(*static_cast<const E*>(value));
      };
      return observed;
    }
  }

  template <class T>
  [[nodiscard]] static Observed result(const T& result) {
    Observed observed;
    observed.value_ = &result;
    observed.type_ = &typeid(T);
    observed.is_result_ = true;
    observed.describe_ = [](const void* value) {
      return detail::describe_result(*static_cast<const T*>(value));
    };
    return observed;
  }

  [[nodiscard]] const std::exception_ptr& exception() const noexcept { return exception_; }
  [[nodiscard]] bool is_result() const noexcept { return is_result_; }

  // Calls `function` with the error if it is an E (an exception of that type or derived from it, or
  // an error value of exactly that type); false if it is not.
  template <class E, class F>
  bool visit_error(F&& function) const {
    if (exception_) return visit_exception<E>(function);
    if (is_result_ || !type_ || *type_ != typeid(E)) return false;
    function(*static_cast<const E*>(value_));
    return true;
  }

  // The same for a result value.
  template <class T>
  [[nodiscard]] const T* as_result() const noexcept {
    return is_result_ && *type_ == typeid(T) ? static_cast<const T*>(value_) : nullptr;
  }

  [[nodiscard]] Failure failure() const {
    return describe_ ? describe_(value_) : to_failure(exception_);
  }

 private:
  template <class E, class F>
  bool visit_exception(F& function) const {
    // A pointer is caught by value: a reference to it would not outlive the handler, and clang lets
    // it refer to the wrong place when the exception is a rethrown one.
    using Caught = std::conditional_t<std::is_pointer_v<E>, E, const E&>;
    try {
      std::rethrow_exception(exception_);
      // NOLINTNEXTLINE(misc-throw-by-value-catch-by-reference): only a pointer is, see above
    } catch (Caught error) {
      function(error);
      return true;
    } catch (...) {
      return false;
    }
  }

  std::exception_ptr exception_;
  const void* value_ = nullptr;
  const std::type_info* type_ = nullptr;
  Failure (*describe_)(const void*) = nullptr;
  bool is_result_ = false;
};

}  // namespace holdfast::retry
