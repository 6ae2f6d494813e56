#include <holdfast/classify.hpp>
#include <holdfast/policies.hpp>

namespace holdfast::policies {

bool is_connection_failure(const FailureView& failure) {
  // The preset is tested to be well formed, so value() does not throw.
  static const Classifier network = Classifier::make(presets::network()).value();
  const Classification found = network.classify(failure);
  return found.basis != Basis::fallback && found.verdict.kind == VerdictKind::retry;
}

}  // namespace holdfast::policies
