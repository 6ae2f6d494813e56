// holdfast dead edit: the payload itself was wrong.
#include <cstdlib>
#include <fstream>
#include <istream>
#include <iterator>
#include <ostream>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/dead.hpp"
#include "cli/task_output.hpp"
#include "io/foreground.hpp"
#include "io/os_error.hpp"
#include "io/unique_fd.hpp"
#include "wire/json_syntax.hpp"

namespace holdfast::cli {
namespace {

// Of a file that is gone with it, for its owner's eyes only.
class Scratch {
 public:
  static Result<Scratch> make(std::string_view content) {
    const char* const folder = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
    Scratch scratch;
    scratch.path_ = std::string(folder ? folder : "/tmp") + "/holdfast-edit-XXXXXX";
    const io::UniqueFd file(::mkstemp(scratch.path_.data()));
    if (!file) return io::fail_os("edit", scratch.path_, errno);
    std::ofstream out(scratch.path_, std::ios::binary);
    out << content;
    if (!out.flush()) return fail(ErrorCode::exhausted, "edit", "cannot write " + scratch.path_);
    return scratch;
  }
  Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  Scratch() = default;
  std::string path_;
};

Result<std::string> edited(const std::string& payload) {
  const char* editor = std::getenv("VISUAL");               // NOLINT(concurrency-mt-unsafe)
  if (!editor || !*editor) editor = std::getenv("EDITOR");  // NOLINT(concurrency-mt-unsafe)
  if (!editor || !*editor) {
    return fail(ErrorCode::invalid_argument, "edit",
                "there is no $EDITOR: set it, or give the mended payload with --payload @FILE");
  }
  const auto scratch = Scratch::make(payload);
  if (!scratch) return std::unexpected(scratch.error());
  // An editor may be more than a word: "code --wait".
  const std::vector<std::string> words{"sh", "-c", std::string(editor) + " \"$1\"", "sh",
                                       scratch->path()};
  const auto code = io::run_in_foreground(words);
  if (!code) return std::unexpected(code.error());
  if (*code != 0) {
    return fail(ErrorCode::canceled, "edit", fmt::format("the editor ended with {}", *code));
  }
  std::string mended = scratch->content();
  // Most editors end the last line.
  if (mended == payload + "\n") mended.pop_back();
  return mended;
}

Result<std::string> mended_payload(const DeadOptions& options, Io& io, const TaskInfo& task) {
  if (options.payload.empty()) return edited(task.payload);
  if (options.payload == "-") return std::string(std::istreambuf_iterator<char>(io.in), {});
  if (!options.payload.starts_with('@')) return options.payload;
  std::ifstream file(options.payload.substr(1), std::ios::binary);
  if (!file) {
    return fail(ErrorCode::not_found, "edit", "cannot read " + options.payload.substr(1));
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

int tell(const DeadOptions& options, Io& io, const TaskId& old_id, const TaskId& new_id) {
  if (options.json) {
    io.out << json_line([&](wire::JsonWriter& writer) {
      writer.begin_object().key("id").plain(new_id.text()).key("edit_of").plain(old_id.text());
      writer.key("discarded").boolean(true).end_object();
    });
  } else {
    io.out << fmt::format("Handed in as {}; the original is discarded.\n", new_id.text());
  }
  return kDone;
}

// What was JSON stays JSON, unless it is said that it need not.
Result<void> check_json(const DeadOptions& options, const std::string& before,
                        const std::string& mended) {
  constexpr std::size_t kMostDepth = 1000;
  if (options.raw || !wire::is_json(before, kMostDepth)) return {};
  const auto fault = wire::syntax_fault(mended, kMostDepth);
  if (!fault) return {};
  return fail(ErrorCode::invalid_argument, "edit",
              fmt::format("the payload was JSON and is not any more: {} at {}; mend it, or say "
                          "--raw",
                          fault->what, wire::place_of(mended, fault->offset)));
}

bool moves(const DeadOptions& options) {
  return !options.to_queue.empty() || !options.to_type.empty();
}

}  // namespace

int edit_dead(const DeadOptions& options, Io& io) {
  if (options.ids.size() != 1) {
    io.err << "holdfast dead edit: one at a time\n";
    return kUsage;
  }
  const auto id = parse_id(options.ids.front());
  if (!id) return complain(io, "dead edit", id.error());
  // The file is not held while somebody edits.
  auto found = [&]() -> Result<TaskInfo> {
    auto connected = connect(options.target, Missing::is_an_error);
    if (!connected) return std::unexpected(connected.error());
    return connected->client.find(*id);
  }();
  if (!found) return complain(io, "dead edit", found.error());
  if (found->state != TaskState::dead && found->state != TaskState::failed) {
    return complain(io, "dead edit",
                    {ErrorCode::conflict, "edit",
                     fmt::format("the task is {}, not dead or failed", to_string(found->state))});
  }
  // Who only wants it elsewhere needs no editor.
  const bool keeps_payload = options.payload.empty() && moves(options);
  const auto mended =
      keeps_payload ? Result<std::string>(found->payload) : mended_payload(options, io, *found);
  if (!mended) return complain(io, "dead edit", mended.error());
  if (*mended == found->payload && !moves(options)) {
    io.err << "Nothing was changed, so nothing is done: to run it again as it is, "
              "holdfast dead replay.\n";
    return kFailed;
  }
  if (const auto checked = check_json(options, found->payload, *mended); !checked) {
    return complain(io, "dead edit", checked.error());
  }
  auto connected = connect(options.target, Missing::is_an_error);
  if (!connected) return complain(io, "dead edit", connected.error());
  const auto copy = connected->client.edit(
      *id, {.payload = *mended, .queue = options.to_queue, .type = options.to_type});
  if (!copy) return complain(io, "dead edit", copy.error());
  return tell(options, io, *id, *copy);
}

}  // namespace holdfast::cli
