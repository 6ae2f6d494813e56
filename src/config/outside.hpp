#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/classify.hpp>
#include <holdfast/result.hpp>

namespace holdfast::config {

// What a path is named for, and so what must be true of it.
enum class PathUse : std::uint8_t {
  file,         // a file that we can read
  private_key,  // and that not everyone can
  folder,
  program,  // a file that we can execute
};

// What a configuration refers to outside of its file. A seam, so that tests and fuzzing touch
// neither the disk nor the environment.
class Outside {
 public:
  virtual ~Outside() = default;

  // Of our environment; nothing: it is not set.
  [[nodiscard]] virtual std::optional<std::string> variable(const std::string& name) = 0;
  // The content of a file that only its owner can read, without the newline at its end. The
  // message of an error says what to do, and begins with the path.
  [[nodiscard]] virtual Result<std::string> secret_file(const std::string& path) = 0;
  // An error says what is missing, and begins with the path.
  [[nodiscard]] virtual Result<void> check_path(const std::string& path, PathUse use) = 0;
  [[nodiscard]] virtual Result<std::vector<Rule>> rules(const std::string& path) = 0;
};

// The system's. Lives as long as the program. Threads: any, while none changes the environment.
[[nodiscard]] Outside& system_outside() noexcept;

// The content of a file of at most `most_bytes`, for what is no secret.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t most_bytes);

}  // namespace holdfast::config
