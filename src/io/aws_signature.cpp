#include "io/aws_signature.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "io/sha256.hpp"

namespace holdfast::io {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

// "20261116T093507Z"
std::string time_text(WallTime now) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  const auto day = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(seconds - day);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count());
}

// Without spaces around it, and runs of them as one.
std::string canonical_value(std::string_view value) {
  std::string result;
  for (const char c : value) {
    const bool is_space = c == ' ' || c == '\t';
    if (is_space && (result.empty() || result.back() == ' ')) continue;
    result += is_space ? ' ' : c;
  }
  if (result.ends_with(' ')) result.pop_back();
  return result;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

struct SignedPart {
  std::string lines;  // "host:example.org\n…"
  std::string names;  // "host;x-amz-date"
};

SignedPart canonical_headers(const std::vector<HttpHeader>& headers, std::string_view host) {
  std::vector<std::pair<std::string, std::string>> all;
  all.emplace_back("host", host);
  for (const HttpHeader& header : headers)
    all.emplace_back(lower(header.name), canonical_value(header.value));
  std::ranges::sort(all);
  SignedPart part;
  for (const auto& [name, value] : all) {
    part.lines += fmt::format("{}:{}\n", name, value);
    part.names += fmt::format("{}{}", part.names.empty() ? "" : ";", name);
  }
  return part;
}

std::string_view as_text(const Sha256Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

Sha256Digest signing_key(std::string_view secret, std::string_view date, std::string_view region,
                         std::string_view service) {
  Sha256Digest key = hmac_sha256(fmt::format("AWS4{}", secret), date);
  for (const std::string_view part : {region, service, std::string_view("aws4_request")})
    key = hmac_sha256(as_text(key), part);
  return key;
}

}  // namespace

std::vector<HttpHeader> signed_headers(const AwsRequest& request, const AwsCredentials& credentials,
                                       WallTime now) {
  std::vector<HttpHeader> headers = request.headers;
  if (credentials.access_key.empty()) return headers;
  const std::string time = time_text(now);
  const std::string_view date = std::string_view(time).substr(0, 8);
  const std::string body_hash = to_hex(sha256(request.body));
  headers.push_back({"x-amz-content-sha256", body_hash});
  headers.push_back({"x-amz-date", time});
  if (!credentials.session_token.empty())
    headers.push_back({"x-amz-security-token", credentials.session_token});

  const SignedPart part = canonical_headers(headers, request.host);
  const std::string canonical = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, request.path,
                                            request.query, part.lines, part.names, body_hash);
  const std::string scope =
      fmt::format("{}/{}/{}/aws4_request", date, request.region, request.service);
  const std::string to_sign =
      fmt::format("{}\n{}\n{}\n{}", kAlgorithm, time, scope, to_hex(sha256(canonical)));
  const Sha256Digest key =
      signing_key(credentials.secret_key, date, request.region, request.service);
  headers.push_back(
      {"Authorization", fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}",
                                    kAlgorithm, credentials.access_key, scope, part.names,
                                    to_hex(hmac_sha256(as_text(key), to_sign)))});
  return headers;
}

std::string aws_encoded(std::string_view text, Slash slash) {
  std::string result;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || std::string_view("-._~").contains(c) ||
                          (c == '/' && slash == Slash::kept);
    if (is_plain) {
      result += c;
    } else {
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return result;
}

}  // namespace holdfast::io
