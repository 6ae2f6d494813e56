#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast {

// One run over one error text, from left to right: the working part of `normalized`, which see for
// what it does. The text has single spaces and no control characters, and must outlive the run.
//
// Whatever a decision looks at, it should find the same in its own output, so that a second run
// changes nothing. That is why a placeholder in the text counts as a word, and why what came before
// is kept in members instead of being looked up in the text.
class Normalizer {
 public:
  Normalizer(std::string_view text, std::size_t most_bytes)
      : text_(text), most_bytes_(most_bytes) {}

  [[nodiscard]] std::string run();

  struct Shape {
    std::size_t (*length)(std::string_view text) noexcept;
    std::string_view placeholder;
  };

 private:
  // The word that says what the number or the quote after it means.
  struct Context {
    std::string_view word;
    bool after_colon = false;
    bool is_key = false;  // a quote or "=" follows the word
  };

  // The word that the next piece is joined to: "ORA" and '-' before "00942".
  struct Joint {
    std::string_view word;
    bool is_id = false;  // the word was an id and is replaced
    char mark = '\0';
  };

  // Up to where it is known that no quote of one kind closes, so that this is found out only once.
  struct Unclosed {
    std::size_t plain = 0;
    std::size_t escaped = 0;
  };

  // The URL whose host is being normalized.
  struct Url {
    std::size_t end = 0;
    bool has_path = false;
  };

  void step();
  [[nodiscard]] bool take_placeholder();
  [[nodiscard]] bool take_quoted();
  void close_message();
  void close_host();
  [[nodiscard]] bool take_escaped_quoted();
  [[nodiscard]] bool take_value_in_parentheses();
  [[nodiscard]] bool take_shape();
  template <std::size_t N>
  [[nodiscard]] bool take_first_of(const std::array<Shape, N>& candidates);
  [[nodiscard]] bool take_url();
  [[nodiscard]] bool take_arn();
  [[nodiscard]] bool take_number();
  [[nodiscard]] bool take_pod_suffix();
  [[nodiscard]] bool take_identity_hash();
  void take_word();
  void take_http_version();
  void take_separator();

  [[nodiscard]] bool is_code(std::size_t start, std::size_t length) const noexcept;
  [[nodiscard]] bool is_code_after_error(std::size_t end) const noexcept;
  [[nodiscard]] bool is_joined_code(std::string_view number) const noexcept;
  [[nodiscard]] bool is_sql_state_in_parentheses(std::size_t start,
                                                 std::size_t length) const noexcept;
  [[nodiscard]] bool is_first_of_tuple(std::size_t start, std::size_t length) const noexcept;
  [[nodiscard]] bool is_object_key(std::size_t close) const noexcept;
  [[nodiscard]] bool quotes_a_message() const noexcept;
  [[nodiscard]] bool may_quote_a_message() const noexcept;
  [[nodiscard]] std::size_t find_closing_quote(std::size_t from, char quote) noexcept;
  [[nodiscard]] bool is_word_going_on(std::size_t length) const noexcept;
  [[nodiscard]] bool is_word_at(std::size_t index) const noexcept;

  [[nodiscard]] std::string_view rest() const noexcept;  // to the end of the text or of the quote
  void append(std::string_view text);
  bool append_word(std::string_view word);
  void replace(std::size_t length, std::string_view placeholder);
  void keep_number(std::size_t length);

  static constexpr std::size_t kNowhere = std::string_view::npos;

  const std::string_view text_;
  const std::size_t most_bytes_;

  std::string out_;
  std::size_t at_ = 0;
  bool is_full_ = false;

  bool after_word_ = false;  // what was taken last is a word or a placeholder
  bool at_word_start_ = true;
  Context context_;
  Joint joint_;
  std::size_t code_end_ = kNowhere;    // where the last number that was kept ended
  std::size_t message_at_ = kNowhere;  // where a quote opens that is a message for sure
  std::size_t quote_end_ = kNowhere;   // where the quote closes that is being normalized inside
  std::size_t message_start_ =
      kNowhere;  // where it opens in out_, if it must be a sentence to stay
  std::size_t host_end_ = kNowhere;
  Url url_;
  std::array<Unclosed, 3> unclosed_;
};

}  // namespace holdfast
