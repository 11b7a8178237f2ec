// SPDX-License-Identifier: Apache-2.0
//
// Messages that are larger than their receive, with both sizes. A status has room for one size only
// (status::receiver_bytes()), so a transport keeps both here: of messages that this side refused to send, and of
// messages that a peer sent nevertheless. Hot path: no. Threads: the owner's.
#pragma once

#include <cstdint>
#include <string>

namespace weft {

/// The last message that did not fit, and the number of such messages.
struct truncation {
  std::uint64_t message = 0;  ///< Its bytes.
  std::uint64_t room = 0;     ///< Bytes that the receive takes.
  std::uint64_t times = 0;

  void note(std::uint64_t message_bytes, std::uint64_t receive_bytes) noexcept {
    message = message_bytes;
    room = receive_bytes;
    ++times;
  }
};

/// One sentence; "" when there was none.
inline std::string describe(const truncation& t) {
  if (t.times == 0) return {};
  return "a message of " + std::to_string(t.message) + " bytes does not fit into a receive of " +
         std::to_string(t.room) + " (transport_options::max_message_bytes of its receiver)";
}

}  // namespace weft
