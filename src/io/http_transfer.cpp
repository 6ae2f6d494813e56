#include "io/http_transfer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <system_error>

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

namespace holdfast::io {
namespace {

constexpr long kSendBufferBytes = 16'384;  // the least that libcurl takes
constexpr std::size_t kMostHeadBytes = std::size_t{64} << 10;
constexpr std::size_t kMostUrlBytes = std::size_t{64} << 10;
// A connection is given up after that, so that a host that has moved is noticed.
constexpr long kLongestLifeOfConnectionS = 300;

const AddressGuard& guard_of(const HttpRequest& request) {
  static const AddressGuard only_public;
  return request.guard ? *request.guard : only_public;
}

template <class... Args>
void set(CURL* handle, CURLoption option, Args... args) {
  // Fails only without memory, or for an option that our libcurl does not have.
  if (curl().easy_setopt(handle, option, args...) != CURLE_OK) throw std::bad_alloc();
}

// What libcurl counts in: 0 would be "none", and a long may be exceeded.
long milliseconds(Duration span) {
  const auto count = std::chrono::ceil<std::chrono::milliseconds>(span).count();
  return static_cast<long>(std::clamp<std::int64_t>(count, 1, std::numeric_limits<int>::max()));
}

bool has_no_line_end(std::string_view text) noexcept {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == text.npos;
}

bool is_header_name(std::string_view name) noexcept {
  const auto is_token = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").contains(c);
  };
  return !name.empty() && std::ranges::all_of(name, is_token);
}

std::string system_words(int os_error) {
  return std::generic_category().message(os_error);
}

std::string origin_of(const std::string& url) {
  const std::size_t scheme = url.find("://");
  return url.substr(0, scheme == url.npos ? scheme : url.find_first_of("/?#", scheme + 3));
}

HttpError bad_request(std::string message) {
  return {.fault = HttpFault::bad_request, .message = std::move(message)};
}

HttpFault fault_of(CURLcode code) noexcept {
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL: return HttpFault::bad_request;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY: return HttpFault::resolve;
    case CURLE_COULDNT_CONNECT: return HttpFault::connect;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_USE_SSL_FAILED: return HttpFault::tls;
    case CURLE_OPERATION_TIMEDOUT: return HttpFault::timeout;
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM: return HttpFault::cut_off;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING: return HttpFault::no_http;
    default: return HttpFault::local;
  }
}

}  // namespace

HttpTransfer::HttpTransfer(const HttpClientOptions& options, std::vector<HttpTransfer*>& settled)
    : settled_(settled), handle_(curl().easy_init()) {
  if (!handle_) throw std::bad_alloc();
  set_lasting_options(options);
}

