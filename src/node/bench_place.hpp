#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <holdfast/result.hpp>

namespace holdfast::node::store_bench {

// A store of a measurement's own, beside the one that a URL names and untouched by it: on Redis a
// space of its own, else a file in a folder. Nothing is there before a measurement opens it.
class OwnPlace {
 public:
  // `folder` is where files go. Fails with invalid_argument for a URL that names no store, or one
  // that another process has.
  [[nodiscard]] static Result<OwnPlace> beside(std::string_view url, std::string_view name,
                                               const std::string& folder);

  [[nodiscard]] const std::string& url() const noexcept { return url_; }

  // What the server holds, in bytes, but for buffers of connections and of its file, which come and
  // go; nothing: it is no server.
  [[nodiscard]] Result<std::optional<double>> used_memory() const;

  // Takes out all that a measurement has left on the server: SCAN and UNLINK of its space alone.
  // Blocks, and must not be called while something works there. A file goes with its folder.
  [[nodiscard]] Result<void> clear() const;

 private:
  OwnPlace(std::string url, bool is_server) : url_(std::move(url)), is_server_(is_server) {}

  std::string url_;
  bool is_server_;
};

}  // namespace holdfast::node::store_bench
