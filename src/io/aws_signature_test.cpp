// More of it is compared with what others sign: tests/system/s3_signature_test.py.
#include "io/aws_signature.hpp"

#include <gtest/gtest.h>

namespace holdfast::io::aws_signature_test {
namespace {

constexpr WallTime kTime{std::chrono::sys_days{std::chrono::year{2013} / 5 / 24}};

std::string authorization(const AwsRequest& request, const AwsCredentials& credentials) {
  const auto headers = signed_headers(request, credentials, kTime);
  return headers.empty() ? "none" : headers.back().value;
}

// The example that the documentation of S3 works through.
TEST(AwsSignature, is_that_of_the_documentation) {
  const AwsRequest request{.host = "examplebucket.s3.amazonaws.com",
                           .path = "/test.txt",
                           .headers = {{"Range", "bytes=0-9"}}};
  EXPECT_EQ(
      authorization(request, {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}),
      "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
      "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
      "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(AwsSignature, depends_on_all_that_is_sent) {
  const AwsCredentials known{"id", "secret"};
  const AwsRequest request{.host = "h"};
  const std::string first = authorization(request, known);
  EXPECT_EQ(authorization({.host = "h", .headers = {}}, known), first);
  EXPECT_NE(authorization({.method = "PUT", .host = "h"}, known), first);
  EXPECT_NE(authorization({.host = "other"}, known), first);
  EXPECT_NE(authorization({.host = "h", .path = "/x"}, known), first);
  EXPECT_NE(authorization({.host = "h", .query = "a=1"}, known), first);
  EXPECT_NE(authorization({.host = "h", .headers = {{"a", "1"}}}, known), first);
  EXPECT_NE(authorization({.host = "h", .body = "x"}, known), first);
  EXPECT_NE(authorization({.host = "h", .region = "eu-west-1"}, known), first);
  EXPECT_NE(authorization({.host = "h", .service = "sqs"}, known), first);
  EXPECT_NE(authorization(request, {"id", "secret", "token"}), first);
  EXPECT_NE(authorization(request, {"id", "other"}), first);
}

TEST(AwsSignature, takes_spaces_of_headers_as_one) {
  const AwsCredentials known{"id", "secret"};
  EXPECT_EQ(authorization({.host = "h", .headers = {{"A", "  x   y "}}}, known),
            authorization({.host = "h", .headers = {{"a", "x y"}}}, known));
}

TEST(AwsSignature, is_none_without_credentials) {
  EXPECT_TRUE(signed_headers({.host = "h"}, {}, kTime).empty());
}

TEST(AwsSignature, encodes_all_but_the_unreserved) {
  EXPECT_EQ(aws_encoded("aZ09-._~ /+=é", Slash::kept), "aZ09-._~%20/%2B%3D%C3%A9");
  EXPECT_EQ(aws_encoded("a/b", Slash::encoded), "a%2Fb");
}

}  // namespace
}  // namespace holdfast::io::aws_signature_test
