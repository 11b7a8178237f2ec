// SPDX-License-Identifier: Apache-2.0
//
// The port over rdma-core. Declared only: this release has no verbs backend, so the rows that name it generate headers that compile,
// the build leaves their programs out with a sentence, and opening such a transport does not compile.
// Hot path: none yet.
#pragma once

#include "../../core/facts.hpp"

namespace weft::backends::verbs {

/// The release of rdma-core that the headers belong to; rows over verbs have no version ranges.
inline constexpr library_version built_with{};

/// Incomplete on purpose.
template <class Shape>
class port;

}  // namespace weft::backends::verbs
