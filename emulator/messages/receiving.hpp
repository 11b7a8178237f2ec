// SPDX-License-Identifier: Apache-2.0
//
// Common part of all calls that post a receive: one place checks the row's rules.
#pragma once

#include "objects.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::emulator {

/// One receive, from any call.
struct receive_request {
  const iovec* into = nullptr;
  void* const* descriptors = nullptr;
  std::size_t count = 0;
  fi_addr_t from = FI_ADDR_UNSPEC;
  void* context = nullptr;
  std::uint64_t flags = 0;  ///< FI_COMPLETION, FI_MULTI_RECV, FI_PEEK, FI_CLAIM, FI_DISCARD.
  bool tagged = false;
  std::uint64_t tag = 0;
  std::uint64_t ignore = 0;
};

ssize_t receive(endpoint& to, const receive_request& what);

/// Whether a tag has only bits that fi_ep_attr::mem_tag_format leaves to programs. Returns 0 or the refusal.
int check_tag(std::uint64_t tag);

}  // namespace weft::emulator
