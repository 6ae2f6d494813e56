#include "io/witness_file.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "io/os_error.hpp"
#include "io/unique_fd.hpp"

namespace holdfast::io {
namespace {

constexpr std::uint64_t kMagic = 0x31'74'69'57'64'6c'6f'48;  // "HoldWit1", read as bytes
constexpr std::uint32_t kVersion = 1;
constexpr const char* kOpenWitnessOperation = "open witness";

// The file: a header, then the places. All of it is memory of this machine, so in its byte order.
struct Header {
  std::uint64_t magic;  // written last when the file is made
  std::uint32_t version;
  std::uint32_t places;
  std::array<char, 36> boot_id;
  std::uint32_t unknown;   // 1: a life before could not tell, and what it left is not settled yet
  std::uint64_t unplaced;  // attempts under way that found no place
};
static_assert(sizeof(Header) == 64);

enum class State : std::uint64_t {
  free = 0,
  under_way = 0x79'61'77'5f'72'65'64'6e,
  of_last_life = 0x65'66'69'6c'5f'74'73'61,
};

struct Entry {
  Uuid::Bytes id;
  std::uint64_t token;
  State state;  // written last: an entry is whole, or free
};
static_assert(sizeof(Entry) == 32 && std::atomic_ref<State>::is_always_lock_free);

// The places that are free: a stack that any thread may use without a lock.
class FreePlaces {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  explicit FreePlaces(std::size_t places) : below_(places) {}

  void push(std::uint32_t place) noexcept {
    std::uint64_t top = top_.load(std::memory_order_relaxed);
    do {
      below_[place].store(place_of(top), std::memory_order_relaxed);
    } while (!top_.compare_exchange_weak(top, next(top, place), std::memory_order_release,
                                         std::memory_order_relaxed));
  }

  [[nodiscard]] std::uint32_t pop() noexcept {
    std::uint64_t top = top_.load(std::memory_order_acquire);
    while (place_of(top) != kNone) {
      const std::uint32_t below = below_[place_of(top)].load(std::memory_order_relaxed);
      if (top_.compare_exchange_weak(top, next(top, below), std::memory_order_acquire)) break;
    }
    return place_of(top);
  }

 private:
  // The upper half counts changes, so that a place that was taken and is back is not mistaken for
  // one that never left.
  static std::uint32_t place_of(std::uint64_t top) noexcept {
    return static_cast<std::uint32_t>(top);
  }
  static std::uint64_t next(std::uint64_t top, std::uint32_t place) noexcept {
    return (((top >> 32) + 1) << 32) | place;
  }

  std::atomic<std::uint64_t> top_ = kNone;
  std::vector<std::atomic<std::uint32_t>> below_;
};

std::size_t size_for(std::size_t places) {
  return sizeof(Header) + places * sizeof(Entry);
}

// Empty if the machine does not say.
std::string boot_id_of_machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

class Mapping {
 public:
  Mapping() = default;
  Mapping(void* start, std::size_t bytes) : start_(start), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)), bytes_(other.bytes_) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(start_, other.start_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping() {
    if (start_) ::munmap(start_, bytes_);
  }

  [[nodiscard]] Header& header() const { return *static_cast<Header*>(start_); }
  [[nodiscard]] std::span<Entry> entries() const {
    void* first = static_cast<std::byte*>(start_) + sizeof(Header);
    return {static_cast<Entry*>(first), (bytes_ - sizeof(Header)) / sizeof(Entry)};
  }

 private:
  void* start_ = nullptr;
  std::size_t bytes_ = 0;
};

// Held by the process, not by the descriptor: a child that we start does not keep it when we die.
Result<void> lock(int fd, const std::string& path) {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(fd, F_SETLK, &whole) == 0) return {};
  if (errno != EACCES && errno != EAGAIN) return fail_os(kOpenWitnessOperation, path, errno);
  const bool known = ::fcntl(fd, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
  return fail(ErrorCode::conflict, kOpenWitnessOperation,
              known ? fmt::format("{}: in use by process {}", path, whole.l_pid)
                    : fmt::format("{}: in use by another process", path));
}

}  // namespace

struct WitnessFile::Parts {
  UniqueFd file;  // keeps the lock
  Mapping map;
  FreePlaces free;
  std::optional<std::vector<ports::Held>> last_life;

  explicit Parts(std::size_t places) : free(places) {}

  // Whether the file is one that a process of ours has left on this boot of the machine.
  [[nodiscard]] bool is_ours(const std::string& boot_id) const {
    const Header& header = map.header();
    return header.magic == kMagic && header.version == kVersion &&
           header.places == map.entries().size() && !boot_id.empty() &&
           std::string_view(header.boot_id.data(), header.boot_id.size()) == boot_id;
  }

  [[nodiscard]] std::optional<std::vector<ports::Held>> read() const {
    if (map.header().unknown != 0 || map.header().unplaced != 0) return std::nullopt;
    std::vector<ports::Held> held;
    for (const Entry& entry : map.entries()) {
      if (entry.state == State::free) continue;
      if (entry.state != State::under_way && entry.state != State::of_last_life)
        return std::nullopt;
      held.push_back({TaskId(Uuid(entry.id)), core::Token{entry.token}});
    }
    return held;
  }

