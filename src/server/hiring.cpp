#include "server/hiring.hpp"

#include <utility>

#include "handlers/command.hpp"
#include "handlers/command_rules.hpp"
#include "handlers/webhook.hpp"
#include "handlers/webhook_rules.hpp"
#include "inputs/with_input.hpp"

namespace holdfast::server {
namespace {

Result<inputs::InputOptions> options_of(const config::Input& input) {
  inputs::InputOptions options{
      .fetch = {.server = {.endpoint = std::string(input.s3.text.reveal()),
                           .region = input.region,
                           .path_style = input.path_style,
                           .credentials = {std::string(input.access_key.reveal()),
                                           std::string(input.secret_key.reveal()),
                                           std::string(input.session_token.reveal())}},
                .largest_bytes = input.largest,
                .timeout = input.timeout,
                .attempts = input.retry.attempts,
                .wait = retry::exponential({.first = input.retry.first, .cap = input.retry.cap})},
      .shown_endpoint = input.s3.shown,
      .on_failure = input.on_failure == config::OnInputFailure::fail ? inputs::OnFailure::fail
                                                                     : inputs::OnFailure::retry};
  const std::pair<const std::string&, TextTemplate&> texts[] = {
      {input.bucket, options.bucket}, {input.key, options.key}, {input.sha256, options.sha256}};
  for (const auto& [text, into] : texts) {
    auto parsed = TextTemplate::parse(text);
    if (!parsed) return std::unexpected(std::move(parsed).error());
    into = *std::move(parsed);
  }
  return options;
}

Result<std::shared_ptr<ports::Handler>> command_of(const config::Task& task,
                                                   const HandlerGround& ground) {
  std::shared_ptr<ports::Handler> command = std::make_shared<handlers::Command>(
      ground.loop, handlers::CommandOptions{.command = task.command,
                                            .folder = task.folder,
                                            .pass = task.pass,
                                            .most_result_bytes = task.max_result,
                                            .grace = ground.stop_grace});
  if (!task.input.is_set()) return command;
  auto landing = ground.landing();
  if (!landing) return std::unexpected(std::move(landing).error());
  auto options = options_of(task.input);
  if (!options) return std::unexpected(std::move(options).error());
  return std::make_shared<inputs::WithInput>(std::move(command), *std::move(landing),
                                             *std::move(options), ground.log, system_clock());
}

}  // namespace

core::TaskPolicy policy_of(const config::Task& task) {
  core::TaskPolicy policy;
  policy.attempts = task.retry.attempts;
  policy.crashes = task.crashes;
  policy.deferrals = task.deferrals;
  policy.replays = task.replays;
  policy.wait = task.retry.wait();
  policy.timeout = task.timeout.value_or(Duration::zero());
  return policy;
}

std::optional<engine::DeadLetters> dead_letters_of(const std::string& name,
                                                   const config::Queue& queue) {
  if (queue.on_dead == config::OnDead::keep) return std::nullopt;
  using Rule = engine::DeadLetters::Rule;
  return engine::DeadLetters{
      .queue = name,
      .rule = queue.on_dead == config::OnDead::fail ? Rule::fail : Rule::redrive,
      .redrive_rounds = queue.redrive_rounds,
      .poll = queue.dead_poll,
      .wait = queue.dead_wait,
      .batch = static_cast<std::size_t>(queue.dead_batch)};
}

Result<std::shared_ptr<const Classifier>> classifier_of(const config::Task& task) {
  auto users = Classifier::make(task.all_rules());
  if (!users) return std::unexpected(std::move(users).error());
  auto whole = Result<Classifier>(std::move(*users));
  if (task.run_by() == config::RunBy::command) whole = handlers::with_command_rules(*whole);
  if (task.run_by() == config::RunBy::webhook) whole = handlers::with_webhook_rules(*whole);
  if (!whole) return std::unexpected(std::move(whole).error());
  return std::make_shared<const Classifier>(*std::move(whole));
}

Result<std::shared_ptr<const io::AddressGuard>> guard_of(const config::Webhook& webhook) {
  std::vector<std::string> allowed;
  allowed.reserve(webhook.allow.size());
  for (const config::Network& network : webhook.allow)
    allowed.push_back(network.text());
  auto made = io::AddressGuard::make(allowed);
  if (!made) return std::unexpected(std::move(made).error());
  return std::make_shared<const io::AddressGuard>(*std::move(made));
}

Result<std::shared_ptr<ports::Handler>> make_handler(const config::Task& task,
                                                     const HandlerGround& ground) {
  switch (task.run_by()) {
    case config::RunBy::pull: return nullptr;
    case config::RunBy::command: return command_of(task, ground);
    case config::RunBy::webhook: break;
  }
  handlers::WebhookOptions webhook{.url = std::string(task.webhook.text.reveal()),
                                   .guard = ground.guard,
                                   .most_result_bytes = task.max_response,
                                   .connect_timeout = task.connect_timeout};
  if (task.secret.is_set()) webhook.secrets.emplace_back(task.secret.reveal());
  for (const config::Header& header : task.headers)
    webhook.headers.push_back({header.name, std::string(header.value.reveal())});
  auto made = handlers::Webhook::make(ground.client, std::move(webhook), system_clock());
  if (!made) return std::unexpected(std::move(made).error());
  return std::make_shared<handlers::Webhook>(*std::move(made));
}

}  // namespace holdfast::server
