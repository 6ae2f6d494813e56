#include "brokers/sqs/json.hpp"

#include "core/json_check.hpp"

namespace holdfast::brokers::sqs {

bool is_object(std::string_view json) {
  return is_json(json) && wire::JsonCursor(json).kind() == wire::JsonKind::object;
}

}  // namespace holdfast::brokers::sqs
