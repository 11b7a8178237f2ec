// SPDX-License-Identifier: Apache-2.0
//
// A put_notify on its way: what the notify answers (policies/notify.hpp) get and hand to the calls of the initiator.
// Hot path: passed in registers where inlined. Threads: the owner's.
#pragma once

#include "../../core/memory.hpp"

#include <cstdint>

namespace weft::detail {

/// Bytes on their way to a peer's region.
template <class Record>
struct outgoing_write {
  Record* record;
  local_memory from;
  remote_memory to;
  std::uint32_t immediate;
  void* context;
  bool signalled;
};

}  // namespace weft::detail
