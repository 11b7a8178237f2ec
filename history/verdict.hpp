// SPDX-License-Identifier: Apache-2.0
//
// What the checker says about a history: nothing, or which properties are violated, by name, and by which record.
// Hot path: no. Threads: values.
#pragma once

#include "record.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace weft::history {

/// The properties, one name each. A name says what went wrong.
enum class property : std::uint8_t {
  lost_completion,            ///< Posted by a process that finished, and never ended.
  double_end,                 ///< Ended twice, or ended without having been posted.
  notification_before_bytes,  ///< Told while the bytes were not (all) there.
  double_notification,        ///< Told more often than was posted.
  lost_notification,          ///< Ended in success, and never told.
  forgotten_deadline,         ///< Ended later than its deadline and the slack, or not at all though it had one.
  reused_key,                 ///< A key was handed out twice in one process.
  skipped_bound_check,        ///< Bytes outside of a region changed.
  inexact_sum,                ///< A counter is not what its additions make it.
  repeated_old_value,         ///< Two additions saw the same value.
  success_after_peer_lost,    ///< An operation towards a lost peer succeeded.
  lost_message,               ///< Sent in success, both sides finished, and never received.
  double_message,             ///< Received more often than sent.
  corrupt_message,            ///< Received with other bytes than were sent.
};

constexpr std::string_view name_of(property which) noexcept {
  constexpr std::array<std::string_view, 14> names{"lost_completion",
                                                   "double_end",
                                                   "notification_before_bytes",
                                                   "double_notification",
                                                   "lost_notification",
                                                   "forgotten_deadline",
                                                   "reused_key",
                                                   "skipped_bound_check",
                                                   "inexact_sum",
                                                   "repeated_old_value",
                                                   "success_after_peer_lost",
                                                   "lost_message",
                                                   "double_message",
                                                   "corrupt_message"};
  return names[static_cast<std::uint8_t>(which)];
}

/// One violation: the property, the record that shows it, and a sentence.
struct violation {
  property which{};
  record shown_by{};
  std::string sentence;
};

/// The checker's answer.
struct verdict {
  std::vector<violation> violations;
  std::size_t checked = 0;  ///< Records.

  bool clean() const noexcept { return violations.empty(); }
  bool names(property which) const noexcept {
    return std::ranges::any_of(violations, [which](const violation& each) { return each.which == which; });
  }
  std::string text() const {
    if (clean()) return std::to_string(checked) + " records, no violation";
    std::string all;
    for (const violation& each : violations) all += std::string(name_of(each.which)) + ": " + each.sentence + "\n";
    return all;
  }
};

inline std::string describe(const record& shown) {
  return "process " + std::to_string(shown.process) + ", " + std::string(name_of(shown.what)) + " at " +
         std::to_string(shown.at) + " ns";
}

}  // namespace weft::history
