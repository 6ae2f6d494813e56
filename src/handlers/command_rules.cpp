#include "handlers/command_rules.hpp"

#include <sysexits.h>

namespace holdfast::handlers {

std::vector<Rule> command_rules() {
  return {
      {.name = "command.give-up",
       .exit_codes = {EX_USAGE, EX_DATAERR},
       .verdict = VerdictKind::give_up,
       .reason = "The command says that it cannot handle this task."},
      {.name = "command.retry",
       .exit_codes = {EX_TEMPFAIL},
       .verdict = VerdictKind::retry,
       .reason = "The command says that the failure is temporary."},
  };
}

Result<Classifier> with_command_rules(const Classifier& users) {
  return Classifier::make(combine({command_rules(), {users.rules().begin(), users.rules().end()}}));
}

}  // namespace holdfast::handlers
