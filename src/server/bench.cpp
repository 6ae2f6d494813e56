#include "server/bench.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <holdfast/client.hpp>

#include "config/config.hpp"
#include "io/file_limit.hpp"
#include "io/forked.hpp"
#include "io/resident_memory.hpp"
#include "server/bench_peer.hpp"
#include "server/service.hpp"

namespace holdfast::server::bench {
namespace {

constexpr const char* kOperation = "bench";
constexpr Duration kLook = std::chrono::milliseconds(20);

Result<std::unique_ptr<Service>> serve(const Options& options, std::string_view more) {
  const std::string text = fmt::format(
      "[http]\nlisten = \"127.0.0.1:0\"\n[store]\nurl = \"{}\"\n"
      "[log]\nlevel = \"warning\"\n{}",
      options.url, more);
  const auto config = config::parse(text, "bench");
  if (!config) return std::unexpected(config.error());
  return Service::start(*config, {.log = Logger(stderr_log(), system_clock(), Level::warning)});
}

std::string one_task(const Options& options) {
  return R"({"type":"bench","queue":"bench","payload_text":")" +
         std::string(options.payload_bytes, 'x') + "\"}";
}

std::string post_of(std::string_view body) {
  return fmt::format(
      "POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: {}\r\n\r\n{}",
      body.size(), body);
}

Result<std::uint64_t> tasks_in(const Options& options, std::initializer_list<TaskState> states) {
  Client client(options.url);
  const auto queues = client.counts();
  if (!queues) return std::unexpected(queues.error());
  std::uint64_t count = 0;
  for (const QueueInfo& queue : *queues) {
    for (const TaskState state : states)
      count += queue.count(state);
  }
  return count;
}

// Requests a second.
Result<double> measure(const Options& options, std::size_t requests, std::size_t tasks_in_one,
                       std::string_view body) {
  const Load what{.request = post_of(body), .count = requests, .connections = options.connections};
  const auto peer = io::Forked::start([&](int channel) { load(channel, what); });
  if (!peer) return std::unexpected(peer.error());
  const auto service = serve(options, "");
  if (!service) return std::unexpected(service.error());
  if (auto told = peer->tell((*service)->port()); !told) return std::unexpected(told.error());
  const auto loaded = peer->hear<Loaded>();
  if (!loaded) return std::unexpected(loaded.error());
  const auto here = tasks_in(options, {TaskState::pending});
  if (!here) return std::unexpected(here.error());
  const std::uint64_t answered = loaded->accepted * tasks_in_one;
  if (loaded->refused > 0 || *here != answered) {
    return fail(ErrorCode::internal, kOperation,
                fmt::format("{} requests were refused; {} tasks were answered, {} are here",
                            loaded->refused, answered, *here));
  }
  return static_cast<double>(loaded->accepted) / loaded->seconds;
}

// Hands in `count` tasks for the webhook, in batches, and waits until all have succeeded.
Result<void> run_hooks(const Options& options, std::size_t count) {
  Client client(options.url);
  constexpr std::size_t kBatch = 1000;
  for (std::size_t done = 0; done < count;) {
    const std::size_t size = std::min(kBatch, count - done);
    const std::vector<Submission> batch(
        size, Submission{.type = "hook", .payload = std::string(options.payload_bytes, 'x')});
    const auto accepted = client.submit(std::span<const Submission>(batch));
    if (!accepted) return std::unexpected(accepted.error());
    done += size;
  }
  while (true) {
    const auto succeeded = tasks_in(options, {TaskState::succeeded});
    if (!succeeded) return std::unexpected(succeeded.error());
    const auto lost = tasks_in(options, {TaskState::failed, TaskState::dead});
    if (!lost) return std::unexpected(lost.error());
    if (*lost > 0) {
      return fail(ErrorCode::internal, kOperation, fmt::format("{} webhooks failed", *lost));
    }
    if (options.progress) {
      options.progress(static_cast<double>(*succeeded) / static_cast<double>(count));
    }
    if (*succeeded >= count) return {};
    system_clock().sleep_for(kLook);
  }
}

struct Hooked {
  double seconds = 0;
  Received received = {};
};

Result<Hooked> hooks(const Options& options, std::size_t count, std::size_t in_flight,
                     Duration wait) {
  const auto peer = io::Forked::start([&](int channel) { receive(channel, wait); });
  if (!peer) return std::unexpected(peer.error());
  const auto port = peer->hear<std::uint16_t>();
  if (!port) return std::unexpected(port.error());
  io::raise_file_limit();
  // Signed, as users are told to.
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the threads of the server are not there yet
  ::setenv("HOLDFAST_BENCH_SECRET", "a-secret-for-the-benchmark", 1);
  const auto service =
      serve(options, fmt::format("[queue.default]\nconcurrency = {}\n"
                                 "[webhook]\nallow = [\"127.0.0.0/8\"]\n"
                                 "[task.hook]\nwebhook = \"http://127.0.0.1:{}/\"\n"
                                 "secret = \"env:HOLDFAST_BENCH_SECRET\"\n",
                                 in_flight, *port));
  if (!service) return std::unexpected(service.error());
  const SteadyTime began = system_clock().now();
  if (auto done = run_hooks(options, count); !done) return std::unexpected(done.error());
  const std::chrono::duration<double> took = system_clock().now() - began;
  if (auto asked = peer->tell('?'); !asked) return std::unexpected(asked.error());
  const auto received = peer->hear<Received>();
  if (!received) return std::unexpected(received.error());
  if (received->requests < count) {
    return fail(ErrorCode::internal, kOperation,
                fmt::format("{} requests for {} tasks", received->requests, count));
  }
  return Hooked{.seconds = took.count(), .received = *received};
}

}  // namespace

Result<double> submits(const Options& options) {
  return measure(options, options.requests, 1, one_task(options));
}

Result<double> arrays(const Options& options) {
  std::string body = "[";
  for (std::size_t i = 0; i < options.array; ++i)
    body += (i > 0 ? "," : "") + one_task(options);
  // As many tasks, but in larger pieces: enough to measure, and not to wait for.
  const std::size_t requests = std::max<std::size_t>(options.requests * 5 / options.array, 1);
  auto measured = measure(options, requests, options.array, body + "]");
  if (!measured) return measured;
  return *measured * static_cast<double>(options.array);
}

Result<double> webhooks(const Options& options) {
  const auto done = hooks(options, options.hooks, options.in_flight, Duration::zero());
  if (!done) return std::unexpected(done.error());
  return static_cast<double>(options.hooks) / done->seconds;
}

Result<SlowWebhooks> slow_webhooks(const Options& options) {
  const auto done =
      hooks(options, options.slow_hooks * 2, options.slow_hooks, std::chrono::seconds(1));
  if (!done) return std::unexpected(done.error());
  return SlowWebhooks{.at_once = static_cast<double>(done->received.most_at_once),
                      .mb = io::most_resident_mb()};
}

}  // namespace holdfast::server::bench
