#include "cli/top_source.hpp"

#include <utility>

#include <fmt/format.h>

#include "cli/text_columns.hpp"
#include "wire/dead_json.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using node::RemoteCall;

constexpr int kMostGroupsFetched = 100;
constexpr int kMostOperationsFetched = 50;

// The server has no such route, since it is an older one.
bool is_unknown(const node::RemoteFault& fault) {
  return fault.status == 404 || fault.status == 405;
}

wire::QueueNow queue_of(const QueueInfo& info, WallTime now) {
  wire::QueueNow queue{.name = info.name, .paused = info.paused};
  for (std::size_t i = 0; i < queue.tasks.size(); ++i)
    queue.tasks[i] = info.count(static_cast<TaskState>(i));
  if (info.oldest_due) queue.oldest_due_age = std::max<Duration>(now - *info.oldest_due, 0s);
  return queue;
}

wire::GroupNow group_of(FailureGroup group) {
  return {.id = std::move(group.id),
          .state = group.state,
          .count = group.count,
          .first_seen = group.first_seen,
          .last_seen = group.last_seen,
          .example = std::move(group.example)};
}

Result<Snapshot> look_into(Connected& store) {
  Snapshot snapshot{.where = store.where, .time = system_clock().wall_now()};
  const auto queues = store.client.counts();
  if (!queues) return std::unexpected(queues.error());
  for (const QueueInfo& queue : *queues)
    snapshot.stats.queues.push_back(queue_of(queue, snapshot.time));
  auto groups = store.client.groups(kMostGroupsFetched);
  if (!groups) return std::unexpected(std::move(groups).error());
  for (FailureGroup& group : *groups)
    snapshot.groups.push_back(group_of(std::move(group)));
  return snapshot;
}

std::string said(std::uint64_t done, std::uint64_t refused) {
  std::string text = fmt::format("Replayed {}", grouped(done));
  if (refused > 0) text += fmt::format("; {} were refused, and need a person", grouped(refused));
  return text + ".";
}

Result<std::string> replay_in(Connected& store, const wire::GroupNow& group,
                              const TopSource::Report& report) {
  std::uint64_t done = 0;
  std::uint64_t refused = 0;
  TaskFilter filter{.state = group.state, .group = group.id, .limit = 500};
  do {
    auto page = store.client.list(filter);
    if (!page) return std::unexpected(std::move(page).error());
    std::vector<TaskId> ids;
    for (const TaskInfo& task : page->tasks)
      ids.push_back(task.id);
    const auto answers = store.client.replay(ids, {});
    if (!answers) return std::unexpected(answers.error());
    for (const auto& answer : *answers)
      ++(answer ? done : refused);
    report(said(done, refused));
    filter.cursor = std::move(page->next);
  } while (!filter.cursor.empty() && done + refused < group.count);
  return said(done, refused);
}

Result<std::string> set_paused(Connected& store, const Action& action) {
  const bool paused = action.what == Action::What::pause;
  const auto done = paused ? store.client.pause(action.queue) : store.client.resume(action.queue);
  if (!done) return std::unexpected(done.error());
  return fmt::format("{} is {}.", action.queue, paused ? "paused" : "resumed");
}

}  // namespace

node::RemoteAnswer TopSource::Server::ask(const RemoteCall& call) const {
  return server.answer(connection->ask(server.request(call)), call.operation,
                       system_clock().wall_now());
}

Result<std::optional<Connected>> TopSource::find() {
  auto connected = connect(target_, Missing::is_an_error);
  if (!connected) return std::unexpected(std::move(connected).error());
  if (!node::is_remote(connected->where)) return std::optional(*std::move(connected));
  auto server = node::RemoteServer::make({.url = connected->where,
                                          .token = token_of_environment(),
                                          .ca_file = target_.ca_file,
                                          .token_in_the_clear = target_.token_in_the_clear});
  if (!server) return std::unexpected(std::move(server).error());
  auto connection = node::RemoteConnection::start(server->client_options());
  if (!connection) return std::unexpected(std::move(connection).error());
  const std::lock_guard lock(mutex_);
  server_.emplace(*std::move(server), *std::move(connection));
  if (is_closed_) server_->connection->close();
  return std::optional<Connected>();
}

Result<Snapshot> TopSource::look() {
  if (store_) return look_into(*store_);
  if (!server_) {
    auto found = find();
    if (!found) return std::unexpected(std::move(found).error());
    if (*found && (*found)->is_embedded) return look_into(**found);
    if (*found) store_.emplace(**std::move(found));
    return look();
  }
  auto snapshot = look_at_server();
  if (!snapshot) {
    // The next time it may be elsewhere, or nowhere.
    const std::lock_guard lock(mutex_);
    server_.reset();
  }
  return snapshot;
}

