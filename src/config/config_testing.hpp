#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/outside.hpp"
#include "io/rule_file.hpp"

namespace holdfast::config {

// A world that has only what a test puts there.
class FakeOutside final : public Outside {
 public:
  std::map<std::string, std::string> variables = {};
  std::map<std::string, std::string> secret_files = {};
  std::set<std::string> paths = {};                    // what is there, for whatever use
  std::map<std::string, std::string> rule_files = {};  // their texts

  std::optional<std::string> variable(const std::string& name) override {
    const auto at = variables.find(name);
    return at == variables.end() ? std::nullopt : std::optional(at->second);
  }
  Result<std::string> secret_file(const std::string& path) override {
    const auto at = secret_files.find(path);
    if (at == secret_files.end()) return missing(path);
    return at->second;
  }
  Result<void> check_path(const std::string& path, PathUse /*use*/) override {
    if (!paths.contains(path)) return missing(path);
    return {};
  }
  Result<std::vector<Rule>> rules(const std::string& path) override {
    const auto at = rule_files.find(path);
    if (at == rule_files.end()) return missing(path);
    return parse_rules(at->second, path);
  }

 private:
  static std::unexpected<Error> missing(const std::string& path) {
    return fail(ErrorCode::not_found, "open", path + ": No such file or directory");
  }
};

// With all that the tests refer to.
inline FakeOutside furnished_outside() {
  FakeOutside outside;
  outside.variables = {{"TOKEN", "planted-token-0123456789"},
                       {"OTHER_TOKEN", "planted-other-0123456789"},
                       {"EMPTY", ""},
                       {"SHORT", "0123456789abcde"},
                       {"SPACED", "planted with spaces 0123"},
                       {"SIGNING", "whsec_cGxhbnRlZHNlY3JldHBsYW50ZWQhIQ=="},
                       {"BAD_SIGNING", "whsec_planted*planted*planted"},
                       {"SHORT_SIGNING", "whsec_cGxhbnRlZA=="},
                       {"TWO_LINES", "planted\nX-Evil: 1"},
                       {"HOOK", "https://hooks.example.org/planted/path?planted=1"},
                       {"NO_URL", "planted"}};
  outside.secret_files = {{"/etc/holdfast/token", "planted-in-a-file-0123456789"},
                          {"/etc/holdfast/empty", ""}};
  outside.paths = {"/etc/holdfast/server.crt", "/etc/holdfast/server.key", "/etc/holdfast/scan",
                   "/etc/holdfast/work", "/etc/holdfast/spilled"};
  outside.rule_files = {{"/etc/holdfast/rules.toml",
                         "[[rule]]\nname = 'mine.1'\nstatus = 418\nverdict = 'give up'\n"},
                        {"/etc/holdfast/uses_http.toml", "use = 'http'\n"},
                        {"/etc/holdfast/bad.toml", "usee = 1\n"}};
  return outside;
}

}  // namespace holdfast::config
