#include <algorithm>

#include "brokers/sqs/sqs.hpp"

namespace holdfast::brokers::sqs {
namespace {

constexpr const char* kOperation = "read the broker's URL";
constexpr std::string_view kScheme = "sqs://";
constexpr std::string_view kFifo = ".fifo";
constexpr std::size_t kMostQueueNameBytes = 80;

std::unexpected<Error> wrong(const std::string& what) {
  return fail(ErrorCode::invalid_argument, kOperation, what + " (expected sqs://region/queue)");
}

bool is_small_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_region(std::string_view text) {
  return !text.empty() && text.size() <= 64 &&
         std::ranges::all_of(text, [](char c) { return is_small_or_digit(c) || c == '-'; });
}

}  // namespace

std::string Location::text() const {
  std::string text = std::string(kScheme) + region;
  if (!queue.empty()) text += "/" + queue;
  return text;
}

Result<Location> parse_location(std::string_view url) {
  // Never repeats the URL: somebody may have written a secret into it.
  if (!url.starts_with(kScheme)) return wrong("it does not begin with sqs://");
  url.remove_prefix(kScheme.size());
  const auto slash = std::min(url.find('/'), url.size());
  Location location{.region = std::string(url.substr(0, slash)), .queue = {}};
  if (!is_region(location.region)) return wrong("no region of small letters, digits and -");
  url.remove_prefix(std::min(slash + 1, url.size()));
  location.queue = url;
  if (!location.queue.empty() && !is_queue_name(location.queue))
    return wrong("the queue's name is not of letters, digits, - and _ (and .fifo at the end)");
  return location;
}

bool is_queue_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > kMostQueueNameBytes) return false;
  if (is_fifo(name)) name.remove_suffix(kFifo.size());
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return is_small_or_digit(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  });
}

bool is_fifo(std::string_view queue) noexcept {
  return queue.ends_with(kFifo);
}

std::string dead_letter_name(std::string_view queue) {
  if (!is_fifo(queue)) return std::string(queue) + "-dlq";
  queue.remove_suffix(kFifo.size());
  return std::string(queue) + "-dlq" + std::string(kFifo);
}

}  // namespace holdfast::brokers::sqs
