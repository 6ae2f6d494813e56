#include "handlers/webhook_signature.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::handlers::webhook_signature_test {
namespace {

constexpr std::string_view kId = "01912d68-783e-7a03-8467-5661c1243ad4";

// What Python's hmac says of the same.
TEST(WebhookSigner, signs_as_others_do) {
  const auto from_base64 = WebhookSigner::make("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").value();
  EXPECT_EQ(
      from_base64.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", R"({"test": 2432232314})"),
      "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  const auto raw = WebhookSigner::make("raw key").value();
  EXPECT_EQ(raw.sign(kId, "1700000000", ""), "v1,raadzDbvlFDaKrws7CJ6ZOpVvDGA9RDmurhKib9BfIw=");
  EXPECT_EQ(raw.sign(kId, "1700000000", std::string_view("\x00\x01\xff\n", 4)),
            "v1,gH+GgfreY+Jx/1iEmSjcwtcfsHv1QzBvHf6x/hTXjFw=");
  EXPECT_EQ(raw.sign(kId, "1700000000", ""), "v1,raadzDbvlFDaKrws7CJ6ZOpVvDGA9RDmurhKib9BfIw=");
  const auto long_key = WebhookSigner::make(std::string(100, 'k')).value();
  EXPECT_EQ(long_key.sign("a", "1", std::string(1000, 'x')),
            "v1,OJxyYyCKFBKgZomTqqPzKhOKdiaRr5YpSRUOtDWOrxU=");
  EXPECT_EQ(WebhookSigner::make("whsec_YQ==").value().sign("a", "1", "x"),
            "v1,xX1kL8GJrp56zW15JFpKiVh7YCukHdEV6shphph5Tu0=");
}

TEST(WebhookSigner, refuses_a_secret_that_is_none_and_does_not_show_it) {
  for (const char* secret : {"", "whsec_", "whsec_a", "whsec_YQ=", "whsec_Y===", "whsec_YQ==YQ==",
                             "whsec_Y Q=", "whsec_s3cr-t=="}) {
    const auto signer = WebhookSigner::make(secret);
    ASSERT_FALSE(signer.has_value()) << secret;
    EXPECT_EQ(signer.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(signer.error().text(), ::testing::Not(::testing::HasSubstr("s3cr")));
  }
}

}  // namespace
}  // namespace holdfast::handlers::webhook_signature_test
