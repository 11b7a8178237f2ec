// SPDX-License-Identifier: Apache-2.0
//
// No allocation in steady state for operations that are made of several posts or use other buffers: gather lists,
// states, flush, batches, atomics on floats, notices that carry their bytes, large and shared receives, rails.
// Counted as in allocations.hpp, on both sides. Coroutines (coroutines.hpp) and posts that share a message
// (coalescing.cpp) have counts of their own. Hot path: no. Threads: one per side.
#pragma once

#include "../../compose/with.hpp"
#include "allocations.hpp"
#include "multi_receive.hpp"
#include "rails.hpp"
#include "shared_receives.hpp"

#include <array>

namespace weft::conformance {

template <class Environment>
class composed_allocations : public suite<Environment> {};
TYPED_TEST_SUITE_P(composed_allocations);

/// Posts of one kind to warm up, and as many again while allocations are counted.
inline constexpr std::uint64_t steady_rounds = 200;

/// The target's side of `kinds` calls of steady().
template <class Net>
void watch_steady(test_side& side, Net& net, int kinds) {
  for (int phase = 0; phase < kinds * 2; ++phase) {
    tally seen;
    const std::uint64_t before = allocation_count();
    while (!side.has_value(1)) net.progress(seen);
    const std::uint64_t allocated = allocation_count() - before;
    const std::string what = side.wait_for_text(1);
    if (phase % 2 == 1) {
      EXPECT_EQ(allocated, 0U) << "at the target: " << what;
    }
    EXPECT_EQ(seen.wrong, 0U) << what;
    side.ready(1);
  }
}

/// The initiator's side: `post(seen)` returns a status; each accepted post completes once.
template <class Net, class Post>
void steady(test_side& side, Net& net, std::string_view what, Post&& post) {
  for (const bool counted : {false, true}) {
    side.at(what);
    tally seen;
    status refused{};
    const std::uint64_t before = allocation_count();
    for (std::uint64_t i = 0; i < steady_rounds && refused;) {
      const status s = post(seen);
      if (s) ++i;
      else if (!s.is_again()) refused = s;
      net.progress(seen);
    }
    const instant end = net.now() + patience;
    while (refused && seen.ends + seen.wrong < steady_rounds && net.now() < end) net.progress(seen);
    const std::uint64_t allocated = allocation_count() - before;
    EXPECT_TRUE(refused) << what << ": " << describe(refused);
    EXPECT_EQ(seen.ends, steady_rounds) << what;
    EXPECT_EQ(seen.wrong, 0U) << what;
    if (counted) {
      EXPECT_EQ(allocated, 0U) << "at the initiator: " << what << ", " << steady_rounds << " times";
    }
    side.send_value(0, what);
    while (!side.has_value(0)) net.progress(seen);
    (void)side.wait_for_value(0);
  }
}

TYPED_TEST_P(composed_allocations, gather_lists_states_flushes_batches_and_floats_allocate_nothing) {
  using fabric = typename TestFixture::tested_fabric;
  if (TypeParam::simulated)
    GTEST_SKIP() << "row " << fabric::name << " runs in process here: the simulated library is C++ too, and allocates";
  static constexpr bool sees =
      reached_by<fabric, weft::states::visible>::native || reached_by<fabric, weft::states::visible>::emulated;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::all);
        auto words = host.net.template allocate_words<atomicity::target>(64, rights::remote_atomic).value();
        side.send_value(1, const_bytes(host.net.export_region(words, owner_polls)));
        watch_steady(side, host.net, 10 + 2 * int{sees} + int{flushes<fabric>});
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096);
        auto& net = guest.net;
        const auto words =
            net.template parse_words<atomicity::target>(serve_for_value(side, net, guest.seen, 0)).value();
        const local_memory two[] = {guest.memory.first(16), guest.memory.slice(64, 16)};
        const remote_place at = guest.there.at(64);
        steady(side, net, "send of two pieces", [&](tally& seen) { return net.send(guest.other, two, &seen); });
        steady(side, net, "put of two pieces", [&](tally& seen) { return net.put(guest.other, two, at, &seen); });
        steady(side, net, "put_notify of two pieces",
               [&](tally& seen) { return net.put_notify(guest.other, two, at, 9, &seen); });
        steady(side, net, "get into two pieces", [&](tally& seen) { return net.get(guest.other, two, at, &seen); });
        const local_memory gap[] = {two[0], guest.memory.first(0), two[1]};
        steady(side, net, "put of two pieces and one without bytes",
               [&](tally& seen) { return net.put(guest.other, gap, at, &seen); });
        std::array<local_memory, gather_limit> many;
        for (std::size_t i = 0; i < many.size(); ++i) many[i] = guest.memory.slice(i * 8, 4);
        steady(side, net, "put of as many pieces as may be",
               [&](tally& seen) { return net.put(guest.other, many, at, &seen); });
        steady(side, net, "get into as many pieces as may be",
               [&](tally& seen) { return net.get(guest.other, many, at, &seen); });
        if constexpr (sees) {
          steady(side, net, "put until visible", [&](tally& seen) {
            return net.put(guest.other, two[0], at, completes_when<weft::states::visible>(&seen));
          });
          steady(side, net, "put of two pieces until visible", [&](tally& seen) {
            return net.put(guest.other, two, at, completes_when<weft::states::visible>(&seen));
          });
        }
        if constexpr (flushes<fabric>)
          steady(side, net, "put and flush", [&](tally& seen) {
            if (const status s = net.put(guest.other, two[0], at); !s) return s;
            return net.flush(guest.other, &seen);
          });
        steady(side, net, "batch of four", [&, b = net.batch(guest.other), member = 0](tally& seen) mutable {
          if (member == 0) b = net.batch(guest.other);
          for (; member < 4; ++member)
            if (const status s = member < 2    ? b.put_notify(two[0], at, 9)
                                 : member == 2 ? b.send(two[0])
                                               : b.put(two[0], at);
                !s)
              return s;
          const status s = b.close(&seen);
          if (s) member = 0;
          return s;
        });
        steady(side, net, "fetch_add of a float", [&](tally& seen) {
          return net.template fetch_add<float>(guest.other, guest.there.at(16), 0.5F, &seen);
        });
        steady(side, net, "compare_swap at the target", [&](tally& seen) {
          return net.template compare_swap<std::uint32_t>(guest.other, words.at(8), 0, 1, &seen);
        });
      });
}

