#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "triage/audit_log.hpp"
#include "triage/operation_run.hpp"

namespace holdfast::triage {

// All operations of a store: begins them, keeps them going, and brings those back to life that a
// crash has left. Each is one note in the store, so one can be steered from any process that
// shares it. Threads: the loop's.
class Operations {
 public:
  Operations(Parts parts, AuditLog& audit);
  ~Operations();
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;

  // Goes on with what an earlier life has left, and looks after what others leave.
  void start();
  // Hears of each change, a few times a second at most.
  void on_change(std::function<void(const Operation&)> listener) {
    on_change_ = std::move(listener);
  }

  using Then = std::move_only_function<void(Result<Operation>)>;
  void begin(OperationRequest request, std::string who, Then then);
  // `start`: what may be said anew with OperationStep::start, as the body of a request.
  void step(std::string id, OperationStep step, std::string start, std::string who, Then then);
  void find(std::string id, Then then);
  void page(std::size_t limit, std::string cursor,
            std::move_only_function<void(Result<OperationPage>)> then);

 private:
  using Run = std::shared_ptr<OperationRun>;

  Run adopt(wire::OperationNote note, std::uint64_t version);
  void rested(OperationRun& run);
  void lost(OperationRun& run);
  void load(std::string id,
            std::move_only_function<void(Result<std::pair<wire::OperationNote, std::uint64_t>>)>);
  void look_for_left_ones(std::string beyond);
  void look_again_later();
  [[nodiscard]] bool is_left(const wire::OperationNote& note) const;
  void steer(const Run& run, OperationStep step, std::string start, std::string who, Then then);

  const Parts parts_;
  AuditLog& audit_;
  UuidSource ids_;
  std::map<std::string, Run> runs_;
  std::function<void(const Operation&)> on_change_;
  std::unique_ptr<ports::Loop::Timer> timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace holdfast::triage
