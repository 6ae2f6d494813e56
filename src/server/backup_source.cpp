#include "server/backup_source.hpp"

#include <cerrno>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "io/os_error.hpp"
#include "recovery/backup.hpp"

namespace holdfast::server {
namespace {

constexpr const char* kRestoreOperation = "restore";
constexpr std::size_t kMostAtOnce = 100;  // messages in one turn of the loop
constexpr ports::ConsumerId kOnlyConsumer = 1;
const std::string kTornLine =
    "the file ends in the middle of it. If a killed run has left it so, its message is still in "
    "its "
    "queue; if the file was cut later, it is lost";

std::string line_name(std::uint64_t number, const std::string& path) {
  return "line " + std::to_string(number) + " of " + path;
}

}  // namespace

BackupSource::BackupSource(ports::Loop& loop, std::string path, std::string queue,
                           io::UniqueFd file)
    : loop_(loop), path_(std::move(path)), queue_(std::move(queue)), file_(std::move(file)) {}

Result<std::unique_ptr<BackupSource>> BackupSource::open(ports::Loop& loop, const std::string& path,
                                                         std::string queue) {
  io::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return io::fail_os(kRestoreOperation, path, errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return io::fail_os(kRestoreOperation, path, errno);
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::invalid_argument, kRestoreOperation,
                path + ": a backup is a regular file");
  }
  if (::flock(file.get(), LOCK_SH | LOCK_NB) != 0) {
    return fail(ErrorCode::conflict, kRestoreOperation, path + ": a recovery writes it now");
  }
  auto source = std::make_unique<BackupSource>(loop, path, std::move(queue), std::move(file));
  if (auto counted = source->count(); !counted) return std::unexpected(counted.error());
  return source;
}

BackupReader BackupSource::reader() const {
  return {path_, io::UniqueFd(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0))};
}

Result<void> BackupSource::count() {
  BackupReader reader = this->reader();
  std::string fault;  // of the first line
  bool is_backup = false;
  for (;;) {
    auto next = reader.next();
    if (!next) return std::unexpected(std::move(next).error());
    if (!*next) break;
    const BackupReader::Line& line = **next;
    const auto parsed = recovery::parse_backup_line(line.text);
    if (parsed && parsed->is_newer) {
      return fail(ErrorCode::invalid_argument, kRestoreOperation,
                  line_name(line.number, path_) +
                      " is of version 2 or newer of this format, which this program cannot read");
    }
    is_backup = is_backup || parsed;
    contents_.sums.push_back(parsed ? parsed->sum : recovery::Identity());
    if (!parsed) {
      ++contents_.damaged;
      if (line.number == 1) fault = parsed.error();
    } else if (parsed->run.empty()) {
      ++contents_.messages;
    }
  }
  if (contents_.sums.empty())
    return fail(ErrorCode::invalid_argument, kRestoreOperation, path_ + ": the file is empty");
  if (is_backup) return {};
  return fail(
      ErrorCode::invalid_argument, kRestoreOperation,
      path_ + ": this is not a backup of messages that can be read: in its first line, " + fault);
}

// What goes to the broker.

void BackupSource::open(ports::Topology topology,
                        std::move_only_function<void(Result<ports::Opened>)> then) {
  broker_->open(std::move(topology), std::move(then));
}

void BackupSource::publish(ports::Outgoing outgoing,
                           std::move_only_function<void(ports::Sent)> then) {
  broker_->publish(std::move(outgoing), std::move(then));
}

void BackupSource::find_exchange(std::string exchange,
                                 std::move_only_function<void(Result<bool>)> then) {
  broker_->find_exchange(std::move(exchange), std::move(then));
}

void BackupSource::list_queues(
    std::string pattern,
    std::move_only_function<void(Result<std::vector<ports::QueueStatus>>)> then) {
  broker_->list_queues(std::move(pattern), std::move(then));
}

void BackupSource::depth(std::string queue,
                         std::move_only_function<void(Result<ports::Depth>)> then) {
  if (queue != queue_) return broker_->depth(std::move(queue), std::move(then));
  const std::uint64_t gone = receiver_ ? delivered_ : acknowledged_;
  const ports::Depth depth{.ready = contents_.messages + contents_.damaged - gone};
  loop_.post([depth, then = std::move(then), alive = std::weak_ptr(alive_)]() mutable {
    if (!alive.expired()) then(depth);
  });
}

