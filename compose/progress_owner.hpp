// SPDX-License-Identifier: Apache-2.0
//
// Who polls. On rows whose bytes land only while the target polls, publishing a region asks for this token: whoever
// writes it down has thought of it. A loop that calls progress() says `owner_polls`; a thread that weft runs is
// compose/progress_thread.hpp. Hot path: compile time only.
#pragma once

namespace weft {

/// Says that a loop of the caller calls progress() for as long as the region is published.
struct progress_owner {
  explicit constexpr progress_owner() = default;
};
inline constexpr progress_owner owner_polls{};

}  // namespace weft
