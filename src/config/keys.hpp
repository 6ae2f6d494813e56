#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "config/document.hpp"
#include "config/reading.hpp"

// Every key of the configuration, described once. Reading, the search for unknown keys and for what
// was meant, describe(), diff() and docs/configuration.md all come from here.
namespace holdfast::config {

// Whether a change can take hold while the server runs.
enum class Reload : std::uint8_t { no, yes };

// Queues for which a key has a meaning.
enum class CarriedBy : std::uint8_t { anything, broker, rabbitmq, sqs };

// What can be said of a key without a configuration at hand.
struct KeyInfo {
  std::string_view name = {};     // "listen"; of a table in a table: "retry.first"
  std::string_view kind = {};     // "duration"
  std::string default_text = {};  // as TOML; empty: there is none
  std::string_view meaning = {};
  Reload reload = Reload::no;
  std::optional<RunBy> only = {};  // of tasks that are run so
  bool required = false;
  CarriedBy carried = CarriedBy::anything;  // of queues that are carried so
};

// A key of the table that becomes an S.
template <class S>
struct Row {
  KeyInfo info = {};
  std::function<void(const Spot&, const Value&, S&)> read;
  std::function<std::string(const S&)> show;  // as TOML; empty: it is not given
  std::function<bool(const S&, const S&)> same;
  std::function<void(S&, const S&)> copy;
};

template <class S>
struct Section {
  using Type = S;
  std::string_view name = {};     // "http", "token"
  std::string_view meaning = {};  // one line
  std::vector<Row<S>> rows = {};
  std::string_view placeholder = "NAME";  // for the names of its tables
};

struct Sections {
  Section<Store> store;
  Section<Http> http;
  Section<Token> token;
  Section<Log> log;
  Section<Shutdown> shutdown;
  Section<Engine> engine;
  Section<Queue> queue;
  Section<Task> task;
  Section<Webhook> webhook;
  Section<Inputs> inputs;
  Section<Alerts> alerts;
  Section<Events> events;
  Section<Aws> aws;
  Section<Broker> broker;
  Section<Recover> recover;
  Section<Route> route;
};

[[nodiscard]] const Sections& sections();

// Of a section that is there once, its member of Config; of one whose tables have names, the map.
template <class Function>
void each_section(const Function& function) {
  const Sections& all = sections();
  function(all.store, &Config::store);
  function(all.http, &Config::http);
  function(all.token, &Config::tokens);
  function(all.log, &Config::log);
  function(all.shutdown, &Config::shutdown);
  function(all.engine, &Config::engine);
  function(all.queue, &Config::queues);
  function(all.task, &Config::tasks);
  function(all.webhook, &Config::webhook);
  function(all.inputs, &Config::inputs);
  function(all.alerts, &Config::alerts);
  function(all.events, &Config::events);
  function(all.aws, &Config::aws);
  function(all.broker, &Config::brokers);
  function(all.recover, &Config::recoveries);
  function(all.route, &Config::routes);
}

// Whether the tables of a section have names: [queue.NAME].
template <class S, class T>
[[nodiscard]] constexpr bool has_names(T Config::* /*member*/) {
  return !std::is_same_v<T, S>;
}

// A table and its keys, for the page that documents them.
struct TableInfo {
  std::string name = {};  // "http", "queue.NAME"
  std::string_view meaning = {};
  std::vector<KeyInfo> keys = {};
};

[[nodiscard]] std::vector<TableInfo> tables();

// Whether the key has a meaning for this table: a webhook has no folder, and a queue that the store
// carries no dead-letter queue.
template <class S>
[[nodiscard]] bool applies(const KeyInfo& info, const S& section) {
  if constexpr (std::is_same_v<S, Task>) {
    return !info.only || *info.only == section.run_by();
  } else if constexpr (std::is_same_v<S, Queue>) {
    return info.carried == CarriedBy::anything ||
           (section.broker.is_set() && (info.carried == CarriedBy::broker ||
                                        (info.carried == CarriedBy::sqs) == section.is_at_sqs()));
  } else {
    return true;
  }
}

}  // namespace holdfast::config
