// SPDX-License-Identifier: Apache-2.0
//
// Two versions matter: the release whose headers the program was compiled with, and the release that the loader found.
// The first selects the row (compose/fabric.hpp); the second is attested against it, because attributes depend on both.
// Hot path: no. Threads: values.
#pragma once

#include "../../core/facts.hpp"

#include <rdma/fabric.h>

#include <cstdint>
#include <string>

namespace weft::backends::libfabric {

/// The release whose headers this program was compiled with.
inline constexpr library_version built_with{FI_MAJOR_VERSION, FI_MINOR_VERSION};

/// The interface version of every call: that of the headers, so the library behaves as compiled.
inline constexpr std::uint32_t asked_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);

/// The release that the loader found.
inline library_version running_with() noexcept {
  const std::uint32_t version = fi_version();
  return {static_cast<std::uint16_t>(FI_MAJOR(version)), static_cast<std::uint16_t>(FI_MINOR(version))};
}

/// "1.17"
inline std::string printed(library_version version) {
  return version == any_later_version ? "any later"
                                      : std::to_string(version.major) + "." + std::to_string(version.minor);
}

}  // namespace weft::backends::libfabric
