#include "triage/search.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <utility>

namespace holdfast::triage {
namespace {

constexpr std::size_t kMostAsked = 200;  // of a store, for one page

// By the time of their last change, the latest first.
bool goes_by_change(const ports::Filter& filter) {
  return filter.state && is_terminal(*filter.state);
}

class Going : public std::enable_shared_from_this<Going> {
 public:
  Going(ports::StoreLane& reader, Search what, Searched then)
      : reader_(reader),
        what_(std::move(what)),
        filters_(what_.query.filters()),
        from_(what_.query.changed_from()),
        then_(std::move(then)) {}

  void start() {
    if (!what_.cursor.empty() && !read_cursor()) {
      return then_(
          fail(ErrorCode::invalid_argument, "list", "cursor: is none that a page has given"));
    }
    go_on();
  }

 private:
  // "2:…": which filter, and the store's own.
  bool read_cursor() {
    const std::string_view text = what_.cursor;
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + colon, at_);
    if (error != std::errc() || end != text.data() + colon || at_ >= steps()) return false;
    inner_ = text.substr(colon + 1);
    return true;
  }

  // What is gone through one after the other: filters, or tasks that are named.
  [[nodiscard]] std::size_t steps() const {
    return what_.query.ids() ? what_.query.ids()->size() : filters_.size();
  }

  void go_on() {
    const bool enough = found_.tasks.size() >= what_.limit || found_.looked >= what_.most_looked ||
                        asked_ >= kMostAsked;
    if (at_ >= steps() || enough) return finish();
    if (const auto* ids = what_.query.ids()) return find((*ids)[at_]);
    ++asked_;
    ports::List list{
        .filter = filters_[at_],
        .cursor = inner_,
        .limit = std::min(what_.limit - found_.tasks.size(), what_.most_looked - found_.looked),
        .payloads = what_.payloads || what_.query.needs_payload()};
    ports::lane_ask(reader_, std::move(list),
                    [self = shared_from_this()](Result<ports::List::Answer> answer) {
                      self->take(std::move(answer));
                    });
  }

  void find(const TaskId& id) {
    ports::lane_ask(reader_, ports::Find{id},
                    [self = shared_from_this()](Result<ports::Find::Answer> answer) {
                      if (!answer) return self->then_(std::unexpected(std::move(answer).error()));
                      self->take(*std::move(answer));
                    });
  }

  void take(std::optional<ports::TaskRecord> record) {
    ++found_.looked;
    ++at_;
    if (record && what_.query.matches(*record)) found_.tasks.push_back(*std::move(record));
    go_on();
  }

  void take(Result<ports::List::Answer> answer) {
    if (!answer) return then_(std::unexpected(std::move(answer).error()));
    found_.looked += answer->tasks.size();
    bool ended = answer->next.empty();
    for (ports::TaskRecord& record : answer->tasks) {
      if (from_ && goes_by_change(filters_[at_]) && record.changed < *from_) ended = true;
      if (what_.query.matches(record)) found_.tasks.push_back(std::move(record));
    }
    inner_ = ended ? "" : std::move(answer->next);
    if (ended) ++at_;
    go_on();
  }

  void finish() {
    if (at_ < steps()) found_.next = std::to_string(at_) + ":" + inner_;
    then_(std::move(found_));
  }

  ports::StoreLane& reader_;
  const Search what_;
  const std::vector<ports::Filter> filters_;
  const std::optional<WallTime> from_;
  Searched then_;
  std::size_t at_ = 0;  // the filter under way
  std::string inner_;   // the store's cursor
  std::size_t asked_ = 0;
  Found found_;
};

// Of states and one queue only: the counters of queues know.
bool is_of_queue_counts(const Query& query) {
  return query.is_left_to_store() && std::ranges::all_of(query.terms(), [](const Term& term) {
           return term.field == Term::Field::state || term.field == Term::Field::queue;
         });
}

// Of a group and states only: the counters of groups know.
bool is_of_group_counts(const Query& query) {
  bool has_group = false;
  for (const Term& term : query.terms()) {
    if (term.field == Term::Field::group) {
      has_group = true;
    } else if (term.field != Term::Field::state) {
      return false;
    }
  }
  return has_group && query.is_left_to_store();
}

using CountedThen = std::move_only_function<void(Result<TaskCount>)>;

void count_queues(ports::StoreLane& reader, const Query& query, CountedThen then) {
  ports::lane_ask(reader, ports::Count{},
                  [filters = query.filters(),
                   then = std::move(then)](Result<ports::Count::Answer> queues) mutable {
                    if (!queues) return then(std::unexpected(std::move(queues).error()));
                    TaskCount counted;
                    for (const ports::QueueCounts& queue : *queues) {
                      for (const ports::Filter& filter : filters) {
                        if (!filter.queue.empty() && filter.queue != queue.queue) continue;
                        for (std::size_t i = 0; i < queue.by_state.size(); ++i) {
                          const bool counts =
                              !filter.state || static_cast<std::size_t>(*filter.state) == i;
                          if (counts) counted.count += queue.by_state[i];
                        }
                      }
                    }
                    then(counted);
                  });
}

void count_group(ports::StoreLane& reader, const Query& query, CountedThen then) {
  std::vector<ports::Filter> filters = query.filters();
  if (filters.empty()) return then(TaskCount());
  const auto only = filters.front().group;
  ports::lane_ask(reader, ports::Groups{.only = only},
                  [filters = std::move(filters),
                   then = std::move(then)](Result<ports::Groups::Answer> groups) mutable {
                    if (!groups) return then(std::unexpected(std::move(groups).error()));
                    TaskCount counted;
                    for (const ports::Group& group : groups->groups) {
                      const bool counts = std::ranges::any_of(
                          filters, [&](const auto& filter) { return filter.state == group.state; });
                      if (counts) counted.count += group.count;
                    }
                    then(counted);
                  });
}

}  // namespace

void search(ports::StoreLane& reader, Search what, Searched then) {
  std::make_shared<Going>(reader, std::move(what), std::move(then))->start();
}

void count(ports::StoreLane& reader, Query query, std::string cursor, CountedThen then) {
  if (cursor.empty() && is_of_queue_counts(query)) {
    return count_queues(reader, query, std::move(then));
  }
  if (cursor.empty() && is_of_group_counts(query)) {
    return count_group(reader, query, std::move(then));
  }
  search(
      reader,
      {.query = std::move(query),
       .cursor = std::move(cursor),
       .limit = Search().most_looked,
       .most_looked = Search().most_looked},
      [then = std::move(then)](Result<Found> found) mutable {
        if (!found) return then(std::unexpected(std::move(found).error()));
        then(TaskCount{
            .count = found->tasks.size(), .looked = found->looked, .next = std::move(found->next)});
      });
}

}  // namespace holdfast::triage
