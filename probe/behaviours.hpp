// SPDX-License-Identifier: Apache-2.0
//
// The behaviours: each is one question about a provider, answered by two processes, an initiator and a target. Facts
// may be told by either. A behaviour promises nothing about what is true; it says what it saw, and the comparison with
// a row is made elsewhere. Hot path: no. Threads: one owner per process.
#pragma once

#include "channel.hpp"
#include "demands.hpp"
#include "findings.hpp"

#include <span>
#include <string_view>

namespace weft::probe {

/// What one process of a behaviour has.
struct role {
  const demands& about;
  channel& side;
  const findings& told;
};

struct behaviour {
  std::string_view name;
  std::string_view question;
  void (*initiator)(const role&);
  void (*target)(const role&);
};

/// All of them, in the order in which they are run.
std::span<const behaviour* const> behaviours();

/// What the library claims, without a peer.
void claims(const role& self);

extern const behaviour meeting, first_post, forgetting, addressing, keys, write_immediate, send_immediate, counter,
    send_after_write, write_after_write, send_after_send, delivery, wrong_key, out_of_range, completions, first_atomic,
    atomics, progress, waiting, killed_peer, inject, gather, full_queue, largest;

}  // namespace weft::probe
