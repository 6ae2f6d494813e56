#include "stores/redis/script.hpp"

#include <utility>

#include "stores/redis/sha1.hpp"

namespace holdfast::stores::redis {

Script::Script(std::string_view name, std::string text)
    : name_(name), text_(std::move(text)), sha_(sha1_hex(text_)) {}

}  // namespace holdfast::stores::redis
