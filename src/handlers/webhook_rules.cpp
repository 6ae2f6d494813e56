#include "handlers/webhook_rules.hpp"

namespace holdfast::handlers {

std::vector<Rule> webhook_rules() {
  return {
      // The words of an answer stand behind its status, so none of them can be taken for this.
      {.name = "webhook.refused-address",
       .pattern = "^refused address ",
       .verdict = VerdictKind::give_up,
       .reason = "The URL leads to an address that webhooks may not reach."},
      {.name = "webhook.redirect",
       .http_status = {{300, 399}},
       .verdict = VerdictKind::give_up,
       .reason = "The server wants the request elsewhere, and redirects are not followed."},
  };
}

Result<Classifier> with_webhook_rules(const Classifier& users) {
  return Classifier::make(combine({webhook_rules(), {users.rules().begin(), users.rules().end()}}));
}

}  // namespace holdfast::handlers
