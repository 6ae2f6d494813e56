// Says how requests for objects are signed, for s3_signature_test.py to compare. A line for each:
//   endpoint TAB region TAB path|host TAB access key TAB secret key TAB session token TAB
//   seconds since 1970 TAB bucket TAB key in hexadecimal
// and back: URL TAB the headers, name and value in turn, with TABs between.
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "inputs/s3.hpp"

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
    if (fields.size() != 9) return 2;
    const holdfast::inputs::S3Server server{.endpoint = fields[0],
                                            .region = fields[1],
                                            .path_style = fields[2] == "path",
                                            .credentials = {fields[3], fields[4], fields[5]}};
    const holdfast::WallTime now{std::chrono::seconds(std::stoll(fields[6]))};
    const auto request =
        holdfast::inputs::get_request(server, {fields[7], from_hex(fields[8])}, now);
    std::cout << request.url;
    for (const auto& header : request.headers)
      std::cout << '\t' << header.name << '\t' << header.value;
    std::cout << '\n';
  }
}
