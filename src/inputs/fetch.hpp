#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <holdfast/clock.hpp>
#include <holdfast/failure.hpp>
#include <holdfast/log.hpp>
#include <holdfast/retry.hpp>

#include "inputs/landing.hpp"
#include "inputs/s3.hpp"
#include "io/private_folder.hpp"
#include "io/sha256.hpp"

namespace holdfast::inputs {

// Why an object could not be fetched.
struct Trouble {
  enum class Kind : std::uint8_t {
    hopeless,     // it is not there, we may not have it, it is too large
    may_recover,  // nobody answers, or not to the end, or with 5xx
    here,         // this machine lacks something: its disk is full
  };
  Kind kind = Kind::hopeless;
  Failure failure = {};
  int attempts = 0;
};

[[nodiscard]] inline Failure to_failure(const Trouble& trouble) {
  return trouble.failure;
}

struct FetchOptions {
  S3Server server = {};
  std::uint64_t largest_bytes = std::uint64_t{1} << 30;
  Duration timeout = std::chrono::minutes(5);  // of one attempt
  int attempts = 3;                            // R3
  retry::Wait wait =
      retry::exponential({.first = std::chrono::seconds(1), .cap = std::chrono::seconds(8)});
};

// What is to be fetched.
struct Wanted {
  S3Object object = {};
  std::optional<io::Sha256Digest> sha256 = {};  // that it must have
  std::string file = {};                        // the name to keep it by
};

// One object on its way into a file, with as many attempts as its options allow (R3). Each retry is
// logged.
//
// Threads: the loop's. Destroyed before it is done, it is canceled, and `done` is not called.
class Fetch : public std::enable_shared_from_this<Fetch> {
  struct Key {};  // only start() has one

 public:
  // Kind here: also if there was no room for a file.
  using Fetched = std::expected<io::PrivateFile, Trouble>;
  using Done = std::move_only_function<void(Fetched)>;

  // `options` must outlive it, as must the log's sink. `done` is not called from within.
  [[nodiscard]] static std::shared_ptr<Fetch> start(std::shared_ptr<Landing> landing,
                                                    const FetchOptions& options, Wanted wanted,
                                                    const Logger& log, const Clock& clock,
                                                    Done done);
  Fetch(Key key, std::shared_ptr<Landing> landing, const FetchOptions& options, Wanted wanted,
        const Logger& log, const Clock& clock, Done done);
  ~Fetch();
  Fetch(const Fetch&) = delete;
  Fetch& operator=(const Fetch&) = delete;

 private:
  class FileSink;

  void begin();
  void attempt();
  void ended(io::HttpResult result);
  [[nodiscard]] std::optional<Trouble> trouble_in(const io::HttpResult& result);
  [[nodiscard]] std::optional<Trouble> wrong_content();
  void failed(Trouble trouble);

  const std::shared_ptr<Landing> landing_;
  const FetchOptions& options_;
  const Wanted wanted_;
  const Clock& clock_;
  Done done_;
  const retry::Policy policy_;
  retry::Run run_;
  std::shared_ptr<FileSink> sink_;
  io::HttpCall call_;
  std::unique_ptr<ports::Loop::Timer> timer_;
};

}  // namespace holdfast::inputs
