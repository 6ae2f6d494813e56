#include "brokers/rabbitmq/proven_routes.hpp"

namespace holdfast::brokers::rabbitmq {

void ProvenRoutes::prove(const ports::Address& to) {
  if (is_proven(to) || distrusted_.contains(to)) return;
  if (proven_.size() == kMost) proven_.clear();
  proven_.insert(to);
}

void ProvenRoutes::distrust(const ports::Address& to) {
  proven_.erase(to);
  if (distrusted_.size() == kMost) distrusted_.clear();
  distrusted_.insert(to);
}

}  // namespace holdfast::brokers::rabbitmq
