#include "http/page.hpp"

#include <algorithm>

#include "http/problem.hpp"

namespace holdfast::http {
namespace {

// The page is made of its own files and talks to its own server, and nobody frames it.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

// Calls `use` with each part of a list that commas divide, until it says true.
template <class Use>
bool any_of_list(std::string_view list, Use use) {
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    list.remove_prefix(std::min(part.size() + 1, list.size()));
    if (use(trimmed(part))) return true;
  }
  return false;
}

bool is_known_by(std::string_view if_none_match, std::string_view etag) {
  return any_of_list(if_none_match, [&](std::string_view known) {
    if (known.starts_with("W/")) known.remove_prefix(2);
    return known == "*" || known == etag;
  });
}

Fields headers_of(const Asset& asset) {
  // The name of every other file changes with what is in it.
  const bool is_the_page = asset.path == "/";
  return {{"Cache-Control", is_the_page ? "no-cache" : "public, max-age=31536000, immutable"},
          {"ETag", std::string(asset.etag)},
          {"Vary", "Accept-Encoding"},
          {"Content-Security-Policy", kPolicy},
          {"Referrer-Policy", "no-referrer"},
          {"X-Frame-Options", "DENY"},
          {"Cross-Origin-Opener-Policy", "same-origin"}};
}

Response answer_of(const Request& request, std::span<const Asset> assets) {
  const auto found = std::ranges::find(assets, request.path, &Asset::path);
  if (found == assets.end()) {
    return problem(404, assets.empty() ? "this server was built without the page"
                                       : "there is nothing at " + request.path);
  }
  Fields headers = headers_of(*found);
  if (is_known_by(request.header("if-none-match").value_or(""), found->etag)) {
    return {.status = 304, .headers = std::move(headers)};
  }
  if (!accepts_gzip(request.header("accept-encoding").value_or(""))) {
    return problem(406,
                   "the page is packed: ask with \"Accept-Encoding: gzip\" (curl --compressed)",
                   {{"Vary", "Accept-Encoding"}});
  }
  headers.emplace_back("Content-Encoding", "gzip");
  return {.body = std::string(found->gzipped),
          .type = std::string(found->type),
          .headers = std::move(headers)};
}

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) {
  return any_of_list(accept_encoding, [](std::string_view part) {
    const std::string coding = lower(trimmed(part.substr(0, part.find(';'))));
    if (coding != "gzip" && coding != "*") return false;
    // "gzip;q=0" is a no.
    const std::size_t weight = part.find("q=");
    return weight == part.npos || part.find_first_of("123456789", weight) != part.npos;
  });
}

void add_page_routes(Routes& routes, std::span<const Asset> assets) {
  const auto answer = [assets](const Request& request, Reply reply) {
    reply(answer_of(request, assets));
  };
  routes.add({.method = "GET", .pattern = "/", .summary = "The dashboard", .handle = answer});
  routes.add({.method = "GET",
              .pattern = "/assets/{name}",
              .summary = "What the dashboard is made of",
              .handle = answer});
}

}  // namespace holdfast::http
