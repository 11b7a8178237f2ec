// SPDX-License-Identifier: Apache-2.0
//
// In place of pmix/session.hpp where pmix.h is not installed. find_place() refuses a launcher that speaks only PMIx.
// Hot path: no. Threads: none.
#pragma once

#include "backend.hpp"

#include <memory>

namespace weft::jobs {

inline constexpr bool has_pmix = false;

class pmix_session {
 public:
  static result<std::unique_ptr<pmix_session>> open() {
    return failure{error(errc::unsupported, "join"), "this program was built without PMIx"};
  }
  std::uint32_t rank() const noexcept { return 0; }
  std::uint32_t size() const noexcept { return 1; }
  bool all_on_this_host() const noexcept { return true; }
  std::string job() const { return {}; }
  std::string version() const { return {}; }
  result<void> give(const std::string&) { return {}; }
  result<std::string> fetch(duration) { return std::string(); }
};

}  // namespace weft::jobs
