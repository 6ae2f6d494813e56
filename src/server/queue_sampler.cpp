#include "server/queue_sampler.hpp"

#include <algorithm>
#include <concepts>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "core/fingerprint.hpp"
#include "core/utf8.hpp"

namespace holdfast::server {
namespace {

constexpr std::size_t kMostErrors = 200;

std::string header_text(const ports::Field& field) {
  return std::visit(
      [](const auto& value) -> std::string {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::string>) {
          return std::string(utf8_prefix(value, QueueSampler::kMostHeaderBytes));
        } else if constexpr (std::is_same_v<Value, bool>) {
          return value ? "true" : "false";
        } else if constexpr (std::integral<Value> || std::floating_point<Value>) {
          return fmt::format("{}", +value);
        } else if constexpr (std::is_same_v<Value, ports::Field::Bytes>) {
          return fmt::format("({} bytes)", value.bytes.size());
        } else if constexpr (std::is_same_v<Value, ports::Field::Time>) {
          return fmt::format("{} s since 1970", value.seconds);
        } else if constexpr (std::is_same_v<Value, ports::FieldArray>) {
          return fmt::format("(a list of {})", value.size());
        } else if constexpr (std::is_same_v<Value, ports::FieldTable>) {
          return fmt::format("(a table of {})", value.size());
        } else if constexpr (std::is_same_v<Value, ports::Field::Decimal>) {
          return fmt::format("{}e-{}", value.digits, value.places);
        } else {
          return "(nothing)";
        }
      },
      field.value);
}

std::string origin_of(const recovery::Letter& letter) {
  return letter.deaths.empty() ? "" : letter.deaths.back().queue;  // newest first
}

wire::SampledMessage sampled(const recovery::Letter& letter) {
  const ports::Message& message = letter.message();
  wire::SampledMessage shown{.id = message.message_id.value_or(""),
                             .type = letter.type,
                             .reason = std::string(letter.reason),
                             .origin = origin_of(letter),
                             .error = std::string(letter.why.value_or("")),
                             .died = letter.died(),
                             .redelivered = letter.delivery->redelivered,
                             .content_type = message.content_type.value_or(""),
                             .size = message.body.size(),
                             .is_cut = message.body.size() > QueueSampler::kMostBodyBytes};
  shown.error.resize(utf8_prefix(shown.error, QueueSampler::kMostBodyBytes).size());
  for (const auto& [name, field] : message.headers) {
    if (shown.headers.size() == QueueSampler::kMostHeaders) break;
    shown.headers.emplace_back(name, header_text(field));
  }
  shown.body = utf8_prefix(message.body, QueueSampler::kMostBodyBytes);
  shown.is_text = is_utf8(shown.body);
  return shown;
}

std::vector<wire::RecoveryCount> most_first(const recovery::Counts& counts) {
  std::vector<wire::RecoveryCount> all;
  for (const auto& [name, count] : counts.by_name())
    all.push_back({name, count});
  if (counts.others() > 0) all.push_back({"others", counts.others()});
  std::ranges::sort(all, [](const auto& a, const auto& b) {
    return a.count != b.count ? a.count > b.count : a.name < b.name;
  });
  return all;
}

}  // namespace

void QueueSampler::note(const recovery::Letter& letter) {
  ++seen_;
  const auto died = letter.died();
  if (died && (!oldest_ || *died < *oldest_)) oldest_ = died;
  types_.add(letter.type);
  reasons_.add(letter.reason);
  origins_.add(origin_of(letter));
  if (letter.why) {
    const std::string group = fingerprint(*letter.why).text();
    const auto known = errors_.find(group);
    if (known != errors_.end()) {
      ++known->second.count;
    } else if (errors_.size() < kMostErrors) {
      const std::string_view example = utf8_prefix(*letter.why, kMostHeaderBytes);
      errors_[group] = {.group = group, .example = std::string(example), .count = 1};
    }
  }
  if (messages_.size() < kMostMessages) messages_.push_back(sampled(letter));
}

wire::QueueSample QueueSampler::sample() const {
  wire::QueueSample sample{.seen = seen_,
                           .oldest = oldest_,
                           .types = most_first(types_),
                           .reasons = most_first(reasons_),
                           .origins = most_first(origins_),
                           .messages = messages_};
  for (const auto& [group, error] : errors_)
    sample.errors.push_back(error);
  std::ranges::sort(sample.errors, [](const auto& a, const auto& b) {
    return a.count != b.count ? a.count > b.count : a.group < b.group;
  });
  return sample;
}

}  // namespace holdfast::server
