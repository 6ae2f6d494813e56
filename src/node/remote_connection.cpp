#include "node/remote_connection.hpp"

#include <future>
#include <utility>

#include "io/lane.hpp"

namespace holdfast::node {

Result<std::shared_ptr<RemoteConnection>> RemoteConnection::start(
    const io::HttpClientOptions& options) {
  auto made = std::make_shared<RemoteConnection>();
  auto client = io::HttpClient::start(made->loop_, options);
  if (!client) return std::unexpected(std::move(client).error());
  made->client_.emplace(*std::move(client));
  made->thread_ = std::thread([&loop = made->loop_] {
    io::name_this_thread("hf-client");
    loop.run();
  });
  return made;
}

RemoteConnection::~RemoteConnection() {
  client_.reset();
  loop_.stop();
  if (thread_.joinable()) thread_.join();
}

io::HttpResult RemoteConnection::ask(io::HttpRequest request) {
  std::promise<io::HttpResult> promise;
  auto answer = promise.get_future();
  const io::HttpCall call = client_->send(
      std::move(request), [promise = std::move(promise)](io::HttpResult result) mutable {
        promise.set_value(std::move(result));
      });
  {
    const std::lock_guard lock(mutex_);
    latest_ = call;
    if (is_closed_) call.cancel();
  }
  return answer.get();
}

void RemoteConnection::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  latest_.cancel();
}

}  // namespace holdfast::node
