#include "brokers/rabbitmq/frames.hpp"

#include <algorithm>
#include <cstring>

namespace holdfast::brokers::rabbitmq {
namespace {

constexpr std::size_t kBefore = 7;  // type, channel, size
constexpr std::size_t kAfter = 1;   // its end
constexpr char kEnd = static_cast<char>(AMQP_FRAME_END);
constexpr std::uint8_t kTlsAlert = 21;
constexpr std::size_t kContentBefore = 12;  // class, weight, size of the body
constexpr const char* kReadOperation = "read from the broker";

template <class Number>
Number read_number(const char* from) noexcept {
  Number number = 0;
  for (std::size_t at = 0; at < sizeof(Number); ++at) {
    number = static_cast<Number>((static_cast<std::uint64_t>(number) << 8U) |
                                 static_cast<unsigned char>(from[at]));
  }
  return number;
}

template <class Number>
void write_number(char* to, Number number) noexcept {
  for (std::size_t at = sizeof(Number); at-- > 0;) {
    to[at] = static_cast<char>(number & 0xFFU);
    number = static_cast<Number>(static_cast<std::uint64_t>(number) >> 8U);
  }
}

// What else answers at a port that somebody took for a broker's.
std::string looks_like(std::string_view bytes) {
  if (bytes.starts_with("AMQP")) return "the broker does not speak AMQP 0-9-1";
  if (bytes.starts_with("HTTP/")) {
    return "an HTTP server answers there: the port of AMQP is another (5672 unless changed)";
  }
  if (!bytes.empty() && static_cast<std::uint8_t>(bytes[0]) == kTlsAlert) {
    return "it wants TLS at this port: use amqps://, or the port that takes AMQP without it";
  }
  return "what answers there is no broker that speaks AMQP";
}

}  // namespace

FrameReader::FrameReader() : buffer_(2 * kFrameMost) {}

std::span<char> FrameReader::room() {
  // A frame is at most half of the buffer, so what is left of one always leaves room.
  if (begin_ == end_) {
    begin_ = end_ = 0;
  } else if (buffer_.size() - end_ < kFrameMost) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  return std::span(buffer_).subspan(end_);
}

Result<std::optional<Frame>> FrameReader::next() {
  const std::string_view bytes(buffer_.data() + begin_, end_ - begin_);
  if (bytes.empty()) return std::nullopt;
  const auto type = static_cast<std::uint8_t>(bytes[0]);
  const bool known = type == AMQP_FRAME_METHOD || type == AMQP_FRAME_HEADER ||
                     type == AMQP_FRAME_BODY || type == AMQP_FRAME_HEARTBEAT;
  if (!known) {
    if (bytes.size() < 5 && type != kTlsAlert) return std::nullopt;  // until it can be named
    return fail(ErrorCode::unavailable, kReadOperation, looks_like(bytes));
  }
  if (bytes.size() < kBefore) return std::nullopt;
  const auto size = read_number<std::uint32_t>(bytes.data() + 3);
  if (size > kFrameMost - kBefore - kAfter) {
    return fail(ErrorCode::unavailable, kReadOperation, "a frame larger than was agreed upon");
  }
  const std::size_t whole = kBefore + size + kAfter;
  if (bytes.size() < whole) return std::nullopt;
  if (bytes[whole - 1] != kEnd) {
    return fail(ErrorCode::unavailable, kReadOperation, "a frame without its end");
  }
  begin_ += whole;
  return Frame{type, read_number<std::uint16_t>(bytes.data() + 1), bytes.substr(kBefore, size)};
}

MethodReader::MethodReader() {
  init_amqp_pool(&pool_, 16384);
}

MethodReader::~MethodReader() {
  empty_amqp_pool(&pool_);
}

Result<MethodReader::Method> MethodReader::method(std::string_view payload) {
  recycle_amqp_pool(&pool_);
  if (payload.size() < 4)
    return fail(ErrorCode::unavailable, kReadOperation, "a method without a name");
  Method method{.id = read_number<std::uint32_t>(payload.data()), .fields = nullptr};
  const int status =
      amqp_decode_method(method.id, &pool_, bytes_of(payload.substr(4)), &method.fields);
  if (status < 0) {
    return fail(ErrorCode::unavailable, kReadOperation,
                std::string("a method that makes no sense: ") + amqp_error_string2(status));
  }
  return method;
}

Result<MethodReader::Content> MethodReader::content(std::string_view payload) {
  recycle_amqp_pool(&pool_);
  if (payload.size() < kContentBefore) {
    return fail(ErrorCode::unavailable, kReadOperation, "properties that are cut off");
  }
  void* decoded = nullptr;
  const int status = amqp_decode_properties(read_number<std::uint16_t>(payload.data()), &pool_,
                                            bytes_of(payload.substr(kContentBefore)), &decoded);
  if (status < 0) {
    return fail(ErrorCode::unavailable, kReadOperation,
                std::string("properties that make no sense: ") + amqp_error_string2(status));
  }
  return Content{.body_size = read_number<std::uint64_t>(payload.data() + 4),
                 .properties = static_cast<const amqp_basic_properties_t*>(decoded)};
}

FrameWriter::FrameWriter() : scratch_(kFrameMost) {}

void FrameWriter::protocol_header() {
  out_.append("AMQP\0\0\x09\x01", 8);
}

void FrameWriter::heartbeat() {
  frame(AMQP_FRAME_HEARTBEAT, 0, {});
}

bool FrameWriter::encoded_method(ChannelNumber channel, amqp_method_number_t id, void* fields) {
  const std::size_t most = frame_most_ - kBefore - kAfter;
  write_number(scratch_.data(), id);
  const int size = amqp_encode_method(id, fields, {most - 4, scratch_.data() + 4});
  if (size < 0) return false;
  frame(AMQP_FRAME_METHOD, channel, {scratch_.data(), static_cast<std::size_t>(size) + 4});
  return true;
}

bool FrameWriter::publish(ChannelNumber channel, amqp_basic_publish_t fields,
                          amqp_basic_properties_t properties, std::string_view body) {
  const std::size_t before = out_.size();
  if (!encoded_method(channel, AMQP_BASIC_PUBLISH_METHOD, &fields)) return false;

  const std::size_t most = frame_most_ - kBefore - kAfter;
  write_number(scratch_.data(), std::uint16_t{AMQP_BASIC_CLASS});
  write_number(scratch_.data() + 2, std::uint16_t{0});
  write_number(scratch_.data() + 4, std::uint64_t{body.size()});
  const int size = amqp_encode_properties(
      AMQP_BASIC_CLASS, &properties, {most - kContentBefore, scratch_.data() + kContentBefore});
  if (size < 0) {
    out_.resize(before);
    return false;
  }
  frame(AMQP_FRAME_HEADER, channel,
        {scratch_.data(), static_cast<std::size_t>(size) + kContentBefore});
  for (; !body.empty(); body.remove_prefix(std::min(most, body.size()))) {
    frame(AMQP_FRAME_BODY, channel, body.substr(0, most));
  }
  return true;
}

void FrameWriter::sent(std::size_t bytes) {
  constexpr std::size_t kKept = std::size_t{1} << 20U;
  sent_ += bytes;
  if (sent_ < out_.size()) {
    if (sent_ < kKept) return;
    out_.erase(0, sent_);
    sent_ = 0;
    return;
  }
  out_.clear();
  sent_ = 0;
  if (out_.capacity() > kKept) out_.shrink_to_fit();  // one large message must not cost for ever
}

void FrameWriter::frame(std::uint8_t type, ChannelNumber channel, std::string_view payload) {
  char before[kBefore];
  before[0] = static_cast<char>(type);
  write_number(before + 1, channel);
  write_number(before + 3, static_cast<std::uint32_t>(payload.size()));
  out_.append(before, kBefore);
  out_.append(payload);
  out_.push_back(kEnd);
}

}  // namespace holdfast::brokers::rabbitmq
