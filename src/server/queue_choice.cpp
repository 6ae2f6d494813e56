#include "server/queue_choice.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/json_text.hpp"
#include "core/name_pattern.hpp"
#include "core/nearest_name.hpp"
#include "core/percent_text.hpp"
#include "io/loop.hpp"

namespace holdfast::server {
namespace {

constexpr const char* kChooseOperation = "choose queues";
constexpr std::size_t kMostNearest = 5;

// What is percent-encoded stands for itself, whatever it is.
std::optional<std::string> pattern_of(std::string_view part) {
  std::string pattern;
  while (!part.empty()) {
    const std::size_t size = part.starts_with('%') ? std::min<std::size_t>(3, part.size()) : 1;
    const auto text = percent_decoded(part.substr(0, size));
    if (!text) return std::nullopt;
    const bool is_wildcard = part.front() == '*' || part.front() == '?';
    pattern += is_wildcard ? *text : escaped_name(*text);
    part.remove_prefix(size);
  }
  return pattern;
}

// The slash before the last part of the URL, if there is one behind the host.
std::optional<std::size_t> last_slash(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::nullopt;
  const std::size_t slash = url.rfind('/');
  if (slash < scheme + 3) return std::nullopt;
  return slash;
}

std::string shown_pattern(const BrokerPlace& broker, std::string_view part) {
  const bool has_slash = broker.text.ends_with('/');
  return broker.text + (has_slash ? "" : "/") + std::string(part);
}

}  // namespace

Result<std::optional<QueuePattern>> queue_pattern(const std::string& url) {
  const auto slash = last_slash(url);
  if (!slash) return std::nullopt;
  const std::string part = url.substr(*slash + 1);
  if (part.find_first_of("*?") == std::string::npos) return std::nullopt;
  QueuePattern found{.broker_url = url.substr(0, *slash)};
  auto broker = broker_place(found.broker_url, false);
  if (!broker) return std::unexpected(std::move(broker).error());
  const auto pattern = pattern_of(part);
  const auto name = percent_decoded(part);
  if (!pattern || !name) {
    return fail(ErrorCode::invalid_argument, kChooseOperation, "a % in the pattern that is no %xx");
  }
  found.pattern = *pattern;
  found.name = *name;
  found.text = shown_pattern(*broker, part);
  return found;
}

Result<void> QueueChooser::add(const std::string& url, const Logger& log) {
  auto pattern = queue_pattern(url);
  if (!pattern) return std::unexpected(std::move(pattern).error());
  if (*pattern) return add_matching(**pattern, log);
  auto place = broker_place(url, true);
  if (!place) return std::unexpected(std::move(place).error());
  if (targets_.contains(place->queue)) {
    return fail(ErrorCode::invalid_argument, kChooseOperation,
                quoted(place->queue) +
                    " is a dead-letter queue and a target: messages would go round in a circle");
  }
  choose({.url = url, .place = place->text, .name = place->queue, .broker = place->broker});
  return {};
}

Result<void> QueueChooser::add_matching(const QueuePattern& pattern, const Logger& log) {
  auto listed = list(pattern.broker_url, pattern.pattern, log);
  if (!listed) {
    Error error = std::move(listed).error();
    if (error.code == ErrorCode::invalid_argument) error.code = ErrorCode::unavailable;
    return std::unexpected(std::move(error));
  }
  // A queue that is really called so is meant.
  const auto exact = std::ranges::find(*listed, pattern.name, &ports::QueueStatus::name);
  if (exact != listed->end()) *listed = {std::move(*exact)};
  if (listed->empty()) return std::unexpected(no_match(pattern, log));
  for (const ports::QueueStatus& queue : *listed) {
    const std::string url = pattern.broker_url + '/' + percent_encoded(queue.name);
    auto place = broker_place(url, true);
    if (!place) return std::unexpected(std::move(place).error());
    if (targets_.contains(queue.name)) {
      choice_.left_out.push_back({place->text, "messages go there"});
    } else if (queue.kind == ports::QueueStatus::Kind::stream) {
      choice_.left_out.push_back({place->text, "it is a stream"});
    } else {
      choose({.url = url,
              .place = place->text,
              .name = queue.name,
              .broker = place->broker,
              .by_pattern = true,
              .ready = queue.ready});
    }
  }
  return {};
}

Result<std::vector<ports::QueueStatus>> QueueChooser::list(const std::string& broker_url,
                                                           const std::string& pattern,
                                                           const Logger& log) const {
  BrokerSettings settings = settings_;
  settings.url = broker_url;
  settings.names_queue = false;
  io::Loop loop;
  auto broker = open_broker(loop, settings, log);
  if (!broker) return std::unexpected(std::move(broker).error());
  std::optional<Result<std::vector<ports::QueueStatus>>> listed;
  (*broker)->list_queues(pattern, [&](Result<std::vector<ports::QueueStatus>> found) {
    listed = std::move(found);
    loop.stop();
  });
  loop.run();
  if (!listed) return fail(ErrorCode::canceled, kChooseOperation, "ended before it was answered");
  return *std::move(listed);
}

Error QueueChooser::no_match(const QueuePattern& pattern, const Logger& log) const {
  Error error{ErrorCode::not_found, kChooseOperation, "no queue matches " + quoted(pattern.text)};
  const auto all = list(pattern.broker_url, "*", log);
  if (!all) return error;
  if (all->empty()) {
    error.message += ": there are no queues at all";
    return error;
  }
  std::vector<std::string_view> names;
  for (const ports::QueueStatus& queue : *all)
    names.push_back(queue.name);
  const std::string part = NamePattern(pattern.pattern).longest_part();
  std::vector<std::string> nearest;
  for (const std::string_view name : nearest_names(part, names, kMostNearest))
    nearest.push_back(quoted(name));
  error.message += fmt::format("; of {} {} the nearest: {}", names.size(),
                               names.size() == 1 ? "queue" : "queues", fmt::join(nearest, ", "));
  return error;
}

void QueueChooser::choose(ChosenQueue queue) {
  if (places_.insert(queue.place).second) choice_.queues.push_back(std::move(queue));
}

}  // namespace holdfast::server
