// SPDX-License-Identifier: Apache-2.0
//
// Names of errors: rdma-core returns the system's own numbers.
// Hot path: no. Threads: any.
#include "../refused.hpp"

#include <cstring>

namespace weft::probe {

std::string error_name(long code) {
  const char* name = strerrorname_np(static_cast<int>(code < 0 ? -code : code));
  return name == nullptr ? "error " + std::to_string(code) : std::string(name);
}

}  // namespace weft::probe
