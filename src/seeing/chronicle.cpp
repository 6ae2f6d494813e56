#include "seeing/chronicle.hpp"

#include <algorithm>
#include <string_view>

#include "seeing/seconds.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::seeing {
namespace {

using wire::JsonWriter;

}  // namespace

Depths depths_of(const ports::Count::Answer& queues) {
  Depths depths;
  for (const ports::QueueCounts& queue : queues) {
    depths.waiting += queue.count(core::State::pending) + queue.count(core::State::retrying);
    depths.running += queue.count(core::State::running);
    depths.dead += queue.count(core::State::dead);
  }
  return depths;
}

Chronicle::Chronicle(SteadyTime now, WallTime wall_now) : began_(wall_now) {
  fine_.last = coarse_.last = {.now = now, .wall_now = wall_now};
}

template <std::size_t N>
void Chronicle::Ring<N>::add(const Moment& moment, std::optional<Depths> depths) {
  samples[next] = {.end = moment.wall_now,
                   .span = moment.now - last.now,
                   .grown = moment.totals.since(last.totals),
                   .depths = depths};
  next = (next + 1) % N;
  size = std::min(size + 1, N);
  last = moment;
}

void Chronicle::add(const Moment& moment, std::optional<Depths> depths) {
  fine_.add(moment, depths);
  // A timer is late by a little each time: what is nearly a coarse step is one.
  if (moment.now - coarse_.last.now > kCoarseStep - kFineStep / 2) coarse_.add(moment, depths);
}

std::size_t Chronicle::size(Span span) const noexcept {
  return span == Span::hour ? fine_.size : coarse_.size;
}

const Chronicle::Sample& Chronicle::at(Span span, std::size_t number) const {
  return span == Span::hour ? fine_.at(number) : coarse_.at(number);
}

std::string Chronicle::json(Span span) const {
  const std::size_t samples = size(span);
  std::string out;
  JsonWriter writer(out);
  const auto each = [&](std::string_view name, auto write) {
    writer.key(name).begin_array();
    for (std::size_t i = 0; i < samples; ++i)
      write(at(span, i));
    writer.end_array();
  };
  const auto rate = [&](std::string_view name, std::uint64_t Totals::* count) {
    each(name, [&](const Sample& sample) {
      // Of a server that has just started, a moment would say too much.
      const double over = std::max(seconds_of(sample.span), 1.0);
      writer.number(static_cast<double>(sample.grown.*count) / over);
    });
  };
  const auto depth = [&](std::string_view name, std::uint64_t Depths::* count) {
    each(name, [&](const Sample& sample) {
      if (!sample.depths) return static_cast<void>(writer.null());
      writer.number((*sample.depths).*count);
    });
  };
  const Duration step = span == Span::hour ? kFineStep : kCoarseStep;
  writer.begin_object().key("step_seconds").number(step / std::chrono::seconds(1));
  writer.key("from").time(samples == 0 ? began_ : at(span, 0).end - at(span, 0).span);
  each("times", [&](const Sample& sample) {
    writer.number(std::chrono::floor<std::chrono::seconds>(sample.end).time_since_epoch().count());
  });
  rate("submitted", &Totals::submitted);
  rate("succeeded", &Totals::succeeded);
  rate("failed", &Totals::failed);
  rate("retried", &Totals::retried);
  rate("timeouts", &Totals::timeouts);
  rate("dead", &Totals::dead);
  rate("attempts", &Totals::attempts);
  depth("waiting", &Depths::waiting);
  depth("running", &Depths::running);
  depth("dead_letters", &Depths::dead);
  writer.end_object();
  return out;
}

}  // namespace holdfast::seeing
