#include "io/store_lane.hpp"

namespace holdfast::io {

StoreLane::StoreLane(ports::Loop& loop, std::string name, std::unique_ptr<ports::Store> store,
                     Logger log)
    : store_(std::move(store)),
      lane_(
          loop, std::move(name),
          [store = store_.get()](std::span<ports::Request> batch) { store->carry_out(batch); },
          log) {}

void StoreLane::ask(ports::Request request, Done done) {
  lane_.post(std::move(request), std::move(done));
}

}  // namespace holdfast::io
