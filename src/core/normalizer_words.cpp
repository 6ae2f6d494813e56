// Words, numbers and messages: what Normalizer keeps because it tells one error from another.
#include <algorithm>

#include "core/normalizer.hpp"
#include "core/text_shapes.hpp"

namespace holdfast {
namespace {

// A longer number than this is no code of anybody's.
constexpr std::size_t kLongestCode = 6;

constexpr std::array<std::string_view, 30> kCodeWords{
    "code",      "status",     "http",       "errno",       "winerror",   "signal",
    "exit",      "exited",     "sqlstate",   "sqlcode",     "state",      "severity",
    "curl",      "rc",         "hresult",    "statuscode",  "exitcode",   "exitstatus",
    "errorcode", "errcode",    "returncode", "replycode",   "resultcode", "subcode",
    "httpcode",  "httpstatus", "vendorcode", "errornumber", "retcode",    "httperror"};
constexpr std::array<std::string_view, 3> kErrorWords{"error", "err", "exception"};
constexpr std::array<std::string_view, 5> kFillers{"with", "is", "was", "of", "by"};

// Families of codes that are written with a hyphen.
constexpr std::array<std::string_view, 15> kHyphenated{"ora", "tns", "pls", "rman", "dpy",
                                                       "dpi", "my",  "sp2", "err",  "sql",
                                                       "utf", "sha", "iso", "cve",  "jms"};

constexpr std::array<std::string_view, 19> kMessageWords{
    "code",   "message",   "msg",       "desc",     "description", "reason", "cause",
    "detail", "details",   "type",      "title",    "what",        "errmsg", "errormessage",
    "status", "errorcode", "errorname", "codename", "statustext"};
constexpr std::array<std::string_view, 3> kErrorKeys{"error", "err", "exception"};
constexpr std::array<std::string_view, 2> kMessageVerbs{"panicked", "instance"};

[[nodiscard]] char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

template <std::size_t N>
[[nodiscard]] bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::any_of(
      words, [word](std::string_view each) { return std::ranges::equal(word, each, {}, lower); });
}

[[nodiscard]] bool is_upper(char c) noexcept {
  return c >= 'A' && c <= 'Z';
}

}  // namespace

void Normalizer::take_word() {
  const std::string_view word = text_.substr(at_, shapes::alnum_run(rest()));
  if (after_word_) {  // it hangs on a placeholder
    append(word);
    at_ += word.size();
    context_ = {};
    joint_ = {};
    return;
  }
  const bool is_kept = append_word(word);
  at_ += word.size();
  after_word_ = true;
  at_word_start_ = false;
  joint_ = {.word = is_kept ? word : std::string_view(), .is_id = !is_kept};
  if (!is_kept) {
    context_ = {};
    return;
  }
  const bool is_filler = is_one_of(word, kFillers);
  if (is_filler && is_one_of(context_.word, kCodeWords)) return;
  if (is_filler && is_one_of(context_.word, kMessageVerbs)) return;
  if (word == "at" && is_one_of(context_.word, kMessageVerbs)) return;
  context_ = {.word = word};
  if (std::ranges::equal(word, std::string_view("http"), {}, lower)) take_http_version();
}

// "HTTP/1.1 503": the version stands between the name and the status, and is no number of its own.
void Normalizer::take_http_version() {
  const std::string_view text = rest();
  if (text.size() < 2 || text[0] != '/' || !shapes::is_digit(text[1])) return;
  const bool has_minor = text.size() >= 4 && text[2] == '.' && shapes::is_digit(text[3]);
  const std::size_t length = has_minor ? 4 : 2;
  if (!shapes::ends_word(text, length)) return;
  append(text.substr(0, length));
  at_ += length;
  joint_ = {};
}

// True if the word stays as it is.
bool Normalizer::append_word(std::string_view word) {
  if (shapes::is_bare_hex(word)) return append("<hex>"), false;
  if (shapes::is_opaque(word)) return append("<id>"), false;
  const auto first_digit = std::ranges::find_if(word, shapes::is_digit);
  const auto letters = static_cast<std::size_t>(first_digit - word.begin());
  const std::string_view digits = word.substr(letters);
  // user12345 is a user; E11000 and AADSTS50011 are errors.
  const std::size_t least = is_upper(word.front()) ? 8 : 5;
  if (letters > 0 && digits.size() >= least && shapes::digit_run(digits) == digits.size()) {
    append(word.substr(0, letters));
    append("<n>");
    return false;
  }
  append(word);
  return true;
}

