#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/time.hpp>

#include "cli/top_keys.hpp"
#include "wire/overview_json.hpp"

// `holdfast top` without a terminal and without a server: what is seen, what is pressed, and what
// follows from both.
namespace holdfast::cli {

// What there is, at one moment.
struct Snapshot {
  std::string where = {};  // URL, for people
  bool is_server =
      false;  // else a store that was looked into: it counts, and nobody tells of rates
  WallTime time{};
  wire::StatsNow stats = {};
  std::vector<wire::GroupNow> groups = {};
  // Nothing: the server does not know of any.
  std::optional<std::vector<wire::OperationNow>> operations = {};

  [[nodiscard]] wire::QueueNow totals() const;  // of all queues; no name
};

void write(wire::JsonWriter& writer, const Snapshot& snapshot);

enum class Pane : std::uint8_t { queues, groups };
enum class QueueSort : std::uint8_t { name, waiting, running, done, dead, oldest };
enum class GroupSort : std::uint8_t { latest, count };
[[nodiscard]] std::string_view to_string(QueueSort sort) noexcept;
[[nodiscard]] std::string_view to_string(GroupSort sort) noexcept;

// What is to be done by whoever can.
struct Action {
  enum class What : std::uint8_t { pause, resume, replay };
  What what = What::pause;
  std::string queue = {};
  wire::GroupNow group = {};  // as it was when somebody agreed to it
  bool canary = false;

  bool operator==(const Action&) const = default;
};

// How somebody looks at it.
struct View {
  Pane pane = Pane::queues;
  std::string queue = {};  // the selected one; none of that name: the first
  std::string group = {};  // its id and state, likewise
  QueueSort queue_sort = QueueSort::name;
  GroupSort group_sort = GroupSort::latest;
  std::string filter = {};
  bool is_typing = false;  // the filter
  bool helps = false;
  // Whether to replay this group.
  struct Question {
    wire::GroupNow group = {};
    bool has_canary = false;  // the server can bring some back first
    bool canary = false;
  };
  std::optional<Question> question = {};
  struct Notice {
    std::string text = {};
    bool is_bad = false;
  };
  Notice notice = {};            // until the next key
  std::string trouble = {};      // why nothing new comes
  std::deque<double> done = {};  // per second, the latest last
};

// In the order, and of those, that the view wants.
[[nodiscard]] std::vector<const wire::QueueNow*> shown_queues(const View& view,
                                                              const Snapshot& snapshot);
[[nodiscard]] std::vector<const wire::GroupNow*> shown_groups(const View& view,
                                                              const Snapshot& snapshot);
// The place of the selected one among them; 0 where it is not there.
[[nodiscard]] std::size_t selected_queue(const View& view,
                                         const std::vector<const wire::QueueNow*>& shown);
[[nodiscard]] std::size_t selected_group(const View& view,
                                         const std::vector<const wire::GroupNow*>& shown);

struct Pressed {
  std::optional<Action> action = {};
  bool quits = false;
  bool looks = false;  // at once, for something new
};
[[nodiscard]] Pressed press(View& view, const Snapshot& snapshot, const Key& key);

// There is something new to be seen.
void renew(View& view, const Snapshot& snapshot);

}  // namespace holdfast::cli
