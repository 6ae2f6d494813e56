#include <filesystem>
#include <stdexcept>
#include <system_error>

#include <stdlib.h>

#include "conformance/carried_conformance.hpp"
#include "stores/sqlite/open.hpp"

namespace holdfast::conformance {
namespace {

// A folder of its own, gone with the last place in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder: " + name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

StoreKind sqlite_kind() {
  return {.name = "Sqlite", .new_place = [] {
            return [folder = std::make_shared<TemporaryFolder>()] {
              return stores::sqlite::open({.path = (folder->path() / "holdfast.db").string()});
            };
          }};
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreConformance, testing::Values(sqlite_kind()), name_of_kind);
INSTANTIATE_TEST_SUITE_P(Stores, CarriedConformance, testing::Values(sqlite_kind()), name_of_kind);

}  // namespace
}  // namespace holdfast::conformance
