#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include <holdfast/clock.hpp>
#include <holdfast/log.hpp>

#include "core/text_template.hpp"
#include "inputs/fetch.hpp"
#include "inputs/landing.hpp"
#include "ports/handler.hpp"

namespace holdfast::inputs {

// What becomes of a task whose input could not be fetched with all attempts.
enum class OnFailure : std::uint8_t {
  fail,   // R4: failed, at once
  retry,  // as its own classifier and policy say
};

struct InputOptions {
  FetchOptions fetch = {};
  std::string shown_endpoint = {};  // for logs: the real one may be a secret
  TextTemplate bucket = {};         // filled in from the payload, as are the next two
  TextTemplate key = {};
  TextTemplate sha256 = {};  // in hexadecimal; empty: not looked at
  OnFailure on_failure = OnFailure::fail;
};

// Fetches a task's input before another handler runs the attempt, which finds it at Run::input().
//
// The attempt begins when the input is there: until then its timeout does not count, a crash blames
// nobody, and a stop hands it back with nothing spent. The file is gone when the attempt has ended.
//
// What the payload does not name is given up at once, as is an object that is not there or must not
// be had, or is too large; so is, unless the options say otherwise, one that could not be fetched
// with the last attempt (R4). One error record tells of it. That this machine has no room says
// nothing of the task: it is left to the task's own policy.
//
// Threads: the loop's.
class WithInput final : public ports::Handler {
 public:
  WithInput(std::shared_ptr<ports::Handler> inner, std::shared_ptr<Landing> landing,
            InputOptions options, Logger log, const Clock& clock);
  ~WithInput() override;
  WithInput(const WithInput&) = delete;
  WithInput& operator=(const WithInput&) = delete;

  void start(std::shared_ptr<ports::Run> run) noexcept override;
  [[nodiscard]] std::size_t backlog() const noexcept override { return inner_->backlog(); }

 private:
  class Waiting;

  void begin(const std::shared_ptr<ports::Run>& run);
  void fetched(const ports::Run* key, Fetch::Fetched result);
  void stopped(const ports::Run* key);
  [[nodiscard]] std::expected<Wanted, std::string> wanted_of(const ports::TaskRecord& task) const;

  const std::shared_ptr<ports::Handler> inner_;
  const std::shared_ptr<Landing> landing_;
  const InputOptions options_;
  const Logger log_;
  const Clock& clock_;
  std::unordered_map<const ports::Run*, std::shared_ptr<Waiting>> waiting_;
};

}  // namespace holdfast::inputs
