#include "stores/redis/reply.hpp"

#include <hiredis/hiredis.h>

namespace holdfast::stores::redis {
namespace {

bool is(const redisReply* reply, int type) noexcept {
  return reply && reply->type == type;
}

}  // namespace

bool Reply::is_error() const noexcept {
  return is(reply_, REDIS_REPLY_ERROR);
}

bool Reply::is_nil() const noexcept {
  return !reply_ || is(reply_, REDIS_REPLY_NIL);
}

bool Reply::is_text() const noexcept {
  return is(reply_, REDIS_REPLY_STRING) || is(reply_, REDIS_REPLY_STATUS);
}

bool Reply::is_integer() const noexcept {
  return is(reply_, REDIS_REPLY_INTEGER);
}

bool Reply::is_array() const noexcept {
  return is(reply_, REDIS_REPLY_ARRAY);
}

std::string_view Reply::text() const noexcept {
  return is_text() || is_error() ? std::string_view(reply_->str, reply_->len) : std::string_view();
}

std::int64_t Reply::integer() const noexcept {
  return is_integer() ? reply_->integer : 0;
}

std::size_t Reply::size() const noexcept {
  return is_array() ? reply_->elements : 0;
}

Reply Reply::operator[](std::size_t index) const noexcept {
  return index < size() ? Reply(reply_->element[index]) : Reply();
}

void FreeReply::operator()(redisReply* reply) const noexcept {
  freeReplyObject(reply);
}

}  // namespace holdfast::stores::redis
