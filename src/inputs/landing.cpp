#include "inputs/landing.hpp"

#include <array>
#include <utility>

namespace holdfast::inputs {
namespace {

constexpr std::string_view kPrefix = "holdfast-input-";
constexpr std::size_t kBufferBytes = std::size_t{256} << 10;

std::shared_ptr<const io::AddressGuard> any_address() {
  const std::array<std::string, 2> all{"0.0.0.0/0", "::/0"};
  return std::make_shared<const io::AddressGuard>(io::AddressGuard::make(all).value());
}

}  // namespace

Result<std::shared_ptr<Landing>> Landing::open(ports::Loop& loop, const std::string& folder) {
  auto made = io::PrivateFolder::make(
      loop, folder.empty() ? io::folder_for_temporary_files() : folder, kPrefix);
  if (!made) return std::unexpected(std::move(made).error());
  auto client = io::HttpClient::start(loop, {.receive_buffer_bytes = kBufferBytes});
  if (!client) return std::unexpected(std::move(client).error());
  return std::make_shared<Landing>(loop, *std::move(made), *std::move(client));
}

Landing::Landing(ports::Loop& its_loop, io::PrivateFolder its_folder, io::HttpClient its_client)
    : loop(its_loop),
      folder(std::move(its_folder)),
      client(std::move(its_client)),
      guard(any_address()) {}

}  // namespace holdfast::inputs
