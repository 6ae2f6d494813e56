#include "config/secret.hpp"

#include <utility>

#include <string.h>  // explicit_bzero

namespace holdfast::config {
namespace {

// A text that leaves nothing behind in memory that others get.
struct Wiped {
  std::string text;

  explicit Wiped(std::string from) : text(std::move(from)) {}
  Wiped(const Wiped&) = delete;
  Wiped& operator=(const Wiped&) = delete;
  ~Wiped() { ::explicit_bzero(text.data(), text.size()); }
};

}  // namespace

Secret::Secret(std::string text, std::string source) : source_(std::move(source)) {
  auto kept = std::make_shared<Wiped>(text);
  ::explicit_bzero(text.data(), text.size());  // short texts are copied by a move, so wipe this one
  text_ = std::shared_ptr<const std::string>(kept, &kept->text);
}

}  // namespace holdfast::config
