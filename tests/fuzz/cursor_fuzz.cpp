// Any bytes as the cursor of a list: refused, or a place from which every task comes once at most,
// and an end comes. The first byte says which list.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include <stdlib.h>

#include "stores/memory/memory_store.hpp"
#include "stores/sqlite/cursor.hpp"
#include "stores/sqlite/open.hpp"

namespace {

using namespace holdfast;

constexpr int kTasks = 12;

void expect(bool holds) {
  if (!holds) std::abort();
}

// Some tasks of two queues; some of them run.
void fill(ports::Store& store) {
  const WallTime now(std::chrono::hours(500'000));
  for (int i = 1; i <= kTasks; ++i) {
    Uuid::Bytes id{};
    id.back() = static_cast<std::uint8_t>(i);
    ports::NewTask task{.id = TaskId(Uuid(id)),
                        .type = "t",
                        .queue = i % 3 == 0 ? "a" : "b",
                        .priority = i % 2,
                        .created = now,
                        .due = now};
    expect(ports::ask(store, ports::Submit{{std::move(task)}}).value().at(0).has_value());
  }
  expect(ports::ask(store, ports::Claim{.queue = "b", .max = 4, .owner = "o", .now = now})
             .value()
             .tasks.size() == 4);
}

struct Stores {
  Stores() {
    std::string folder = (std::filesystem::temp_directory_path() / "holdfast-fuzz-XXXXXX").string();
    expect(mkdtemp(folder.data()) != nullptr);
    file = stores::sqlite::open({.path = folder + "/tasks.db", .synchronous = "off"}).value();
    fill(*file.writer);
    fill(memory);
    std::filesystem::remove_all(folder);  // what is open needs no name
  }

  ports::OpenStore file;
  stores::MemoryStore memory;
};

void follow(ports::Store& store, ports::List list) {
  std::set<TaskId> seen;
  for (int pages = 0;; ++pages) {
    expect(pages <= kTasks + 2);
    const auto page = ports::ask(store, list);
    if (!page) {
      expect(pages == 0 && page.error().code == ErrorCode::invalid_argument);
      return;
    }
    expect(page->tasks.size() <= list.limit);
    for (const ports::TaskRecord& record : page->tasks)
      expect(seen.insert(record.id).second);
    if (page->next.empty()) return;
    list.cursor = page->next;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Stores stores;
  if (size == 0) return 0;
  const std::string cursor(reinterpret_cast<const char*>(data) + 1, size - 1);
  ports::List list{.filter = {}, .cursor = cursor, .limit = 1U + (data[0] >> 6U)};
  if (const int state = data[0] % 8; state < 7) list.filter.state = static_cast<core::State>(state);
  if (data[0] % 16 >= 8) list.filter.group = Fingerprint(1);
  if (data[0] % 32 >= 16) list.filter.queue = "b";
  follow(*stores.file.reader, list);
  follow(stores.memory, list);
  if (const auto parsed = stores::sqlite::Cursor::parse(cursor, cursor.empty() ? 'a' : cursor[0])) {
    const auto again = stores::sqlite::Cursor::parse(parsed->text(), parsed->listing);
    expect(again && again->at == parsed->at);
  }
  return 0;
}
