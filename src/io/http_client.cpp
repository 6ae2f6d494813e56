#include "io/http_client.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <span>
#include <thread>
#include <unordered_map>

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "io/curl.hpp"
#include "io/http_transfer.hpp"
#include "io/lane.hpp"
#include "io/look_up_turns.hpp"
#include "io/os_error.hpp"
#include "io/trimmed.hpp"
#include "io/unique_fd.hpp"

namespace holdfast::io {
namespace {

constexpr int kMostLookUps = 4;  // at once, of one origin
constexpr std::size_t kKeptTransfers = 256;
constexpr Duration kLookAtWaiting = std::chrono::milliseconds(100);

SteadyTime steady_now() noexcept {
  return std::chrono::steady_clock::now();
}

bool is_same_letter(char a, char b) noexcept {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

HttpError canceled() {
  return {.fault = HttpFault::canceled, .message = "canceled"};
}

}  // namespace

std::optional<std::string_view> HttpResponse::header(std::string_view name) const noexcept {
  std::string_view rest = head;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end);
    if (line.size() <= name.size() || line[name.size()] != ':') continue;
    if (std::ranges::equal(line.substr(0, name.size()), name, is_same_letter))
      return trimmed(line.substr(name.size() + 1));
  }
  return std::nullopt;
}

std::string_view to_string(HttpFault fault) noexcept {
  switch (fault) {
    case HttpFault::bad_request: return "bad request";
    case HttpFault::resolve: return "resolve";
    case HttpFault::connect: return "connect";
    case HttpFault::refused_address: return "refused address";
    case HttpFault::tls: return "TLS";
    case HttpFault::timeout: return "timeout";
    case HttpFault::cut_off: return "cut off";
    case HttpFault::too_large: return "too large";
    case HttpFault::no_http: return "no HTTP";
    case HttpFault::canceled: return "canceled";
    case HttpFault::local: return "local";
  }
  return "unknown";
}

// How the thread is told what to do. Threads: any.
struct HttpCall::Inbox {
  struct Order {
    std::uint64_t id = 0;
    HttpRequest request;
    HttpClient::Done done;
  };
  struct Orders {
    std::vector<Order> sent;
    std::vector<std::uint64_t> canceled;
    bool closing = false;
  };

  std::uint64_t send(HttpRequest request, HttpClient::Done done) {
    const std::uint64_t id = next_id++;
    put([&](Orders& orders) { orders.sent.push_back({id, std::move(request), std::move(done)}); });
    return id;
  }

  void cancel(std::uint64_t id) {
    put([&](Orders& orders) { orders.canceled.push_back(id); });
  }

  void close() {
    put([](Orders& orders) { orders.closing = true; });
  }

  // All that was put since. What is put later wakes the thread again.
  [[nodiscard]] Orders take() {
    // Before the lock: who puts something in between does not wake us, and is seen below.
    std::uint64_t ignored = 0;
    static_cast<void>(::read(wake.get(), &ignored, sizeof ignored));
    const std::lock_guard lock(mutex);
    is_woken = false;
    return std::exchange(orders, {});
  }

  UniqueFd wake;

 private:
  void put(const auto& change) {
    const std::lock_guard lock(mutex);
    change(orders);
    if (std::exchange(is_woken, true)) return;
    const std::uint64_t one = 1;
    static_cast<void>(::write(wake.get(), &one, sizeof one));
  }

  std::atomic<std::uint64_t> next_id = 1;
  std::mutex mutex;
  Orders orders;
  bool is_woken = false;
};

void HttpCall::cancel() const {
  if (const auto inbox = inbox_.lock()) inbox->cancel(id_);
}

// The thread, and all that belongs to it alone.
class HttpClient::Worker {
 public:
  Worker(ports::Loop& loop, HttpClientOptions options, std::shared_ptr<HttpCall::Inbox> inbox,
         UniqueFd epoll)
      : loop_(loop),
        options_(std::move(options)),
        inbox_(std::move(inbox)),
        epoll_(std::move(epoll)) {
    watch(EPOLL_CTL_ADD, inbox_->wake.get(), EPOLLIN);
    thread_ = std::thread([this] { run(); });
  }

  ~Worker() {
    inbox_->close();
    thread_.join();
  }

  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

 private:
  struct CleanUp {
    void operator()(CURLM* multi) const noexcept { curl().multi_cleanup(multi); }
  };
  struct Ended {
    Done done;
    HttpResult result;
  };

  void run();
  [[nodiscard]] Result<void> open_curl();
  bool step();
  [[nodiscard]] int wait_ms(SteadyTime now) const noexcept;
  void drive(int fd, std::uint32_t events);
  [[nodiscard]] bool carry_out(HttpCall::Inbox::Orders orders);
  void begin(HttpCall::Inbox::Order order);
  [[nodiscard]] std::unique_ptr<HttpTransfer> spare_transfer();
  void hand_to_curl(HttpTransfer& transfer, SteadyTime now);
  void cancel(std::uint64_t id);
  void gather();
  void end_turn(HttpTransfer& transfer);
  void end(HttpTransfer& transfer, HttpResult result);
  void hand_over();

