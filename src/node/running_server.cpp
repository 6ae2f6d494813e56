#include "node/running_server.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "node/open_store.hpp"
#include "stores/sqlite/owner_lock.hpp"

namespace holdfast::node {
namespace {

// Nothing: the store is no file.
std::optional<std::string> file_of(std::string_view url) {
  auto place = parse_place(url);
  if (!place || place->kind != Place::Kind::sqlite) return std::nullopt;
  return std::move(place->path);
}

}  // namespace

std::optional<StoreOwner> owner_of(std::string_view url) {
  const auto file = file_of(url);
  if (!file) return std::nullopt;
  auto owner = stores::sqlite::OwnerLock::owner_of(*file);
  if (!owner) return std::nullopt;
  return StoreOwner{.pid = owner->pid, .address = std::move(owner->address)};
}

bool exists(std::string_view url) {
  const auto file = file_of(url);
  std::error_code ignored;
  return !file || std::filesystem::exists(*file, ignored) || ignored;
}

Result<void> announce(std::string_view url, const std::string& address) {
  const auto file = file_of(url);
  if (!file) return {};
  return stores::sqlite::OwnerLock::announce(*file, address);
}

}  // namespace holdfast::node
