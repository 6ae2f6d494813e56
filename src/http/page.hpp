#pragma once

#include <span>

#include "http/assets.hpp"
#include "http/gate.hpp"

namespace holdfast::http {

// The routes of the page that people look at: there is no data in it, so anyone may have it. The
// assets must outlive them.
void add_page_routes(Routes& routes, std::span<const Asset> assets);

// Whether a client that sends this header can read what is packed with gzip.
[[nodiscard]] bool accepts_gzip(std::string_view accept_encoding);

}  // namespace holdfast::http
