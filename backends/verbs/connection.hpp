// SPDX-License-Identifier: Apache-2.0
//
// One link: a reliable queue pair of the connection manager, the contents of its send queue, and the credit of both
// directions.
// Hot path: the first members. Threads: one owner.
#pragma once

#include "credit.hpp"
#include "device.hpp"
#include "receive_queue.hpp"
#include "send_queue.hpp"

#include <cstdint>
#include <memory>

namespace weft::backends::verbs {

/// The state of a link.
enum class link_phase : std::uint8_t {
  opening,
  established,
  ending,  ///< It fail or the peer left. Reported after everything that arrived before.
  lost,    ///< Reported.
};

struct connection {
  ibv_qp* pair = nullptr;
  ibv_qp_ex* extended = nullptr;  ///< The same, where the row says extended_posting.
  send_queue<connection> sends;
  receive_queue<connection> receives;
  send_credit credit;
  receive_offer offer;
  credit_introduction peer_introduction{};  ///< Place of the peer's credit word: our count of receives goes there.
  /// The port's `completions` object (completions.hpp). Rare paths find it here, so polls need not carry it.
  void* completions = nullptr;
  link_phase phase = link_phase::opening;
  bool arrived = false;          ///< The peer dialled.
  bool answered = false;         ///< Accepted or connected: writes to the peer are possible.
  bool was_established = false;  ///< It was established once: its end is a loss, not a refusal.
  bool reported = false;         ///< `established` was reported.
  std::uint32_t tag = 0;
  std::uint64_t ended_at = 0;  ///< completion_queue::times_empty() when the end was noticed.

  // Members from here on are in closing order, last first.
  std::unique_ptr<credit_words> words;
  owned<ibv_mr> region;
  owned<rdma_cm_id> id;  ///< With its queue pair.

  credit_introduction mine(bool pooled) const noexcept {
    return {reinterpret_cast<std::uint64_t>(&words->granted), region->rkey, offer.count(), pooled ? tag : no_tag};
  }
  /// Stores the peer's introduction.
  void introduce(const credit_introduction& peer) noexcept {
    peer_introduction = peer;
    std::atomic_ref(words->granted).store(peer.receives, std::memory_order_release);
    (void)has_credit();
  }
  /// Asked when the peer seems to have no receive. A peer with a pool always counts as ready.
  [[gnu::cold, gnu::noinline]] bool has_credit() const noexcept {
    if (peer_introduction.has_pool()) credit.grant_all(*words);
    return peer_introduction.has_pool();
  }
};

}  // namespace weft::backends::verbs
