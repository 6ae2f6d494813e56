#include "recovery/likeness.hpp"

namespace holdfast::recovery {
namespace {

bool has_id(const ports::Message& message) {
  return message.message_id && !message.message_id->empty();
}

Identity id_alone(const ports::Message& message) {
  ports::Message id;
  id.message_id = message.message_id;
  return identity_of(id, {});
}

Identity body_alone(const ports::Message& message) {
  ports::Message body;
  body.body = message.body;
  return identity_of(body, {});
}

}  // namespace

void Likenesses::note(const ports::Message& message) {
  if (bodies_.size() >= most_ || ids_.size() >= most_) {
    overflowed_ = true;
    return;
  }
  if (has_id(message)) ids_.insert(id_alone(message));
  bodies_.insert(body_alone(message));
}

Likenesses::Likeness Likenesses::of(const ports::Message& message) const {
  if (has_id(message) && ids_.contains(id_alone(message))) return Likeness::id;
  return bodies_.contains(body_alone(message)) ? Likeness::body : Likeness::none;
}

}  // namespace holdfast::recovery
