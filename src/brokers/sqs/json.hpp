#pragma once

#include <string_view>

#include "wire/json_view.hpp"

// Small answers, looked at member by member. All of it is of texts that is_object has approved.
namespace holdfast::brokers::sqs {

[[nodiscard]] bool is_object(std::string_view json);

using Json = wire::JsonView;

}  // namespace holdfast::brokers::sqs
