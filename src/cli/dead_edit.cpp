// holdfast dead edit: the payload itself was wrong.
#include <cstdint>
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

namespace holdfast::cli {
namespace {

std::uint64_t hash_of(std::string_view bytes) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3U;
  }
  return hash;
}

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

int tell(const DeadOptions& options, Io& io, const TaskId& old_id, const TaskId& new_id,
         bool discarded) {
  if (options.json) {
    io.out << json_line([&](wire::JsonWriter& writer) {
      writer.begin_object().key("id").plain(new_id.text()).key("edit_of").plain(old_id.text());
      writer.key("discarded").boolean(discarded).end_object();
    });
  } else {
    io.out << fmt::format("Handed in as {}{}\n", new_id.text(),
                          discarded ? "; the original is discarded." : ".");
  }
  return discarded ? kDone : kKept;
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
  const auto mended = mended_payload(options, io, *found);
  if (!mended) return complain(io, "dead edit", mended.error());
  if (*mended == found->payload) {
    io.err << "Nothing was changed, so nothing is done: to run it again as it is, "
              "holdfast dead replay.\n";
    return kFailed;
  }
  auto connected = connect(options.target, Missing::is_an_error);
  if (!connected) return complain(io, "dead edit", connected.error());
  const auto accepted = connected->client.submit(
      {.type = found->type,
       .queue = found->queue,
       .payload = *mended,
       .priority = found->priority,
       .key = fmt::format("edit-of-{}-{:016x}", id->text(), hash_of(*mended)),
       .trace = found->trace,
       .retry_on_failure = found->retry_on_failure});
  if (!accepted) return complain(io, "dead edit", accepted.error());
  // Only now: had it come first, and the rest not at all, the task would be lost.
  const auto discarded = connected->client.discard(*id);
  if (!discarded) complain(io, "dead edit", discarded.error());
  return tell(options, io, *id, *accepted, discarded.has_value());
}

}  // namespace holdfast::cli
