#pragma once

#include <memory>
#include <string>

#include <holdfast/result.hpp>

#include "io/http_client.hpp"
#include "io/private_folder.hpp"
#include "ports/loop.hpp"

namespace holdfast::inputs {

// Where inputs come in: a folder that nobody else can look into, and a client of their own, whose
// thread may wait for the disk without holding up a webhook.
//
// Threads: the loop's, which must outlive it.
class Landing {
 public:
  // In `folder`; empty: where temporary files belong. Removes there what a server has left that was
  // killed.
  [[nodiscard]] static Result<std::shared_ptr<Landing>> open(ports::Loop& loop,
                                                             const std::string& folder);

  Landing(ports::Loop& loop, io::PrivateFolder folder, io::HttpClient client);  // see open()

  ports::Loop& loop;
  io::PrivateFolder folder;
  io::HttpClient client;  // last: its thread writes to the folder
  // The address of a server stands in the configuration, not in a task: any will do.
  std::shared_ptr<const io::AddressGuard> guard;
};

}  // namespace holdfast::inputs
