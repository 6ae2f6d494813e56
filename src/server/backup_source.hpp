#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <holdfast/result.hpp>

#include "ports/broker.hpp"
#include "ports/loop.hpp"
#include "recovery/identity.hpp"
#include "server/backup_reader.hpp"

namespace holdfast::server {

// A backup of messages in the place of a dead-letter queue: what is consumed comes from the file,
// which stays as it is, and what is published goes to a broker. The number of a delivery's tag is
// that of its line. A line that cannot be read is received as unreadable.
class BackupSource final : public ports::Broker {
 public:
  struct Contents {
    std::uint64_t messages = 0;
    std::uint64_t damaged = 0;                  // lines that cannot be read
    std::vector<recovery::Identity> sums = {};  // of all lines
  };

  // Reads all of it once. Fails with invalid_argument if it is no backup, with conflict if a
  // recovery writes it now. `queue`: the name that it is asked for by.
  [[nodiscard]] static Result<std::unique_ptr<BackupSource>> open(ports::Loop& loop,
                                                                  const std::string& path,
                                                                  std::string queue);

  [[nodiscard]] const Contents& contents() const noexcept { return contents_; }
  // Before anything else.
  void publish_to(std::unique_ptr<ports::Broker> broker) { broker_ = std::move(broker); }

  void open(ports::Topology topology,
            std::move_only_function<void(Result<ports::Opened>)> then) override;
  void publish(ports::Outgoing outgoing, std::move_only_function<void(ports::Sent)> then) override;
  [[nodiscard]] ports::ConsumerId consume(ports::Intake intake, ports::Receiver& receiver) override;
  void pause(ports::ConsumerId consumer) override;
  void resume(ports::ConsumerId consumer) override;
  void set_prefetch(ports::ConsumerId consumer, std::size_t prefetch) override;
  void drain(ports::ConsumerId consumer, std::move_only_function<void()> then) override;
  void close(ports::ConsumerId consumer, std::move_only_function<void()> then) override;
  void acknowledge(ports::ConsumerId consumer, ports::DeliveryTag tag) override;
  void hand_back(ports::ConsumerId consumer, ports::DeliveryTag tag) override;
  void hold(ports::ConsumerId consumer, ports::DeliveryTag tag) override;
  void depth(std::string queue, std::move_only_function<void(Result<ports::Depth>)> then) override;
  void inspect(std::string queue,
               std::move_only_function<void(Result<ports::QueueFacts>)> then) override;
  void find_exchange(std::string exchange,
                     std::move_only_function<void(Result<bool>)> then) override;
  void list_queues(
      std::string pattern,
      std::move_only_function<void(Result<std::vector<ports::QueueStatus>>)> then) override;

  BackupSource(ports::Loop& loop, std::string path, std::string queue, io::UniqueFd file);

 private:
  [[nodiscard]] Result<void> count();
  [[nodiscard]] BackupReader reader() const;
  [[nodiscard]] bool has_room() const;
  void read_soon();
  void read_some();
  void done_with(ports::DeliveryTag tag);

  ports::Loop& loop_;
  const std::string path_;
  const std::string queue_;
  io::UniqueFd file_;
  Contents contents_;
  std::unique_ptr<ports::Broker> broker_;

  std::optional<BackupReader> reader_;  // of what is consumed
  ports::Receiver* receiver_ = nullptr;
  ports::Intake intake_;
  std::unordered_map<std::uint64_t, std::uint64_t> in_hand_;  // bytes by line
  std::uint64_t bytes_in_hand_ = 0;
  std::uint64_t delivered_ = 0;  // lines that can be read, or not
  std::uint64_t acknowledged_ = 0;
  bool paused_ = false;
  bool at_end_ = false;
  bool reading_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>();
};

}  // namespace holdfast::server
