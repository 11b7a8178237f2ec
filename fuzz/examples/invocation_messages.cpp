// SPDX-License-Identifier: Apache-2.0
//
// examples/invocation/messages.hpp: every message between client, manager and workers. Each input is one kind at most.
#include "one_kind.hpp"

namespace weft::fuzz::invocation_messages {

using namespace weft::invocation;

void check(const_bytes input) {
  if (input.size() > 2 * largest_message) return;
  one_kind_at_most<allocate_message, release_message, allocated_message, refused_message, executor_lost_message,
                   released_message, account_message, finish_message, totals_message, welcome_message, cancel_message,
                   ready_message, unable_message, cancelled_message, managers_message, alive_message, claim_message,
                   inherited_message>(input);
}

}  // namespace weft::fuzz::invocation_messages
WEFT_FUZZ_TARGET(invocation_messages)
