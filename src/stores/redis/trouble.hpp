#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <holdfast/failure.hpp>
#include <holdfast/result.hpp>

namespace holdfast::stores::redis {

// What helps against an error. Where several came at once, the greatest helps most.
enum class Remedy : std::uint8_t {
  none,          // nothing that we could do: it is the end of the command
  load_scripts,  // the server has forgotten them
  wait,          // the same again later
  follow,        // another node has the keys: the reply says which
  reconnect,     // and ask anew who is the master
};

struct Trouble {
  Error error;
  Remedy remedy = Remedy::none;
};

[[nodiscard]] Failure to_failure(const Trouble& trouble);

// What a server means by an error that it answers with. Its text begins with a word in capitals.
[[nodiscard]] Trouble said_by_server(std::string_view text);
// A connection that cannot be made, or was lost.
[[nodiscard]] Trouble lost(Error why);

// Whether an error is what a server has answered, and not that there was no answer.
[[nodiscard]] bool was_said_by_server(const Error& error) noexcept;

// "MOVED 3999 127.0.0.1:6381": its last word. Empty: it has none.
[[nodiscard]] std::string_view place_of_move(std::string_view text);

}  // namespace holdfast::stores::redis
