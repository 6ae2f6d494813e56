#include "node/bench_place.hpp"

#include <array>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include <holdfast/clock.hpp>

#include "node/open_store.hpp"
#include "stores/redis/address.hpp"
#include "stores/redis/pipeline.hpp"
#include "stores/redis/session.hpp"

namespace holdfast::node::store_bench {
namespace {

namespace redis = stores::redis;

constexpr std::string_view kOperation = "bench";

std::string with_space(std::string_view url, std::string_view name) {
  const char joint = url.find('?') == url.npos ? '?' : '&';
  return fmt::format("{}{}space=bench-{}-{:016x}", url, joint, name, system_random().next());
}

// One command, and its answer.
Result<redis::OwnedReply> ask(redis::Session& session, const std::vector<std::string_view>& words) {
  redis::Pipeline pipeline;
  pipeline.add(words);
  auto answers = session.run(pipeline);
  return std::move(answers.at(0));
}

// What INFO says of it; 0 if nothing.
double number_in(std::string_view info, std::string_view key) {
  const std::size_t at = info.find(key);
  std::uint64_t number = 0;
  if (at != info.npos) {
    std::from_chars(info.data() + at + key.size(), info.data() + info.size(), number);
  }
  return static_cast<double>(number);
}

}  // namespace

Result<OwnPlace> OwnPlace::beside(std::string_view url, std::string_view name,
                                  const std::string& folder) {
  if (redis::is_redis_url(url)) {
    std::string own = with_space(url, name);
    if (const auto address = redis::parse_address(own); !address) {
      return std::unexpected(address.error());
    }
    return OwnPlace(std::move(own), true);
  }
  const auto place = parse_place(url);
  if (!place) return std::unexpected(place.error());
  if (place->kind == Place::Kind::memory) {
    return fail(ErrorCode::invalid_argument, std::string(kOperation),
                "memory: is no store that keeps anything");
  }
  return OwnPlace(fmt::format("sqlite:{}/{}.db", folder, name), false);
}

Result<std::optional<double>> OwnPlace::used_memory() const {
  if (!is_server_) return std::nullopt;
  auto address = redis::parse_address(url_);
  if (!address) return std::unexpected(address.error());
  redis::Session session({.address = *std::move(address)});
  const auto answer = ask(session, {"INFO", "memory"});
  if (!answer) return std::unexpected(answer.error());
  const std::string_view text = answer->view().text();
  return number_in(text, "used_memory:") - number_in(text, "mem_aof_buffer:") -
         number_in(text, "mem_clients_normal:");
}

Result<void> OwnPlace::clear() const {
  if (!is_server_) return {};
  auto address = redis::parse_address(url_);
  if (!address) return std::unexpected(address.error());
  const std::string pattern = "{" + address->space + "}*";
  redis::Session session({.address = *std::move(address)});
  std::string cursor = "0";
  do {
    const auto page = ask(session, {"SCAN", cursor, "MATCH", pattern, "COUNT", "1000"});
    if (!page) return std::unexpected(page.error());
    const redis::Reply keys = page->view()[1];
    std::vector<std::string_view> unlink{"UNLINK"};
    for (std::size_t i = 0; i < keys.size(); ++i)
      unlink.push_back(keys[i].text());
    if (unlink.size() > 1) {
      if (const auto done = ask(session, unlink); !done) return std::unexpected(done.error());
    }
    cursor = std::string(page->view()[0].text());
  } while (cursor != "0");
  return {};
}

}  // namespace holdfast::node::store_bench
