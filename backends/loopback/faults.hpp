// SPDX-License-Identifier: Apache-2.0
//
// What goes wrong in a simulated world, and how often. All off by default: then only the row's own freedoms remain
// (early local completions, polling, lazy connecting). Faults live in the loopback's world alone: no release code has a
// branch for them. Below the reliable layer: what real fabrics hide from their users at the price of time. Raw: what no
// reliable fabric does, for protocols that must survive it without a hang and without doing a thing twice. Planted:
// bugs that the checker must find by name. Hot path: plain values. Threads: fixed before the run.
#pragma once

#include "../../core/time.hpp"

#include <cstdint>

namespace weft::backends::loopback {

/// A bug built in on purpose, to show that the checker of recorded histories finds it.
enum class planted_bug : std::uint8_t {
  none,
  lost_completion,            ///< One success in seven is never reported.
  notification_before_bytes,  ///< A write's immediate is told before the bytes are there.
  double_notification,        ///< An immediate is told twice.
  forgotten_deadline,         ///< wait() sleeps on for 200 ms after its deadline.
  reused_key,                 ///< A key is handed out again.
  skipped_bound_check,        ///< The target writes where it is told to, region or not (kept to 64 bytes past the end).
};

/// Settings of one run. Probabilities are in [0, 1], per packet unless said otherwise.
struct faults {
  // below the reliable layer
  duration delay_least{500};  ///< One way.
  duration delay_most{2'500};
  double loss = 0;  ///< The packet comes after one or more retransmission timeouts.
  duration retransmission{200'000};
  double reorder = 0;  ///< The packet is free of every order that the row does not promise.
  double tear = 0;     ///< Bytes of a write land in two pieces, the last one first, before the write counts as landed.
                       ///< Those of a message whose receive makes no entry: the first one first.
  double full_queue = 0;  ///< Per post: a burst begins in which every post is answered `again`.
  duration full_queue_time{5'000};
  double spurious_wake = 0;  ///< Per wait: it returns early, with nothing.
  double pause = 0;          ///< Per poll: the whole node stops for a while.
  duration pause_least{100'000};
  duration pause_most{2'000'000};
  std::uint64_t crash_at_packet = 0;  ///< The node that posts the n-th operation dies in the call; 0: none.

  // what no reliable fabric does
  double raw_loss = 0;         ///< A message or an immediate vanishes; its sender is told of success.
  double raw_duplication = 0;  ///< A message or an immediate arrives twice.

  planted_bug bug = planted_bug::none;
};

/// What work costs in virtual time.
struct prices {
  duration poll_least{40};
  duration poll_most{120};
  duration clock{15};            ///< Reading the clock.
  duration refused_post{100};    ///< A post that is answered `again`.
  duration departure_most{300};  ///< From the post until the source has been read, at most.
  duration wake_least{2'000};    ///< From the event until the sleeper runs, where the row has a descriptor.
  duration wake_most{8'000};
  duration nap{50'000};             ///< Step of sleeping where it has none.
  duration death_least{1'000'000};  ///< Until the fabric tells of a killed peer, where it does.
  duration death_most{20'000'000};
  duration dial_timeout{1'000'000'000};
  duration receiver_not_ready{20'000};  ///< Until a message that found no receive is tried again, once there is one.
};

}  // namespace weft::backends::loopback
