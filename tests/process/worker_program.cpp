// A worker whose one handler behaves as its test wants it to: worker_program URL BEHAVIOUR
//   wait    returns when a line comes on standard input
//   obey    returns when it is asked to stop
//   ignore  does not return, whatever it is asked
// Hands in one task, once for each store, and says on standard output what happens.
#include <cstdio>
#include <string>

#include <holdfast/client.hpp>
#include <holdfast/worker.hpp>

using namespace std::chrono_literals;

namespace {

void say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

void behave(const std::string& behaviour, holdfast::Job& job) {
  if (behaviour == "wait") {
    while (std::getchar() != '\n' && std::feof(stdin) == 0) {
    }
  } else if (behaviour == "obey") {
    holdfast::system_clock().sleep_for(1h, job.stop_token());
  } else {
    holdfast::system_clock().sleep_for(1h);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string behaviour = argv[2];
  holdfast::Worker worker(argv[1], {.threads = 1, .stop_grace = 100ms});
  worker.on("t", [&](holdfast::Job& job) {
    say("begun " + job.id().text() + " attempt " + std::to_string(job.attempt()) + " token " +
        std::to_string(job.token()));
    behave(behaviour, job);
    say("returned");
    return "done";
  });
  holdfast::Client client(argv[1]);
  const auto id = client.submit({.type = "t", .key = "once"});
  if (!id) {
    say(id.error().text());
    return 1;
  }
  const int code = worker.run();
  const auto task = client.find(*id);
  say("ended " + std::string(task ? to_string(task->state) : "unknown") + " attempts " +
      std::to_string(task ? task->attempts : -1));
  return code;
}
