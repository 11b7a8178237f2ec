// SPDX-License-Identifier: Apache-2.0
//
// Notices without a queue entry (notify::watched_word), where the row permits them. The promises of put_notify, of
// completions and of closing hold over ring cells that are used again and again.
#include "bytes_with_notices.hpp"
#include "closing.hpp"
#include "counting.hpp"
#include "liveness.hpp"
#include "put_notify.hpp"
#include "run_record.hpp"
#include "watched_rings.hpp"

#include "../../compose/with.hpp"

namespace weft::conformance {

/// Where the provider's atomics would cost orders, the target executes them.
template <class F>
using watched_of =
    std::conditional_t<F::facts.atomics_cost_order, with<F, answers::notify::watched_word, answers::atomics::target>,
                       with<F, answers::notify::watched_word>>;
using watched = watched_of<tested>;
using watched_environment = std::conditional_t<in_process<watched>, simulated_environment<watched>, live<watched>>;

INSTANTIATE_TYPED_TEST_SUITE_P(watched, put_notify, watched_environment, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(watched, counting_of_notices, watched_environment, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(watched, fused_notices, watched_environment, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(watched, closing, watched_environment, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(watched, liveness_of_peers, watched_environment, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(watched, watched_rings, watched_environment, fabric_name);

#if defined(WEFT_WITHOUT_IMMEDIATES)
/// The same row without immediates on writes: a payload larger than a cell goes first by a write, and its cell follows.
struct without_immediates : tested {
  static constexpr fabric_facts facts = [] {
    fabric_facts changed = tested::facts;
    changed.write_immediate_bytes = 0;
    return changed;
  }();
};
using ahead = with<without_immediates, answers::notify::watched_word>;
static_assert(ordering<ahead>::notice_after_notice);
INSTANTIATE_TYPED_TEST_SUITE_P(ahead, watched_rings, simulated_environment<ahead>, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(ahead, fused_notices, simulated_environment<ahead>, fabric_name);
#endif

}  // namespace weft::conformance