  void watch(int operation, int fd, std::uint32_t events) const noexcept {
    epoll_event event{.events = events, .data = {.fd = fd}};
    ::epoll_ctl(epoll_.get(), operation, fd, &event);
  }
  static int on_socket(CURL* handle, curl_socket_t fd, int what, void* self, void* is_known);
  static int on_timer(CURLM* multi, long wait_ms, void* self);

  ports::Loop& loop_;
  const HttpClientOptions options_;
  const std::shared_ptr<HttpCall::Inbox> inbox_;
  const UniqueFd epoll_;
  std::unique_ptr<CURLM, CleanUp> multi_;  // none before the first request
  SteadyTime timer_ = SteadyTime::max();   // when libcurl wants to be called

  std::vector<HttpTransfer*> settled_;
  LookUpTurns<HttpTransfer> turns_{kMostLookUps};
  std::vector<HttpTransfer*> ready_;                                            // it is their turn
  std::unordered_map<std::uint64_t, std::unique_ptr<HttpTransfer>> transfers_;  // by id
  std::vector<std::unique_ptr<HttpTransfer>> spare_;
  std::vector<Ended> ended_;

  std::thread thread_;  // last: it uses all of the above
};

void HttpClient::Worker::run() {
  name_this_thread("hf-http-out");
  // Signals are for other threads; a broken connection is an error to us.
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  while (step()) {
  }
  for (auto& [id, transfer] : transfers_) {
    if (transfer->is_running) curl().multi_remove_handle(multi_.get(), transfer->handle());
    ended_.push_back({transfer->take_done(), std::unexpected(canceled())});
  }
  hand_over();
}

// A client that has nothing to send does without libcurl.
Result<void> HttpClient::Worker::open_curl() {
  if (multi_) return {};
  if (auto loaded = load_curl(); !loaded) return loaded;
  multi_.reset(curl().multi_init());
  if (!multi_) throw std::bad_alloc();
  curl().multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, &Worker::on_socket);
  curl().multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this);
  curl().multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, &Worker::on_timer);
  curl().multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this);
  curl().multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS,
                      static_cast<long>(options_.most_idle_connections));
  curl().multi_setopt(multi_.get(), CURLMOPT_MAX_TOTAL_CONNECTIONS,
                      static_cast<long>(options_.most_connections));
  return {};
}

// Waits for something to happen, and does what follows from it. False: it is to end.
bool HttpClient::Worker::step() {
  std::array<epoll_event, 256> events{};
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 wait_ms(steady_now()));
  bool has_orders = false;
  for (int at = 0; at < count; ++at) {
    const epoll_event& event = events[static_cast<std::size_t>(at)];
    if (event.data.fd == inbox_->wake.get()) {
      has_orders = true;
    } else {
      drive(event.data.fd, event.events);
    }
  }
  if (timer_ <= steady_now()) {
    timer_ = SteadyTime::max();
    int running = 0;
    curl().multi_socket_action(multi_.get(), CURL_SOCKET_TIMEOUT, 0, &running);
  }
  const bool goes_on = !has_orders || carry_out(inbox_->take());
  gather();
  hand_over();
  return goes_on;
}

int HttpClient::Worker::wait_ms(SteadyTime now) const noexcept {
  SteadyTime until = timer_;
  if (turns_.waiting() > 0) until = std::min(until, now + kLookAtWaiting);
  if (until == SteadyTime::max()) return -1;
  if (until <= now) return 0;
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(until - now).count();
  return static_cast<int>(std::min<std::int64_t>(wait, 60'000));
}

void HttpClient::Worker::drive(int fd, std::uint32_t events) {
  int what = 0;
  if (events & EPOLLIN) what |= CURL_CSELECT_IN;
  if (events & EPOLLOUT) what |= CURL_CSELECT_OUT;
  if (events & (EPOLLERR | EPOLLHUP)) what |= CURL_CSELECT_ERR;
  int running = 0;
  curl().multi_socket_action(multi_.get(), fd, what, &running);
}

bool HttpClient::Worker::carry_out(HttpCall::Inbox::Orders orders) {
  for (HttpCall::Inbox::Order& order : orders.sent)
    begin(std::move(order));
  for (const std::uint64_t id : orders.canceled)
    cancel(id);
  return !orders.closing;
}

std::unique_ptr<HttpTransfer> HttpClient::Worker::spare_transfer() {
  if (spare_.empty()) return std::make_unique<HttpTransfer>(options_, settled_);
  auto transfer = std::move(spare_.back());
  spare_.pop_back();
  return transfer;
}

void HttpClient::Worker::begin(HttpCall::Inbox::Order order) {
  if (auto opened = open_curl(); !opened) {
    ended_.push_back({std::move(order.done),
                      std::unexpected(HttpError{.message = std::move(opened).error().text()})});
    return;
  }
  auto transfer = spare_transfer();
  transfer->take(order.id, std::move(order.request), std::move(order.done), steady_now());
  HttpTransfer& taken = *transfer;
  transfers_.emplace(order.id, std::move(transfer));
  if (turns_.take(taken.origin(), &taken)) ready_.push_back(&taken);
}

void HttpClient::Worker::hand_to_curl(HttpTransfer& transfer, SteadyTime now) {
  transfer.has_turn = true;
  if (auto error = transfer.prepare(now)) {
    end(transfer, std::unexpected(*std::move(error)));
    return;
  }
  if (curl().multi_add_handle(multi_.get(), transfer.handle()) != CURLM_OK) {
    end(transfer, std::unexpected(HttpError{.message = "libcurl does not take the request"}));
    return;
  }
  transfer.is_running = true;
}

void HttpClient::Worker::cancel(std::uint64_t id) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) return;  // it has ended
  HttpTransfer& transfer = *found->second;
  if (std::erase(ready_, &transfer) > 0) transfer.has_turn = true;
  // Who has no turn may still wait for one.
  if (!transfer.is_running && !transfer.has_turn)
    static_cast<void>(turns_.leave_if([&](const HttpTransfer& one) { return &one == &transfer; }));
  end(transfer, std::unexpected(canceled()));
}

