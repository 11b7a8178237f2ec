// SPDX-License-Identifier: Apache-2.0
//
// Options of the load of a cluster's demo (load.hpp). Hot path: no. Threads: values.
#pragma once

#include "../client.hpp"

#include <string>

namespace weft::invocation::nodes {

struct load_options {
  std::string manager;
  client_options client;
  allocation_request request;
  std::uint16_t executors = 1;
  std::uint64_t calls = 1000;  ///< All executors together.
  std::uint32_t size = 64;
  std::uint32_t depth = 4;     ///< Calls in flight per worker.
  duration deadline = 5s;      ///< Of a call.
  duration retry_limit = 30s;  ///< Until there is another executor.
  duration limit = 300s;       ///< Of all.
  std::string mark;            ///< File that is written once a third of the calls has ended.
  std::string resume;          ///< After that third calls are slow, and stop at two thirds, until this file is there.
  std::string go;              ///< File to wait for, once all executors are there.
};

}  // namespace weft::invocation::nodes
