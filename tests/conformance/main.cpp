// SPDX-License-Identifier: Apache-2.0
//
// Every conformance suite, for the fabric that this file is compiled for; or one suite (WEFT_SUITE_PROGRAMS).
#include "allocations.hpp"
#include "atomics.hpp"
#include "batches.hpp"
#include "closing.hpp"
#include "completions.hpp"
#include "composed_allocations.hpp"
#include "connecting.hpp"
#include "coroutines.hpp"
#include "counting.hpp"
#include "device_memory.hpp"
#include "environment.hpp"
#include "gather_lists.hpp"
#include "hard_cases/endings.hpp"
#include "hard_cases/forged_requests.hpp"
#include "hard_cases/strangers.hpp"
#include "hard_cases/wrong_posts.hpp"
#include "liveness.hpp"
#include "many_initiators.hpp"
#include "messages.hpp"
#include "multi_receive.hpp"
#include "ordering.hpp"
#include "put_get.hpp"
#include "put_notify.hpp"
#include "rails.hpp"
#include "regions.hpp"
#include "run_record.hpp"
#include "shared_receives.hpp"
#include "states.hpp"
#include "unsignalled.hpp"
#include "waiting.hpp"
#include "words.hpp"

namespace weft::conformance {

#ifndef WEFT_ONLY_SUITE
WEFT_INSTANTIATE(allocations);
WEFT_INSTANTIATE(atomics_of_peers);
WEFT_INSTANTIATE(batches);
WEFT_INSTANTIATE(closing);
WEFT_INSTANTIATE(completions);
WEFT_INSTANTIATE(composed_allocations);
WEFT_INSTANTIATE(coroutines_of_peers);
WEFT_INSTANTIATE(counting_of_notices);
WEFT_INSTANTIATE(endings);
WEFT_INSTANTIATE(forged_requests);
WEFT_INSTANTIATE(gather_lists);
WEFT_INSTANTIATE(many_initiators);
WEFT_INSTANTIATE(device_memory_of_peers);
WEFT_INSTANTIATE(liveness_of_peers);
WEFT_INSTANTIATE(connecting);
WEFT_INSTANTIATE(memory_of_peers);
WEFT_INSTANTIATE(messages);
WEFT_INSTANTIATE(multi_receive);
WEFT_INSTANTIATE(ordering_of_writes);
WEFT_INSTANTIATE(put_get);
WEFT_INSTANTIATE(put_notify);
WEFT_INSTANTIATE(regions);
WEFT_INSTANTIATE(shared_receives);
WEFT_INSTANTIATE(striped_rails);
WEFT_INSTANTIATE(states);
WEFT_INSTANTIATE(strangers);
WEFT_INSTANTIATE(unsignalled);
WEFT_INSTANTIATE(waiting);
WEFT_INSTANTIATE(words_of_peers);
WEFT_INSTANTIATE(wrong_posts);
#else
WEFT_INSTANTIATE(WEFT_ONLY_SUITE);
#endif

}  // namespace weft::conformance
