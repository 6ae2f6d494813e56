#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/classify.hpp>
#include <holdfast/log.hpp>
#include <holdfast/result.hpp>

#include "config/config.hpp"
#include "core/rules.hpp"
#include "engine/options.hpp"
#include "inputs/landing.hpp"
#include "io/address_guard.hpp"
#include "io/http_client.hpp"
#include "io/loop.hpp"
#include "ports/handler.hpp"

// From what a configuration says of tasks to what runs them.
namespace holdfast::server {

[[nodiscard]] core::TaskPolicy policy_of(const config::Task& task);
// The user's rules, behind those by which a handler says itself what it means.
[[nodiscard]] Result<std::shared_ptr<const Classifier>> classifier_of(const config::Task& task);
[[nodiscard]] Result<std::shared_ptr<const io::AddressGuard>> guard_of(
    const config::Webhook& webhook);

// Nothing: they are kept.
[[nodiscard]] std::optional<engine::DeadLetters> dead_letters_of(const std::string& name,
                                                                 const config::Queue& queue);

// What handlers stand on. All of it must outlive them.
struct HandlerGround {
  io::Loop& loop;
  io::HttpClient& client;
  const std::shared_ptr<const io::AddressGuard>& guard;
  Duration stop_grace;
  Logger log = {};
  // Where inputs come in; called for the first task that has one.
  std::function<Result<std::shared_ptr<inputs::Landing>>()> landing;
};
// Nothing: workers elsewhere pull it.
[[nodiscard]] Result<std::shared_ptr<ports::Handler>> make_handler(const config::Task& task,
                                                                   const HandlerGround& ground);

}  // namespace holdfast::server
