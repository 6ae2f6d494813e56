#pragma once

#include <cstdint>
#include <string>

#include <holdfast/time.hpp>

#include "cli/io.hpp"
#include "recovery/run.hpp"

namespace holdfast::cli {

// What people see of a recovery while it goes on: a bar on a terminal, elsewhere a line now and
// then. All of it goes to standard error; the summary is what the verb is for.
class RecoverProgress final : public recovery::Observer {
 public:
  struct Asked {
    bool dry = false;
    bool restores = false;  // from a backup
    bool discards = false;
  };

  RecoverProgress(Io& io, Asked asked) : io_(io), asked_(asked) {}
  ~RecoverProgress() override { wipe(); }
  RecoverProgress(const RecoverProgress&) = delete;
  RecoverProgress& operator=(const RecoverProgress&) = delete;

  void found(std::uint64_t count) override;
  void warned(const recovery::Warning& warning) override;
  void moved(const recovery::Summary& so_far) override;
  void told(const std::string& text) override;
  void wipe();

 private:
  void show_bar(const recovery::Summary& so_far);
  void say_so_far(const recovery::Summary& so_far);

  Io& io_;
  const Asked asked_;
  std::uint64_t found_ = 0;
  bool shown_ = false;
  // For the rate: where it stood a moment ago.
  Duration then_{};
  std::uint64_t done_then_ = 0;
  double rate_ = 0;
  // Of plain lines.
  std::uint64_t told_ = 0;
  Duration told_at_{};
};

// One line of at most 80 columns.
struct RecoverBar {
  std::uint64_t done = 0;
  std::uint64_t found = 0;
  double rate = 0;  // a second
  std::uint64_t kept = 0;
};
[[nodiscard]] std::string bar_line(const RecoverBar& bar);

// V9. `place` is the URL without its password.
[[nodiscard]] std::string recover_summary(const recovery::Summary& summary,
                                          const std::string& place);
[[nodiscard]] std::string recover_plan(const recovery::Run::Outcome& outcome,
                                       const std::string& place);
[[nodiscard]] std::string recover_json(const recovery::Run::Outcome& outcome,
                                       const std::string& place);

}  // namespace holdfast::cli
