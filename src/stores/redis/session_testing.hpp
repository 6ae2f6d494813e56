#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "stores/redis/session.hpp"

namespace holdfast::stores::redis {

inline SessionOptions options_for(const std::string& url) {
  return {.address = parse_address(url).value()};
}

inline Pipeline commands(std::initializer_list<std::vector<std::string_view>> all) {
  Pipeline pipeline;
  for (const auto& words : all)
    pipeline.add(words);
  return pipeline;
}

// The answer's text, or "! " and the error's.
inline std::string text_of(const Result<OwnedReply>& answer) {
  return answer ? std::string(answer->view().text()) : "! " + answer.error().text();
}

inline std::vector<std::string> texts_of(const std::vector<Result<OwnedReply>>& answers) {
  std::vector<std::string> texts;
  for (const auto& answer : answers)
    texts.push_back(text_of(answer));
  return texts;
}

}  // namespace holdfast::stores::redis
