#include "server/hiring.hpp"

#include <utility>

#include "handlers/command.hpp"
#include "handlers/command_rules.hpp"
#include "handlers/webhook.hpp"
#include "handlers/webhook_rules.hpp"

namespace holdfast::server {

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
    case config::RunBy::command:
      return std::make_shared<handlers::Command>(
          ground.loop, handlers::CommandOptions{.command = task.command,
                                                .folder = task.folder,
                                                .pass = task.pass,
                                                .most_result_bytes = task.max_result,
                                                .grace = ground.stop_grace});
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
