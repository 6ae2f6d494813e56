#pragma once

#include <chrono>
#include <string>

#include <holdfast/client.hpp>
#include <holdfast/result.hpp>
#include <holdfast/time.hpp>

#include "cli/io.hpp"

namespace CLI {
class App;
}

// Where the verbs find their tasks: in a file, at the server that has it open, or on a Redis that
// anybody may ask.
namespace holdfast::cli {

// As the command line names it. What is not given is looked for: HOLDFAST_SERVER, HOLDFAST_STORE,
// the configuration's store, holdfast.db in the current folder.
struct Target {
  std::string server = {};
  std::string store = {};
  std::string config = {};
  std::string ca_file = {};
  bool token_in_the_clear = false;
};

void add_target(CLI::App& verb, Target& target);

// With a server that is slow to answer one request.
inline constexpr Duration kServerPatience = std::chrono::seconds(10);

struct Connected {
  Client client;
  std::string where = {};    // URL, for people: no password is in it
  bool is_embedded = false;  // a file that nobody has open: nobody runs tasks meanwhile
};

// HOLDFAST_API_TOKEN; empty: none.
[[nodiscard]] std::string token_of_environment();
// HOLDFAST_STORE; likewise.
[[nodiscard]] std::string store_of_environment();

enum class Missing : bool { is_an_error, is_made };

// Opens the file, or talks to the server that has it open: with HOLDFAST_API_TOKEN, if that is set.
// A file that somebody else has open for a moment is waited for.
[[nodiscard]] Result<Connected> connect(const Target& target, Missing missing);

// Says it and gives the exit code. Nothing of a token is ever in it.
int complain(Io& io, const std::string& verb, const Error& error);

}  // namespace holdfast::cli
