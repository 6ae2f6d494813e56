// Dates and times of day; the one shape of text_shapes.hpp that needs a file of its own.
#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "core/text_shapes.hpp"

namespace holdfast::shapes {
namespace {

constexpr std::array<std::string_view, 12> kMonths{"jan", "feb", "mar", "apr", "may", "jun",
                                                   "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kDays{"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
constexpr std::array<std::string_view, 10> kZones{"UTC", "GMT", "EST", "EDT", "CST",
                                                  "CDT", "MST", "PST", "CET", "CEST"};

// Reads a shape piece by piece. Each member takes its piece and says so, or takes nothing.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t length() const noexcept { return at_; }
  [[nodiscard]] bool at_word_end() const noexcept { return ends_word(text_, at_); }

  bool digits(std::size_t least, std::size_t most) noexcept {
    const std::size_t run = digit_run(text_.substr(at_));
    if (run < least || run > most) return false;
    at_ += run;
    return true;
  }

  bool one_of(std::string_view set) noexcept {
    if (at_ == text_.size() || set.find(text_[at_]) == set.npos) return false;
    ++at_;
    return true;
  }

  // A name of three letters in any case, not followed by another letter.
  template <std::size_t N>
  bool name(const std::array<std::string_view, N>& names) noexcept {
    if (alnum_run(text_.substr(at_)) != 3) return false;
    const auto matches = [this](std::string_view name) {
      return std::ranges::equal(name, text_.substr(at_, 3), {}, {},
                                [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
    };
    if (std::ranges::none_of(names, matches)) return false;
    at_ += 3;
    return true;
  }

  bool month() noexcept { return name(kMonths); }
  bool day_name() noexcept { return name(kDays); }

  bool zone_name() noexcept {
    const std::string_view rest = text_.substr(at_);
    const std::size_t run = alnum_run(rest);
    if (std::ranges::find(kZones, rest.substr(0, run)) == kZones.end()) return false;
    at_ += run;
    return true;
  }

  // Goes back to `length` unless `taken`; for pieces that are taken whole or not at all.
  bool or_back(std::size_t length, bool taken) noexcept {
    if (!taken) at_ = length;
    return taken;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// 03:04:05, 03:04:05.678, 03.04.05.678 (Oracle)
bool clock_time(Reader& reader, std::string_view joint = ":") {
  const std::size_t start = reader.length();
  const bool taken = reader.digits(1, 2) && reader.one_of(joint) && reader.digits(2, 2) &&
                     reader.one_of(joint) && reader.digits(2, 2);
  if (!reader.or_back(start, taken)) return false;
  const std::size_t end = reader.length();
  return reader.or_back(end, reader.one_of(".,") && reader.digits(1, 9)) || true;
}

// "Z", "+01:00", " +0000", " UTC"; taken if there.
void zone(Reader& reader) {
  const std::size_t start = reader.length();
  if (reader.or_back(start, reader.one_of("Z") && reader.at_word_end())) return;
  (void)reader.one_of(" ");
  const std::size_t after_space = reader.length();
  const bool offset = reader.one_of("+-") && reader.digits(2, 2);
  if (offset) {
    const std::size_t hours = reader.length();
    reader.or_back(hours, reader.one_of(":") && reader.digits(2, 2));
    if (reader.at_word_end()) return;
  }
  reader.or_back(after_space, false);
  if (reader.one_of("+-") && reader.digits(4, 4) && reader.at_word_end()) return;
  reader.or_back(after_space, false);
  reader.or_back(start, reader.zone_name());
}

// 2024-01-02, 2024/01/02, 2024-01-02T03:04:05.678Z, 2024-01-02 03:04:05,678 +0100
bool iso(Reader& reader) {
  if (!reader.digits(4, 4) || !reader.one_of("-/") || !reader.digits(2, 2) ||
      !reader.one_of("-/") || !reader.digits(2, 2)) {
    return false;
  }
  const std::size_t date = reader.length();
  if (reader.or_back(date, reader.one_of("T _") && clock_time(reader))) {
    zone(reader);
  } else {
    const bool minutes = reader.one_of("T ") && reader.digits(2, 2) && reader.one_of(":") &&
                         reader.digits(2, 2) && reader.at_word_end();
    reader.or_back(date, minutes);
  }
  return true;
}

// 20240102T030405Z
bool compact_iso(Reader& reader) {
  if (!reader.digits(8, 8) || !reader.one_of("T") || !reader.digits(6, 6)) return false;
  (void)reader.one_of("Z");
  return true;
}

// 03:04:05
bool time_alone(Reader& reader) {
  if (!clock_time(reader)) return false;
  zone(reader);
  return true;
}

// 01/02/2024 with or without a time
bool slashed(Reader& reader) {
  if (!reader.digits(1, 2) || !reader.one_of("/.") || !reader.digits(1, 2) ||
      !reader.one_of("/.") || !reader.digits(4, 4)) {
    return false;
  }
  const std::size_t date = reader.length();
  reader.or_back(date, reader.one_of(" ") && clock_time(reader));
  return true;
}

// 02/Jan/2024:03:04:05 +0000 (web servers), 02-JAN-24 03.04.05.678 (Oracle)
bool day_first(Reader& reader) {
  if (!reader.digits(1, 2) || !reader.one_of("/-") || !reader.month() || !reader.one_of("/-") ||
      !reader.digits(2, 4)) {
    return false;
  }
  const std::size_t date = reader.length();
  if (reader.or_back(date, reader.one_of(": ") && clock_time(reader, ":."))) zone(reader);
  return true;
}

// 02 Jan 2024 03:04:05 GMT, after "Tue, " or without
bool rfc(Reader& reader) {
  const std::size_t start = reader.length();
  reader.or_back(start, reader.day_name() && reader.one_of(",") && reader.one_of(" "));
  if (!reader.digits(1, 2) || !reader.one_of(" -") || !reader.month() || !reader.one_of(" -") ||
      !reader.digits(2, 4) || !reader.one_of(" ") || !clock_time(reader)) {
    return false;
  }
  zone(reader);
  return true;
}

// Jan 2 03:04:05 (syslog), Tue Jan 2 03:04:05 2024, Tue Jan 2 03:04:05 UTC 2024 (asctime, date)
bool month_first(Reader& reader) {
  const std::size_t start = reader.length();
  reader.or_back(start, reader.day_name() && reader.one_of(" "));
  if (!reader.month() || !reader.one_of(" ") || !reader.digits(1, 2) || !reader.one_of(" ") ||
      !clock_time(reader)) {
    return false;
  }
  const std::size_t time = reader.length();
  reader.or_back(time, reader.one_of(" ") && reader.zone_name());
  const std::size_t named = reader.length();
  reader.or_back(named, reader.one_of(" ") && reader.digits(4, 4) && reader.at_word_end());
  return true;
}

}  // namespace

std::size_t timestamp(std::string_view text) noexcept {
  using Form = bool (*)(Reader&);
  constexpr std::array<Form, 6> kFromDigit{iso, compact_iso, day_first, rfc, slashed, time_alone};
  constexpr std::array<Form, 2> kFromName{rfc, month_first};
  const auto first_match = [text](std::span<const Form> forms) -> std::size_t {
    for (const Form form : forms) {
      Reader reader(text);
      if (form(reader) && reader.at_word_end()) return reader.length();
    }
    return 0;
  };
  if (text.empty()) return 0;
  if (is_digit(text.front())) return first_match(kFromDigit);
  return alnum_run(text.substr(0, 4)) == 3 ? first_match(kFromName) : 0;  // "Jan", "Tue"
}

}  // namespace holdfast::shapes
