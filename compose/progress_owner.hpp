// SPDX-License-Identifier: Apache-2.0
//
// Who polls. On some rows bytes land only while the target polls. There export_region() and send_region() take this
// token, so that nobody forgets the loop. A program with a loop around progress() passes `owner_polls`; weft runs a
// thread for others (compose/progress_thread.hpp). Hot path: compile time only. Threads: none.
#pragma once

namespace weft {

/// The promise that a loop of the caller calls progress() as long as peers use the region.
struct progress_owner {
  explicit constexpr progress_owner() = default;
};
inline constexpr progress_owner owner_polls{};

}  // namespace weft
