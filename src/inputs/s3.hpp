#pragma once

#include <string>
#include <string_view>

#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "io/aws_signature.hpp"
#include "io/http_client.hpp"

// How objects are asked for that S3, or what speaks its protocol, has. Pure.
namespace holdfast::inputs {

struct S3Server {
  std::string endpoint = {};  // "http://127.0.0.1:9000", a path behind it or not
  std::string region = "us-east-1";
  // The bucket in the path, which all servers know; else it goes before the host.
  bool path_style = true;
  io::AwsCredentials credentials = {};  // none: asked for as anybody
};

struct S3Object {
  std::string bucket = {};
  std::string key = {};

  // "s3://uploads/a/b.txt"
  [[nodiscard]] std::string text() const { return "s3://" + bucket + "/" + key; }
};

// Refuses with invalid_argument what cannot be the name of an object, or would lead out of its
// bucket on the way: names may come from whoever hands in a task.
[[nodiscard]] Result<void> check(const S3Object& object, const S3Server& server);

// A GET of it, signed. The object must have been checked.
[[nodiscard]] io::HttpRequest get_request(const S3Server& server, const S3Object& object,
                                          WallTime now);

// "HTTP 404: NoSuchKey: The specified key does not exist." Of the answer's document only its code
// and its message: the rest may tell who asked.
[[nodiscard]] std::string words_of(const io::HttpResponse& answer);

}  // namespace holdfast::inputs
