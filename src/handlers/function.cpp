#include "handlers/function.hpp"

#include <utility>

namespace holdfast::handlers {

Pool& Pools::of(const std::string& queue) const {
  const auto own = of_queue.find(queue);
  return own == of_queue.end() ? *common : *own->second;
}

std::size_t Pools::close() const noexcept {
  std::size_t left_behind = common->close();
  for (const auto& [queue, pool] : of_queue)
    left_behind += pool->close();
  return left_behind;
}

Function::Function(detail::BlockingHandler function, std::shared_ptr<const Pools> pools,
                   const Clock& clock)
    : pools_(std::move(pools)),
      work_(std::make_shared<Pool::Work>(
          [function = std::move(function),
           clock = &clock](const std::shared_ptr<ports::Run>& run) mutable -> core::Outcome {
            Job job(run, *clock);
            HandlerResult result = function(job);
            if (!result) return std::move(result).error();
            return core::Success{*std::move(result)};
          })) {}

void Function::start(std::shared_ptr<ports::Run> run) noexcept {
  Pool& pool = pools_->of(run->task().queue);
  pool.add(std::move(run), work_);
}

}  // namespace holdfast::handlers
