#include "node/node.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "core/uuid.hpp"
#include "io/lane.hpp"

namespace holdfast::node {
namespace {

// On a store that others share, an idle worker asks rarely; what it may miss meanwhile it is told.
constexpr Duration kSharedSweep = std::chrono::milliseconds(2500);

// One that no other life of any process has: host, process, and what cannot come twice.
[[nodiscard]] std::string new_owner() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host = {'?'};
  UuidSource ids(system_random());
  return fmt::format("{}:{}:{}", host.data(), ::getpid(),
                     ids.next(system_clock().wall_now()).text());
}

}  // namespace

Node::Node(Opened opened, Logger log)
    : log_(log),
      url_(std::move(opened.url)),
      sole_owner_(opened.store.sole_owner),
      ground_(std::make_shared<Ground>()),
      writer_(opened.lane ? opened.lane(ground_->loop)
                          : std::make_unique<io::StoreLane>(ground_->loop, "hf-writer",
                                                            std::move(opened.store.writer), log)),
      reader_(opened.store.reader
                  ? std::make_unique<io::StoreLane>(ground_->loop, "hf-reader",
                                                    std::move(opened.store.reader), log)
                  : nullptr),
      news_(std::move(opened.store.news)) {
  ground_->witness = std::move(opened.witness);
  ground_->own_clock = std::move(opened.store.clock);
  if (ground_->own_clock) ground_->clock = ground_->own_clock.get();
  idle_ = make_engine({}, log);
  audit_ = std::make_unique<triage::AuditLog>(*writer_, reader(), clock(), system_random(), log);
  operations_ = std::make_unique<triage::Operations>(
      triage::Parts{
          .loop = ground_->loop,
          .writer = *writer_,
          .reader = reader(),
          .clock = clock(),
          .random = system_random(),
          .log = log,
          .runner = new_owner(),
          .is_shared = is_shared(),
          .decide =
              [this](std::vector<TaskId> ids, triage::Parts::Decision decision,
                     std::move_only_function<void(Decisions)> then) {
                decide_each(std::move(ids), std::move(decision), std::move(then));
              },
          .would_replay =
              [this](const ports::TaskRecord& record, const core::ReplayOptions& options) {
                return engine().would_replay(record, options);
              }},
      *audit_);
  thread_ = std::thread([this] { run_loop(); });
}

Node::~Node() {
  on_loop([this] {
    operations_.reset();
    serving_.reset();
    working_.reset();
    idle_.reset();
  });
  loop().stop();
  thread_.join();
}

// A throw out of the loop is a bug of ours. Whoever waits is answered, and nobody waits again.
void Node::run_loop() noexcept {
  io::name_this_thread("hf-loop");
  try {
    loop().run();
  } catch (const std::exception& error) {
    broken_by_a_bug(error.what());
  } catch (...) {
    broken_by_a_bug("something that is no std::exception was thrown");
  }
}

void Node::broken_by_a_bug(const char* what) noexcept {
  log_.log(Level::critical, "node.broken", "the engine has ended by a bug of its own",
           {{"error", what}});
  if (on_broken_) on_broken_({ErrorCode::internal, "engine", what});
}

std::unique_ptr<engine::Engine> Node::make_engine(engine::Options options, Logger log,
                                                  const Work* work) {
  options.store = url_;
  options.owner = new_owner();
  options.sole_owner = sole_owner_;
  return std::make_unique<engine::Engine>(engine::Parts{.loop = ground_->loop,
                                                        .writer = *writer_,
                                                        .reader = reader(),
                                                        .clock = clock(),
                                                        .random = system_random(),
                                                        .log = log,
                                                        .witness = ground_->witness.get(),
                                                        .news = work ? news_.get() : nullptr,
                                                        .spill = work ? work->spill.get() : nullptr,
                                                        .memo = work ? work->memo.get() : nullptr},
                                          std::move(options));
}

Result<ports::Submit::Answer> Node::submit(std::vector<ports::NewTask> tasks) {
  return call_engine<ports::Submit::Answer>(
      "submit", [tasks = std::move(tasks)](engine::Engine& engine, auto then) mutable {
        engine.submit(std::move(tasks), std::move(then));
      });
}

Result<core::Transition> Node::cancel(TaskId id) {
  return call_engine<core::Transition>(
      "cancel", [id](engine::Engine& engine, auto then) { engine.cancel(id, std::move(then)); });
}

