#include "io/curl.hpp"

#include <string>

#include <dlfcn.h>

namespace holdfast::io {
namespace {

constexpr const char* kLibrary = "libcurl.so.4";  // its ABI since 2006

std::unexpected<Error> not_there(std::string what) {
  return fail(ErrorCode::unavailable, "load libcurl", std::move(what));
}

std::string words_of_loader() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): glibc has one text for each thread
  const char* const words = ::dlerror();
  return words ? words : "unknown error";
}

// Looks no further once something is missing.
template <class Function>
void find(void* library, const char* name, Function& function, std::string& missing) {
  if (!missing.empty()) return;
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (!function) missing = words_of_loader();
}

Result<Curl> find_and_start() {
  auto found = find_curl(kLibrary);
  if (!found) return found;
  const CURLcode code = found->global_init(CURL_GLOBAL_DEFAULT);
  if (code != CURLE_OK) return not_there(found->easy_strerror(code));
  return found;
}

const Result<Curl>& only_one() {
  static const Result<Curl> found = find_and_start();
  return found;
}

}  // namespace

Result<Curl> find_curl(const char* library) {
  void* const mapped = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!mapped)
    return not_there(words_of_loader() + "; HTTP needs it (on Debian the package libcurl4)");
  Curl curl;
  std::string missing;
  find(mapped, "curl_easy_cleanup", curl.easy_cleanup, missing);
  find(mapped, "curl_easy_getinfo", curl.easy_getinfo, missing);
  find(mapped, "curl_easy_init", curl.easy_init, missing);
  find(mapped, "curl_easy_setopt", curl.easy_setopt, missing);
  find(mapped, "curl_easy_strerror", curl.easy_strerror, missing);
  find(mapped, "curl_free", curl.free, missing);
  find(mapped, "curl_global_init", curl.global_init, missing);
  find(mapped, "curl_multi_add_handle", curl.multi_add_handle, missing);
  find(mapped, "curl_multi_assign", curl.multi_assign, missing);
  find(mapped, "curl_multi_cleanup", curl.multi_cleanup, missing);
  find(mapped, "curl_multi_info_read", curl.multi_info_read, missing);
  find(mapped, "curl_multi_init", curl.multi_init, missing);
  find(mapped, "curl_multi_remove_handle", curl.multi_remove_handle, missing);
  find(mapped, "curl_multi_setopt", curl.multi_setopt, missing);
  find(mapped, "curl_multi_socket_action", curl.multi_socket_action, missing);
  find(mapped, "curl_slist_append", curl.slist_append, missing);
  find(mapped, "curl_slist_free_all", curl.slist_free_all, missing);
  find(mapped, "curl_url", curl.url, missing);
  find(mapped, "curl_url_cleanup", curl.url_cleanup, missing);
  find(mapped, "curl_url_get", curl.url_get, missing);
  find(mapped, "curl_url_set", curl.url_set, missing);
  find(mapped, "curl_url_strerror", curl.url_strerror, missing);
  if (!missing.empty()) return not_there(std::move(missing));
  return curl;
}

Result<void> load_curl() {
  if (const Result<Curl>& found = only_one(); !found) return std::unexpected(found.error());
  return {};
}

const Curl& curl() noexcept {
  return *only_one();
}

}  // namespace holdfast::io
