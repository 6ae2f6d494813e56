#pragma once

#include <string>
#include <string_view>

#include <holdfast/classify.hpp>

namespace holdfast::cli {

// A classification for people: the verdict and the text on one line, below it the rule and its
// reason. No line is wider than 80 columns; what is too long ends in "…".
void append_for_people(std::string& out, std::string_view text, const Explanation& explanation,
                       bool colour);

// The same as one line of JSON. Of a text over 4 KiB, the first 4 KiB; `text_bytes` has its size.
void append_json(std::string& out, std::string_view text, const Explanation& explanation);

}  // namespace holdfast::cli
