// SPDX-License-Identifier: Apache-2.0
//
// A call that the library refused ends a behaviour: the probe's processes have one job each, so an exception carries it
// to the end. Hot path: no. Threads: values.
#pragma once

#include <rdma/fi_errno.h>

#include <string>
#include <utility>

namespace weft::probe {

/// The call, and the library's error (a positive number).
struct refused {
  std::string call;
  int code;
};

/// The other process is gone.
struct abandoned {};

/// The short name of a libfabric error, as in its manual pages: "FI_ENODATA".
std::string error_name(long code);

/// Throws when the library returned an error.
inline void require(long returned, const char* call) {
  if (returned < 0) throw refused{call, static_cast<int>(-returned)};
}

}  // namespace weft::probe
