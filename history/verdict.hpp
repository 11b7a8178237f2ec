// SPDX-License-Identifier: Apache-2.0
//
// The checker's answer about a history: clean, or the violated properties, each with the record that shows it.
// Hot path: no. Threads: values.
#pragma once

#include "record.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace weft::history {

/// The properties. Each name says what went wrong.
enum class property : std::uint8_t {
  lost_completion,            ///< A process that finished posted it, and it never ended.
  double_end,                 ///< It ended twice, or ended without having been posted.
  notification_before_bytes,  ///< The notification came before all bytes were there.
  double_notification,        ///< More notifications than posts.
  lost_notification,          ///< The post succeeded, and no notification came.
  forgotten_deadline,         ///< It had a deadline and ended later than deadline plus slack, or never.
  reused_key,                 ///< One process got the same key twice.
  skipped_bound_check,        ///< Bytes outside of a region changed.
  inexact_sum,                ///< A counter differs from the sum of its additions.
  repeated_old_value,         ///< Two additions saw the same value.
  success_after_peer_lost,    ///< An operation towards a lost peer succeeded.
  lost_message,               ///< The send succeeded, both sides finished, and no message was received.
  double_message,             ///< More messages received than sent.
  corrupt_message,            ///< The bytes received differ from those sent.
  missing_bytes,              ///< An operation ended well, and its bytes are not there.
};

constexpr std::string_view name_of(property which) noexcept {
  constexpr std::array<std::string_view, 15> names{"lost_completion",
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
                                                   "corrupt_message",
                                                   "missing_bytes"};
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
  std::size_t checked = 0;  ///< Number of records.

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