void Node::decide_each(std::vector<TaskId> ids, triage::Parts::Decision decision,
                       std::move_only_function<void(Decisions)> then) {
  struct Gathering {
    Decisions decisions;
    std::size_t undecided;
    std::move_only_function<void(Decisions)> tell;
  };
  if (ids.empty()) return then(Decisions());
  auto gathering =
      std::make_shared<Gathering>(Gathering{Decisions(ids.size()), ids.size(), std::move(then)});
  for (std::size_t at = 0; at < ids.size(); ++at) {
    ask_engine<core::Transition>(
        [&decision, id = ids[at]](engine::Engine& engine, auto decided) {
          if (decision.action == OperationAction::discard) {
            return engine.discard(id, std::move(decided), decision.by);
          }
          engine.replay(id, decision.options, std::move(decided), decision.by);
        },
        [gathering, at](Result<core::Transition> one) {
          gathering->decisions[at] = std::move(one);
          if (--gathering->undecided == 0) gathering->tell(std::move(gathering->decisions));
        });
  }
}

Result<Node::Decisions> Node::decide(std::span<const TaskId> ids,
                                     triage::Parts::Decision decision) {
  std::vector<TaskId> all(ids.begin(), ids.end());
  return call<Decisions>(
      "decide", [this, all = std::move(all), decision = std::move(decision)](auto then) mutable {
        decide_each(std::move(all), std::move(decision), std::move(then));
      });
}

Result<ports::Configure::Answer> Node::configure(ports::Configure configure) {
  return call_engine<ports::Configure::Answer>(
      "configure", [configure = std::move(configure)](engine::Engine& engine, auto then) mutable {
        engine.configure(std::move(configure), std::move(then));
      });
}

Result<void> Node::start_work(Work work) {
  return call<void>("start", [this, work = std::move(work)](auto then) mutable {
    if (working_) {
      return then(fail(ErrorCode::conflict, "start",
                       "another worker of this process has the same store: give all handlers and "
                       "queues to one of them"));
    }
    on_broken_ = work.on_broken;
    on_stopping_ = std::move(work.on_stopping);
    engine::Options options{.lease = work.lease,
                            .shutdown_grace = work.grace,
                            .stop_grace = work.stop_grace,
                            .keep = work.keep,
                            .observer = work.observer,
                            .claims_ahead = work.claims_ahead,
                            .on_broken = std::move(work.on_broken)};
    if (is_shared()) {
      options.sweep_every = kSharedSweep;
      // Nobody could tell after a crash what of it had begun.
      options.claims_ahead = options.claims_ahead && ground_->witness;
    }
    const auto working = std::make_shared<Working>();
    working->spill = work.spill;
    working->memo = work.memo;
    working->engine = make_engine(std::move(options), work.log, &work);
    working_ = working;
    if (work.observer) {
      writer_->watch([observer = work.observer](std::size_t size) { observer->stored(size); });
    }
    serving_ = working_;
    for (auto& [type, options] : work.types)
      working_->engine->handle(std::move(type), std::move(options));
    for (engine::QueueOptions& queue : work.queues)
      working_->engine->serve(std::move(queue));
    for (engine::Carriage& carriage : work.carried)
      working_->engine->carry(std::move(carriage));
    for (engine::DeadLetters& rule : work.dead_letters)
      working_->engine->consume_dead_letters(std::move(rule));
    working_->engine->start();
    then({});
  });
}

Result<engine::ShutdownReport> Node::stop_work() {
  return call<engine::ShutdownReport>("stop", [this](auto then) {
    if (!working_) return then(engine::ShutdownReport());
    serving_.reset();
    if (on_stopping_) std::exchange(on_stopping_, nullptr)();
    working_->engine->shut_down([this, then = std::move(then)](auto done) mutable {
      working_->when_idle = [this, done, then = std::move(then)]() mutable {
        working_.reset();
        writer_->watch({});
        on_broken_ = nullptr;
        then(done);
      };
      settle_if_idle(*working_);
    });
  });
}

// Not from within the engine's own callback, which this destroys it from.
void Node::settle_if_idle(Working& working) {
  if (working.calls > 0 || !working.when_idle) return;
  loop().post(std::exchange(working.when_idle, nullptr));
}

void Node::hurry() {
  loop().post([this] {
    if (working_) working_->engine->hurry();
  });
}

void Node::on_loop(std::move_only_function<void()> work) {
  std::promise<void> promise;
  const auto done = promise.get_future();
  loop().post([work = std::move(work), promise = std::move(promise)]() mutable {
    work();
    work = nullptr;
    promise.set_value();
  });
  done.wait();
}

std::unexpected<Error> Node::refuse_own_thread(const char* operation) {
  return fail(ErrorCode::internal, operation,
              "called on the engine's own thread, which cannot wait for itself: call it from a "
              "handler or a thread of your own");
}

std::unexpected<Error> Node::refuse_closed(const char* operation) {
  return fail(ErrorCode::unavailable, operation, "the store was closed before it answered");
}

}  // namespace holdfast::node
