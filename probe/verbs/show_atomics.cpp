// SPDX-License-Identifier: Apache-2.0
//
// Atomics by value, on the one word size that verbs support: 64 bits.
// Hot path: no. Threads: one owner per process.
#include "../behaviours.hpp"
#include "card.hpp"

#include <cstring>
#include <string>
#include <vector>

namespace weft::probe {

namespace {

using cards::card;

constexpr std::size_t place = 4096;

/// The fetched value; throws the error.
std::uint64_t atomic(card& net, ibv_wr_opcode what, std::uint64_t operand, std::uint64_t compare) {
  net.came.clear();
  net.must({.what = what, .to = place, .context = 1, .operand = operand, .compare = compare}, "ibv_post_send(atomic)");
  if (!net.until([&] { return net.ended(1) > 0; })) throw refused{"an atomic", ETIMEDOUT};
  if (net.failure() != IBV_WC_SUCCESS)
    throw refused{std::string("an atomic: ") + ibv_wc_status_str(net.failure()), EIO};
  std::uint64_t old = 0;
  std::memcpy(&old, net.page(), sizeof old);
  return old;
}

void atomics_initiator(const role& self) {
  card net(self.about, {}, self.side, true);
  self.told.fact("granted", true);
  net.warm_up();
  self.side.tell(41);  // the target sets its word to 40
  self.side.hear();
  const auto add = [&](std::uint64_t operand) { return atomic(net, IBV_WR_ATOMIC_FETCH_AND_ADD, operand, 0); };
  const auto swap = [&](std::uint64_t compare, std::uint64_t desired) {
    return atomic(net, IBV_WR_ATOMIC_CMP_AND_SWP, desired, compare);
  };
  const std::uint64_t first = add(2), second = add(~std::uint64_t{0});
  const std::string added = first != 40                    ? "wrong value fetched"
                            : second != 42 || add(0) != 41 ? "wrong value added"
                                                           : "right";
  const std::uint64_t missed = swap(8, 9), hit = swap(41, 9), left = swap(0, 1);
  const std::string swapped = missed != 41 || hit != 41 ? "wrong value fetched" : left != 9 ? "did not swap" : "right";
  self.told.fact("fetch_add", added);
  self.told.fact("compare_swap", swapped);
  std::vector<std::string> right, wrong;
  for (const auto& [name, outcome] :
       {std::pair{"fetch_add uint64", added}, std::pair{"compare_swap uint64", swapped}}) {
    if (outcome == "right") right.emplace_back(name);
    else wrong.push_back(std::string(name) + ": " + outcome);
  }
  self.told.fact("right", right);
  self.told.fact("wrong", wrong);
  self.side.tell(0);
}

/// The first operation to a peer is an atomic, and others follow at once.
void first_atomic_initiator(const role& self) {
  card net(self.about, {}, self.side, true);
  const std::uint64_t first = atomic(net, IBV_WR_ATOMIC_FETCH_AND_ADD, 2, 0);
  self.told.fact("first", first == 0 ? "right" : "wrong value fetched");
  std::uint64_t last = 0;
  for (int i = 0; i < 200; ++i) last = atomic(net, IBV_WR_ATOMIC_FETCH_AND_ADD, 2, 0);
  self.told.fact("all", last == 400 ? "right" : "wrong value fetched");
  self.side.tell(0);
}

void atomics_target(const role& self) {
  card net(self.about, {}, self.side, false);
  for (std::uint64_t word = net.serve(); word != 0; word = net.serve()) {
    const std::uint64_t value = word - 1;
    std::memcpy(net.page() + place, &value, sizeof value);
    self.side.tell(1);
  }
}

}  // namespace

const behaviour first_atomic{"first_atomic", "may an atomic be the first operation, and many follow?",
                             first_atomic_initiator, atomics_target};
const behaviour atomics{"atomics", "which atomics are right, by value?", atomics_initiator, atomics_target};

}  // namespace weft::probe
