#pragma once

#include <string>
#include <string_view>

namespace holdfast::stores::redis {

// 40 hexadecimal digits. Redis names scripts so; nothing is kept secret with it. By Boost, since
// the first digest of OpenSSL readies all of OpenSSL: 2 MB of a worker that may never need TLS.
[[nodiscard]] std::string sha1_hex(std::string_view text);

}  // namespace holdfast::stores::redis
