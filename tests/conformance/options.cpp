// SPDX-License-Identifier: Apache-2.0
//
// Answers that no row has by default, and that change what the library is asked for, together: two completion queues, a
// library that locks, and less copied at the call, each where the row permits it. What is promised holds with them as
// without; what families inject and queues promise besides, here. Hot path: no. Threads: one per side.
#include "put_notify.hpp"
#include "run_record.hpp"
#include "stage.hpp"
#include "waiting.hpp"

#include "../../compose/with.hpp"

namespace weft::conformance {

template <class F, class... Answers>
consteval auto asked_of() {
  if constexpr (can_answer<F, answers::queues::two> && can_answer<F, answers::threading::library_locks>)
    return with<F, Answers..., answers::queues::two, answers::threading::library_locks>{};
  else if constexpr (can_answer<F, answers::queues::two>) return with<F, Answers..., answers::queues::two>{};
  else return with<F, Answers...>{};
}
constexpr bool copies =
    can_answer<tested, answers::inject::up_to<16>>;  // else the row copies nothing, and there is no less
using copies_nothing = decltype(asked_of<tested, answers::inject::never>());
using copies_little =
    decltype(asked_of<tested, std::conditional_t<copies, answers::inject::up_to<16>, answers::inject::never>>());
static_assert(consistent_fabric<copies_nothing>() && consistent_fabric<copies_little>());
/// What a post of so many bytes leaves to a message's own.
constexpr std::uint32_t own(std::size_t copied) {
  constexpr std::size_t around = detail::engine<tested>::around;
  return static_cast<std::uint32_t>(copied > around ? copied - around : 0);
}
static_assert(transport<copies_nothing>::inject_bytes == 0 &&
              transport<copies_little>::inject_bytes == own(copies ? 16 : 0));
static_assert(transport<tested>::inject_bytes == own(tested::facts.inject_bytes),
              "else the row's own answer is another");
static_assert(copies_nothing::fingerprint == tested::fingerprint, "each side answers for itself");

template <class F>
using stage_of = std::conditional_t<in_process<F>, simulated_stage<F>, live<F>>;

template <class Stage>
class options : public suite<Stage> {};
TYPED_TEST_SUITE_P(options);

/// Side 0: how many of so many payloads came as they were when they were posted, and how many as they were later.
struct seen_letters {
  std::uint32_t early = 0, late = 0;
};

/// Posts and at once writes over the source, with sizes about the bound. What is copied at the call comes as it was;
/// the simulated library reads all else later, sometimes.
TYPED_TEST_P(options, sources_are_free_at_once_up_to_the_bound_and_not_above) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr bool rides =
      answer<fabric, notify_family>::rides_on_write;  // else its write is read when the library likes
  static constexpr std::uint32_t bound = transport<fabric>::inject_bytes, rounds = 64;
  if (bound > 0 && !rides)
    GTEST_SKIP() << "fabric " << fabric::name
                 << ": its notices do not ride on their writes, whose sources are read later";
  static constexpr bool reads_late = in_process<fabric>;
  TestFixture::play(
      {},
      [](party& side) {
        hosting<fabric> host(side, 64, rights::remote_write);
        seen_letters small, large;
        host.seen.on_notified = [&](const notified& n) {
          seen_letters& of = n.immediate <= bound ? small : large;
          const std::byte came = host.region.data()[n.immediate - 1];
          ++(came == std::byte{'e'} ? of.early : of.late);
        };
        for (std::uint32_t i = 1; i <= rounds; ++i) {
          await(side, host.net, host.seen, "a notice", [&] { return host.seen.notices == i; });
          side.ready(1);
        }
        serve(side, host.net, host.seen, 1);
        EXPECT_EQ(small.late, 0U) << "a source of at most inject_bytes was read after the call";
        EXPECT_EQ(small.early, bound == 0 ? 0U : rounds / 2);
        if (reads_late) {
          EXPECT_GT(large.late, 0U) << "a source of more than inject_bytes was copied at the call";
        }
      },
      [](party& side) {
        visiting<fabric> guest(side, 64);
        for (std::uint32_t i = 0; i < rounds; ++i) {
          const std::uint32_t size = bound == 0 || i % 2 == 0 ? bound + 1 : bound;
          const local_memory from = guest.memory.first(size);
          push(side, guest.net, guest.seen, "put_notify", [&] {
            std::memset(from.data, 'e', size);
            const status s = guest.net.put_notify(guest.other, from, guest.there.at(0), size);
            std::memset(from.data, 'l', size);
            return s;
          });
          (void)serve_and_ask(side, guest.net, guest.seen, 0);
        }
        side.ready(0);
      });
}

/// Ends and arrivals lie in queues of their own: who sleeps is woken by an end although nothing arrives.
TYPED_TEST_P(options, a_sleeper_is_woken_by_ends_alone) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr duration nap = 30s;  // each wake-up that is lost costs as much
  TestFixture::play(
      {.limit = 40s, .once = true},
      [](party& side) {
        hosting<fabric> host(side, 64, rights::remote_write);
        serve(side, host.net, host.seen, 1);
        EXPECT_EQ(host.seen.notices, 0U);
      },
      [](party& side) {
        visiting<fabric> guest(side, 64, {.sleeps = true, .silence_limit = 20s});
        for (std::uint64_t i = 1; i <= 200; ++i) {
          push(side, guest.net, guest.seen, "put",
               [&] { return guest.net.put(guest.other, guest.memory.first(8), guest.there.at(0), &guest); });
          side.at("asleep until the put has ended");
          while (guest.seen.completions < i) {
            (void)guest.net.wait(nap);
            guest.net.progress(guest.seen);
          }
        }
        side.ready(0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(options, sources_are_free_at_once_up_to_the_bound_and_not_above,
                            a_sleeper_is_woken_by_ends_alone);

INSTANTIATE_TYPED_TEST_SUITE_P(little, options, stage_of<copies_little>, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(nothing, options, stage_of<copies_nothing>, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(nothing, put_notify, stage_of<copies_nothing>, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(nothing, waiting, stage_of<copies_nothing>, fabric_name);

}  // namespace weft::conformance
