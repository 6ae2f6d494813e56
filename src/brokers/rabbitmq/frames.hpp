#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <amqp.h>
#include <amqp_framing.h>

#include <holdfast/result.hpp>

// AMQP's frames. librabbitmq knows what is in a method and in properties; which bytes make a frame,
// and when they are read and written, is ours: its own calls block on the socket, one system call
// for each frame, and none of them can be taken back when a broker has stopped reading.
namespace holdfast::brokers::rabbitmq {

using ChannelNumber = std::uint16_t;

inline constexpr std::size_t kFrameMost = 131072;  // bytes, as RabbitMQ proposes it

[[nodiscard]] inline amqp_bytes_t bytes_of(std::string_view text) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): librabbitmq only reads what it encodes
  return {text.size(), const_cast<char*>(text.data())};
}
[[nodiscard]] inline std::string_view text_of(amqp_bytes_t bytes) noexcept {
  return {static_cast<const char*>(bytes.bytes), bytes.len};
}

// One frame that has come. Its payload is good until the reader is asked for more.
struct Frame {
  std::uint8_t type = 0;  // AMQP_FRAME_METHOD …
  ChannelNumber channel = 0;
  std::string_view payload;
};

// Bytes into frames.
class FrameReader {
 public:
  FrameReader();

  // Room for what the socket has; never empty.
  [[nodiscard]] std::span<char> room();
  void filled(std::size_t bytes) noexcept { end_ += bytes; }

  // Nothing: not all of it is there yet. An error: this is not AMQP, and the message says what it
  // looks like instead.
  [[nodiscard]] Result<std::optional<Frame>> next();

 private:
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // what is not looked at yet
  std::size_t end_ = 0;
};

// What is decoded lies here until the next is.
class MethodReader {
 public:
  MethodReader();
  ~MethodReader();
  MethodReader(const MethodReader&) = delete;
  MethodReader& operator=(const MethodReader&) = delete;

  struct Method {
    amqp_method_number_t id = 0;
    void* fields = nullptr;

    template <class T>
    [[nodiscard]] const T& as() const noexcept {
      return *static_cast<const T*>(fields);
    }
  };
  struct Content {
    std::uint64_t body_size = 0;
    const amqp_basic_properties_t* properties = nullptr;
  };

  [[nodiscard]] Result<Method> method(std::string_view payload);
  [[nodiscard]] Result<Content> content(std::string_view payload);

 private:
  amqp_pool_t pool_{};
};

// Frames into bytes, gathered until the socket takes them.
class FrameWriter {
 public:
  FrameWriter();

  void protocol_header();
  void heartbeat();
  // False: its fields do not fit into a frame, or one of them is longer than AMQP allows; nothing
  // was written.
  template <class Fields>
  bool method(ChannelNumber channel, amqp_method_number_t id, Fields fields) {
    return encoded_method(channel, id, &fields);
  }
  // Publish, properties and body; or nothing.
  [[nodiscard]] bool publish(ChannelNumber channel, amqp_basic_publish_t fields,
                             amqp_basic_properties_t properties, std::string_view body);

  // As agreed with the broker.
  void set_frame_most(std::size_t bytes) noexcept { frame_most_ = bytes; }

  [[nodiscard]] std::string_view unsent() const noexcept {
    return std::string_view(out_).substr(sent_);
  }
  void sent(std::size_t bytes);

 private:
  bool encoded_method(ChannelNumber channel, amqp_method_number_t id, void* fields);
  void frame(std::uint8_t type, ChannelNumber channel, std::string_view payload);

  std::vector<char> scratch_;
  std::size_t frame_most_ = kFrameMost;
  std::string out_;
  std::size_t sent_ = 0;
};

}  // namespace holdfast::brokers::rabbitmq
