// Linked into the victim with the planted bug: the linker's --wrap leads the node's call of
// open_store here (CMakeLists.txt), so that everything else is as users have it.
#include "node/open_store.hpp"
#include "torture/hasty_store.hpp"

namespace holdfast::torture {

Result<node::Opened> real_open_store(const node::Place& place, const Logger& log) asm(
    "__real__ZN8holdfast4node10open_storeERKNS0_5PlaceERKNS_6LoggerE");
Result<node::Opened> hasty_open_store(const node::Place& place, const Logger& log) asm(
    "__wrap__ZN8holdfast4node10open_storeERKNS0_5PlaceERKNS_6LoggerE");

Result<node::Opened> hasty_open_store(const node::Place& place, const Logger& log) {
  constexpr int kBatchesLate = 20;
  auto opened = real_open_store(place, log);
  if (opened) {
    opened->store.writer =
        std::make_unique<HastyStore>(std::move(opened->store.writer), kBatchesLate);
  }
  return opened;
}

}  // namespace holdfast::torture