Result<Snapshot> TopSource::look_at_server() {
  Snapshot snapshot{.where = server_->server.url(), .is_server = true};
  const auto get = [&](const char* operation, std::string path) {
    return server_->ask({.operation = operation,
                         .method = "GET",
                         .path = std::move(path),
                         .timeout = kServerPatience});
  };
  const auto stats = get("stats", "/v1/stats");
  if (!stats) return std::unexpected(stats.error().error);
  auto read = wire::read_stats(*stats);
  if (!read) return std::unexpected(std::move(read).error());
  snapshot.stats = *std::move(read);
  const auto groups = get("groups", fmt::format("/v1/dead/groups?limit={}", kMostGroupsFetched));
  if (!groups) return std::unexpected(groups.error().error);
  auto read_groups = wire::read_groups_now(*groups);
  if (!read_groups) return std::unexpected(std::move(read_groups).error());
  snapshot.groups = *std::move(read_groups);
  const auto operations =
      get("operations", fmt::format("/v1/operations?limit={}", kMostOperationsFetched));
  if (!operations && !is_unknown(operations.error()))
    return std::unexpected(operations.error().error);
  if (operations) {
    auto read_operations = wire::read_operations_now(*operations);
    if (!read_operations) return std::unexpected(std::move(read_operations).error());
    snapshot.operations = *std::move(read_operations);
  }
  snapshot.time = system_clock().wall_now();
  return snapshot;
}

Result<std::string> TopSource::act(const Action& action, const Report& report) {
  std::optional<Connected> embedded;
  if (!server_ && !store_) {
    auto found = find();
    if (!found) return std::unexpected(std::move(found).error());
    if (*found) embedded.emplace(**std::move(found));
  }
  Connected* const store = embedded ? &*embedded : store_ ? &*store_ : nullptr;
  const bool replays = action.what == Action::What::replay;
  if (store) return replays ? replay_in(*store, action.group, report) : set_paused(*store, action);
  if (replays) return replay(action.group, action.canary, report);
  const bool paused = action.what == Action::What::pause;
  const auto done =
      server_->ask({.operation = paused ? "pause" : "resume",
                    .path = fmt::format("/v1/queues/{}/{}", node::percent_encoded(action.queue),
                                        paused ? "pause" : "resume"),
                    .timeout = kServerPatience});
  if (!done) return std::unexpected(done.error().error);
  return fmt::format("{} is {}.", action.queue, paused ? "paused" : "resumed");
}

Result<std::string> TopSource::replay(const wire::GroupNow& group, bool canary,
                                      const Report& report) {
  std::string body;
  wire::JsonWriter writer(body);
  writer.begin_object().key("action").text("replay");
  writer.key("query").text(fmt::format("group:{} state:{}", group.id, to_string(group.state)));
  writer.key("canary").boolean(canary).key("start").boolean(true).end_object();
  const auto done = server_->ask({.operation = "replay",
                                  .path = "/v1/operations",
                                  .body = std::move(body),
                                  .timeout = kServerPatience});
  if (done) return fmt::format("The replay of group {} has begun: see OPERATIONS.", group.id);
  if (!is_unknown(done.error())) return std::unexpected(done.error().error);
  // Whoever wanted to see one of them first would not have all of them.
  if (canary) {
    return fail(ErrorCode::invalid_argument, "replay",
                "this server can bring back all at once only");
  }
  return replay_pages(group, report);
}

// No more than somebody has agreed to: those that come back and die again are not replayed again.
Result<std::string> TopSource::replay_pages(const wire::GroupNow& group, const Report& report) {
  wire::DeadRequest request{.filter = wire::DeadFilter{.state = group.state, .group = group.id}};
  std::uint64_t done = 0;
  std::uint64_t refused = 0;
  do {
    std::string body;
    wire::JsonWriter writer(body);
    write(writer, request);
    const auto answer = server_->ask({.operation = "replay",
                                      .path = "/v1/dead/replay",
                                      .body = std::move(body),
                                      .timeout = 3 * kServerPatience});
    if (!answer) return std::unexpected(answer.error().error);
    auto read = wire::read_dead_answer(*answer);
    if (!read) return std::unexpected(std::move(read).error());
    done += read->done;
    refused += read->refused.size();
    report(said(done, refused));
    request.cursor = std::move(read->next);
  } while (!request.cursor.empty() && done + refused < group.count);
  return said(done, refused);
}

void TopSource::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  if (server_) server_->connection->close();
}

}  // namespace holdfast::cli
