#include <cstdio>
#include <string>

#include <holdfast/log.hpp>
#include <holdfast/result.hpp>
#include <holdfast/verdict.hpp>

namespace {

class Printer final : public holdfast::LogSink {
 public:
  void write(const holdfast::LogRecord& record) noexcept override {
    std::printf("%.*s: %.*s\n", static_cast<int>(record.event.size()), record.event.data(),
                static_cast<int>(record.message.size()), record.message.data());
    ++written_;
  }
  int written() const { return written_; }

 private:
  int written_ = 0;
};

}  // namespace

int main() {
  Printer printer;
  const holdfast::Logger logger(printer);
  const std::string verdict(to_string(holdfast::VerdictKind::give_up));
  logger.log(holdfast::Level::info, "example", "the installed library says " + verdict,
             {{"attempts", 3}, {"wait", std::chrono::seconds(1)}});
  return printer.written() == 1 ? 0 : 1;
}
