// SPDX-License-Identifier: Apache-2.0
//
// Which receive gets which message (fi_msg(3), fi_tagged(3)): the oldest receive that takes a message, and the oldest
// message that a receive takes. What no receive takes waits in the order of its arrival. Hot path: no. Threads: one at
// a time (the emulator's lock).
#pragma once

#include "objects.hpp"

#include <cstdint>

namespace weft::emulator {

/// A message arrived: its receive gets it, or it waits.
void admit(endpoint& of, packet&& arrived);
/// A receive was posted: it gets the oldest message that waits, or is queued. A buffer for many messages gets all.
void post_receive(endpoint& of, posted_receive&& made);

/// A receive that looks for a message (FI_PEEK): the result is an entry, or an error entry with FI_ENOMSG.
void peek(endpoint& of, const posted_receive& sought, std::uint64_t flags);
/// A receive for a message that `peek` claimed before, by its context. Returns 0 or a positive FI_E code.
int receive_claimed(endpoint& of, posted_receive&& made, std::uint64_t flags);
/// Takes a receive back (fi_cancel(3)); its entry has FI_ECANCELED. False where no such receive waits.
bool cancel_receive(endpoint& of, void* context);

}  // namespace weft::emulator
