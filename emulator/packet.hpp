// SPDX-License-Identifier: Apache-2.0
//
// A packet between two emulated endpoints: a header and a payload, over a local stream socket, so that nothing is lost
// or split. Both ends are the same build of the emulator on one host.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::emulator {

enum class packet_kind : std::uint8_t {
  hello,
  message,
  tagged,
  write,
  read,
  atomic,
  answer,
  dial,
  accepted,
  rejected,
  closed
};

/// What a header says in one bit each.
namespace mark {
inline constexpr std::uint8_t data = 1;       ///< `data` is an immediate.
inline constexpr std::uint8_t delivered = 2;  ///< The sender waits for the delivery.
inline constexpr std::uint8_t fetches = 4;    ///< An atomic that returns the value before it.
}  // namespace mark

struct packet_header {
  std::uint32_t payload = 0;  ///< Bytes after the header.
  packet_kind kind{};
  std::uint8_t marks = 0;  ///< Of `mark`.
  std::uint8_t datatype = 0;
  std::uint8_t operation = 0;  ///< fi_op of an atomic.
  std::uint64_t source = 0;    ///< Endpoint that sent it.
  std::uint64_t number = 0;    ///< Of the operation at its initiator; an answer repeats it.
  std::uint64_t address = 0;
  std::uint64_t key = 0;
  std::uint64_t data = 0;
  std::uint64_t tag = 0;
  std::uint64_t length = 0;  ///< Bytes wanted by a read; elements of an atomic.
  std::int32_t code = 0;     ///< Of an answer: 0 or a positive FI_E code.
  std::uint32_t magic = 0x77656674;
};

/// A packet that arrived and has not taken effect yet.
struct packet {
  struct piece {
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  packet_header head;
  std::string payload;
  std::vector<piece> left;  ///< Of a write that is partly visible: the rest.
  bool begun = false;
  bool unreported = false;  ///< A message whose sender gets the completion when it is received, not when it is here.
  std::chrono::steady_clock::time_point due{};
  std::chrono::steady_clock::time_point arrived{};
};

}  // namespace weft::emulator
