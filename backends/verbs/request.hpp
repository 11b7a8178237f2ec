// SPDX-License-Identifier: Apache-2.0
//
// One work request with its pieces, as the port's calls fill it in. Outgoing bytes may be copied into the request
// (inline); incoming ones never.
// Requests that wake a sleeping peer are solicited: messages and immediates.
// Hot path: all of it. Threads: values.
#pragma once

#include "memory.hpp"

#include <cstdint>

namespace weft::backends::verbs {

inline std::uint64_t address_of(const void* at) noexcept { return reinterpret_cast<std::uint64_t>(at); }

/// Memory that is only read, and only inline.
inline local_memory borrowed(const_bytes from) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): never written to
  return {const_cast<std::byte*>(from.data()), from.size(), nullptr};
}
inline local_memory whole_word(std::uint64_t* at, void* descriptor) noexcept {
  return {reinterpret_cast<std::byte*>(at), sizeof *at, descriptor};
}

/// The size of incoming data: above the inline limit of every device.
inline constexpr std::size_t comes_back = ~std::size_t{0};

template <std::size_t Pieces>
struct request {
  [[gnu::always_inline]] request(ibv_wr_opcode what, const local_memory (&from)[Pieces]) noexcept {
    // Not cleared: clearing took a third of a post's instructions. This and the caller set the fields that the request
    // uses.
    work.next = nullptr;
    int count = 0;
    for (const local_memory& each : from) {
      if (Pieces > 1 && each.size == 0) continue;
      pieces[count] = {address_of(each.data), static_cast<std::uint32_t>(each.size), local_key(each.descriptor)};
      count += each.size != 0;
    }
    work.num_sge = count;
    work.sg_list = pieces;
    work.opcode = what;
    work.send_flags = what == IBV_WR_SEND || what == IBV_WR_SEND_WITH_IMM || what == IBV_WR_RDMA_WRITE_WITH_IMM
                          ? unsigned{IBV_SEND_SOLICITED}
                          : 0U;
  }
  request(const request&) = delete;  // It points at itself.
  request& operator=(const request&) = delete;
  ~request() = default;

  ibv_send_wr work;
  ibv_sge pieces[Pieces];
};

/// The same for several pieces. Requires: at most gather_limit, and a header in front.
struct gathered_request {
  gathered_request(ibv_wr_opcode what, gather_list from) noexcept {
    for (const local_memory& each : from) {
      if (each.size == 0) continue;
      pieces[work.num_sge++] = {address_of(each.data), static_cast<std::uint32_t>(each.size),
                                local_key(each.descriptor)};
      outgoing += each.size;
    }
    work.sg_list = pieces;
    work.opcode = what;
    if (what == IBV_WR_SEND || what == IBV_WR_SEND_WITH_IMM || what == IBV_WR_RDMA_WRITE_WITH_IMM)
      work.send_flags = IBV_SEND_SOLICITED;
  }
  gathered_request(const gathered_request&) = delete;  // It points at itself.
  gathered_request& operator=(const gathered_request&) = delete;
  ~gathered_request() = default;

  ibv_send_wr work{};
  ibv_sge pieces[gather_limit + 1];
  std::size_t outgoing = 0;
};

}  // namespace weft::backends::verbs
