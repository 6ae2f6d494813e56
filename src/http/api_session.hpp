#pragma once

#include "http/gate.hpp"

namespace holdfast::http {

struct SessionOptions {
  bool tls = false;  // the server speaks it: cookies may go over nothing else
};

// The routes by which a browser logs in and out: /v1/session. The gate must outlive them.
void add_session_routes(Routes& routes, Gate& gate, SessionOptions options);

}  // namespace holdfast::http
