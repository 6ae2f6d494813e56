#include "core/normalizer.hpp"

#include <algorithm>

#include "core/text_shapes.hpp"

namespace holdfast {
namespace {

constexpr std::array<std::string_view, 12> kPlaceholders{"<n>",    "<hex>", "<id>",    "<uuid>",
                                                         "<addr>", "<mac>", "<email>", "<path>",
                                                         "<time>", "<dur>", "<size>",  "<str>"};

// Marks that may stand inside a word; after any other, another word begins.
constexpr std::string_view kInsideWord = "._-/@+%\\~";
constexpr std::string_view kQuotes = "'\"`";
constexpr std::string_view kSmallLettersAndHyphen = "abcdefghijklmnopqrstuvwxyz-";
constexpr std::string_view kEndsUrl = " \"'`<>(){}[]|,;^\\";

[[nodiscard]] bool is_ascii_alnum(char c) noexcept {
  return shapes::is_alnum(c) && static_cast<unsigned char>(c) < 0x80;
}

[[nodiscard]] bool is_scheme_char(char c) noexcept {
  return is_ascii_alnum(c) || c == '+' || c == '.' || c == '-';
}

[[nodiscard]] bool is_host_char(char c) noexcept {
  return shapes::is_alnum(c) || c == '.' || c == '-' || c == '_';
}

[[nodiscard]] bool is_arn_char(char c) noexcept {
  return shapes::is_alnum(c) || std::string_view(":/_.*+@-").find(c) != std::string_view::npos;
}

[[nodiscard]] std::size_t placeholder(std::string_view text) noexcept {
  if (!text.starts_with('<')) return 0;
  for (const std::string_view each : kPlaceholders) {
    if (text.starts_with(each)) return each.size();
  }
  return 0;
}

// In this order; these may begin wherever a piece of a word does. All have a bounded length.
constexpr std::array<Normalizer::Shape, 4> kPieceShapes{{
    {shapes::timestamp, "<time>"},
    {shapes::uuid, "<uuid>"},
    {shapes::ipv4, "<addr>"},
    {shapes::ipv6, "<addr>"},
}};

// These look at a whole word, and so are tried only once for each.
constexpr std::array<Normalizer::Shape, 5> kWordShapes{{
    {shapes::email, "<email>"},
    {shapes::host_and_port, "<addr>"},
    {shapes::source_line, "<path>"},
    {shapes::base64, "<id>"},
    {shapes::path, "<path>"},
}};

}  // namespace

std::string Normalizer::run() {
  out_.reserve(text_.size());
  while (at_ < text_.size() && !is_full_)
    step();
  if (out_.ends_with(' ')) out_.pop_back();
  return std::move(out_);
}

void Normalizer::step() {
  if (at_ == host_end_) return close_host();
  if (at_ == quote_end_) return close_message();
  if (take_placeholder() || take_escaped_quoted() || take_quoted()) return;
  if (take_value_in_parentheses()) return;
  if (!after_word_ && take_shape()) return;
  if (shapes::is_alnum(text_[at_])) return take_word();
  take_separator();
}

bool Normalizer::take_placeholder() {
  const std::size_t length = placeholder(rest());
  if (length == 0) return false;
  replace(length, text_.substr(at_, length));
  return true;
}

bool Normalizer::take_escaped_quoted() {
  const std::string_view text = rest();
  if (text.size() < 2 || text[0] != '\\' || kQuotes.find(text[1]) == kQuotes.npos) return false;
  const std::size_t close = text.find(text.substr(0, 2), 2);
  if (close == text.npos) return false;
  replace(close + 2, "<str>");
  return true;
}

bool Normalizer::take_quoted() {
  const char quote = text_[at_];
  // After a letter it is an apostrophe, or closes what was never opened.
  if (after_word_ || kQuotes.find(quote) == kQuotes.npos) return false;
  const std::size_t close = find_closing_quote(at_ + 1, quote);
  if (close == kNowhere) return false;
  const bool is_inside_quote = quote_end_ != kNowhere;
  const bool has_text = close > at_ + 1;
  const bool may_be_message = may_quote_a_message();
  if (!is_inside_quote && has_text &&
      (is_object_key(close) || quotes_a_message() || may_be_message)) {
    quote_end_ = close;
    message_start_ = may_be_message ? out_.size() : kNowhere;
    take_separator();
    return true;
  }
  replace(close + 1 - at_, "<str>");
  return true;
}

void Normalizer::close_message() {
  quote_end_ = kNowhere;
  if (message_start_ == kNowhere || out_.find(' ', message_start_) != std::string::npos) {
    return take_separator();
  }
  out_.resize(message_start_);  // one word is no message: KeyError('user_id')
  replace(1, "<str>");
}

// Key (email)=(someone@example.com) already exists.
bool Normalizer::take_value_in_parentheses() {
  constexpr std::size_t kLongest = 256;
  const std::string_view text = rest().substr(0, kLongest);
  if (!text.starts_with("=(")) return false;
  // Quotes and placeholders inside are dealt with one by one.
  const std::size_t close = text.find_first_of("()<'\"`", 2);
  if (close == text.npos || close == 2 || text[close] != ')') return false;
  append("=(");
  replace(close, "<str>");
  take_separator();
  return true;
}

template <std::size_t N>
bool Normalizer::take_first_of(const std::array<Shape, N>& candidates) {
  for (const Shape& shape : candidates) {
    const std::size_t length = shape.length(rest());
    if (length == 0 || is_word_going_on(length)) continue;
    replace(length, shape.placeholder);
    return true;
  }
  return false;
}

bool Normalizer::take_shape() {
  if (take_url() || take_pod_suffix() || take_identity_hash()) return true;
  const std::string_view text = rest();
  if (shapes::hex_literal(text) > 0) return take_number();
  if (const std::size_t length = shapes::hex_pairs(text)) {
    constexpr std::size_t kMacLength = 17;
    replace(length, length == kMacLength ? "<mac>" : "<hex>");
    return true;
  }
  if (take_first_of(kPieceShapes)) return true;
  if (at_word_start_ && (take_arn() || take_first_of(kWordShapes))) return true;
  return take_number();
}

// Scheme and host stay; user, port, path and query go. The host is then normalized like other text.
bool Normalizer::take_url() {
  constexpr std::size_t kLongestScheme = 20;
  std::string_view text = rest();
  const std::size_t scheme = text.substr(0, kLongestScheme + 3).find("://");
  if (scheme == text.npos || scheme < 2 || !shapes::is_letter(text.front())) return false;
  if (!std::ranges::all_of(text.substr(0, scheme), is_scheme_char)) return false;
  append(text.substr(0, scheme + 3));
  at_ += scheme + 3;
  after_word_ = at_word_start_ = false;
  context_ = {};
  joint_ = {};
  text = rest();
  if (const std::size_t bracketed = text.starts_with('[') ? shapes::ipv6(text) : 0) {
    replace(bracketed, "<addr>");
    text = rest();
  }
  text = text.substr(0, text.find_first_of(kEndsUrl));
  text = text.substr(0, text.find_last_not_of(".:!?*") + 1);
  const std::size_t end = at_ + text.size();
  const std::size_t user = text.substr(0, text.find_first_of("/?#")).rfind('@') + 1;
  at_ += user;
  text.remove_prefix(user);
  const auto after_host = std::ranges::find_if_not(text, is_host_char);
  host_end_ = at_ + static_cast<std::size_t>(after_host - text.begin());
  text.remove_prefix(host_end_ - at_);
  if (text.starts_with(':')) text.remove_prefix(1 + shapes::digit_run(text.substr(1)));
  url_ = {.end = end, .has_path = text.size() > 1};
  return true;
}

void Normalizer::close_host() {
  host_end_ = kNowhere;
  at_ = url_.end;
  context_ = {};
  joint_ = {};
  if (url_.has_path) replace(0, "<path>");
}

// arn:aws:sqs: stays, the rest (region, account, resource) is somebody's.
bool Normalizer::take_arn() {
  const std::string_view text = rest();
  if (!text.starts_with("arn:aws")) return false;
  const std::size_t partition = text.find_first_not_of(kSmallLettersAndHyphen, 4);
  if (partition == text.npos || text[partition] != ':') return false;
  std::size_t service = text.find_first_not_of(kSmallLettersAndHyphen, partition + 1);
  if (service == text.npos || service == partition + 1) return false;
  service += std::min<std::size_t>(shapes::digit_run(text.substr(service)), 2);  // s3, route53
  if (service >= text.size() || text[service] != ':') return false;
  std::size_t end = service + 1;
  while (end < text.size() && is_arn_char(text[end]))
    ++end;
  while (text[end - 1] == '.' || (text[end - 1] == ':' && end > service + 1))
    --end;
  if (end == service + 1) return false;
  append(text.substr(0, service + 1));
  replace(end, "<id>");
  return true;
}

// web-7f9c4b5d6-x2x9z: Kubernetes adds five characters of its own to what it made already.
bool Normalizer::take_pod_suffix() {
  const std::string_view text = rest();
  if (!joint_.is_id || joint_.mark != '-' || shapes::alnum_run(text) != 5) return false;
  replace(5, "<id>");
  return true;
}

// java.lang.Object@1b2c3d4e
bool Normalizer::take_identity_hash() {
  if (at_ == 0 || text_[at_ - 1] != '@') return false;
  const std::string_view run = rest().substr(0, shapes::alnum_run(rest()));
  if (run.size() < 4 || !std::ranges::all_of(run, shapes::is_hex_digit)) return false;
  replace(run.size(), "<hex>");
  return true;
}

void Normalizer::take_separator() {
  const char c = text_[at_];
  append(text_.substr(at_, 1));
  ++at_;
  after_word_ = false;
  at_word_start_ = kInsideWord.find(c) == kInsideWord.npos;
  if (joint_.mark == '\0') {
    joint_.mark = c;
  } else {
    joint_ = {};
  }
  if (c == ':' || c == '=') context_.after_colon = true;
  if (c == '=' || kQuotes.find(c) != kQuotes.npos) context_.is_key = true;
  if (std::string_view(" :=([#-'\"`").find(c) == std::string_view::npos) context_ = {};
}

// Whether the word goes on with a placeholder after these bytes. What stood there when the text was
// read first has kept this from being a shape; it must not become one the second time.
bool Normalizer::is_word_going_on(std::size_t length) const noexcept {
  const std::size_t next = rest().find_first_not_of("._-/@+%\\~:", length);
  return next != kNowhere && placeholder(rest().substr(next)) > 0;
}

bool Normalizer::is_word_at(std::size_t index) const noexcept {
  if (index >= text_.size()) return false;
  return shapes::is_alnum(text_[index]) || placeholder(text_.substr(index)) > 0;
}

// An apostrophe inside a word closes nothing. An escaped quote closes only where no other does:
// then the backslash is the end of 'C:\dir\'.
std::size_t Normalizer::find_closing_quote(std::size_t from, char quote) noexcept {
  const std::size_t end = std::min(quote_end_, text_.size());
  Unclosed& unclosed = unclosed_.at(kQuotes.find(quote));
  for (const bool may_be_escaped : {false, true}) {
    std::size_t& known = may_be_escaped ? unclosed.escaped : unclosed.plain;
    if (from < known && end <= known) continue;
    for (std::size_t i = from; i < end; ++i) {
      if (text_[i] == '\\' && !may_be_escaped) {
        ++i;
      } else if (text_[i] == quote && !is_word_at(i + 1)) {
        return i;
      }
    }
    known = end;
  }
  return kNowhere;
}

std::string_view Normalizer::rest() const noexcept {
  return text_.substr(at_, std::min({host_end_, quote_end_, text_.size()}) - at_);
}

void Normalizer::append(std::string_view text) {
  // Whole pieces only: half of one could mean something else when it is read again.
  if (out_.size() + text.size() > most_bytes_) is_full_ = true;
  if (!is_full_) out_ += text;
}

void Normalizer::replace(std::size_t length, std::string_view placeholder) {
  append(placeholder);
  at_ += length;
  after_word_ = true;
  at_word_start_ = false;
  context_ = {};
  joint_ = {.word = {}, .is_id = placeholder == "<hex>" || placeholder == "<id>"};
}

}  // namespace holdfast
