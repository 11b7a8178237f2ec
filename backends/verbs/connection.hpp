// SPDX-License-Identifier: Apache-2.0
//
// One link: a reliable queue pair of the connection manager, what is in its send queue, and the credit of both
// directions. Hot path: the first members. Threads: one owner.
#pragma once

#include "credit.hpp"
#include "device.hpp"
#include "receive_queue.hpp"
#include "send_queue.hpp"

#include <cstdint>
#include <memory>

namespace weft::backends::verbs {

/// How far a link is.
enum class link_phase : std::uint8_t {
  opening,
  established,
  ending,  ///< It broke or the peer left; told as soon as all that arrived before was told.
  lost,    ///< Told.
};

struct connection {
  ibv_qp* pair = nullptr;
  ibv_qp_ex* extended = nullptr;  ///< The same, where the row says extended_posting.
  send_queue<connection> sends;
  receive_queue<connection> receives;
  send_credit credit;
  receive_offer offer;
  credit_introduction theirs{};  ///< Where our count of receives goes.
  void* endings = nullptr;  ///< Of its port (endings.hpp): found from here where something seldom happens, so that no
                            ///< look keeps them at hand.
  link_phase phase = link_phase::opening;
  bool arrived = false;   ///< They dialled.
  bool answered = false;  ///< Accepted, or connected: the peer may be written to.
  bool stood = false;     ///< It was established once: its end is a loss, not a refusal.
  bool told = false;      ///< That it was.
  std::uint32_t tag = 0;
  std::uint64_t ended_at = 0;  ///< completion_queue::times_empty() when the end was noticed.

  // From here on in the order of closing, last first.
  std::unique_ptr<credit_words> words;
  owned<ibv_mr> region;
  owned<rdma_cm_id> id;  ///< And its queue pair.

  credit_introduction mine(bool pooled) const noexcept {
    return {reinterpret_cast<std::uint64_t>(&words->granted), region->rkey, offer.count(), pooled ? tag : no_tag};
  }
  /// The peer has introduced itself.
  void meet(const credit_introduction& peer) noexcept {
    theirs = peer;
    std::atomic_ref(words->granted).store(peer.receives, std::memory_order_release);
    (void)has_credit();
  }
  /// Asked when the peer seems to have no receive: whoever has a pool is never waited for.
  [[gnu::cold, gnu::noinline]] bool has_credit() const noexcept {
    if (theirs.has_pool()) credit.grant_all(*words);
    return theirs.has_pool();
  }
};

}  // namespace weft::backends::verbs
