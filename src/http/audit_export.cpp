#include "http/audit_export.hpp"

#include <algorithm>
#include <utility>

#include "node/node.hpp"
#include "wire/audit_json.hpp"

namespace holdfast::http {
namespace {

constexpr std::size_t kPage = 500;

}  // namespace

bool AuditExport::take(std::string& out, std::size_t most) {
  const std::size_t some = std::min(most, read_.size());
  out.append(read_, 0, some);
  read_.erase(0, some);
  if (!read_.empty()) return true;
  if (at_end_) return false;
  if (!std::exchange(asking_, true)) ask();
  return true;
}

void AuditExport::ask() {
  node_.audit().page(kPage, cursor_, [self = weak_from_this()](const Result<AuditPage>& page) {
    const auto source = self.lock();
    if (!source) return;
    source->asking_ = false;
    if (page) {
      for (const AuditEntry& entry : page->entries) {
        std::string line;
        wire::JsonWriter one(line);
        write(one, entry);
        source->read_ += line + "\n";
      }
      source->cursor_ = page->next;
      source->at_end_ = page->next.empty();
    } else {
      // What was sent cannot be taken back: a last line says that it is not all.
      source->read_ += "{\"error\":\"the store did not answer: this is not all\"}\n";
      source->at_end_ = true;
    }
    source->tell_more();
  });
}

}  // namespace holdfast::http
