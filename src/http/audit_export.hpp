#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "http/message.hpp"

namespace holdfast::node {
class Node;
}

namespace holdfast::http {

// The whole audit, one JSON a line, latest first: read from the store page by page, as fast as
// somebody takes it. Threads: the loop's.
class AuditExport final : public BodySource, public std::enable_shared_from_this<AuditExport> {
 public:
  // The node must outlive it.
  explicit AuditExport(node::Node& node) : node_(node) {}

  bool take(std::string& out, std::size_t most) override;

 private:
  void ask();

  node::Node& node_;
  std::string read_;    // and not taken yet
  std::string cursor_;  // of the next page
  bool asking_ = false;
  bool at_end_ = false;
};

}  // namespace holdfast::http
