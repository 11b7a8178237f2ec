// SPDX-License-Identifier: Apache-2.0
//
// The suites that a missing promise could break, for the row `unordered`, which is not in the matrix
// (generator/unordered.py).
#include "../conformance/atomics.hpp"
#include "../conformance/completions.hpp"
#include "../conformance/messages.hpp"
#include "../conformance/ordering.hpp"
#include "../conformance/put_get.hpp"
#include "../conformance/put_notify.hpp"
#include "../conformance/stage.hpp"

namespace weft::conformance {

WEFT_INSTANTIATE(atomics_of_peers);
WEFT_INSTANTIATE(completions);
WEFT_INSTANTIATE(messages);
WEFT_INSTANTIATE(ordering_of_writes);
WEFT_INSTANTIATE(put_get);
WEFT_INSTANTIATE(put_notify);

}  // namespace weft::conformance
