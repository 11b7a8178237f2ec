// SPDX-License-Identifier: Apache-2.0
//
// The faults of a simulated world and their probabilities. By default all are off: then only the row's own freedoms
// remain (early local completions, polling, lazy connections).
// Faults exist only in the loopback's world; release code has no branch for them. There are three groups.
// Below the reliable layer: events that real fabrics hide at the price of time. Raw: events that no reliable fabric
// shows, for protocols that must survive them. Planted: bugs that the checker must find by name.
// Hot path: plain values. Threads: fixed before the run.
#pragma once

#include "../../core/time.hpp"

#include <cstdint>

namespace weft::backends::loopback {

/// A deliberate bug. It shows that the checker of recorded histories finds it.
enum class planted_bug : std::uint8_t {
  none,
  lost_completion,            ///< One success in seven is never reported.
  notification_before_bytes,  ///< A write's immediate is reported before the bytes are there.
  double_notification,        ///< An immediate is reported twice.
  forgotten_deadline,         ///< wait() sleeps 200 ms beyond its deadline.
  reused_key,                 ///< A key is handed out again.
  skipped_bound_check,        ///< The target writes outside of a region (at most 64 bytes past the end).
  lost_wake_up,               ///< No event ends the 50,000th sleep.
  lost_message,               ///< One message in thirteen vanishes; its sender sees success.
  double_message,             ///< One message in thirteen arrives twice.
  corrupt_message,            ///< The last byte of one message in thirteen is changed.
  lost_notification,          ///< One immediate in seven is not reported; its bytes arrive.
  narrow_immediate,           ///< An immediate loses its upper half.
  lost_bytes,                 ///< One write in thirteen succeeds, and its bytes never arrive.
  late_bytes,                 ///< A write ends 5 ms before its bytes arrive.
  misplaced_bytes,            ///< One write in thirteen arrives one byte too far.
  stale_region,               ///< A deregistered region still takes writes.
  skipped_rights_check,       ///< The target ignores the rights of a region.
  lost_addition,              ///< One atomic in seven changes nothing, and succeeds.
  double_addition,            ///< One atomic in seven is executed twice.
  wrong_read,                 ///< The last byte of one read in seven is wrong.
  lost_receive,               ///< One receive in thirteen takes a message and is never reported.
  lost_refusal,               ///< A dial that nobody answers never ends.
};

/// Settings of one run. Probabilities are in [0, 1] and apply per packet unless stated otherwise.
struct faults {
  // below the reliable layer
  duration delay_least{500};  ///< One way.
  duration delay_most{2'500};
  double loss = 0;  ///< The packet arrives after one or more retransmission timeouts.
  duration retransmission{200'000};
  double reorder = 0;  ///< The packet ignores every order that the row does not promise.
  /// The bytes of a write arrive in two parts, the last part first, before the write is complete.
  double tear = 0;
  double full_queue = 0;  ///< Per post: starts a burst in which every post returns `again`.
  duration full_queue_time{5'000};
  double spurious_wake = 0;  ///< Per wait: it returns early, without an event.
  double pause = 0;          ///< Per poll: the whole node stops for a while.
  duration pause_least{100'000};
  duration pause_most{2'000'000};
  std::uint64_t crash_at_packet = 0;  ///< The node that posts the n-th operation dies in the call; 0: none.

  // what no reliable fabric does
  double raw_loss = 0;         ///< A message or an immediate is lost; its sender sees success.
  double raw_duplication = 0;  ///< A message or an immediate arrives twice.
  /// The first message of a link arrives twice, the second time up to `handshake_delay` later. Addressed rows only.
  double handshake_duplication = 0;
  duration handshake_delay{20'000'000};
  double no_memory = 0;  ///< Per registration: the library has no memory left.

  planted_bug bug = planted_bug::none;
};

/// The price of work in virtual time.
struct prices {
  duration poll_least{40};
  duration poll_most{120};
  duration clock{15};            ///< Reading the clock.
  duration refused_post{100};    ///< A post that returns `again`.
  duration departure_most{300};  ///< At most, from the post until the source has been read.
  duration wake_least{2'000};    ///< From the event until the sleeper runs, where the row has a descriptor.
  duration wake_most{8'000};
  duration nap{50'000};             ///< Step of sleeping where it has none.
  duration death_least{1'000'000};  ///< Until the fabric reports a killed peer, where it does.
  duration death_most{20'000'000};
  duration dial_timeout{1'000'000'000};
  /// Until a message without a receive is tried again, after a receive was posted.
  duration receiver_not_ready{20'000};
};

}  // namespace weft::backends::loopback
