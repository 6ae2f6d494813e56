// Hands in a task for each argument, and works on them and on all that was left, until Ctrl-C.
//   worker ann@example.org bob@example.org
#include <cstdio>
#include <stdexcept>
#include <string>

#include <holdfast/client.hpp>
#include <holdfast/worker.hpp>

using namespace std::chrono_literals;

static const char* const kTasks = "sqlite:tasks.db";  // or a server: "http://127.0.0.1:8080"

// Stands for a mail server that is out of order at first.
static std::string send_mail(holdfast::Job& job) {
  if (job.attempt() == 1) throw std::runtime_error("connection reset by peer");
  std::printf("%s: sent at attempt %d\n", job.payload().c_str(), job.attempt());
  std::fflush(stdout);
  return "sent";  // kept as the result of the task
}

int main(int argc, char** argv) {
  holdfast::Worker worker(kTasks);
  worker.on("mail.send", send_mail,
            {.attempts = 5,
             .timeout = 10s,
             .wait = holdfast::retry::exponential({.first = 100ms}),
             .dependency = "smtp"});

  holdfast::Client client(kTasks);
  for (int i = 1; i < argc; ++i) {
    const auto id = client.submit({.type = "mail.send", .payload = argv[i]});
    if (!id) return std::fprintf(stderr, "%s\n", id.error().text().c_str()), 1;
  }
  return worker.run();
}
