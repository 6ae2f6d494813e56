// Log lines: whatever bytes a record holds, it is one line of valid UTF-8, and the JSON form is one
// object that keeps every field apart.
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/src.hpp>

#include "core/json_text.hpp"
#include "core/log_format.hpp"

namespace {

void expect(bool holds) {
  if (!holds) std::abort();
}

// The input cut at its 0x01 bytes: event, message, then names and values in turn.
std::vector<std::string_view> pieces_of(std::string_view text) {
  std::vector<std::string_view> pieces;
  while (true) {
    const auto end = text.find('\x01');
    pieces.push_back(text.substr(0, end));
    if (end == text.npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

// Some fields are other things than text, chosen by what the text is.
holdfast::Field field_of(std::string_view name, std::string_view value) {
  if (value.size() != sizeof(double)) return {name, value};
  std::int64_t bits = 0;
  std::memcpy(&bits, value.data(), sizeof bits);
  switch (name.size() % 4) {
    case 0: return {name, bits};
    case 1: return {name, holdfast::Duration(bits)};
    case 2: return {name, std::bit_cast<double>(bits)};
    default: return {name, value};
  }
}

void expect_one_line(std::string_view line) {
  expect(line.ends_with('\n'));
  expect(holdfast::is_visible(line.substr(0, line.size() - 1)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto pieces = pieces_of({reinterpret_cast<const char*>(data), size});
  std::vector<holdfast::Field> fields;
  for (std::size_t i = 2; i + 1 < pieces.size(); i += 2) {
    fields.push_back(field_of(pieces[i], pieces[i + 1]));
  }
  fields.push_back(holdfast::Field::secret("password", "hunter2"));
  const std::string_view message = pieces.size() > 1 ? pieces[1] : std::string_view();
  const holdfast::LogRecord record{{}, holdfast::Level::warning, pieces[0], message, fields};

  std::string json;
  holdfast::append_json_line(json, record);
  expect_one_line(json);
  const boost::json::value parsed = boost::json::parse(json);
  expect(parsed.as_object().size() == 4 + fields.size());

  std::string console;
  holdfast::append_console_line(console, record, false);
  expect_one_line(console);
  return 0;
}