/// F with notices by message that carry up to 100 bytes. F itself where its row forbids that.
template <class F>
struct fusing_of {
  using type = F;
};
template <class F>
requires(can_answer<F, answers::notify::message_after_delivery>) struct fusing_of<F> {
  using type = fused_up_to<with<F, answers::notify::message_after_delivery>, 100>;
};

TYPED_TEST_P(composed_allocations, notices_by_message_allocate_nothing) {
  using fabric = typename fusing_of<typename TestFixture::tested_fabric>::type;
  if (TypeParam::simulated)
    GTEST_SKIP() << "row " << fabric::name << " runs in process here: the simulated library is C++ too, and allocates";
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::all);
        watch_steady(side, host.net, 3);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096);
        auto& net = guest.net;
        for (const std::size_t size : {std::size_t{32}, std::size_t{300}})
          steady(side, net, size == 32 ? "put_notify with its bytes" : "put_notify beside its bytes", [&](tally& seen) {
            return net.put_notify(guest.other, guest.memory.first(size), guest.there.at(64), 9, &seen);
          });
        steady(side, net, "put_notify with its bytes, without a context", [&](tally& seen) {
          if (const status s = net.put_notify(guest.other, guest.memory.first(32), guest.there.at(64), 9); !s) return s;
          return net.put_notify(guest.other, guest.memory.first(32), guest.there.at(64), 9, &seen);
        });
      });
}

/// Messages into receives of another kind.
template <class F, class Play>
void none_by_messages(Play&& play) {
  play(
      {},
      [](test_side& side) {
        target_side<F> host(side, 4096, rights::all);
        watch_steady(side, host.net, 1);
      },
      [](test_side& side) {
        initiator_side<F> guest(side, 4096);
        steady(side, guest.net, "send",
               [&](tally& seen) { return guest.net.send(guest.other, guest.memory.first(256), &seen); });
      });
}
TYPED_TEST_P(composed_allocations, messages_into_large_and_shared_buffers_allocate_nothing) {
  using fabric = typename TestFixture::tested_fabric;
  if (TypeParam::simulated)
    GTEST_SKIP() << "row " << fabric::name << " runs in process here: the simulated library is C++ too, and allocates";
  const auto play = [](circumstances how, auto... bodies) { TestFixture::play(how, bodies...); };
  if constexpr (has_large_buffers<fabric>) none_by_messages<buffered<fabric>>(play);
  if constexpr (has_pool<fabric>) none_by_messages<pooled<fabric>>(play);
}

TYPED_TEST_P(composed_allocations, transfers_over_rails_allocate_nothing) {
  using fabric = typename TestFixture::tested_fabric;
  if (TypeParam::simulated)
    GTEST_SKIP() << "row " << fabric::name << " runs in process here: the simulated library is C++ too, and allocates";
  TestFixture::play(
      {},
      [](test_side& side) {
        striped_host<fabric> host(side, 8 * stripe);
        watch_steady(side, host.all, 3);
      },
      [](test_side& side) {
        striped_guest<fabric> guest(side, 8 * stripe);
        auto& net = guest.all;
        const striped_slice all = guest.memory.first(4 * stripe);
        const auto at = guest.there.at(stripe / 2);
        steady(side, net, "striped put", [&](tally& seen) { return net.put(guest.other, all, at, &seen); });
        steady(side, net, "striped put_notify",
               [&](tally& seen) { return net.put_notify(guest.other, all, at, 9, &seen); });
        steady(side, net, "striped get", [&](tally& seen) { return net.get(guest.other, all, at, &seen); });
      });
}

REGISTER_TYPED_TEST_SUITE_P(composed_allocations, gather_lists_states_flushes_batches_and_floats_allocate_nothing,
                            notices_by_message_allocate_nothing,
                            messages_into_large_and_shared_buffers_allocate_nothing,
                            transfers_over_rails_allocate_nothing);

}  // namespace weft::conformance
