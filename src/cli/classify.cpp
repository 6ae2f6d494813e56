// holdfast classify: what the rules make of an error text.
#include <istream>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <holdfast/classify.hpp>

#include "cli/classify_output.hpp"
#include "cli/option_checks.hpp"
#include "cli/verbs.hpp"
#include "core/json_text.hpp"
#include "core/units.hpp"
#include "io/os_error_name.hpp"
#include "io/rule_file.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* kClassifyExamples = R"(Examples:
  holdfast classify "nonce too low: next nonce 5, tx nonce 3"
  holdfast classify --status 503 --retry-after 30s "Service Unavailable"
  grep ERROR app.log | holdfast classify --json | jq -r .rule | sort | uniq -c
  holdfast classify --rules mine.toml --preset http < errors.txt

Verdicts:
  retry      it may recover: try again
  throttle   the other side asks to slow down: wait, and count no attempt
  give up    it cannot recover: trying again only costs
  ambiguous  it may have happened in spite of the error: for a person to decide
  success    it has happened: the error says that the work was done already

Presets: ethereum, aws, database, http, network, and all: these five in this
order, which is the default where no --rules are given. The first rule that
matches wins; what no rule knows is retried. Empty lines are skipped.)";

struct ClassifyOptions {
  std::vector<std::string> texts;
  std::vector<std::string> presets;
  std::string rule_file;
  std::optional<int> status;
  std::optional<int> exit_code;
  std::string os_error;
  std::string retry_after;
  bool json = false;
};

Result<Classifier> make_classifier(const ClassifyOptions& options) {
  std::vector<Rule> rules;
  if (!options.rule_file.empty()) {
    auto loaded = load_rules(options.rule_file);
    if (!loaded) return std::unexpected(loaded.error());
    rules = std::move(*loaded);
  }
  std::vector<std::string> names = options.presets;
  if (names.empty() && options.rule_file.empty()) names = {"all"};
  for (const std::string& name : names) {
    auto preset = presets::named(name);
    if (!preset) return std::unexpected(preset.error());
    rules.insert(rules.end(), preset->begin(), preset->end());
  }
  return Classifier::make(std::move(rules));
}

// What the options say of every failure; the texts differ.
FailureView failure_of(const ClassifyOptions& options) {
  FailureView failure;
  failure.http_status = options.status;
  failure.exit_code = options.exit_code;
  if (!options.os_error.empty()) failure.os_error = os_error_number(options.os_error);
  if (!options.retry_after.empty()) {
    if (const auto wait = parse_duration(options.retry_after)) failure.retry_after = *wait;
  }
  return failure;
}

class ClassifyVerb {
 public:
  ClassifyVerb(const ClassifyOptions& options, Classifier classifier, Io& io)
      : options_(options),
        classifier_(std::move(classifier)),
        failure_(failure_of(options)),
        says_without_text_(options.status || options.exit_code || !options.os_error.empty()),
        io_(io) {}

  int run() {
    if (!options_.texts.empty()) {
      for (const std::string& text : options_.texts)
        classify(text);
    } else if (says_without_text_ && io_.in_is_terminal) {
      classify("");
    } else if (!classify_lines()) {
      io_.err << "holdfast classify: cannot read standard input\n";
      return kFailed;
    }
    if (io_.out.flush()) return kDone;
    io_.err << "holdfast classify: cannot write to standard output\n";
    return kFailed;
  }

 private:
  // One line in memory at a time, however long the input is.
  bool classify_lines() {
    if (io_.in_is_terminal) io_.err << "Reading errors, one a line; Ctrl-D ends.\n" << std::flush;
    bool any = false;
    for (std::string line; io_.out && std::getline(io_.in, line);) {
      if (line.ends_with('\r')) line.pop_back();
      if (line.empty()) continue;
      any = true;
      classify(line);
      // Whoever watches a slow source sees each answer at once; a fast one is not slowed down.
      if (io_.in.rdbuf()->in_avail() <= 0) io_.out.flush();
    }
    if (!any && says_without_text_) classify("");
    return !io_.in.bad();
  }

  void classify(std::string_view text) {
    failure_.message = text;
    const Explanation explanation = classifier_.explain(failure_);
    answer_.clear();
    if (options_.json) {
      append_json(answer_, text, explanation);
    } else {
      append_for_people(answer_, text, explanation, io_.colour);
    }
    io_.out.write(answer_.data(), static_cast<std::streamsize>(answer_.size()));
  }

  const ClassifyOptions& options_;
  Classifier classifier_;
  FailureView failure_;
  bool says_without_text_;
  Io& io_;
  std::string answer_;
};

std::string check_preset(const std::string& name) {
  const auto preset = presets::named(name);
  return preset ? "" : preset.error().message;
}

std::string check_os_error(const std::string& name) {
  if (os_error_number(name)) return "";
  return fmt::format("unknown OS error {}: write ECONNRESET, or its number",
                     holdfast::quoted(name));
}

// An empty name is a shell variable that is not set, and no wish for the presets.
std::string check_file_name(const std::string& name) {
  return name.empty() ? "the name of a file must not be empty" : "";
}

}  // namespace

void add_classify(CLI::App& program, Io& io, int& exit_code) {
  CLI::App* verb = program.add_subcommand("classify", "Say what the rules make of an error text");
  verb->footer(kClassifyExamples);
  auto options = std::make_shared<ClassifyOptions>();
  verb->add_option("TEXT", options->texts, "Error texts; none: lines of standard input")
      ->type_name("");
  verb->add_option("--status", options->status, "HTTP status of the failures")
      ->type_name("N")
      ->check(CLI::Range(100, 999).description(""));
  verb->add_option("--exit-code", options->exit_code, "Exit code of the failures")
      ->type_name("N")
      ->check(CLI::Range(0, 255).description(""));
  verb->add_option("--os-error", options->os_error, "OS error: ECONNRESET, or its number")
      ->type_name("NAME")
      ->check(check_os_error);
  verb->add_option("--retry-after", options->retry_after, "Wait that the error asks for: 30s")
      ->type_name("TIME")
      ->check(check_duration);
  verb->add_option("--rules", options->rule_file, "TOML file of rules, tried first")
      ->type_name("FILE")
      ->check(check_file_name);
  verb->add_option("--preset", options->presets, "Preset of rules; may be repeated (below)")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->check(check_preset);
  verb->add_flag("--json", options->json, "One JSON object a line");

  verb->callback([options, &io, &exit_code] {
    auto classifier = make_classifier(*options);
    if (!classifier) {
      io.err << "holdfast classify: " << classifier.error().message << '\n';
      exit_code = kFailed;
      return;
    }
    exit_code = ClassifyVerb(*options, std::move(*classifier), io).run();
  });
}

}  // namespace holdfast::cli
