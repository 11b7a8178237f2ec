// SPDX-License-Identifier: Apache-2.0
//
// The conformance suites that run over sets of fabrics, and the suite of what only sets have.
#include "../atomics.hpp"
#include "../batches.hpp"
#include "../closing.hpp"
#include "../completions.hpp"
#include "../connecting.hpp"
#include "../counting.hpp"
#include "../environment.hpp"
#include "../gather_lists.hpp"
#include "../hard_cases/endings.hpp"
#include "../liveness.hpp"
#include "../messages.hpp"
#include "../ordering.hpp"
#include "../put_get.hpp"
#include "../put_notify.hpp"
#include "../states.hpp"
#include "../unsignalled.hpp"
#include "../waiting.hpp"
#include "late_opening.hpp"
#include "set_cases.hpp"

namespace weft::conformance {

WEFT_INSTANTIATE(sets);
WEFT_INSTANTIATE(late_opening);
WEFT_INSTANTIATE(messages);
WEFT_INSTANTIATE(put_notify);
#ifndef WEFT_SHORT
WEFT_INSTANTIATE(atomics_of_peers);
WEFT_INSTANTIATE(batches);
WEFT_INSTANTIATE(closing);
WEFT_INSTANTIATE(completions);
WEFT_INSTANTIATE(connecting);
WEFT_INSTANTIATE(counting_of_notices);
WEFT_INSTANTIATE(endings);
WEFT_INSTANTIATE(gather_lists);
WEFT_INSTANTIATE(liveness_of_peers);
WEFT_INSTANTIATE(ordering_of_writes);
WEFT_INSTANTIATE(put_get);
WEFT_INSTANTIATE(states);
WEFT_INSTANTIATE(unsignalled);
WEFT_INSTANTIATE(waiting);
#endif

}  // namespace weft::conformance
