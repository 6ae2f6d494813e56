#include "stores/redis/server_look.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "stores/redis/trouble.hpp"

namespace holdfast::stores::redis {
namespace {

constexpr int kOldestVersion = 7;

// One line of INFO, "name:value"; empty: there is none.
std::string info_of(std::string_view info, std::string_view name) {
  while (!info.empty()) {
    const auto end = info.find_first_of("\r\n");
    const std::string_view line = info.substr(0, end);
    if (line.starts_with(name) && line.substr(name.size()).starts_with(':'))
      return std::string(line.substr(name.size() + 1));
    info = end == std::string_view::npos ? "" : info.substr(end + 1);
  }
  return {};
}

std::unexpected<Error> refuse(const std::string& what) {
  return fail(ErrorCode::invalid_argument, "open the store on Redis", what);
}

// Some servers let nobody ask for their configuration, but say the same in INFO.
std::string setting_of(const ServerSettings& settings, std::string_view name,
                       std::string_view name_in_info) {
  if (settings.config) {
    const auto found = settings.config->find(name);
    if (found != settings.config->end()) return found->second;
  }
  return info_of(settings.info, name_in_info);
}

Result<void> check_version(const ServerSettings& settings) {
  const std::string version = info_of(settings.info, "redis_version");
  int major = 0;
  const auto [stopped, failed] =
      std::from_chars(version.data(), version.data() + version.size(), major);
  if (failed != std::errc() || major >= kOldestVersion) return {};
  return refuse("the server is Redis " + version + "; the store needs " +
                std::to_string(kOldestVersion) + ".0 or later");
}

Result<void> check_role(const ServerSettings& settings) {
  if (info_of(settings.info, "role") != "slave") return {};
  return refuse("the server is a replica of " + info_of(settings.info, "master_host") + " port " +
                info_of(settings.info, "master_port") +
                ": name the master, or its sentinels (redis+sentinel://)");
}

void look_at_files(const ServerSettings& settings, std::vector<Risk>& risks) {
  const std::string append_only = setting_of(settings, "appendonly", "aof_enabled");
  if (append_only == "no" || append_only == "0") {
    risks.push_back({.level = Level::warning,
                     .setting = "appendonly",
                     .value = "no",
                     .can_be_lost = "if the server ends in any way, every task and every change "
                                    "since its last snapshot",
                     .advice = "CONFIG SET appendonly yes, and in its configuration file too"});
    return;
  }
  if (setting_of(settings, "appendfsync", "") == "no") {
    risks.push_back({.level = Level::warning,
                     .setting = "appendfsync",
                     .value = "no",
                     .can_be_lost = "if its machine fails, what was submitted or settled in about "
                                    "the last 30 seconds",
                     .advice = "CONFIG SET appendfsync everysec (at most about a second), or "
                               "always (nothing that was answered)"});
  }
}

void look_at_memory(const ServerSettings& settings, std::vector<Risk>& risks) {
  const std::string policy = setting_of(settings, "maxmemory-policy", "maxmemory_policy");
  if (policy.empty() || policy == "noeviction") return;
  const std::string most = setting_of(settings, "maxmemory", "maxmemory");
  const bool limited = !most.empty() && most != "0";
  risks.push_back({.level = limited ? Level::warning : Level::info,
                   .setting = "maxmemory-policy",
                   .value = policy,
                   .can_be_lost = limited ? "when its memory is full, tasks that the server picks"
                                          : "nothing yet: maxmemory is 0; once it is set, tasks "
                                            "that the server picks when its memory is full",
                   .advice = "CONFIG SET maxmemory-policy noeviction: a full server then refuses "
                             "tasks, and keeps those it has"});
}

void look_at_refusal(const ServerSettings& settings, std::vector<Risk>& risks) {
  if (settings.config) return;
  risks.push_back({.level = Level::info,
                   .setting = "appendfsync",
                   .value = "unknown",
                   .can_be_lost = "unknown: the server does not tell its configuration",
                   .advice = "see in the settings of whoever runs it that appendonly is yes, "
                             "appendfsync everysec or always, maxmemory-policy noeviction"});
}

std::optional<std::map<std::string, std::string, std::less<>>> config_of(
    const Result<OwnedReply>& answer) {
  if (!answer || !answer->view().is_array()) return std::nullopt;
  std::map<std::string, std::string, std::less<>> config;
  const Reply pairs = answer->view();
  for (std::size_t at = 0; at + 1 < pairs.size(); at += 2)
    config.emplace(pairs[at].text(), pairs[at + 1].text());
  return config;
}

void report(const Risk& risk, const Logger& log) {
  log.log(risk.level, "store.setting",
          risk.level == Level::warning ? "A setting of the Redis server can lose tasks."
                                       : "A setting of the Redis server to look at.",
          {{"setting", risk.setting},
           {"value", risk.value},
           {"can_be_lost", risk.can_be_lost},
           {"advice", risk.advice}});
}

}  // namespace

Result<std::vector<Risk>> risks_of(const ServerSettings& settings) {
  if (auto well = check_version(settings); !well) return std::unexpected(well.error());
  if (auto well = check_role(settings); !well) return std::unexpected(well.error());
  std::vector<Risk> risks;
  look_at_files(settings, risks);
  look_at_memory(settings, risks);
  look_at_refusal(settings, risks);
  return risks;
}

Result<void> look_at_server(Session& session, const Logger& log, std::string_view space) {
  const std::string key = "{" + std::string(space) + "}";
  // First, so that in a cluster it is the right node that is looked at.
  Pipeline first;
  first.add(std::array<std::string_view, 2>{"EXISTS", key});
  if (const auto found = session.run(first); !found[0]) return std::unexpected(found[0].error());

  Pipeline questions;
  questions.add(std::array<std::string_view, 1>{"INFO"});
  questions.add(std::array<std::string_view, 6>{"CONFIG", "GET", "appendonly", "appendfsync",
                                                "maxmemory", "maxmemory-policy"});
  // Scripts publish on channels, which users of a server must be allowed one by one. A script that
  // was refused in its middle would leave half of what it does.
  const std::string channel = key + "i";
  questions.add(std::array<std::string_view, 3>{"PUBLISH", channel, ""});
  questions.add(std::array<std::string_view, 3>{"PUBSUB", "NUMSUB", channel});
  const auto answers = session.run(questions);
  for (const std::size_t needed : {2U, 3U}) {
    if (!answers[needed]) return std::unexpected(answers[needed].error());
  }
  const bool tells = answers[0].has_value();
  if (!tells && !was_said_by_server(answers[0].error())) return std::unexpected(answers[0].error());
  const ServerSettings settings{.info = tells ? std::string(answers[0]->view().text()) : "",
                                .config = config_of(answers[1])};
  const auto risks = risks_of(settings);
  if (!risks) return std::unexpected(risks.error());
  for (const Risk& risk : *risks)
    report(risk, log);
  return {};
}

}  // namespace holdfast::stores::redis
