#include "inputs/s3.hpp"

#include <gtest/gtest.h>

namespace holdfast::inputs::s3_test {
namespace {

std::string url_of(const S3Server& server, const S3Object& object) {
  return get_request(server, object, {}).url;
}

TEST(S3, puts_the_bucket_into_the_path_or_before_the_host) {
  EXPECT_EQ(url_of({.endpoint = "http://127.0.0.1:9000"}, {"uploads", "a/b.txt"}),
            "http://127.0.0.1:9000/uploads/a/b.txt");
  EXPECT_EQ(
      url_of({.endpoint = "https://S3.Example.org:443/", .path_style = false}, {"uploads", "a"}),
      "https://uploads.s3.example.org/a");
  EXPECT_EQ(url_of({.endpoint = "http://[::1]:80/base/"}, {"b", "k"}), "http://[::1]/base/b/k");
}

TEST(S3, encodes_keys_once) {
  const auto path = [](const std::string& key) {
    return url_of({.endpoint = "http://h"}, {"b", key}).substr(11);
  };
  EXPECT_EQ(path("a b+c~d"), "a%20b%2Bc~d");
  EXPECT_EQ(path("é/%20?x=1#f"), "%C3%A9/%2520%3Fx%3D1%23f");
  EXPECT_EQ(path("/a//b/"), "/a//b/");
}

TEST(S3, signs_only_with_credentials) {
  const S3Object object{"b", "k"};
  EXPECT_TRUE(get_request({.endpoint = "http://h"}, object, {}).headers.empty());
  const S3Server known{.endpoint = "http://h", .credentials = {"id", "secret", "token"}};
  const auto headers = get_request(known, object, {}).headers;
  ASSERT_EQ(headers.size(), 4U);
  EXPECT_EQ(headers[1], (io::HttpHeader{"x-amz-date", "19700101T000000Z"}));
  EXPECT_EQ(headers[2], (io::HttpHeader{"x-amz-security-token", "token"}));
  EXPECT_TRUE(headers[3].value.starts_with(
      "AWS4-HMAC-SHA256 Credential=id/19700101/us-east-1/s3/aws4_request, "
      "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token, Signature="))
      << headers[3].value;
}

TEST(S3, refuses_names_that_lead_elsewhere) {
  const S3Server server{.endpoint = "http://h"};
  const auto why = [&](const std::string& bucket, const std::string& key) {
    const auto checked = check({bucket, key}, server);
    return checked ? "" : checked.error().message;
  };
  EXPECT_EQ(why("b", "a/..b/c..d/...e"), "");
  EXPECT_EQ(why("Old_bucket", "k"), "");
  EXPECT_EQ(why("b", ""), "the key is empty");
  EXPECT_EQ(why("", "k"), "the name of the bucket is empty");
  for (const auto* key : {"..", "../x", "a/../b", "a/.", "./a"})
    EXPECT_NE(why("b", key), "") << key;
  for (const auto* bucket : {"a/b", "..", ".", "a?b", "a#b", "a@b", "a:b", "a b", "a%2fb", "ä"})
    EXPECT_NE(why(bucket, "k"), "") << bucket;
  EXPECT_NE(why("b", std::string(1025, 'k')), "");
  EXPECT_FALSE(check({"Old_bucket", "k"}, {.endpoint = "http://h", .path_style = false}));
}

TEST(S3, takes_from_an_error_what_it_says_and_no_more) {
  const io::HttpResponse answer{
      .status = 403,
      .body =
          "<Error><Code>SignatureDoesNotMatch</Code><Message>No.</Message>"
          "<AWSAccessKeyId>AKIA</AWSAccessKeyId></Error>"};
  EXPECT_EQ(words_of(answer), "HTTP 403: SignatureDoesNotMatch: No.");
  EXPECT_EQ(words_of({.status = 502, .body = "<html>no <Code>"}), "HTTP 502");
  EXPECT_EQ(words_of({.status = 301}), "HTTP 301: redirects are not followed");
}

}  // namespace
}  // namespace holdfast::inputs::s3_test
