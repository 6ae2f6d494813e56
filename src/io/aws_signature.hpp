#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <holdfast/time.hpp>

#include "io/http_client.hpp"

// Signature Version 4, by which AWS and what speaks its protocols know who asks. Pure: the same
// request at the same time has the same signature.
//
// libcurl can sign too, but the 7.88 of Debian 12 neither sends x-amz-content-sha256, which S3
// wants, nor signs all paths as S3 does; so the whole of it is here.
namespace holdfast::io {

struct AwsCredentials {
  std::string access_key = {};  // empty: nobody, and nothing is signed
  std::string secret_key = {};
  std::string session_token = {};  // of credentials that expire; empty: none
};

struct AwsRequest {
  std::string_view method = "GET";
  std::string_view host = {};   // as it is sent, with the port unless it is the scheme's own
  std::string_view path = "/";  // as it is sent: S3 signs it so; others want it encoded once more
  std::string_view query = {};  // name=value&… encoded, sorted by name
  std::vector<HttpHeader> headers = {};  // to be signed beside ours
  std::string_view body = {};
  std::string_view region = "us-east-1";
  std::string_view service = "s3";
};

// The headers to send the request with: those it has, then x-amz-content-sha256, x-amz-date,
// x-amz-security-token and Authorization, as far as the credentials have them.
[[nodiscard]] std::vector<HttpHeader> signed_headers(const AwsRequest& request,
                                                     const AwsCredentials& credentials,
                                                     WallTime now);

enum class Slash : bool { kept, encoded };
// All bytes but letters, digits and -._~ as %XX.
[[nodiscard]] std::string aws_encoded(std::string_view text, Slash slash);

}  // namespace holdfast::io