bool Normalizer::take_number() {
  const std::string_view text = rest();
  const bool has_sign = text.starts_with('-') || text.starts_with('+');
  const std::size_t sign = has_sign ? 1 : 0;
  const std::string_view unsigned_text = text.substr(sign);
  if (unsigned_text.empty() || !shapes::is_digit(unsigned_text.front())) return false;
  if (const std::size_t length = shapes::hex_literal(unsigned_text)) {
    constexpr std::size_t kLongestHexCode = 10;
    const bool is_kept = length <= kLongestHexCode && is_one_of(context_.word, kCodeWords);
    is_kept ? keep_number(sign + length) : replace(sign + length, "<hex>");
    return true;
  }
  const std::size_t number = shapes::number(unsigned_text);
  const std::size_t duration = shapes::duration(unsigned_text);
  const std::size_t size = shapes::size(unsigned_text);
  const bool is_glued = std::max(duration, size) > number && unsigned_text[number] != ' ';
  if (number > 0 && !is_glued && is_code(at_ + sign, number)) {
    keep_number(sign + number);
  } else if (duration > number) {
    replace(sign + duration, "<dur>");
  } else if (size > number) {
    replace(sign + size, "<size>");
  } else if (number > 0) {
    replace(sign + number, "<n>");
  } else {
    return false;
  }
  return true;
}

void Normalizer::keep_number(std::size_t length) {
  const bool is_tuple = is_first_of_tuple(at_, length);
  append(text_.substr(at_, length));
  joint_ = {.word = text_.substr(at_, length)};
  at_ += length;
  after_word_ = true;
  at_word_start_ = false;
  context_ = {};
  code_end_ = at_;
  if (is_tuple) message_at_ = at_ + 2;
}

bool Normalizer::is_code(std::size_t start, std::size_t length) const noexcept {
  if (is_joined_code(text_.substr(start, length))) return true;
  if (length > kLongestCode) return false;
  if (is_one_of(context_.word, kCodeWords)) return true;
  if (is_one_of(context_.word, kErrorWords) && is_code_after_error(start + length)) return true;
  return is_sql_state_in_parentheses(start, length) || is_first_of_tuple(start, length);
}

// "Error 1062: …" and "error: 404" are codes; "error: 3 nodes failed" counts something.
bool Normalizer::is_code_after_error(std::size_t end) const noexcept {
  if (!context_.after_colon || context_.is_key) return true;
  return end >= text_.size() ||
         std::string_view(":,;)].}").find(text_[end]) != std::string_view::npos;
}

// ORA-00942, AES_128, TLSv1.2
bool Normalizer::is_joined_code(std::string_view number) const noexcept {
  if (joint_.word.empty()) return false;
  if (joint_.mark == '-')
    return is_one_of(joint_.word, kHyphenated) && number.size() <= kLongestCode;
  if (joint_.mark == '_') {
    return number.size() <= 4 &&
           std::ranges::all_of(joint_.word,
                               [](char c) { return is_upper(c) || shapes::is_digit(c); }) &&
           is_upper(joint_.word.front());
  }
  if (joint_.mark == '.') {
    return number.size() <= 7 && shapes::is_letter(joint_.word.front()) &&
           shapes::is_digit(joint_.word.back());
  }
  return false;
}

// ERROR 1045 (28000): …
bool Normalizer::is_sql_state_in_parentheses(std::size_t start, std::size_t length) const noexcept {
  return code_end_ != kNowhere && start == code_end_ + 2 && length == 5 &&
         text_.substr(code_end_, 2) == " (" && text_.substr(start + length).starts_with(')');
}

// Python's way to print an error: (1045, "Access denied for user …")
bool Normalizer::is_first_of_tuple(std::size_t start, std::size_t length) const noexcept {
  if (!out_.ends_with('(')) return false;
  const std::string_view after = text_.substr(std::min(start + length, text_.size()));
  return after.starts_with(", '") || after.starts_with(", \"") || after.starts_with(", <str>");
}

// {"key": …, 'key': …}. A key has no digits, so that nothing inside of it is replaced.
bool Normalizer::is_object_key(std::size_t close) const noexcept {
  constexpr std::size_t kLongestKey = 40;
  const std::string_view key = text_.substr(at_ + 1, close - at_ - 1);
  if (key.size() > kLongestKey) return false;
  const bool is_name = std::ranges::all_of(
      key, [](char c) { return shapes::is_letter(c) || c == '_' || c == '-' || c == '.'; });
  if (!is_name || shapes::is_bare_hex(key)) return false;
  std::string_view after = text_.substr(close + 1);
  if (after.starts_with(' ')) after.remove_prefix(1);
  if (!after.starts_with(':') || after.starts_with("::")) return false;
  const auto before = out_.find_last_not_of(' ');
  return before != std::string::npos && (out_[before] == '{' || out_[before] == ',');
}

bool Normalizer::quotes_a_message() const noexcept {
  if (at_ == message_at_) return true;
  if (is_one_of(context_.word, kMessageVerbs)) return true;
  if (context_.after_colon && is_one_of(context_.word, kMessageWords)) return true;
  return context_.after_colon && context_.is_key && is_one_of(context_.word, kErrorKeys);
}

// NewConnectionError('… [Errno 111] Connection refused')
bool Normalizer::may_quote_a_message() const noexcept {
  if (!out_.ends_with('(') || context_.after_colon) return false;
  const std::string_view word = context_.word;
  for (const std::string_view ending : {std::string_view("error"), std::string_view("exception")}) {
    if (word.size() < ending.size()) continue;
    if (std::ranges::equal(word.substr(word.size() - ending.size()), ending, {}, lower))
      return true;
  }
  return false;
}

}  // namespace holdfast
