// Any bytes as the query of a list of tasks: a page, or a problem that names what is wrong.
#include <cstdint>

#include "api_box.hpp"
#include "wire/task_json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using holdfast::fuzz::expect;
  const std::string query(reinterpret_cast<const char*>(data), size);
  for (const char* path : {"/v1/tasks?", "/v1/dead?"}) {
    const auto answer = holdfast::fuzz::api_box().ask(
        {.method = "GET", .target = path + query, .headers = {{"host", "localhost"}}}, "");
    if (answer.status == 200) {
      expect(holdfast::wire::read_page(answer.body).has_value());
    } else {
      expect(answer.status == 400);
    }
  }
  return 0;
}
