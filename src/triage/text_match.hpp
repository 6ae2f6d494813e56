#pragma once

#include <string_view>

#include "triage/query.hpp"

// How the terms of a query compare.
namespace holdfast::triage {

// Capital letters of ASCII count as small ones.
[[nodiscard]] bool contains(std::string_view text, std::string_view wanted);

// "*" stands for any bytes, none as well.
[[nodiscard]] bool is_like(std::string_view text, std::string_view pattern);

template <class Value>
[[nodiscard]] bool holds(Term::Compare compare, const Value& left, const Value& right) {
  switch (compare) {
    case Term::Compare::equal: return left == right;
    case Term::Compare::unequal: return left != right;
    case Term::Compare::less: return left < right;
    case Term::Compare::at_most: return left <= right;
    case Term::Compare::more: return left > right;
    case Term::Compare::at_least: return left >= right;
  }
  return false;
}

}  // namespace holdfast::triage
