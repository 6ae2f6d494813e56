#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/clock.hpp>
#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "io/aws_signature.hpp"
#include "io/http_client.hpp"
#include "ports/loop.hpp"

namespace holdfast::io {

// Nothing: there is no such variable, or it is empty.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
[[nodiscard]] Environment system_environment();

// Where credentials of AWS are looked for, in this order: those given; AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; the profile AWS_PROFILE of the shared file; the
// endpoint of a container (AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or _FULL_URI); the instance
// (IMDSv2), unless AWS_EC2_METADATA_DISABLED is true.
struct AwsSources {
  AwsCredentials given = {};
  std::string profile = {};  // empty: AWS_PROFILE, or "default"
  std::string file = {};     // empty: AWS_SHARED_CREDENTIALS_FILE, or ~/.aws/credentials
  Environment environment = system_environment();
};

// Credentials that may come from elsewhere and expire. They are fetched when they are first asked
// for, and again five minutes before they expire; while that fails those at hand are used for as
// long as they last. Nothing of them is ever logged or part of an error.
//
// Threads: the loop's. Callbacks of one that is destroyed are dropped.
class AwsCredentialsProvider {
 public:
  using Then = std::move_only_function<void(Result<AwsCredentials>)>;

  // `loop`, `client` and `clock` must outlive it.
  AwsCredentialsProvider(ports::Loop& loop, HttpClient& client, AwsSources sources, Clock& clock);
  ~AwsCredentialsProvider();
  AwsCredentialsProvider(const AwsCredentialsProvider&) = delete;
  AwsCredentialsProvider& operator=(const AwsCredentialsProvider&) = delete;

  // On the loop, never from within the call. unavailable: the endpoint that should have them does
  // not answer; not_found: nobody has any.
  void get(Then then);

  // Whoever was asked called them expired: they are fetched anew, from where they came. False: they
  // are always the same.
  [[nodiscard]] bool refuse(const AwsCredentials& refused);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// The profile of a shared credentials file. not_found: it is not in there, or has no keys.
[[nodiscard]] Result<AwsCredentials> read_aws_profile(std::string_view text,
                                                      std::string_view profile);

}  // namespace holdfast::io
