#include "cli/verify_output.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "cli/state_counts.hpp"
#include "cli/text_columns.hpp"
#include "core/json_text.hpp"

namespace holdfast::cli {
namespace {

using core::State;

// As a task goes its way.
constexpr std::array kStates{State::pending, State::retrying, State::running, State::succeeded,
                             State::failed,  State::dead,     State::canceled};

constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::size_t kFindingIndent = 10;  // "repaired" and two spaces

std::uint64_t of(const StateCounts& counts, State state) {
  return counts[static_cast<std::size_t>(state)];
}

std::string findings(std::uint64_t count) {
  return grouped(count) + (count == 1 ? " finding" : " findings");
}

void append_table(std::string& out, const ports::AuditReport& audit) {
  const auto row = [&](std::string_view name, std::string_view here, std::string_view removed) {
    out += fmt::format("{:<10}{:>16}", name, here);
    out += removed.empty() ? "\n" : fmt::format("{:>16}\n", removed);
  };
  row("", "here", "removed");
  for (const State state : kStates) {
    const std::uint64_t removed = of(audit.removed, state);
    const bool can_be_removed = core::is_terminal(state) || removed > 0;
    row(to_string(state), grouped(of(audit.present, state)),
        can_be_removed ? grouped(removed) : std::string());
  }
  const std::uint64_t here = sum(audit.present);
  const std::uint64_t removed = sum(audit.removed);
  row("together", grouped(here), grouped(removed));
  const bool equal = audit.accepted == here + removed;
  append_wrapped(out,
                 fmt::format("{} accepted {} {} here + {} removed", grouped(audit.accepted),
                             equal ? "=" : "≠", grouped(here), grouped(removed)),
                 0);
}

void append_findings(std::string& out, const ports::AuditReport& audit, bool colour) {
  if (audit.clean()) return;
  out += '\n';
  for (const ports::Finding& finding : audit.findings) {
    const std::string_view word = finding.repaired ? "repaired" : "found";
    std::string text;
    append_wrapped(text, visible(finding.what), kFindingIndent);
    text.replace(0, word.size(), coloured(word, finding.repaired ? kGreen : kRed, colour));
    out += text;
  }
  if (audit.found > audit.findings.size()) {
    append_wrapped(out, "and " + grouped(audit.found - audit.findings.size()) + " more",
                   kFindingIndent);
  }
}

std::string advice_for_damage(const std::string& path) {
  return fmt::format(
      "The file itself is damaged, and nothing was changed. Keep a copy of {0} (and of {0}-wal, "
      "if there is one), and look after the disk. What can still be read is brought into a new "
      "file by the sqlite3 tool of sqlite.org (Debian's has no .recover):\n"
      "sqlite3 {0} .recover | sqlite3 NEW && holdfast verify --repair NEW\n",
      path);
}

// One sentence, so that whoever reads only the last line knows.
std::string last_line(const Verified& verified) {
  const node::VerifyReport& report = verified.report;
  const std::uint64_t found = report.audit.found;
  if (!report.audit.readable) return "Damaged: the file cannot be read as it should.";
  if (found == 0) return "Clean: every task that was accepted is accounted for.";
  if (!verified.repair) {
    return fmt::format("{}; nothing was changed. With --repair, what can be mended is.",
                       findings(found));
  }
  if (report.left == 0) return fmt::format("{}, all repaired.", findings(found));
  return fmt::format("{}, of which {} could not be repaired.", findings(found),
                     grouped(report.left));
}

// Every object has the same keys; what is not known is null.
class JsonObject {
 public:
  void text(std::string_view name, std::string_view value) {
    key(name);
    if (value.empty()) {
      out_ += "null";
    } else {
      append_json_string(out_, value);
    }
  }
  template <class T>
  void value(std::string_view name, const std::optional<T>& value) {
    key(name);
    out_ += value ? fmt::format("{}", *value) : "null";
  }
  void counts(std::string_view name, const StateCounts* counts) {
    if (!counts) return value<int>(name, std::nullopt);
    key(name);
    JsonObject object;
    for (const State state : kStates)
      object.value(to_string(state), std::optional(of(*counts, state)));
    out_ += object.done();
  }
  void findings(std::string_view name, const std::vector<ports::Finding>& findings) {
    key(name);
    out_ += '[';
    for (const ports::Finding& finding : findings) {
      JsonObject object;
      object.text("what", finding.what);
      object.text("task", finding.task);
      object.value("repaired", std::optional(finding.repaired));
      if (&finding != findings.data()) out_ += ',';
      out_ += object.done();
    }
    out_ += ']';
  }
  [[nodiscard]] std::string done() { return out_ + '}'; }

 private:
  void key(std::string_view name) {
    out_ += out_.empty() ? '{' : ',';
    append_json_string(out_, name);
    out_ += ':';
  }

  std::string out_;
};

// Nothing, for what would be a lie if it was not looked at.
template <class T>
std::optional<T> if_known(bool known, T value) {
  return known ? std::optional(value) : std::nullopt;
}

std::string json(const std::string& path, const node::VerifyReport* report,
                 std::string_view error) {
  static const node::VerifyReport nothing;
  const node::VerifyReport& seen = report ? *report : nothing;
  const ports::AuditReport& audit = seen.audit;
  const bool readable = report && audit.readable;
  JsonObject object;
  object.text("file", path);
  object.text("error", error);
  object.value("schema", if_known(seen.schema > 0, seen.schema));
  object.value("migrated", std::optional(seen.migrated));
  object.value("readable", std::optional(readable));
  object.value("accepted", if_known(readable, audit.accepted));
  object.counts("present", readable ? &audit.present : nullptr);
  object.counts("removed", readable ? &audit.removed : nullptr);
  object.value("found", if_known(report != nullptr, audit.found));
  object.value("repaired", if_known(report != nullptr, audit.repaired));
  object.value("left", if_known(report != nullptr, seen.left));
  object.text("backup", seen.backup);
  object.findings("findings", audit.findings);
  return object.done() + '\n';
}

}  // namespace

std::string verify_for_people(const Verified& verified, bool colour) {
  const node::VerifyReport& report = verified.report;
  const std::string path = visible(verified.path);
  std::string out;
  const std::string schema =
      report.schema > 0 ? fmt::format(" (schema {})", report.schema) : std::string();
  append_wrapped(out, path + schema, 0);
  if (report.migrated) append_wrapped(out, "Migrated to the newest schema.", 0);
  if (report.audit.readable) {
    out += '\n';
    append_table(out, report.audit);
  }
  append_findings(out, report.audit, colour);
  out += '\n';
  if (!report.audit.readable) {
    const std::string advice = advice_for_damage(path);
    const std::size_t command = advice.find('\n') + 1;
    append_wrapped(out, std::string_view(advice).substr(0, command - 1), 0);
    out += "  " + advice.substr(command) + '\n';
  }
  if (!report.backup.empty()) {
    append_wrapped(out, "The file as it was before: " + visible(report.backup), 0);
  }
  const bool good = report.audit.readable && report.left == 0;
  out += coloured(last_line(verified), good ? kGreen : kRed, colour) + '\n';
  return out;
}

std::string verify_json(const Verified& verified) {
  return json(verified.path, &verified.report, "");
}

std::string verify_json(const std::string& path, const Error& error) {
  return json(path, nullptr, error.text());
}

}  // namespace holdfast::cli
