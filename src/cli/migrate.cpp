// holdfast migrate: brings the file of an embedded store to the newest schema.
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/option_checks.hpp"
#include "cli/verbs.hpp"
#include "core/json_text.hpp"
#include "node/open_store.hpp"
#include "node/verify.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* kMigrateExamples = R"(Examples:
  holdfast migrate                        holdfast.db, as holdfast serve has it
  holdfast migrate tasks.db
  holdfast migrate sqlite:tasks.db --json

Opening a file does the same: this verb is for doing it at a time of one's own
choosing. It changes no task and rewrites no row, so it takes a moment at any
size, and is done whole or not at all. Older programs refuse the file from
then on; who may want to go back makes a copy before:
  sqlite3 tasks.db '.backup tasks.before.db'

The file must not be in use. A store on Redis has nothing to migrate.

Exit codes: 0 it is of the newest schema; 1 it could not be migrated, and is as
it was; 2 the command line is wrong.)";

struct MigrateOptions {
  std::string path = "holdfast.db";
  bool json = false;
};

std::string json(const std::string& path, const Result<node::Migration>& done) {
  std::string out;
  wire::JsonWriter writer(out);
  writer.begin_object().key("file").text(path);
  if (done) {
    writer.key("from").number(done->from).key("to").number(done->to);
    writer.key("migrated").boolean(done->from != done->to);
  } else {
    writer.key("error").text(done.error().text());
  }
  writer.end_object();
  return out + '\n';
}

std::string for_people(const std::string& path, const node::Migration& done) {
  std::string name;
  append_visible(name, path);
  if (done.from == done.to) {
    return fmt::format("{} is of schema {}, the newest: there was nothing to do\n", name, done.to);
  }
  return fmt::format("{} was of schema {}, and is of schema {} now\n", name, done.from, done.to);
}

int nothing_to_migrate(const MigrateOptions& options, Io& io) {
  const std::string name = node::shown_url(options.path);
  if (options.json) {
    std::string out;
    wire::JsonWriter writer(out);
    writer.begin_object().key("file").text(name).key("migrated").boolean(false).end_object();
    io.out << out << '\n';
  } else {
    io.out << name << ": there is nothing to migrate on Redis\n";
  }
  return io.out.flush() ? kDone : kFailed;
}

int run_migrate(const MigrateOptions& options, Io& io) {
  if (node::is_shared(options.path)) return nothing_to_migrate(options, io);
  const auto done = node::migrate(options.path);
  if (!done) {
    std::string why;
    append_visible(why, done.error().text());
    io.err << "holdfast migrate: " << why << '\n';
  }
  if (options.json) {
    io.out << json(options.path, done);
  } else if (done) {
    io.out << for_people(options.path, *done);
  }
  if (!io.out.flush()) {
    io.err << "holdfast migrate: cannot write to standard output\n";
    return kFailed;
  }
  return done ? kDone : kFailed;
}

}  // namespace

void add_migrate(CLI::App& program, Io& io, int& exit_code) {
  CLI::App* verb = program.add_subcommand("migrate", "Bring a file to the newest schema");
  verb->footer(kMigrateExamples);
  auto options = std::make_shared<MigrateOptions>();
  verb->add_option("STORE", options->path, "File of an embedded store")
      ->type_name("")
      ->capture_default_str()
      ->transform(CLI::Validator(without_scheme, ""));
  verb->add_flag("--json", options->json, "One JSON object");
  verb->callback([options, &io, &exit_code] { exit_code = run_migrate(*options, io); });
}

}  // namespace holdfast::cli
