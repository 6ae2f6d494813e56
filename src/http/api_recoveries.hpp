#pragma once

#include "http/gate.hpp"
#include "http/recovery_desk.hpp"

namespace holdfast::http {

// The routes by which people bring a broker's dead-letter queue back. Threads: the loop's.
class RecoveriesApi {
 public:
  // The desk must outlive it.
  explicit RecoveriesApi(RecoveryDesk& desk) : desk_(desk) {}

  void add_to(Routes& routes);

 private:
  void begin(const Request& request, Reply reply);
  void page(const Request& request, Reply reply);
  void sample(const Request& request, Reply reply);

  RecoveryDesk& desk_;
};

}  // namespace holdfast::http
