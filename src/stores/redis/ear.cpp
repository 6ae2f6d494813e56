#include "stores/redis/ear.hpp"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "stores/redis/patience.hpp"
#include "stores/redis/way.hpp"

namespace holdfast::stores::redis {
namespace {

using namespace std::chrono_literals;

// A dead peer must be noticed, and the channel heard on the right server again, before others may
// think that we are gone: they look for longer than this and the answer to it.
constexpr Duration kCheckEvery = 7s;
// A connection that was there for so long was a good one: the next is made at once.
constexpr Duration kSettled = 2s;

// Who is to be told, and whether he is being told just now.
class Listener {
 public:
  void set(ports::News::Told told) {
    auto next = told ? std::make_shared<const ports::News::Told>(std::move(told)) : nullptr;
    std::unique_lock lock(mutex_);
    if (teller_ != std::this_thread::get_id())
      told_all_.wait(lock, [&] { return teller_ == std::thread::id(); });
    told_ = std::move(next);
  }

  void tell(ports::News::One one) {
    std::unique_lock lock(mutex_);
    const auto told = told_;  // kept, should it be replaced while it runs
    if (!told) return;
    teller_ = std::this_thread::get_id();
    lock.unlock();
    (*told)(std::move(one));
    lock.lock();
    teller_ = {};
    lock.unlock();
    told_all_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable told_all_;
  std::shared_ptr<const ports::News::Told> told_;
  std::thread::id teller_;
};

}  // namespace

struct Ear::Inner {
  Inner(SessionOptions given, std::string its_channel)
      : options(for_listening(std::move(given))),
        channel(std::move(its_channel)),
        way(options, stop, clock),
        policy(patience({.what = "listen for news",
                         .at = options.address.text(),
                         .log = options.log,
                         .clock = &clock,
                         .stop = &stop})
                   .on_recovered({})) {}

  static SessionOptions for_listening(SessionOptions options) {
    if (!options.name.empty()) options.name += "-news";
    options.scripts = {};
    return options;
  }

  // Until it is told to stop. Where a connection was good for a while, trying begins anew.
  void run() {
    while (!stop.given()) {
      const auto listened = policy.call([&] { return listen_once(); });
      if (!listened) return;  // nothing but the end makes it give up
    }
  }

  // From the subscription to its end.
  OrTrouble<void> listen_once() {
    auto connection = subscribe();
    if (!connection) return std::unexpected(patient(std::move(connection.error())));
    const SteadyTime since = clock.now();
    // Also with the first: somebody may have been told to tell us before we could hear it.
    listener.tell({.queue = {}, .any = true});
    Trouble end = hear_all(**connection);
    if (stop.given()) return {};
    if (clock.now() - since < kSettled) return std::unexpected(patient(std::move(end)));
    options.log.log(Level::warning, "store.news_lost",
                    "The connection that news come over is lost; making another.",
                    {{"store", options.address.text()}, {"error", end.error.text()}});
    return {};
  }

  // Whatever it is, somebody may put it right, and nobody else waits for us to give up.
  [[nodiscard]] Trouble patient(Trouble trouble) const {
    trouble.remedy = stop.given() ? Remedy::none : Remedy::wait;
    return trouble;
  }

  // On the node of a cluster that has the channel's slot: those who tell us ask only that one who
  // listens.
  OrTrouble<std::unique_ptr<Connection>> subscribe() {
    auto connection = way.connect_to_owner_of(channel);
    if (!connection) return connection;
    Pipeline words;
    words.add({"INFO", "cluster"});
    words.add({"SUBSCRIBE", channel});
    auto answers = (*connection)->ask(words);
    if (!answers) return std::unexpected(std::move(answers.error()));
    const Reply subscribed = answers->back().view();
    if (subscribed.is_error()) return std::unexpected(said_by_server(subscribed.text()));
    const std::string_view info = answers->front().view().text();
    check = check_of(info.find("cluster_enabled:1") != std::string_view::npos);
    return connection;
  }

  // In a cluster the channel's slot may have gone elsewhere, and nobody tells a subscriber. While
  // there is a subscription only few commands are allowed, and EXISTS is none of them.
  [[nodiscard]] Pipeline check_of(bool cluster) const {
    Pipeline words;
    if (cluster) {
      words.add({"UNSUBSCRIBE", channel});
      words.add({"EXISTS", channel});
      words.add({"SUBSCRIBE", channel});
    } else {
      words.add({"PING"});
    }
    return words;
  }

  // Returns with why it has ended.
  Trouble hear_all(Connection& connection) {
    const Duration check_every = std::min(kCheckEvery, options.check_after);
    SteadyTime check_at = saturating_add(clock.now(), check_every);
    std::size_t awaited = 0;  // answers to the last check
    for (;;) {
      const SteadyTime now = clock.now();
      if (now >= check_at) {
        if (awaited > 0) return silent();
        if (way.leads_elsewhere(connection.host())) return another_master();
        if (auto told = connection.tell(check.bytes_from(0)); !told) return told.error();
        awaited = check.size();
        check_at = saturating_add(now, options.answer_timeout);
      }
      auto heard = connection.hear(check_at - clock.now());
      if (!heard) return heard.error();
      if (!*heard) continue;
      const Reply said = (*heard)->view();
      if (said.is_error()) return moved_or_refused(said.text(), connection);
      if (said[0].text() == "message") {
        listener.tell({.queue = std::string(said[2].text()), .any = false});
      } else if (awaited > 0) {
        --awaited;
        if (awaited == 0) check_at = saturating_add(clock.now(), check_every);
      }
    }
  }

  Trouble moved_or_refused(std::string_view text, const Connection& connection) {
    Trouble trouble = said_by_server(text);
    if (trouble.remedy == Remedy::follow) (void)way.follow(place_of_move(text), connection.host());
    return trouble;
  }

  [[nodiscard]] static Trouble another_master() {
    return lost({ErrorCode::unavailable, "listen for news", "another server is the master now"});
  }
  [[nodiscard]] static Trouble silent() {
    return lost({ErrorCode::unavailable, "listen for news", "the server does not answer a PING"});
  }

  const SessionOptions options;
  const std::string channel;
  Clock& clock = system_clock();
  StopSignal stop;
  Way way;
  const retry::Policy policy;
  Pipeline check;
  Listener listener;
  std::thread thread;  // the last: it uses all the others
};

Ear::Ear(SessionOptions options, std::string channel)
    : inner_(std::make_unique<Inner>(std::move(options), std::move(channel))) {
  inner_->thread = std::thread([inner = inner_.get()] { inner->run(); });
}

Ear::~Ear() {
  inner_->stop.give();
  inner_->thread.join();
}

void Ear::listen(Told told) {
  inner_->listener.set(std::move(told));
}

}  // namespace holdfast::stores::redis
