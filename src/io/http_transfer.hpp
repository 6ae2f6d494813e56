#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/curl.hpp"
#include "io/http_client.hpp"

namespace holdfast::io {

// One request as libcurl carries it out, and what came of it. Used again for the next one, since
// making a handle costs more than most requests. Stays where it is: the handle points to it.
// Threads: the client's own.
class HttpTransfer {
 public:
  // Those that need no name looked up any more are put into `settled`.
  HttpTransfer(const HttpClientOptions& options, std::vector<HttpTransfer*>& settled);
  HttpTransfer(const HttpTransfer&) = delete;
  HttpTransfer& operator=(const HttpTransfer&) = delete;

  // Takes over a request.
  void take(std::uint64_t id, HttpRequest request, HttpClient::Done done, SteadyTime now);

  // Makes the handle ready for it. What can be said without sending it: its error.
  [[nodiscard]] std::optional<HttpError> prepare(SteadyTime now);

  // What came of it, by the code that libcurl ended it with.
  [[nodiscard]] HttpResult result(CURLcode code);

  // Lets go of all that the request had.
  void forget();

  [[nodiscard]] CURL* handle() const noexcept { return handle_.get(); }
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] SteadyTime deadline() const noexcept { return deadline_; }
  [[nodiscard]] HttpClient::Done take_done() noexcept { return std::move(done_); }
  // Scheme, host and port as the URL has them; requests of the same origin have the same.
  [[nodiscard]] const std::string& origin() const noexcept { return origin_; }

  // For who runs it.
  bool is_running = false;  // libcurl has it
  bool has_turn = false;    // to look up the name of its origin

 private:
  struct CleanUp {
    void operator()(CURL* handle) const noexcept { curl().easy_cleanup(handle); }
    void operator()(curl_slist* list) const noexcept { curl().slist_free_all(list); }
  };
  using List = std::unique_ptr<curl_slist, CleanUp>;

  static void append(List& list, const std::string& line);
  void set_lasting_options(const HttpClientOptions& options);
  void set_method_and_body();
  [[nodiscard]] bool set_headers();
  [[nodiscard]] bool allows(const std::optional<IpAddress>& address);
  [[nodiscard]] HttpError error_of(CURLcode code);
  [[nodiscard]] std::string_view words_of(CURLcode code) const noexcept;
  void settle();
  [[nodiscard]] bool sink(std::string_view part) noexcept;
  [[nodiscard]] std::uint64_t most_bytes() const noexcept;

  // libcurl cannot pass on an exception: having no memory for an answer ends the process.
  static std::size_t on_header(char* data, std::size_t size, std::size_t count,
                               void* self) noexcept;
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self) noexcept;
  static curl_socket_t on_open_socket(void* self, curlsocktype purpose,
                                      curl_sockaddr* address) noexcept;
  static int on_ready(void* self, char* remote, char* local, int remote_port,
                      int local_port) noexcept;

  std::vector<HttpTransfer*>& settled_;
  std::unique_ptr<CURL, CleanUp> handle_;
  std::array<char, CURL_ERROR_SIZE> words_{};  // libcurl's, of what went wrong

  // Of the request under way.
  std::uint64_t id_ = 0;
  HttpRequest request_;
  HttpClient::Done done_;
  std::string origin_;
  SteadyTime deadline_ = SteadyTime::max();
  List headers_;
  List resolve_;
  HttpResponse answer_;
  std::string refused_;   // the last address that the guard refused, and why
  int sockets_ = 0;       // opened for it
  int socket_error_ = 0;  // errno, of one that could not be opened
  std::uint64_t sunk_bytes_ = 0;
  int sink_error_ = 0;  // errno
  bool is_head_complete_ = false;
  bool is_too_large_ = false;
  bool is_settled_ = false;
};

}  // namespace holdfast::io
