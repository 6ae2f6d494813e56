#include "io/lane.hpp"

#include <array>
#include <string_view>

#include <pthread.h>

namespace holdfast::io {

void name_this_thread(const std::string& name) noexcept {
  std::array<char, 16> kept{};
  name.copy(kept.data(), kept.size() - 1);
  ::pthread_setname_np(::pthread_self(), kept.data());
}

void log_lane_threw(const Logger& log, const std::string& lane, std::size_t jobs) noexcept {
  const auto write = [&](std::string_view what) {
    log.log(Level::error, "lane.threw", "a batch was not carried out to its end",
            {{"lane", lane}, {"jobs", jobs}, {"error", what}});
  };
  try {
    throw;
  } catch (const std::exception& error) {
    write(error.what());
  } catch (...) {
    write("not a std::exception");
  }
}

}  // namespace holdfast::io
