#include "node/open_store.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "core/json_text.hpp"
#include "io/witness_file.hpp"
#include "stores/memory/memory_store.hpp"
#include "stores/redis/open.hpp"
#include "stores/sqlite/open.hpp"

namespace holdfast::node {
namespace {

constexpr std::string_view kOperation = "open";

[[nodiscard]] std::unexpected<Error> bad_url(std::string message) {
  return fail(ErrorCode::invalid_argument, std::string(kOperation), std::move(message));
}

Result<Opened> open_file(const std::string& path, const Logger& log) {
  bool is_new = false;
  auto store = stores::sqlite::open({.path = path, .log = log}, system_clock(), &is_new);
  if (!store) return std::unexpected(std::move(store).error());
  // The store first: its lock says that we are alone.
  auto witness = io::WitnessFile::open({.path = path + "-witness", .store_is_new = is_new});
  if (!witness) return std::unexpected(std::move(witness).error());
  Opened opened;
  opened.store = *std::move(store);
  opened.witness = *std::move(witness);
  return opened;
}

}  // namespace

std::string Place::key() const {
  switch (kind) {
    case Kind::sqlite: return "sqlite:" + path;
    case Kind::memory: return "memory:" + path;
    case Kind::redis: break;
  }
  return redis.text();
}

std::string Place::identity() const {
  return kind == Kind::redis ? fmt::format("{}\n{}", key(), redis.password) : key();
}

std::string shown_url(std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::size_t at = url.rfind('@');
  if (scheme == url.npos || at == url.npos || at < scheme) return std::string(url);
  return fmt::format("{}***{}", url.substr(0, scheme + 3), url.substr(at));
}

Result<Place> parse_place(std::string_view url) {
  if (stores::redis::is_redis_url(url)) {
    auto address = stores::redis::parse_address(url);
    if (!address) return std::unexpected(std::move(address).error());
    return Place{.kind = Place::Kind::redis, .redis = *std::move(address)};
  }
  const std::size_t colon = url.find(':');
  const std::string_view scheme = url.substr(0, colon);
  const std::string_view rest = colon == url.npos ? "" : url.substr(colon + 1);
  if (scheme == "memory" && colon != url.npos) {
    return Place{.kind = Place::Kind::memory, .path = std::string(rest)};
  }
  if (scheme != "sqlite" || colon == url.npos) {
    return bad_url(
        fmt::format("{} is no place for tasks that is known here: write sqlite:PATH for a file, "
                    "redis://HOST:PORT for Redis (rediss:// over TLS, redis+sentinel:// or "
                    "rediss+sentinel:// by its sentinels), http://HOST:PORT for a server, or "
                    "memory:NAME in tests",
                    holdfast::quoted(shown_url(url))));
  }
  if (rest.empty()) return bad_url("sqlite: names no file: write sqlite:PATH");
  std::error_code error;
  std::filesystem::path path = std::filesystem::absolute(rest, error);
  if (!error) path = std::filesystem::weakly_canonical(path, error);
  if (error) {
    return fail(ErrorCode::unavailable, std::string(kOperation),
                fmt::format("{}: {}", holdfast::quoted(rest), error.message()));
  }
  return Place{.kind = Place::Kind::sqlite, .path = path.string()};
}

Result<Opened> open_store(const Place& place, const Logger& log) {
  if (place.kind == Place::Kind::sqlite) {
    auto opened = open_file(place.path, log);
    if (opened) opened->url = place.key();
    return opened;
  }
  Opened opened;
  opened.url = place.key();
  if (place.kind == Place::Kind::redis) {
    auto store = stores::redis::open({.address = place.redis, .log = log});
    if (!store) return std::unexpected(std::move(store).error());
    opened.store = *std::move(store);
    return opened;
  }
  opened.store.writer = std::make_unique<stores::MemoryStore>();
  opened.store.sole_owner = true;
  return opened;
}

}  // namespace holdfast::node
