#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/breaker.hpp>

#include "ports/store.hpp"
#include "seeing/watch.hpp"

namespace holdfast::seeing {

// One metric, for docs/metrics.md and for whoever reads the text.
struct MetricInfo {
  std::string_view name;
  std::string_view type;    // "counter", "gauge", "histogram"
  std::string_view labels;  // "queue, type"; empty: none
  std::string_view help;
};

// Every metric there is, in the order they are written.
[[nodiscard]] std::span<const MetricInfo> metric_infos();

// What is looked at when somebody asks, beside what was counted meanwhile.
struct Scrape {
  const Watch& watch;
  const ports::Count::Answer& queues;
  std::vector<const Breaker*> breakers = {};
  std::size_t connections = 0;
  std::size_t requests_under_way = 0;
  std::size_t event_readers = 0;
};

// The text format of Prometheus.
inline constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";
[[nodiscard]] std::string metrics_text(const Scrape& scrape);

}  // namespace holdfast::seeing
