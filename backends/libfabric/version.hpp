// SPDX-License-Identifier: Apache-2.0
//
// Two versions matter: the release whose headers this was compiled with, and the release that the loader found.
// Rows are chosen by the first (compose/fabric.hpp) and attested against the second, because attributes depend on both.
// Hot path: no. Threads: values.
#pragma once

#include "../../core/facts.hpp"

#include <rdma/fabric.h>

#include <cstdint>
#include <string>

namespace weft::backends::libfabric {

/// The release whose headers this program was compiled with.
inline constexpr library_version built_with{FI_MAJOR_VERSION, FI_MINOR_VERSION};

/// The interface version that every call asks for: the headers', so that what was compiled is what is meant.
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