// Looks at what libcurl has done, and lets those begin whose turn it is then.
void HttpClient::Worker::gather() {
  if (!multi_) return;
  for (HttpTransfer* const transfer : std::exchange(settled_, {}))
    end_turn(*transfer);
  int left = 0;
  while (const CURLMsg* message = curl().multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    HttpTransfer* transfer = nullptr;
    curl().easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    end(*transfer, transfer->result(message->data.result));
  }
  const SteadyTime now = steady_now();
  for (HttpTransfer* const late :
       turns_.leave_if([&](const HttpTransfer& one) { return one.deadline() <= now; }))
    end(*late, std::unexpected(*late->prepare(now)));  // it says that it is too late
  while (!ready_.empty()) {
    for (HttpTransfer* const transfer : std::exchange(ready_, {}))
      hand_to_curl(*transfer, now);
  }
}

void HttpClient::Worker::end_turn(HttpTransfer& transfer) {
  if (!std::exchange(transfer.has_turn, false)) return;
  if (HttpTransfer* const next = turns_.give_back(transfer.origin())) ready_.push_back(next);
}

void HttpClient::Worker::end(HttpTransfer& transfer, HttpResult result) {
  if (transfer.is_running) curl().multi_remove_handle(multi_.get(), transfer.handle());
  std::erase(settled_, &transfer);
  end_turn(transfer);
  ended_.push_back({transfer.take_done(), std::move(result)});
  auto node = transfers_.extract(transfer.id());
  if (spare_.size() >= kKeptTransfers) return;
  transfer.forget();
  spare_.push_back(std::move(node.mapped()));
}

// All that ended together is one piece of work for the loop.
void HttpClient::Worker::hand_over() {
  if (ended_.empty()) return;
  loop_.post([ended = std::make_unique<std::vector<Ended>>(std::exchange(ended_, {}))] {
    for (Ended& one : *ended)
      one.done(std::move(one.result));
  });
}

int HttpClient::Worker::on_socket(CURL*, curl_socket_t fd, int what, void* self, void* is_known) {
  auto& worker = *static_cast<Worker*>(self);
  if (what == CURL_POLL_REMOVE) {
    worker.watch(EPOLL_CTL_DEL, fd, 0);
    return 0;
  }
  std::uint32_t events = 0;
  if (what & CURL_POLL_IN) events |= EPOLLIN;
  if (what & CURL_POLL_OUT) events |= EPOLLOUT;
  worker.watch(is_known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, events);
  if (!is_known) curl().multi_assign(worker.multi_.get(), fd, self);
  return 0;
}

int HttpClient::Worker::on_timer(CURLM*, long wait_ms, void* self) {
  auto& worker = *static_cast<Worker*>(self);
  worker.timer_ =
      wait_ms < 0 ? SteadyTime::max() : steady_now() + std::chrono::milliseconds(wait_ms);
  return 0;
}

Result<HttpClient> HttpClient::start(ports::Loop& loop, HttpClientOptions options) {
  // libcurl would say so only with the first request.
  if (!options.ca_file.empty() && ::access(options.ca_file.c_str(), R_OK) != 0)
    return fail_os("open certificates", options.ca_file, errno);
  auto inbox = std::make_shared<HttpCall::Inbox>();
  inbox->wake.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!inbox->wake) return fail_os("start HTTP client", "eventfd", errno);
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return fail_os("start HTTP client", "epoll", errno);
  auto worker = std::make_unique<Worker>(loop, std::move(options), inbox, std::move(epoll));
  return HttpClient(std::move(inbox), std::move(worker));
}

HttpClient::HttpClient(std::shared_ptr<HttpCall::Inbox> inbox, std::unique_ptr<Worker> worker)
    : inbox_(std::move(inbox)), worker_(std::move(worker)) {}

HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

HttpCall HttpClient::send(HttpRequest request, Done done) {
  const std::uint64_t id = inbox_->send(std::move(request), std::move(done));
  return {inbox_, id};
}

}  // namespace holdfast::io
