#include "cli/connect.hpp"

#include <cstdlib>
#include <ostream>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "config/config.hpp"
#include "core/json_text.hpp"
#include "node/open_store.hpp"
#include "node/remote_server.hpp"
#include "node/running_server.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

// Another run of this program, or a server that is just starting.
constexpr Duration kOwnerPatience = 5s;
constexpr Duration kLookAgain = 20ms;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
  return value ? value : "";
}

Client::Options client_options(const Target& target) {
  return {.log = {},
          .token = token_of_environment(),
          .ca_file = target.ca_file,
          .token_in_the_clear = target.token_in_the_clear,
          .patience = kServerPatience};
}

Result<Connected> ask_server(const Target& target, const std::string& url) {
  Client client(url, client_options(target));
  if (const auto opened = client.open(); !opened) return std::unexpected(opened.error());
  return Connected{.client = std::move(client), .where = url};
}

Result<std::string> store_of(const Target& target) {
  if (!target.store.empty()) return target.store;
  if (target.config.empty()) {
    const std::string store = store_of_environment();
    return store.empty() ? config::Config().store.url.shown : store;
  }
  const auto config = config::read(target.config);
  if (!config) return std::unexpected(config.error());
  return std::string(config->store.url.text.reveal());
}

std::string with_scheme(const std::string& store) {
  const bool is_path = store.find(':') == std::string::npos;
  return is_path ? "sqlite:" + store : store;
}

// One that many share: nobody has to be asked for it.
Result<Connected> open_shared(const Target& target, const std::string& url,
                              const node::Place& place) {
  Client client(url, client_options(target));
  if (const auto opened = client.open(); !opened) return std::unexpected(opened.error());
  return Connected{.client = std::move(client), .where = place.key()};
}

Result<Connected> open_file(const Target& target, const std::string& url, Missing missing) {
  Clock& clock = system_clock();
  const SteadyTime until = saturating_add(clock.now(), kOwnerPatience);
  while (true) {
    const auto owner = node::owner_of(url);
    if (owner && !owner->address.empty()) return ask_server(target, owner->address);
    if (!owner && missing == Missing::is_an_error && !node::exists(url)) {
      return fail(ErrorCode::not_found, "open",
                  fmt::format("there is no {}: say where the tasks are with --store sqlite:PATH, "
                              "or --server URL",
                              url));
    }
    Result<void> opened;
    if (!owner) {
      Client client(url, client_options(target));
      opened = client.open();
      if (opened) {
        return Connected{.client = std::move(client), .where = url, .is_embedded = true};
      }
      if (opened.error().code != ErrorCode::conflict) return std::unexpected(opened.error());
    }
    if (clock.now() >= until) {
      if (!opened) return std::unexpected(opened.error());
      return fail(ErrorCode::conflict, "open",
                  fmt::format("{} is in use by process {}, which is no server that could be asked: "
                              "use that program, or stop it first",
                              url, owner->pid));
    }
    clock.sleep_for(kLookAgain);
  }
}

}  // namespace

std::string token_of_environment() {
  return environment("HOLDFAST_API_TOKEN");
}

std::string store_of_environment() {
  return environment("HOLDFAST_STORE");
}

void add_target(CLI::App& verb, Target& target) {
  const std::string group = "Where the tasks are";
  verb.add_option("--server", target.server, "Of a server: http://HOST:PORT or https://HOST:PORT")
      ->option_text("URL")
      ->group(group);
  verb.add_option("--store", target.store, "Of a file or Redis: sqlite:PATH, redis://HOST:PORT")
      ->option_text("URL")
      ->group(group);
  verb.add_option("--config", target.config, "Where the server's configuration says they are")
      ->option_text("FILE")
      ->group(group);
  verb.add_option("--ca-file", target.ca_file, "Who may sign the server's certificate, PEM")
      ->option_text("FILE")
      ->group(group);
  verb.add_flag("--token-in-the-clear", target.token_in_the_clear,
                "Send the token over http:// elsewhere, too")
      ->group(group);
}

Result<Connected> connect(const Target& target, Missing missing) {
  std::string server = target.server;
  const bool says_where = !server.empty() || !target.store.empty() || !target.config.empty();
  if (!says_where) server = environment("HOLDFAST_SERVER");
  if (!server.empty()) {
    if (node::is_remote(server)) return ask_server(target, server);
    return fail(
        ErrorCode::invalid_argument, "open",
        fmt::format("{} is no URL of a server: write http://HOST:PORT", holdfast::quoted(server)));
  }
  auto store = store_of(target);
  if (!store) return std::unexpected(std::move(store).error());
  const std::string url = with_scheme(*std::move(store));
  if (node::is_remote(url)) return ask_server(target, url);
  const auto place = node::parse_place(url);
  if (!place) return std::unexpected(place.error());
  return place->is_shared() ? open_shared(target, url, *place) : open_file(target, url, missing);
}

int complain(Io& io, const std::string& verb, const Error& error) {
  std::string text;
  append_visible(text, error.text());
  io.err << "holdfast " << verb << ": " << text << '\n';
  const bool is_about_token = error.message.find("a token, and none") != std::string::npos ||
                              error.message.find("know the token") != std::string::npos;
  if (is_about_token) {
    io.err << "Put it into the environment: HOLDFAST_API_TOKEN=… holdfast " << verb << " …\n";
  }
  return kFailed;
}

}  // namespace holdfast::cli
