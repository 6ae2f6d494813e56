#include "io/http_url.hpp"

#include <algorithm>
#include <memory>

#include "io/curl.hpp"

namespace holdfast::io {
namespace {

struct CleanUp {
  void operator()(CURLU* url) const noexcept { curl().url_cleanup(url); }
  void operator()(char* text) const noexcept { curl().free(text); }
};
using Url = std::unique_ptr<CURLU, CleanUp>;

// Empty: it has none.
std::string part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl().url_get(url, part, &text, flags) != CURLUE_OK) return {};
  const std::unique_ptr<char, CleanUp> owned(text);
  return owned.get();
}

std::unexpected<Error> not_a_url(std::string why) {
  return fail(ErrorCode::invalid_argument, "read URL", std::move(why));
}

}  // namespace

Result<std::string> host_of(const std::string& url) {
  if (auto loaded = load_curl(); !loaded) return std::unexpected(std::move(loaded).error());
  const Url parsed(curl().url());
  if (!parsed) return fail(ErrorCode::exhausted, "read URL", "out of memory");
  const CURLUcode code = curl().url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0);
  if (code != CURLUE_OK) return not_a_url(curl().url_strerror(code));
  const std::string scheme = part_of(parsed.get(), CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https")
    return not_a_url("it must begin with http:// or https://");
  std::string host = part_of(parsed.get(), CURLUPART_HOST);
  if (host.empty()) return not_a_url("it has no host");
  std::ranges::transform(host, host.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const std::string port = part_of(parsed.get(), CURLUPART_PORT, CURLU_NO_DEFAULT_PORT);
  return port.empty() ? host : host + ":" + port;
}

}  // namespace holdfast::io
