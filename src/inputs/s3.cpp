#include "inputs/s3.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/json_text.hpp"
#include "core/utf8.hpp"

namespace holdfast::inputs {
namespace {

constexpr std::size_t kMostKeyBytes = 1024;  // S3's own limit
constexpr std::size_t kMostBucketBytes = 255;
constexpr std::size_t kMostWordBytes = 300;

std::unexpected<Error> bad(std::string message) {
  return fail(ErrorCode::invalid_argument, "name the input", std::move(message));
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

bool is_bucket_letter(char c, bool in_host) {
  const bool is_small = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  return is_small || (!in_host && ((c >= 'A' && c <= 'Z') || c == '_'));
}

bool has_dot_segment(std::string_view key) {
  std::size_t begin = 0;
  while (begin <= key.size()) {
    const std::size_t end = std::min(key.find('/', begin), key.size());
    const std::string_view segment = key.substr(begin, end - begin);
    if (segment == "." || segment == "..") return true;
    begin = end + 1;
  }
  return false;
}

// Where a request goes.
struct Target {
  std::string scheme;  // "http"
  std::string host;    // as in the Host header
  std::string path;
};

Target target_of(const S3Server& server, const S3Object& object) {
  const std::string_view endpoint = server.endpoint;
  const std::size_t colon = std::min(endpoint.find("://"), endpoint.size());
  Target target{.scheme = lower(endpoint.substr(0, colon)), .host = {}, .path = {}};
  const std::string_view rest = endpoint.substr(std::min(colon + 3, endpoint.size()));
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  target.host = lower(rest.substr(0, slash));
  target.path = rest.substr(slash);
  // Nobody sends the port that goes without saying, so nobody signs it.
  const std::string_view own_port = target.scheme == "https" ? ":443" : ":80";
  if (target.host.ends_with(own_port)) target.host.resize(target.host.size() - own_port.size());
  while (target.path.ends_with('/'))
    target.path.pop_back();
  if (server.path_style) {
    target.path += "/" + object.bucket;
  } else {
    target.host.insert(0, object.bucket + ".");
  }
  target.path += "/" + io::aws_encoded(object.key, io::Slash::kept);
  return target;
}

// What stands between <name> and </name>.
std::string_view element(std::string_view document, std::string_view name) {
  const std::string open = fmt::format("<{}>", name);
  const std::size_t begin = document.find(open);
  if (begin == document.npos) return {};
  const std::string_view rest = document.substr(begin + open.size());
  const std::size_t end = rest.find("</");
  return end == rest.npos ? std::string_view() : utf8_prefix(rest.substr(0, end), kMostWordBytes);
}

}  // namespace

Result<void> check(const S3Object& object, const S3Server& server) {
  const auto is_good = [&](char c) { return is_bucket_letter(c, !server.path_style); };
  const std::string& bucket = object.bucket;
  if (bucket.empty()) return bad("the name of the bucket is empty");
  const bool is_dots = bucket.find_first_not_of('.') == bucket.npos;
  if (bucket.size() > kMostBucketBytes || is_dots || !std::ranges::all_of(bucket, is_good))
    return bad(fmt::format("{} cannot be the name of a bucket", quoted(bucket)));
  if (object.key.empty()) return bad("the key is empty");
  if (object.key.size() > kMostKeyBytes)
    return bad(
        fmt::format("the key has {} bytes: {} are the most", object.key.size(), kMostKeyBytes));
  if (has_dot_segment(object.key))
    return bad(
        fmt::format("the key {} has a part . or .., which may lead elsewhere", quoted(object.key)));
  return {};
}

io::HttpRequest get_request(const S3Server& server, const S3Object& object, WallTime now) {
  const Target target = target_of(server, object);
  io::HttpRequest request;
  request.url = target.scheme + "://" + target.host + target.path;
  request.headers = io::signed_headers(
      {.host = target.host, .path = target.path, .region = server.region}, server.credentials, now);
  return request;
}

std::string words_of(const io::HttpResponse& answer) {
  std::string words = fmt::format("HTTP {}", answer.status);
  if (answer.status / 100 == 3) words += ": redirects are not followed";
  for (const std::string_view part :
       {element(answer.body, "Code"), element(answer.body, "Message")})
    if (!part.empty()) words += fmt::format(": {}", part);
  return words;
}

}  // namespace holdfast::inputs
