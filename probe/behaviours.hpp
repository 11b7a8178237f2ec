// SPDX-License-Identifier: Apache-2.0
//
// The behaviours: each is one question about a provider that two processes answer, an initiator and a target. Either
// may report facts. A behaviour reports only observations; the comparison with a row is made elsewhere. Hot path: no.
// Threads: one owner per process.
#pragma once

#include "channel.hpp"
#include "demands.hpp"
#include "findings.hpp"

#include <span>
#include <string_view>

namespace weft::probe {

/// The state of one process of a behaviour.
struct role {
  const demands& about;
  channel& side;
  const findings& report;
};

struct behaviour {
  std::string_view name;
  std::string_view question;
  void (*initiator)(const role&);
  void (*target)(const role&);
};

/// All of them, in the order of the run.
std::span<const behaviour* const> behaviours();

/// Claims of the library, without a peer.
void claims(const role& self);

extern const behaviour meeting, first_post, forgetting, addressing, keys, write_immediate, send_immediate, counter,
    send_after_write, write_after_write, send_after_send, delivery, wrong_key, out_of_range, completions, first_atomic,
    atomics, progress, waiting, killed_peer, inject, gather, full_queue, largest, many_write_immediates,
    many_send_immediates, multi_receive, shared_receives, last_byte, formats, own_node, small_queue;

}  // namespace weft::probe
