// SPDX-License-Identifier: Apache-2.0
//
// How posts end: the modes of a post, and the completion entries that a port reports to compose.
// The entries use no library's types: each backend translates its own (fi_cq(3), ibv_poll_cq(3)).
// Hot path: plain values. Threads: values.
#pragma once

#include "error.hpp"
#include "memory.hpp"

#include <cstddef>
#include <cstdint>

namespace weft {

/// When and how a posted operation completes.
enum class post_mode : std::uint8_t {
  signalled,    ///< One completion when the source may be reused.
  delivered,    ///< One completion when the target has the bytes (where facts.delivery_complete).
  unsignalled,  ///< No completion after success; one after an error, with the given context.
  at_return,    ///< Where a port has it: ok means that the operation ended well, and no completion follows. Exception:
                ///< a status from reported_later().
};
/// Whether a completion entry reports the end of every post in this mode.
constexpr bool is_reported(post_mode m) noexcept { return m == post_mode::signalled || m == post_mode::delivered; }
/// The status of a post in mode at_return that was taken, but whose result a completion reports.
constexpr status reported_later(const char* operation) noexcept { return {errc::ok, origin::weft, 1, operation}; }
/// Whether a post in mode at_return that returned ok has ended.
constexpr bool has_ended(const status& posted) noexcept { return posted.native_code == 0; }

/// The event of a completion entry.
enum class completion_kind : std::uint8_t {
  ended,                 ///< A local operation ended, well or badly. `context` is the operation's.
  received,              ///< A message arrived, or a posted receive failed. `context` is the receive's.
  write_with_immediate,  ///< A write with an immediate arrived. `context` is the consumed receive's, or null.
  released,  ///< Shape::multi_receive: the library released a buffer without a message. `context` is the buffer's.
};

/// One completion. `length` is valid for `received` only: no fabric promises it for write_with_immediate.
struct completion_entry {
  completion_kind kind{};
  void* context = nullptr;
  std::uint64_t immediate = 0;
  std::size_t length = 0;
  status outcome{};
  std::byte* at = nullptr;  ///< Shape::multi_receive, `received`: the message's place in its buffer.
  bool last = false;        ///< Shape::multi_receive, `received`: the library released the buffer with this message.
  void* link = nullptr;     ///< `received`, on ports with link_of(): the argument of link_of().
};

/// One of several receives that are posted together.
struct receive_request {
  local_memory into{};
  void* context = nullptr;
};

}  // namespace weft
