// SPDX-License-Identifier: Apache-2.0
//
// Common part of all posting calls: one place checks the row's rules; then the operation is sent, held (FI_MORE) or
// refused.
#pragma once

#include "objects.hpp"

namespace weft::emulator {

/// One posted operation, from any call.
struct request {
  packet_kind kind{};
  fi_addr_t to = FI_ADDR_UNSPEC;
  const iovec* from = nullptr;
  std::size_t count = 0;
  void** descriptors = nullptr;
  const iovec* into = nullptr;  ///< Reads and fetching atomics: the target of the answer.
  std::size_t into_count = 0;
  void** into_descriptors = nullptr;
  void* context = nullptr;
  std::uint64_t flags = 0;        ///< FI_COMPLETION, FI_MORE, FI_INJECT, FI_DELIVERY_COMPLETE.
  std::uint64_t entry_flags = 0;  ///< Flags of its completion entry.
  bool silent = false;            ///< fi_inject and its like: no completion, no context, the buffer is free on return.
  bool listed = false;            ///< fi_sendmsg and its like: the caller gave a list of descriptors, or none.
  bool taken_over = false;        ///< The operand of an atomic: checked where it was, then copied.
  bool has_data = false;
  std::uint64_t data = 0;
  std::uint64_t tag = 0;
  std::uint64_t address = 0;
  std::uint64_t key = 0;
  std::uint64_t length = 0;
  std::uint8_t datatype = 0;
  std::uint8_t operation = 0;
};

ssize_t post(endpoint& from, const request& what);

/// The flags of a call without flags: those of the endpoint.
inline std::uint64_t usual_flags(const endpoint& of) { return of.transmit_flags; }
/// Sends operations that FI_MORE held.
void release_held(endpoint& of);
/// Reports an operation's end: an entry, an error entry, or nothing.
void finish(endpoint& of, outstanding& operation, int code, std::size_t length);
/// Whether local memory may be used: registered, bound and covered where the row needs that.
int check_local(const endpoint& of, const iovec* vector, void* const* descriptors, std::size_t count, const char* call);

}  // namespace weft::emulator
