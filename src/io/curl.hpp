#pragma once

#include <curl/curl.h>

#include <holdfast/result.hpp>

namespace holdfast::io {

// The functions of libcurl that are used here, by the names it has for them. It is not linked but
// looked for when the first request is made: it brings some thirty libraries with it, whose pages
// would be most of the memory of a process that makes none.
struct Curl {
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  decltype(&::curl_free) free = nullptr;
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_multi_add_handle) multi_add_handle = nullptr;
  decltype(&::curl_multi_assign) multi_assign = nullptr;
  decltype(&::curl_multi_cleanup) multi_cleanup = nullptr;
  decltype(&::curl_multi_info_read) multi_info_read = nullptr;
  decltype(&::curl_multi_init) multi_init = nullptr;
  decltype(&::curl_multi_remove_handle) multi_remove_handle = nullptr;
  decltype(&::curl_multi_setopt) multi_setopt = nullptr;
  decltype(&::curl_multi_socket_action) multi_socket_action = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;
  decltype(&::curl_url) url = nullptr;
  decltype(&::curl_url_cleanup) url_cleanup = nullptr;
  decltype(&::curl_url_get) url_get = nullptr;
  decltype(&::curl_url_set) url_set = nullptr;
  decltype(&::curl_url_strerror) url_strerror = nullptr;
};

// Maps a library for good, and finds all of them in it. Fails with unavailable, and says which
// library or function there is not.
[[nodiscard]] Result<Curl> find_curl(const char* library);

// Finds libcurl and makes it ready, once in a process; later calls say what the first one did.
// Threads: any.
[[nodiscard]] Result<void> load_curl();

// For whoever has seen load_curl() succeed. Threads: any.
[[nodiscard]] const Curl& curl() noexcept;

}  // namespace holdfast::io
