#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/result.hpp>

// How the command line finds the server that has a file open.
namespace holdfast::node {

struct StoreOwner {
  std::int64_t pid = 0;      // 0: not known
  std::string address = {};  // URL; empty: it is no server, or does not serve yet
};

// Who has the file of a store open; nothing: nobody, or it is none of a file.
[[nodiscard]] std::optional<StoreOwner> owner_of(std::string_view url);
// Whether there is a store. True where that cannot be known.
[[nodiscard]] bool exists(std::string_view url);
// This process, which has the store open, can be reached at `address`. Does nothing for a store
// that is no file.
[[nodiscard]] Result<void> announce(std::string_view url, const std::string& address);

}  // namespace holdfast::node
