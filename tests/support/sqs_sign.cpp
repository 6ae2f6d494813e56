// Says how requests to SQS are signed, for sqs_signature_test.py to compare. A line for each:
//   endpoint TAB region TAB access key TAB secret key TAB session token TAB seconds since 1970 TAB
//   operation TAB body in hexadecimal
// and back: URL TAB the headers, name and value in turn, with TABs between.
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "brokers/sqs/api.hpp"

namespace {

std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < digits.size(); at += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(at, 2), nullptr, 16));
  return bytes;
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::vector<std::string> fields;
    std::istringstream parts(line);
    for (std::string field; std::getline(parts, field, '\t');)
      fields.push_back(field);
    if (fields.size() != 8) return 2;
    const holdfast::WallTime now{std::chrono::seconds(std::stoll(fields[5]))};
    const auto request = holdfast::brokers::sqs::signed_request(
        fields[0], fields[1],
        {.operation = fields[6], .body = from_hex(fields[7]), .timeout = std::chrono::seconds(1)},
        {fields[2], fields[3], fields[4]}, now);
    std::cout << request.url;
    for (const auto& header : request.headers)
      std::cout << '\t' << header.name << '\t' << header.value;
    std::cout << '\n';
  }
}
