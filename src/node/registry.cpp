#include "node/registry.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace holdfast::node {
namespace {

// An embedded file has one owner, and that is the process: what is open in it is found here. On a
// store that many share, one process has one node as well, for whoever may go there.
class Registry {
 public:
  Result<std::shared_ptr<Node>> open(const Place& place, Logger log) {
    const std::string key = place.identity();
    {
      std::unique_lock lock(mutex_);
      for (auto found = open_.find(key); found != open_.end(); found = open_.find(key)) {
        if (auto node = found->second.lock()) return node;
        changed_.wait(lock);  // it is being opened, or closed
      }
      open_.emplace(key, std::weak_ptr<Node>());
    }
    auto opened = open_store(place, log);
    if (!opened) {
      forget(key);
      return std::unexpected(std::move(opened).error());
    }
    // The entry goes when the node is really closed, so that its file can be opened again.
    auto entry = std::make_unique<Entry>(*this, key, std::move(*opened), log);
    Node* node = &entry->node;
    std::shared_ptr<Node> shared(std::shared_ptr<Entry>(std::move(entry)), node);
    {
      const std::lock_guard lock(mutex_);
      open_[key] = shared;
    }
    changed_.notify_all();
    return shared;
  }

 private:
  struct Forget {
    Registry& registry;
    std::string key;
    ~Forget() { registry.forget(key); }
  };
  struct Entry {
    Entry(Registry& registry, std::string key, Opened opened, Logger log)
        : forget{registry, std::move(key)}, node(std::move(opened), log) {}
    Forget forget;  // destroyed after the node
    Node node;
  };

  void forget(const std::string& key) {
    {
      const std::lock_guard lock(mutex_);
      open_.erase(key);
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::weak_ptr<Node>> open_;
};

}  // namespace

Result<std::shared_ptr<Node>> open(std::string_view url, Logger log) {
  // Never destroyed: a client of static duration may be closed after it would be.
  static auto& registry = *std::make_unique<Registry>().release();
  auto place = parse_place(url);
  if (!place) return std::unexpected(std::move(place).error());
  return registry.open(*place, log);
}

}  // namespace holdfast::node
