// SPDX-License-Identifier: Apache-2.0
//
// The hand-written end that a fabric is compared with: libfabric's, or with WEFT_BENCH_OVER_VERBS plain verbs. The
// build decides: a program over one library must not need the other's headers. Hot path: no.
#pragma once

#if defined(WEFT_BENCH_OVER_VERBS)
#include "raw_verbs_end.hpp"
namespace weft::bench {
template <class F>
using contender = raw_verbs_end<F>;
}
#else
#include "raw_end.hpp"
namespace weft::bench {
template <class F>
using contender = raw_end<F>;
}
#endif
