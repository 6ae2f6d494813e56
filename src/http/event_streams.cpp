#include "http/event_streams.hpp"

#include <algorithm>
#include <utility>

#include "wire/json_writer.hpp"

namespace holdfast::http {
namespace {

using seeing::Happening;

// A reader whose filter lets little through looks at so many at a time, and leaves the loop to
// others in between.
constexpr std::size_t kMostLookedAt = 10'000;

void write_task(wire::JsonWriter& writer, const Happening& happening) {
  writer.begin_object().key("id").text(happening.id.text());
  writer.key("type").text(happening.type).key("queue").text(happening.queue);
  if (happening.from) writer.key("from").word(core::to_string(*happening.from));
  writer.key("to").word(core::to_string(happening.to));
  writer.key("event").word(happening.event);
  if (happening.attempt > 0) writer.key("attempt").number(happening.attempt);
  if (!happening.error.empty()) writer.key("error").text(happening.error);
  writer.key("time").time(happening.time).end_object();
}

void write_queue(wire::JsonWriter& writer, const Happening& happening) {
  writer.begin_object().key("queue").text(happening.queue);
  writer.key("paused").boolean(happening.paused).key("time").time(happening.time).end_object();
}

void append(std::string& out, const std::string& id, const Happening& happening) {
  out += "id: " + id;
  wire::JsonWriter writer(out);
  switch (happening.kind) {
    case Happening::Kind::task:
      out += "\nevent: task\ndata: ";
      write_task(writer, happening);
      break;
    case Happening::Kind::queue:
      out += "\nevent: queue\ndata: ";
      write_queue(writer, happening);
      break;
    case Happening::Kind::alert: out += "\nevent: alert\ndata: " + happening.json; break;
    case Happening::Kind::operation: out += "\nevent: operation\ndata: " + happening.json; break;
  }
  out += "\n\n";
}

}  // namespace

bool EventFilter::wants(const seeing::Happening& happening) const {
  if (happening.kind == Happening::Kind::alert) return true;
  if (happening.kind == Happening::Kind::operation) return queue.empty() && type.empty() && !state;
  if (!queue.empty() && happening.queue != queue) return false;
  if (happening.kind == Happening::Kind::queue) return true;
  return (type.empty() || happening.type == type) && (!state || happening.to == *state);
}

struct EventStreams::Parts : std::enable_shared_from_this<EventStreams::Parts> {
  Parts(ports::Loop& its_loop, seeing::EventLog& its_log) : loop(its_loop), log(its_log) {}

  // Later, and once for all that happens until then: the engine is at work when it tells of it.
  void wake_soon() {
    if (readers.empty() || std::exchange(waking, true)) return;
    loop.post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->wake();
    });
  }
  void wake();
  void keep_alive();

  ports::Loop& loop;
  seeing::EventLog& log;
  std::vector<Reader*> readers;
  std::unique_ptr<ports::Loop::Timer> timer;
  bool waking = false;
};

class EventStreams::Reader final : public BodySource, public std::enable_shared_from_this<Reader> {
 public:
  Reader(std::shared_ptr<Parts> parts, EventFilter filter, std::optional<std::string_view> last_id,
         std::function<bool()> is_still_in)
      : parts_(std::move(parts)),
        filter_(std::move(filter)),
        is_still_in_(std::move(is_still_in)),
        next_(parts_->log.last() + 1) {
    // Browsers come back after this many milliseconds, with the id that was sent last.
    head_ = "retry: 2000\n";
    const seeing::EventLog& log = parts_->log;
    const auto number = last_id ? log.number_of(*last_id) : std::nullopt;
    const bool known = number && *number <= log.last() && *number + 1 >= log.first();
    if (last_id && !known) {
      head_ += "id: " + log.id_of(log.last()) + "\nevent: reset\ndata: {\"reason\":\"" +
               (number ? "the events after this id are not kept any more"
                       : "this id is of another life of the server, or of none") +
               "\"}\n\n";
    } else {
      if (known) next_ = *number + 1;
      head_ += "id: " + log.id_of(next_ - 1) + "\n: connected\n\n";
    }
    parts_->readers.push_back(this);
  }
  ~Reader() override { std::erase(parts_->readers, this); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  bool take(std::string& out, std::size_t most) override {
    if (is_still_in_ && !is_still_in_()) return false;
    out += std::exchange(head_, {});
    const seeing::EventLog& log = parts_->log;
    if (next_ < log.first()) return false;  // too slow
    for (std::size_t looked = 0; next_ <= log.last() && out.size() < most; ++looked) {
      if (looked == kMostLookedAt) {
        parts_->wake_soon();
        break;
      }
      const Happening& happening = log.at(next_);
      if (filter_.wants(happening)) append(out, log.id_of(next_), happening);
      ++next_;
    }
    return true;
  }

  void wake() const { tell_more(); }

  void keep_alive() {
    if (head_.empty()) head_ = ": still here\n\n";
    tell_more();
  }

 private:
  const std::shared_ptr<Parts> parts_;
  const EventFilter filter_;
  const std::function<bool()> is_still_in_;
  std::string head_;    // to be sent before what happens
  std::uint64_t next_;  // the number of what is to be sent next
};

void EventStreams::Parts::wake() {
  waking = false;
  // One that is woken may turn out to be gone.
  std::vector<std::shared_ptr<Reader>> awake;
  awake.reserve(readers.size());
  for (Reader* reader : readers)
    awake.push_back(reader->shared_from_this());
  for (const auto& reader : awake)
    reader->wake();
}

void EventStreams::Parts::keep_alive() {
  timer.reset();
  if (readers.empty()) return;
  std::vector<std::shared_ptr<Reader>> awake;
  awake.reserve(readers.size());
  for (Reader* reader : readers)
    awake.push_back(reader->shared_from_this());
  for (const auto& reader : awake)
    reader->keep_alive();
  timer = loop.after(kKeepAlive, [this] { keep_alive(); });
}

EventStreams::EventStreams(ports::Loop& loop, seeing::EventLog& log)
    : parts_(std::make_shared<Parts>(loop, log)) {
  log.on_news = [parts = parts_.get()] { parts->wake_soon(); };
}

EventStreams::~EventStreams() {
  parts_->log.on_news = nullptr;
  parts_->timer.reset();
}

std::shared_ptr<BodySource> EventStreams::open(EventFilter filter,
                                               std::optional<std::string_view> last_id,
                                               std::function<bool()> is_still_in) {
  auto reader =
      std::make_shared<Reader>(parts_, std::move(filter), last_id, std::move(is_still_in));
  if (!parts_->timer) {
    parts_->timer = parts_->loop.after(kKeepAlive, [parts = parts_.get()] { parts->keep_alive(); });
  }
  return reader;
}

std::size_t EventStreams::readers() const noexcept {
  return parts_->readers.size();
}

}  // namespace holdfast::http