void HttpTransfer::set_lasting_options(const HttpClientOptions& options) {
  CURL* const easy = handle_.get();
  set(easy, CURLOPT_PRIVATE, this);
  set(easy, CURLOPT_ERRORBUFFER, words_.data());
  set(easy, CURLOPT_NOSIGNAL, 1L);
  // A name server that does not answer holds up only who asks it.
  set(easy, CURLOPT_QUICK_EXIT, 1L);
  set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  set(easy, CURLOPT_FOLLOWLOCATION, 0L);
  set(easy, CURLOPT_PROXY, options.proxy.c_str());  // empty: none, whatever the environment says
  set(easy, CURLOPT_USERAGENT, options.user_agent.c_str());
  set(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  set(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!options.ca_file.empty()) set(easy, CURLOPT_CAINFO, options.ca_file.c_str());
  set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  set(easy, CURLOPT_BUFFERSIZE, static_cast<long>(options.receive_buffer_bytes));
  set(easy, CURLOPT_UPLOAD_BUFFERSIZE, kSendBufferBytes);
  set(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  set(easy, CURLOPT_MAXLIFETIME_CONN, kLongestLifeOfConnectionS);
  set(easy, CURLOPT_HEADERFUNCTION, &HttpTransfer::on_header);
  set(easy, CURLOPT_HEADERDATA, this);
  set(easy, CURLOPT_WRITEFUNCTION, &HttpTransfer::on_body);
  set(easy, CURLOPT_WRITEDATA, this);
  set(easy, CURLOPT_OPENSOCKETFUNCTION, &HttpTransfer::on_open_socket);
  set(easy, CURLOPT_OPENSOCKETDATA, this);
  set(easy, CURLOPT_PREREQFUNCTION, &HttpTransfer::on_ready);
  set(easy, CURLOPT_PREREQDATA, this);
}

void HttpTransfer::take(std::uint64_t id, HttpRequest request, HttpClient::Done done,
                        SteadyTime now) {
  id_ = id;
  request_ = std::move(request);
  done_ = std::move(done);
  origin_ = origin_of(request_.url);
  deadline_ = request_.timeout > Duration::zero() ? saturating_add(now, request_.timeout)
                                                  : SteadyTime::max();
}

void HttpTransfer::append(List& list, const std::string& line) {
  curl_slist* const shorter = list.release();
  curl_slist* const longer = curl().slist_append(shorter, line.c_str());
  list.reset(longer ? longer : shorter);
  if (!longer) throw std::bad_alloc();
}

std::optional<HttpError> HttpTransfer::prepare(SteadyTime now) {
  CURL* const easy = handle_.get();
  if (now >= deadline_) {
    return HttpError{.fault = HttpFault::timeout,
                     .message = "timed out before the request was sent"};
  }
  if (request_.url.size() > kMostUrlBytes) return bad_request("invalid URL: it is too long");
  if (!has_no_line_end(request_.url) || !is_header_name(request_.method))
    return bad_request("invalid URL or method: it has characters that must not be there");
  if (!set_headers()) return bad_request("a header has characters that must not be there");
  set(easy, CURLOPT_URL, request_.url.c_str());
  set_method_and_body();
  const bool ends = deadline_ != SteadyTime::max();
  set(easy, CURLOPT_TIMEOUT_MS, ends ? milliseconds(deadline_ - now) : 0L);
  const auto stall = std::chrono::ceil<std::chrono::seconds>(request_.stall_timeout).count();
  set(easy, CURLOPT_LOW_SPEED_LIMIT, stall > 0 ? 1L : 0L);
  set(easy, CURLOPT_LOW_SPEED_TIME, std::max(static_cast<long>(stall), 0L));
  set(easy, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(request_.connect_timeout));
  // Over TLS a server says at once whether connections can be shared: it is worth waiting for. In
  // the clear that is known with the first answer, which may be slow.
  set(easy, CURLOPT_PIPEWAIT, request_.url.starts_with("https") ? 1L : 0L);
  for (const std::string& entry : request_.resolve)
    append(resolve_, entry);
  set(easy, CURLOPT_RESOLVE, resolve_.get());
  return std::nullopt;
}

bool HttpTransfer::set_headers() {
  append(headers_, "Expect:");  // no waiting for a "100 Continue"
  std::string line;
  for (const HttpHeader& header : request_.headers) {
    if (!is_header_name(header.name) || !has_no_line_end(header.value)) return false;
    // libcurl's way of a header without a value.
    line = header.value.empty() ? header.name + ";" : header.name + ": " + header.value;
    append(headers_, line);
  }
  set(handle_.get(), CURLOPT_HTTPHEADER, headers_.get());
  return true;
}

void HttpTransfer::set_method_and_body() {
  CURL* const easy = handle_.get();
  set(easy, CURLOPT_HTTPGET, 1L);  // undoes what the request before has set
  set(easy, CURLOPT_CUSTOMREQUEST, static_cast<const char*>(nullptr));
  if (request_.body) {
    set(easy, CURLOPT_POST, 1L);
    set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body->size()));
    set(easy, CURLOPT_POSTFIELDS, request_.body->data());
  } else if (request_.method == "HEAD") {
    set(easy, CURLOPT_NOBODY, 1L);
    return;
  }
  if (request_.method != (request_.body ? "POST" : "GET"))
    set(easy, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
}

HttpResult HttpTransfer::result(CURLcode code) {
  long status = 0;
  curl().easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
  answer_.status = static_cast<int>(status);
  // libcurl takes a connection that is closed amid the headers for the end of them.
  if (code == CURLE_OK && !is_head_complete_) code = CURLE_PARTIAL_FILE;
  if (code == CURLE_OK) return std::move(answer_);
  HttpError error = error_of(code);
  error.answer = std::move(answer_);
  return std::unexpected(std::move(error));
}

std::string_view HttpTransfer::words_of(CURLcode code) const noexcept {
  return words_[0] ? words_.data() : curl().easy_strerror(code);
}

HttpError HttpTransfer::error_of(CURLcode code) {
  long sent_bytes = 0;
  curl().easy_getinfo(handle_.get(), CURLINFO_REQUEST_SIZE, &sent_bytes);
  long os_error = 0;
  curl().easy_getinfo(handle_.get(), CURLINFO_OS_ERRNO, &os_error);
  if (socket_error_ != 0) os_error = socket_error_;
  if (sink_error_ != 0) os_error = sink_error_;

  HttpError error{.fault = fault_of(code), .was_sent = sent_bytes > 0};
  if (is_too_large_) error.fault = HttpFault::too_large;
  // Of the URL that is known before anything is sent, so this is about the answer.
  if (error.fault == HttpFault::bad_request && error.was_sent) error.fault = HttpFault::no_http;
  // Of several addresses, one that is allowed may have failed: that is what can be mended.
  if (!refused_.empty() && !error.was_sent && (sockets_ == 0 || code == CURLE_ABORTED_BY_CALLBACK))
    error.fault = HttpFault::refused_address;

  const std::string_view when =
      error.was_sent ? "after the request was sent" : "before the request was sent";
  switch (error.fault) {
    case HttpFault::refused_address: error.message = "refused address " + refused_; break;
    case HttpFault::too_large:
      error.message = fmt::format("the answer is longer than {} bytes", most_bytes());
      break;
    case HttpFault::resolve: error.message = words_of(code); break;
    case HttpFault::connect:
      error.message = fmt::format(
          "could not connect: {}",
          os_error != 0 ? system_words(static_cast<int>(os_error)) : std::string(words_of(code)));
      if (os_error != 0) error.os_error = static_cast<int>(os_error);
      break;
    case HttpFault::tls: error.message = fmt::format("TLS: {}", words_of(code)); break;
    case HttpFault::timeout: error.message = fmt::format("timed out {}", when); break;
    case HttpFault::cut_off:
      error.message = fmt::format("connection lost {}: {}", when, words_of(code));
      break;
    case HttpFault::bad_request:
      error.message = fmt::format("invalid URL: {}", words_of(code));
      break;
    case HttpFault::no_http:
      error.message = fmt::format("not an HTTP answer: {}", words_of(code));
      break;
    default:
      error.message = words_of(code);
      if (sink_error_ == 0) break;
      error.message = fmt::format("cannot keep the answer: {}", system_words(sink_error_));
      error.os_error = sink_error_;
      break;
  }
  return error;
}

void HttpTransfer::forget() {
  CURL* const easy = handle_.get();
  set(easy, CURLOPT_HTTPGET, 1L);
  set(easy, CURLOPT_POSTFIELDS, static_cast<const char*>(nullptr));
  set(easy, CURLOPT_HTTPHEADER, static_cast<curl_slist*>(nullptr));
  set(easy, CURLOPT_RESOLVE, static_cast<curl_slist*>(nullptr));
  words_[0] = '\0';
  id_ = 0;
  request_ = {};
  done_ = {};
  headers_.reset();
  resolve_.reset();
  answer_ = {};
  refused_.clear();
  sockets_ = 0;
  socket_error_ = 0;
  sunk_bytes_ = 0;
  sink_error_ = 0;
  is_head_complete_ = false;
  is_too_large_ = false;
  is_settled_ = false;
  is_running = false;
  has_turn = false;
}

void HttpTransfer::settle() {
  if (is_settled_) return;
  is_settled_ = true;
  settled_.push_back(this);
}

bool HttpTransfer::allows(const std::optional<IpAddress>& address) {
  if (!address) {
    refused_ = "of an unknown kind";
    return false;
  }
  const auto kind = guard_of(request_).refuses(*address);
  if (kind) refused_ = fmt::format("{}: it is {}", address->text(), to_string(*kind));
  return !kind;
}

std::size_t HttpTransfer::on_header(char* data, std::size_t size, std::size_t count,
                                    void* self) noexcept {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  const std::string_view line(data, size * count);
  std::string& head = transfer.answer_.head;
  // An interim answer (103 Early Hints) comes before the real one.
  if (line.starts_with("HTTP/")) {
    head.clear();
    transfer.is_head_complete_ = false;
  }
  if (head.size() + line.size() > kMostHeadBytes) {
    transfer.is_too_large_ = true;
    return 0;
  }
  head += line;
  if (line == "\r\n" || line == "\n") transfer.is_head_complete_ = true;
  return line.size();
}

std::size_t HttpTransfer::on_body(char* data, std::size_t size, std::size_t count,
                                  void* self) noexcept {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  const std::string_view part(data, size * count);
  long status = 0;
  if (transfer.request_.sink)
    curl().easy_getinfo(transfer.handle_.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status / 100 == 2) return transfer.sink(part) ? part.size() : 0;
  std::string& body = transfer.answer_.body;
  const std::size_t room = transfer.request_.most_response_bytes - body.size();
  body += part.substr(0, room);
  if (part.size() <= room) return part.size();
  transfer.is_too_large_ = true;
  return 0;
}

std::uint64_t HttpTransfer::most_bytes() const noexcept {
  if (request_.sink && answer_.status / 100 == 2) return request_.most_sink_bytes;
  return std::min(request_.most_response_bytes, std::size_t{1} << 40);
}

// What is announced as too long is not begun.
bool HttpTransfer::sink(std::string_view part) noexcept {
  const std::uint64_t most = request_.most_sink_bytes;
  curl_off_t announced = -1;
  curl().easy_getinfo(handle_.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
  is_too_large_ = part.size() > most - sunk_bytes_ ||
                  (announced > 0 && static_cast<std::uint64_t>(announced) > most);
  if (is_too_large_) return false;
  sunk_bytes_ += part.size();
  sink_error_ = request_.sink->write(part);
  return sink_error_ == 0;
}

curl_socket_t HttpTransfer::on_open_socket(void* self, curlsocktype,
                                           curl_sockaddr* address) noexcept {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  transfer.settle();
  if (!transfer.allows(IpAddress::of(address->addr))) return CURL_SOCKET_BAD;
  const int fd = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (fd < 0) {
    transfer.socket_error_ = errno;
    return CURL_SOCKET_BAD;
  }
  ++transfer.sockets_;
  return fd;
}

int HttpTransfer::on_ready(void* self, char* remote, char*, int, int) noexcept {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  transfer.settle();
  return transfer.allows(IpAddress::parse(remote)) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

}  // namespace holdfast::io
