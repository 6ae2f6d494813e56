// holdfast verify: whether everything that was accepted is still accounted for (N5).
#include "node/verify.hpp"

#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/connect.hpp"
#include "cli/option_checks.hpp"
#include "cli/verbs.hpp"
#include "cli/verify_output.hpp"
#include "core/json_text.hpp"
#include "node/open_store.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* kVerifyExamples = R"(Examples:
  holdfast verify tasks.db
  holdfast verify tasks.db --repair
  holdfast verify tasks.db --json | jq -r '.findings[].task // empty'
  sqlite3 tasks.db '.backup copy.db' && holdfast verify copy.db
  holdfast verify --store redis://tasks.example.org

The file must not be in use: stop its owner first, or verify a copy, made as
above. A plain cp leaves out tasks.db-wal, where the newest tasks are, and
verify cannot know of tasks that it was not given. FILE may also be written
as programs do: sqlite:tasks.db.

Without --repair nothing is changed. With it, a file that has findings is
copied to FILE.before-repair first. No task is lost by a repair: one that
stands nowhere waits again, and one that stands in two places keeps the later
one on its way.

A store on Redis may be in use, and what is found there is mended in place,
without a copy. Its URL may also come from HOLDFAST_STORE.

Exit codes: 0 clean, or all repaired; 3 findings are left; 1 the file cannot be
read, or is in use, or Redis is not there; 2 the command line is wrong.)";

struct VerifyVerbOptions {
  std::string path;
  bool repair = false;
  bool json = false;
  std::string store;

  // What was named, for people: a URL may have a password in it.
  [[nodiscard]] std::string name() const { return node::shown_url(path); }
};

// What is looked at now, on one line that is wiped afterwards.
class VerifyProgress {
 public:
  explicit VerifyProgress(Io& io) : io_(io) {}
  ~VerifyProgress() { wipe(); }
  VerifyProgress(const VerifyProgress&) = delete;
  VerifyProgress& operator=(const VerifyProgress&) = delete;

  void say(std::string_view step) {
    wipe();
    io_.err << "Checking " << step << " …" << std::flush;
    shown_ = true;
  }

 private:
  void wipe() {
    if (shown_) io_.err << "\r\x1b[K" << std::flush;
    shown_ = false;
  }

  Io& io_;
  bool shown_ = false;
};

Result<node::VerifyReport> verify_with_progress(const VerifyVerbOptions& options, Io& io) {
  node::VerifyOptions how{.repair = options.repair};
  VerifyProgress progress(io);
  if (io.err_is_terminal) how.on_step = [&](std::string_view step) { progress.say(step); };
  return node::verify(options.path, how);
}

int run_verify(VerifyVerbOptions options, Io& io) {
  if (options.path.empty()) options.path = options.store;
  if (options.path.empty()) options.path = store_of_environment();
  if (without_scheme(options.path); options.path.empty()) {
    io.err << "holdfast verify: what is to be verified? FILE, or --store URL\n";
    return kUsage;
  }
  auto report = verify_with_progress(options, io);
  if (!report) {
    std::string why;
    append_visible(why, report.error().text());
    io.err << "holdfast verify: " << why << '\n';
    if (options.json) io.out << verify_json(options.name(), report.error()) << std::flush;
    return kFailed;
  }
  const bool readable = report->audit.readable;
  const bool left = report->left > 0;
  const Verified verified{options.name(), options.repair, std::move(*report)};
  io.out << (options.json ? verify_json(verified) : verify_for_people(verified, io.colour));
  if (!io.out.flush()) {
    io.err << "holdfast verify: cannot write to standard output\n";
    return kFailed;
  }
  if (!readable) return kFailed;
  return left ? kKept : kDone;
}

}  // namespace

void add_verify(CLI::App& program, Io& io, int& exit_code) {
  CLI::App* verb =
      program.add_subcommand("verify", "Prove that no task is lost, or repair the store");
  verb->footer(kVerifyExamples);
  auto options = std::make_shared<VerifyVerbOptions>();
  auto* file = verb->add_option("FILE", options->path, "File of an embedded store")
                   ->type_name("")
                   ->transform(CLI::Validator(without_scheme, ""));
  verb->add_option("--store", options->store, "The same as a URL, or that of a store on Redis")
      ->option_text("URL")
      ->excludes(file);
  verb->add_flag("--repair", options->repair, "Mend what can be mended, after a copy");
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, &io, &exit_code] { exit_code = run_verify(*options, io); });
}

}  // namespace holdfast::cli