void BackupSource::inspect(std::string queue,
                           std::move_only_function<void(Result<ports::QueueFacts>)> then) {
  if (queue != queue_) return broker_->inspect(std::move(queue), std::move(then));
  loop_.post([then = std::move(then), alive = std::weak_ptr(alive_)]() mutable {
    if (alive.expired()) return;
    then(ports::QueueFacts{.kind = ports::QueueFacts::Kind::plain, .limit_is_known = true});
  });
}

// What comes from the file.

ports::ConsumerId BackupSource::consume(ports::Intake intake, ports::Receiver& receiver) {
  intake_ = std::move(intake);
  receiver_ = &receiver;
  reader_.emplace(reader());
  delivered_ = acknowledged_;
  paused_ = at_end_ = false;
  loop_.post([this, alive = std::weak_ptr(alive_)] {
    if (alive.expired() || !receiver_) return;
    receiver_->consuming();
    read_soon();
  });
  return kOnlyConsumer;
}

bool BackupSource::has_room() const {
  const bool has_bytes = intake_.most_bytes == 0 || bytes_in_hand_ < intake_.most_bytes;
  return receiver_ && !paused_ && !at_end_ && has_bytes && in_hand_.size() < intake_.prefetch;
}

void BackupSource::read_soon() {
  if (reading_ || !has_room()) return;
  reading_ = true;
  loop_.post([this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    reading_ = false;
    read_some();
  });
}

void BackupSource::read_some() {
  std::vector<ports::Delivery> deliveries;
  for (std::size_t count = 0; count < kMostAtOnce && has_room(); ++count) {
    auto next = reader_->next();
    if (!next) {
      at_end_ = true;
      return receiver_->refused(
          {ErrorCode::invalid_argument, kRestoreOperation, next.error().message});
    }
    if (!*next) {
      at_end_ = true;
      break;
    }
    const BackupReader::Line& line = **next;
    auto parsed = recovery::parse_backup_line(line.text);
    if (parsed && !parsed->run.empty()) continue;
    ++delivered_;
    if (!parsed) {
      receiver_->unreadable(line_name(line.number, path_) + ": " +
                            (line.is_torn ? kTornLine : parsed.error()));
      continue;
    }
    ports::Delivery& delivery = parsed->delivery;
    delivery.tag = {.line = 1, .number = line.number};
    delivery.redelivered = false;  // by that queue, and not by this file
    const std::uint64_t bytes = ports::size_in_memory(delivery.message);
    in_hand_.emplace(line.number, bytes);
    bytes_in_hand_ += bytes;
    deliveries.push_back(std::move(delivery));
  }
  if (!deliveries.empty() && receiver_) receiver_->received(std::move(deliveries));
  read_soon();
}

void BackupSource::done_with(ports::DeliveryTag tag) {
  const auto node = in_hand_.extract(tag.number);
  if (!node.empty()) bytes_in_hand_ -= node.mapped();
  read_soon();
}

void BackupSource::acknowledge(ports::ConsumerId /*consumer*/, ports::DeliveryTag tag) {
  ++acknowledged_;
  done_with(tag);
}

void BackupSource::hand_back(ports::ConsumerId /*consumer*/, ports::DeliveryTag tag) {
  done_with(tag);
}

void BackupSource::hold(ports::ConsumerId /*consumer*/, ports::DeliveryTag tag) {
  done_with(tag);
}

void BackupSource::pause(ports::ConsumerId /*consumer*/) {
  paused_ = true;
}

void BackupSource::resume(ports::ConsumerId /*consumer*/) {
  paused_ = false;
  read_soon();
}

void BackupSource::set_prefetch(ports::ConsumerId /*consumer*/, std::size_t prefetch) {
  intake_.prefetch = prefetch;
  read_soon();
}

void BackupSource::drain(ports::ConsumerId /*consumer*/, std::move_only_function<void()> then) {
  paused_ = true;
  loop_.post([then = std::move(then), alive = std::weak_ptr(alive_)]() mutable {
    if (!alive.expired()) then();
  });
}

void BackupSource::close(ports::ConsumerId /*consumer*/, std::move_only_function<void()> then) {
  receiver_ = nullptr;
  loop_.post([then = std::move(then), alive = std::weak_ptr(alive_)]() mutable {
    if (!alive.expired()) then();
  });
}

}  // namespace holdfast::server
