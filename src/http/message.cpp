#include "http/message.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::http {
namespace {

std::optional<std::string_view> first(const Fields& fields, std::string_view name) {
  const auto found = std::ranges::find(
      fields, name, [](const auto& field) { return std::string_view(field.first); });
  if (found == fields.end()) return std::nullopt;
  return found->second;
}

}  // namespace

std::string_view to_string(Role role) noexcept {
  switch (role) {
    case Role::submit: return "submit";
    case Role::read: return "read";
    case Role::work: return "work";
    case Role::operate: return "operate";
  }
  return "";
}

std::optional<std::string_view> Request::header(std::string_view name) const {
  return first(headers, name);
}

std::optional<std::string_view> Request::parameter(std::string_view name) const {
  return first(query, name);
}

std::string_view reason_of(int status) noexcept {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 204: return "No Content";
    case 207: return "Multi-Status";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 411: return "Length Required";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 421: return "Misdirected Request";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 507: return "Insufficient Storage";
    default: return "Unknown";
  }
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '+' && plus_is_space) c = ' ';
    if (c == '%') {
      if (text.size() - at < 3) return std::nullopt;
      unsigned value = 0;
      const char* const end = text.data() + at + 3;
      const auto [read_to, error] = std::from_chars(text.data() + at + 1, end, value, 16);
      if (error != std::errc() || read_to != end) return std::nullopt;
      c = static_cast<char>(value);
      at += 2;
    }
    if (c == '\0') return std::nullopt;
    decoded += c;
  }
  return decoded;
}

std::optional<Fields> parse_query(std::string_view query) {
  Fields fields;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    const auto name = percent_decoded(pair.substr(0, equals), true);
    const auto value = equals == std::string_view::npos
                           ? std::optional<std::string>("")
                           : percent_decoded(pair.substr(equals + 1), true);
    if (!name || !value) return std::nullopt;
    fields.emplace_back(*name, *value);
  }
  return fields;
}

}  // namespace holdfast::http
