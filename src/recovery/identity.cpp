#include "recovery/identity.hpp"

#include <cstring>
#include <type_traits>

#include <openssl/evp.h>

namespace holdfast::recovery {
namespace {

using ports::Field;
using ports::FieldArray;
using ports::FieldTable;

// Every part with its length or its kind before it, so that no two messages become the same bytes.
class Bytes {
 public:
  explicit Bytes(std::string& out) : out_(out) {}

  void number(std::uint64_t value) {
    std::array<char, sizeof value> raw{};
    std::memcpy(raw.data(), &value, sizeof value);
    out_.append(raw.data(), raw.size());
  }
  void text(std::string_view value) {
    number(value.size());
    out_.append(value);
  }
  template <class T>
  void maybe(const std::optional<T>& value) {
    number(value.has_value() ? 1 : 0);
    if (!value) return;
    if constexpr (std::is_integral_v<T>)
      number(*value);
    else
      text(*value);
  }
  void table(const FieldTable& fields) {
    number(fields.size());
    for (const auto& [name, value] : fields) {
      text(name);
      field(value);
    }
  }
  void field(const Field& value) {
    number(value.value.index());
    std::visit([this](const auto& one) { this->value(one); }, value.value);
  }

 private:
  template <class T>
  void value(const T& one) {
    if constexpr (std::is_same_v<T, std::string>)
      text(one);
    else if constexpr (std::is_same_v<T, Field::Bytes>)
      text(one.bytes);
    else if constexpr (std::is_same_v<T, Field::Time>)
      number(one.seconds);
    else if constexpr (std::is_same_v<T, Field::Decimal>)
      number(one.places), number(one.digits);
    else if constexpr (std::is_same_v<T, FieldTable>)
      table(one);
    else if constexpr (std::is_same_v<T, FieldArray>) {
      number(one.size());
      for (const Field& inner : one)
        field(inner);
    } else if constexpr (std::is_floating_point_v<T>) {
      const double wide = one;
      std::uint64_t raw = 0;
      std::memcpy(&raw, &wide, sizeof raw);
      number(raw);
    } else if constexpr (std::is_arithmetic_v<T>) {
      number(static_cast<std::uint64_t>(one));
    }
  }

  std::string& out_;
};

}  // namespace

std::size_t IdentityHash::operator()(const Identity& identity) const noexcept {
  std::size_t hash = 0;  // its bytes are as good as random
  std::memcpy(&hash, identity.bytes.data(), sizeof hash);
  return hash;
}

Identity identity_of(const ports::Message& message, const ports::Address& to) {
  static thread_local std::string raw;
  raw.clear();
  Bytes bytes(raw);
  bytes.text(to.exchange);
  bytes.text(to.routing_key);
  bytes.text(message.body);
  for (const auto& [name, value] : message.headers) {
    if (name == "x-delivery-count") continue;
    bytes.text(name);
    bytes.field(value);
  }
  for (const auto* text :
       {&message.content_type, &message.content_encoding, &message.correlation_id,
        &message.reply_to, &message.expiration, &message.message_id, &message.type,
        &message.user_id, &message.app_id, &message.cluster_id})
    bytes.maybe(*text);
  bytes.maybe(message.delivery_mode);
  bytes.maybe(message.priority);
  bytes.maybe(message.timestamp);
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest{};
  Identity identity;
  EVP_Digest(raw.data(), raw.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  std::memcpy(identity.bytes.data(), digest.data(), identity.bytes.size());
  if (raw.capacity() > 1 << 20) std::string().swap(raw);  // one large body is no reason to keep it
  return identity;
}

std::string to_text(const Identity& identity) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : identity.bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::optional<Identity> parse_identity(std::string_view text) {
  Identity identity;
  if (text.size() != identity.bytes.size() * 2) return std::nullopt;
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  for (std::size_t at = 0; at < identity.bytes.size(); ++at) {
    const int high = digit(text[at * 2]);
    const int low = digit(text[at * 2 + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    identity.bytes[at] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return identity;
}

void Memory::note(const Identity& identity, Known known) {
  const auto [at, fresh] = known_.try_emplace(identity, known);
  if (!fresh) {
    known.ambiguous = at->second.ambiguous;
    // What is there for sure stays so.
    if (at->second.copy == Copy::none || known.copy == Copy::confirmed) at->second = known;
    return;
  }
  order_.push_back(identity);
  if (order_.size() <= most_) return;
  known_.erase(order_.front());
  order_.pop_front();
}

void Memory::seen(const Identity& identity, std::uint64_t life) {
  const auto found = known_.find(identity);
  if (found == known_.end()) return note(identity, {.copy = Copy::none, .life = life});
  if (found->second.life == life) found->second.ambiguous = true;
}

void Memory::forget(const Identity& identity) {
  // Its place in the order stays, and is passed over when it comes to that.
  known_.erase(identity);
}

std::optional<Memory::Known> Memory::find(const Identity& identity) const {
  const auto found = known_.find(identity);
  if (found == known_.end()) return std::nullopt;
  return found->second;
}

}  // namespace holdfast::recovery
