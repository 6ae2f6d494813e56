#include "io/aws_credentials.hpp"

#include <atomic>
#include <fstream>
#include <future>
#include <map>

#include <gmock/gmock.h>

#include <holdfast/testing/fake_clock.hpp>

#include "core/time_text.hpp"
#include "io/http_client_testing.hpp"
#include "io/http_server_testing.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::io::aws_credentials_test {
namespace {

using namespace std::chrono_literals;
using holdfast::testing::http_answer;
using holdfast::testing::ServedRequest;
using holdfast::testing::TestServer;
using ::testing::HasSubstr;
using ::testing::Not;

using Variables = std::map<std::string, std::string>;

Environment environment(Variables variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

// A provider on a loop that runs.
class World {
 public:
  explicit World(AwsSources sources) {
    on_loop([&] { provider_.emplace(*loop_, client_, std::move(sources), clock); });
  }
  ~World() {
    on_loop([&] { provider_.reset(); });
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Result<AwsCredentials> get() {
    std::promise<Result<AwsCredentials>> promise;
    (*loop_).post([&] {
      provider_->get([&](Result<AwsCredentials> got) { promise.set_value(std::move(got)); });
    });
    return promise.get_future().get();
  }
  bool refuse(const AwsCredentials& refused) {
    bool answer = false;
    on_loop([&] { answer = provider_->refuse(refused); });
    return answer;
  }

  holdfast::testing::FakeClock clock;

 private:
  template <class Work>
  void on_loop(Work work) {
    std::promise<void> done;
    (*loop_).post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }

  holdfast::testing::RunningLoop loop_;
  HttpClient client_ = HttpClient::start(*loop_).value();
  std::optional<AwsCredentialsProvider> provider_;
};

std::string endpoint_answer(const std::string& key, const std::string& expires) {
  return http_answer("200 OK", R"({"Code":"Success","AccessKeyId":")" + key +
                                   R"(","SecretAccessKey":"planted","Token":"tok","Expiration":")" +
                                   expires + R"("})");
}

TEST(AwsProfile, is_read_as_it_is_written) {
  const std::string text =
      "# a comment\n[default]\naws_access_key_id=one\naws_secret_access_key = s1\n\n"
      "[ other ]\r\naws_access_key_id = two\r\naws_secret_access_key = s/2+=\r\n"
      "aws_session_token = t==\r\n[profile named]\naws_access_key_id = three\n"
      "aws_secret_access_key = s3\n[empty]\nregion = x\n";
  EXPECT_EQ(read_aws_profile(text, "default")->access_key, "one");
  EXPECT_EQ(read_aws_profile(text, "default")->session_token, "");
  EXPECT_EQ(read_aws_profile(text, "other")->secret_key, "s/2+=");
  EXPECT_EQ(read_aws_profile(text, "other")->session_token, "t==");
  EXPECT_EQ(read_aws_profile(text, "named")->access_key, "three");
  EXPECT_EQ(read_aws_profile(text, "missing").error().code, ErrorCode::not_found);
  EXPECT_THAT(read_aws_profile(text, "empty").error().message, HasSubstr("aws_access_key_id"));
}

TEST(AwsCredentialsProvider, prefers_what_is_given_then_the_environment_then_the_file) {
  const holdfast::testing::TemporaryFolder folder;
  std::ofstream(folder / "file") << "[default]\naws_access_key_id=file\naws_secret_access_key=s\n"
                                    "[work]\naws_access_key_id=work\naws_secret_access_key=s\n";
  Variables variables{{"AWS_ACCESS_KEY_ID", "environment"},
                      {"AWS_SECRET_ACCESS_KEY", "s"},
                      {"AWS_SESSION_TOKEN", "t"},
                      {"AWS_SHARED_CREDENTIALS_FILE", folder / "file"}};
  World given({.given = {"given", "s"}, .environment = environment(variables)});
  EXPECT_EQ(given.get()->access_key, "given");
  EXPECT_FALSE(given.refuse({"given", "s"}));  // there are no others
  World named({.environment = environment(variables)});
  EXPECT_EQ(named.get()->access_key, "environment");
  EXPECT_EQ(named.get()->session_token, "t");
  variables.erase("AWS_ACCESS_KEY_ID");
  World file({.environment = environment(variables)});
  EXPECT_EQ(file.get()->access_key, "file");
  variables["AWS_PROFILE"] = "work";
  World work({.environment = environment(variables)});
  EXPECT_EQ(work.get()->access_key, "work");
  World chosen({.profile = "default", .environment = environment(variables)});
  EXPECT_EQ(chosen.get()->access_key, "file");
  World missing({.profile = "nobody", .environment = environment(variables)});
  EXPECT_EQ(missing.get().error().code, ErrorCode::not_found);
}

TEST(AwsCredentialsProvider, reads_a_file_again_when_its_keys_were_refused) {
  const holdfast::testing::TemporaryFolder folder;
  const auto write = [&](const std::string& key) {
    std::ofstream(folder / "file")
        << "[default]\naws_access_key_id=" << key << "\naws_secret_access_key=s\n";
  };
  write("one");
  World world({.file = folder / "file", .environment = environment({})});
  const auto first = world.get();
  ASSERT_TRUE(first) << first.error().text();
  write("two");
  EXPECT_EQ(world.get()->access_key, "one");
  EXPECT_TRUE(world.refuse(*first));
  EXPECT_EQ(world.get()->access_key, "two");
  EXPECT_TRUE(world.refuse(*first));  // somebody was slower: they are fetched already
  EXPECT_EQ(world.get()->access_key, "two");
}

TEST(AwsCredentialsProvider, asks_the_container_with_its_token) {
  std::atomic<int> asked = 0;
  const TestServer server(TestServer::each([&](const ServedRequest& request) {
    ++asked;
    if (request.header("Authorization") != "planted-token") return http_answer("401 No");
    return endpoint_answer("container", "2030-01-01T01:00:00Z");
  }));
  World world(
      {.environment = environment({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url("/c")},
                                   {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "planted-token"}})});
  const auto got = world.get();
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->access_key, "container");
  EXPECT_EQ(got->session_token, "tok");
  EXPECT_EQ(world.get()->access_key, "container");
  EXPECT_EQ(asked, 1);
  World elsewhere({.environment = environment(
                       {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://example.org/c"}})});
  EXPECT_EQ(elsewhere.get().error().code, ErrorCode::invalid_argument);
}

TEST(AwsCredentialsProvider, fetches_them_anew_before_they_expire) {
  std::atomic<int> asked = 0;
  std::atomic<bool> is_down = false;
  World* world_of = nullptr;
  const TestServer server(TestServer::each([&](const ServedRequest&) {
    if (is_down) return http_answer("500 Oops");
    std::string expires;
    append_rfc3339(expires, world_of->clock.wall_now() + 1h);
    return endpoint_answer("key" + std::to_string(++asked), expires);
  }));
  World world(
      {.environment = environment({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url("/c")}})});
  world_of = &world;
  EXPECT_EQ(world.get()->access_key, "key1");
  world.clock.advance(54min);
  EXPECT_EQ(world.get()->access_key, "key1");
  world.clock.advance(2min);
  EXPECT_EQ(world.get()->access_key, "key2");
  // While they cannot be had, those at hand do, for as long as they last.
  is_down = true;
  world.clock.advance(56min);
  EXPECT_EQ(world.get()->access_key, "key2");
  world.clock.advance(5min);
  const auto none = world.get();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::unavailable);
  EXPECT_THAT(none.error().text(), Not(HasSubstr("planted")));
  is_down = false;
  EXPECT_EQ(world.get()->access_key, "key3");
}

TEST(AwsCredentialsProvider, asks_the_instance_with_a_token_of_its_own) {
  const TestServer server(TestServer::each([](const ServedRequest& request) {
    const bool knows = request.header("x-aws-ec2-metadata-token") == "session";
    if (request.head.starts_with("PUT /latest/api/token "))
      return http_answer(
          request.header("x-aws-ec2-metadata-token-ttl-seconds") == "none" ? "400 No" : "200 OK",
          "session");
    if (request.head.starts_with("GET /latest/meta-data/iam/security-credentials/ ") && knows)
      return http_answer("200 OK", "my-role\n");
    if (request.head.starts_with("GET /latest/meta-data/iam/security-credentials/my-role ") &&
        knows)
      return endpoint_answer("instance", "2031-01-01T00:00:00Z");
    return http_answer("401 No");
  }));
  const Variables variables{{"AWS_EC2_METADATA_SERVICE_ENDPOINT", server.url("/")}};
  World world({.environment = environment(variables)});
  const auto got = world.get();
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->access_key, "instance");
  EXPECT_EQ(got->secret_key, "planted");
}

TEST(AwsCredentialsProvider, says_where_it_has_looked) {
  World nobody({.environment = environment({{"AWS_EC2_METADATA_DISABLED", "true"}})});
  EXPECT_EQ(nobody.get().error().code, ErrorCode::not_found);
  EXPECT_THAT(nobody.get().error().message, HasSubstr("AWS_ACCESS_KEY_ID"));
  World unreachable(
      {.environment = environment({{"AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1"}})});
  EXPECT_EQ(unreachable.get().error().code, ErrorCode::unavailable);
  World broken({.environment =
                    environment({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:1/c"}})});
  EXPECT_EQ(broken.get().error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace holdfast::io::aws_credentials_test
