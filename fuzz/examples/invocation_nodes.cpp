// SPDX-License-Identifier: Apache-2.0
//
// examples/invocation/nodes/messages.hpp: what a manager and the daemon of a node send each other, the greeting of a
// daemon, and the journals inside of a message. A daemon may be any program that reaches the port.
#include "one_kind.hpp"

#include <invocation/nodes/messages.hpp>

namespace weft::fuzz::invocation_nodes {

using namespace weft::invocation::nodes;
using weft::invocation::largest_message;
using weft::invocation::worker_journal;

void check_order(const start_message& m) {
  const auto order = order_of(m);
  const start_message again = message_of(order, m.number, m.lease_ms);
  require(again.workers == m.workers && again.slots == m.slots && again.input_bytes == m.input_bytes &&
              again.output_bytes == m.output_bytes && again.polling == m.polling && again.hot_ms == m.hot_ms &&
              again.function_limit_ns == m.function_limit_ns && again.start_limit_ns == m.start_limit_ns &&
              again.silence_ns == m.silence_ns && again.source == m.source && again.object == m.object &&
              again.object_bytes == m.object_bytes && again.allocation == m.allocation &&
              again.client_secret == m.client_secret && again.manager == m.manager && again.client == m.client,
          "an order is the same on both sides");
}

/// As the manager reads them: into the journals of an executor from `first` on.
void check_journals(const journal_message& m) {
  std::array<worker_journal, journals_per_letter> journals{};
  const bool whole = unpacked(m.words, journals);
  require(whole == (m.words.size() % journal_bytes == 0 && m.words.size() / journal_bytes <= journals.size()),
          "only whole journals are taken, and no more than there are");
  if (whole)
    require(packed(std::span(journals).first(m.words.size() / journal_bytes)) == m.words,
            "a journal arrives as it was");
}

void check(const_bytes input) {
  if (input.size() > 2 * largest_message) return;
  one_kind_at_most<entered_message, start_message, kill_message, dismissed_message, enter_message, started_message,
                   not_started_message, journal_message, ended_message, state_message, wind_up_message, left_message,
                   orphan_message, noted_message>(input);
  if (const auto m = weft::invocation::unpack<start_message>(input)) check_order(*m);
  if (const auto m = weft::invocation::unpack<journal_message>(input)) check_journals(*m);
  if (const auto g = parse_greeting(input)) require(same(encode(*g), input), "a greeting has one form");
}

}  // namespace weft::fuzz::invocation_nodes
WEFT_FUZZ_TARGET(invocation_nodes)
