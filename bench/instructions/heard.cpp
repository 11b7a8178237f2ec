// SPDX-License-Identifier: Apache-2.0
//
// Polls that find a message in receives of each kind, for an instruction count (bench/instructions/composed;
// composed_ends.hpp): in slots, in large buffers of many messages (without contender), and in a pool of all
// connections. Hot path: the measured function. Threads: one per process.
#include "../../compose/with.hpp"
#include "composed_ends.hpp"

namespace {
using namespace weft;
using namespace weft::bench;

template <class Contender>
[[gnu::noinline]] int measured_poll(Contender& c) {
  return c.poll_once();
}
/// Polls that find one message.
template <class Contender>
tally receive_text(Contender& c, const channel& to, int visits) {
  tally t;
  settle(c);
  for (int v = 0; v < visits; ++v, ++t.operations) {
    const std::uint64_t before = c.counted.arrived;
    to.send_text("message");
    to.receive_text();  // the message is sent: the first poll finds it unless the other side's library holds it back
    do t.empty += measured_poll(c) == 0;
    while (c.counted.arrived == before);
  }
  return t;
}
template <class Contender>
int messages(int visits, names asked) {
  return both<Contender>([=](Contender& c, const channel& to) {
    const tally t = receive_text(c, to, visits);
    say(asked.front(), t);
    return t.refused;
  });
}

template <class Asked>
constexpr runner with_receives() {
  if constexpr (can_answer<fabric, Asked>) return messages<by_weft<with<fabric, Asked>>>;
  else return no_such;
}
constexpr runner with_pool_by_hand() {
  constexpr auto facts = fabric::facts;
  if constexpr (facts.shared_receives && facts.endpoint_type == endpoint_type::connected)
    return messages<by_hand<pooled_use>>;
  else return no_such;
}

constexpr counted_operation operations[] = {
    {"hear_slots", messages<by_weft<fabric>>, messages<by_hand<>>},
    {"hear_large_buffers", with_receives<answers::receive_buffers::multi_receive>(), no_such},
    {"hear_pool", with_receives<answers::receive_pool::shared>(), with_pool_by_hand()},
};
}  // namespace

int main(int argc, char** argv) { return run_asked(operations, {argv, static_cast<std::size_t>(argc)}); }