  // The file as one life hands it to the next. What was under way stays in its place until it is
  // settled. Whenever this is cut short, the file says at least what it said before.
  void begin_life(const std::string& boot_id) {
    Header& header = map.header();
    if (last_life) {
      for (Entry& entry : map.entries())
        if (entry.state == State::under_way) entry.state = State::of_last_life;
      return;
    }
    header.magic = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::memset(map.entries().data(), 0, map.entries().size_bytes());
    make(boot_id, 1);
  }

  void make(const std::string& boot_id, std::uint32_t unknown) {
    Header& header = map.header();
    header.version = kVersion;
    header.places = static_cast<std::uint32_t>(map.entries().size());
    header.boot_id.fill(0);
    boot_id.copy(header.boot_id.data(), header.boot_id.size());
    header.unknown = unknown;
    header.unplaced = 0;
    std::atomic_ref(header.magic).store(kMagic, std::memory_order_release);
  }

  void offer_free_places() {
    const auto entries = map.entries();
    for (std::size_t place = entries.size(); place-- > 0;)
      if (entries[place].state == State::free) free.push(static_cast<std::uint32_t>(place));
  }
};

WitnessFile::WitnessFile(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
WitnessFile::~WitnessFile() = default;

Result<std::unique_ptr<WitnessFile>> WitnessFile::open(Options options) {
  const std::string& path = options.path;
  if (options.places == 0 || options.places >= FreePlaces::kNone) {
    return fail(ErrorCode::invalid_argument, kOpenWitnessOperation,
                fmt::format("{}: {} places; at least 1, below 2^32", path, options.places));
  }
  auto parts = std::make_unique<Parts>(options.places);
  parts->file.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  const int fd = parts->file.get();
  if (fd < 0) return fail_os(kOpenWitnessOperation, path, errno);
  if (auto locked = lock(fd, path); !locked) return std::unexpected(locked.error());

  struct stat found{};
  if (::fstat(fd, &found) != 0) return fail_os(kOpenWitnessOperation, path, errno);
  const std::size_t bytes = size_for(options.places);
  const bool empty = found.st_size == 0;
  const bool sized = static_cast<std::size_t>(found.st_size) == bytes;
  if (!sized && ::ftruncate(fd, 0) != 0) return fail_os(kOpenWitnessOperation, path, errno);
  // With its room on the disk: a full one would otherwise kill us at some begin().
  if (const int error = ::posix_fallocate(fd, 0, static_cast<off_t>(bytes)); error != 0)
    return fail_os(kOpenWitnessOperation, path, error);
  // NOLINTNEXTLINE(clang-analyzer-unix.StdCLibraryFunctions): the sum of sizes cannot be zero.
  void* start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (start == MAP_FAILED) return fail_os(kOpenWitnessOperation, path, errno);
  parts->map = Mapping(start, bytes);

  const std::string boot_id = options.boot_id.empty() ? boot_id_of_machine() : options.boot_id;
  if (empty && options.store_is_new) {
    parts->make(boot_id, 0);
    parts->last_life.emplace();
  } else {
    if (parts->is_ours(boot_id)) parts->last_life = parts->read();
    parts->begin_life(boot_id);
  }
  parts->offer_free_places();
  return std::make_unique<WitnessFile>(std::move(parts));
}

ports::Witness::Place WitnessFile::begin(const ports::Held& claim) noexcept {
  const std::uint32_t place = parts_->free.pop();
  if (place == FreePlaces::kNone) {
    std::atomic_ref(parts_->map.header().unplaced).fetch_add(1);
    return kNoPlace;
  }
  Entry& entry = parts_->map.entries()[place];
  entry.id = claim.id.uuid().bytes();
  entry.token = claim.token.value;
  std::atomic_ref(entry.state).store(State::under_way, std::memory_order_release);
  return place;
}

void WitnessFile::end(Place place, const ports::Held& claim) noexcept {
  if (place == kNoPlace) {
    std::atomic_ref(parts_->map.header().unplaced).fetch_sub(1);
    return;
  }
  const auto entries = parts_->map.entries();
  if (place >= entries.size()) return;
  // Twice ended is once ended. The place is another's by then if the store was closed and opened
  // again in this process while a handler that hangs was left behind.
  const Entry& entry = entries[place];
  if (entry.id != claim.id.uuid().bytes() || entry.token != claim.token.value) return;
  State state = State::under_way;
  if (std::atomic_ref(entries[place].state).compare_exchange_strong(state, State::free))
    parts_->free.push(static_cast<std::uint32_t>(place));
}

const std::optional<std::vector<ports::Held>>& WitnessFile::last_life() const noexcept {
  return parts_->last_life;
}

void WitnessFile::forget_last_life() noexcept {
  std::atomic_ref(parts_->map.header().unknown).store(0, std::memory_order_release);
  const auto entries = parts_->map.entries();
  for (std::size_t place = 0; place < entries.size(); ++place) {
    State state = State::of_last_life;
    if (std::atomic_ref(entries[place].state).compare_exchange_strong(state, State::free))
      parts_->free.push(static_cast<std::uint32_t>(place));
  }
}

}  // namespace holdfast::io
