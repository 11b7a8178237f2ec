// SPDX-License-Identifier: Apache-2.0
//
// More messages than a receiver's memory holds while its handler keeps them: the library has no receive left, and one
// of the sides holds the rest back. When the handler takes them, each arrives once and whole, empty ones too. Hot path:
// no. Threads: one per side.
#pragma once

#include "numbered_messages.hpp"
#include "sides/stored_call.hpp"

namespace weft::conformance {

/// An observer that may leave a message. One type for all tests, so that a transport is compiled once for it.
struct choosing_observer {
  observer& seen;
  stored_call<bool(const received&)> takes;
  bool operator()(const received& m) const { return takes(m); }
  void operator()(const auto& other) const { seen(other); }
};

struct held_back {
  std::uint32_t count;        ///< Messages; a multiple of 9. An empty message follows each ninth.
  std::uint32_t largest;      ///< Bytes of every fourth message; the others are smaller.
  std::uint32_t held_surely;  ///< As many arrive while the handler keeps them.
  std::uint32_t receives;     ///< transport_options::receives of the listener.
};

/// Side 0: keeps all messages until no new one arrives, then takes them.
template <class F>
void hold_and_take(test_side& side, const held_back& what) {
  auto net = opened<F>(side, listening({.max_message_bytes = what.largest, .receives = what.receives}));
  observer seen;
  const peer p = meet_as_listener(side, net, seen);
  bool holds = true;
  std::uint32_t newest = 0;
  std::vector<std::uint32_t> came(what.count);
  std::uint64_t taken = 0, empty = 0;
  const choosing_observer on{seen, [&](const received& m) {
                               if (holds) {
                                 newest = std::max(newest, number_of(m.message));
                                 return false;
                               }
                               EXPECT_EQ(m.peer, p);
                               ++taken;
                               if (m.message.empty()) return ++empty > 0;
                               const std::uint32_t i = number_of(m.message);
                               if (i < what.count) ++came[i];
                               EXPECT_TRUE(is_message(m.message, i)) << "message " << i << " has wrong bytes";
                               return true;
                             }};
  side.at("holding");
  ASSERT_TRUE(net.until([&] { return side.has_value(1); }, patience * 2, on));
  for (std::uint32_t quiet = 0, last = 0; quiet < 2000; last = newest) {
    (void)net.progress(on);
    quiet = newest == last ? quiet + 1 : 0;
    if (quiet % 200 == 199) side.rest(1ms);
  }
  EXPECT_LT(newest, what.count - 1) << "more messages arrived than the receiver can hold";
  holds = false;
  (void)side.wait_for_value(1);
  side.at("taking");
  ASSERT_TRUE(net.until([&] { return taken == what.count + what.count / 9; }, patience * 2, on))
      << taken << ", and dropped: " << net.garbled() << " and " << net.stale();
  EXPECT_EQ(empty, what.count / 9);
  for (std::uint32_t i = 0; i < what.count; ++i) EXPECT_EQ(came[i], 1U) << i;
  side.ready(1);
  ASSERT_TRUE(net.until([&] { return side.has_value(1); }, patience * 2, on));
}

/// Side 1.
template <class F>
void send_more_than_is_held(test_side& side, const held_back& what) {
  ASSERT_EQ(what.count % 9, 0U);
  constexpr std::uint32_t sources = 32;
  auto net = opened<F>(side);
  observer seen;
  auto memory = net.allocate(std::size_t{sources} * what.largest, rights::none).value();
  const peer p = meet_as_caller(side, net, seen);
  std::uint64_t posted = 0;
  for (std::uint32_t i = 0; i < what.count; ++i) {
    const local_memory from = memory.slice(std::size_t{i % sources} * what.largest,
                                           i % 4 == 0 ? what.largest : 4 + side.below(what.largest - 4));
    await(side, net, seen, "room", [&] { return seen.completions + sources > posted; });
    write_message({from.data, from.size}, i);
    push(side, net, seen, "send", [&] { return net.send(p, from, &seen); });
    ++posted;
    if (i % 9 == 0)
      push(side, net, seen, "send nothing", [&] { return net.send(p, memory.first(0), &seen); }), ++posted;
    if (i == what.held_surely) side.ready(0);
  }
  await(
      side, net, seen, "ends", [&] { return seen.completions == posted; }, patience * 2);
  (void)serve_for_value(side, net, seen, 0);
  side.ready(0);
}

}  // namespace weft::conformance
