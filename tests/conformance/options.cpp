// SPDX-License-Identifier: Apache-2.0
//
// Answers that no row has by default and that change the requests to the library, together: two completion queues, a
// library that locks, fewer bytes copied at the call. Each is used where the row permits it. All other promises still
// hold; the promises of the families inject and queues are tested here. Hot path: no. Threads: one per side.
#include "environment.hpp"
#include "put_notify.hpp"
#include "run_record.hpp"
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
// otherwise the row copies nothing, and `little` is `nothing`
constexpr bool copies = can_answer<tested, answers::inject::up_to<16>>;
using copies_nothing = decltype(asked_of<tested, answers::inject::never>());
using copies_little =
    decltype(asked_of<tested, std::conditional_t<copies, answers::inject::up_to<16>, answers::inject::never>>());
static_assert(consistent_fabric<copies_nothing>() && consistent_fabric<copies_little>());
/// Bytes of the message itself in a post of so many bytes.
constexpr std::uint32_t own(std::size_t copied) {
  constexpr std::size_t front = detail::engine<tested>::front;
  return static_cast<std::uint32_t>(copied > front ? copied - front : 0);
}
static_assert(transport<copies_nothing>::inject_bytes == 0 &&
              transport<copies_little>::inject_bytes == own(copies ? 16 : 0));
static_assert(transport<tested>::inject_bytes == own(tested::facts.inject_bytes),
              "else the row's own answer is another");
static_assert(copies_nothing::fingerprint == tested::fingerprint, "each side answers for itself");

template <class F>
using environment_of = std::conditional_t<in_process<F>, simulated_environment<F>, live<F>>;

template <class Environment>
class options : public suite<Environment> {};
TYPED_TEST_SUITE_P(options);

/// Side 0: how many payloads arrived as they were at the post, and how many as they were later.
struct seen_letters {
  std::uint32_t early = 0, late = 0;
};

/// Posts and overwrites the source at once, with sizes around the inject size. Bytes that are copied at the call arrive
/// as they were; the simulated library reads all others later, sometimes.
TYPED_TEST_P(options, sources_up_to_the_inject_size_are_reusable_at_once_and_larger_ones_later) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr bool rides =
      answer<fabric, notify_family>::rides_on_write;  // otherwise the library reads the source of its write at any time
  static constexpr std::uint32_t bound = transport<fabric>::inject_bytes, rounds = 64;
  if (bound > 0 && !rides)
    GTEST_SKIP() << "row " << fabric::name
                 << ": its notices are not part of their writes, and the library reads their sources later";
  static constexpr bool reads_late = in_process<fabric>;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::remote_write);
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
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64);
        for (std::uint32_t i = 0; i < rounds; ++i) {
          const std::uint32_t size = bound == 0 || i % 2 == 0 ? bound + 1 : bound;
          const local_memory from = guest.memory.first(size);
          push(side, guest.net, guest.seen, "put_notify", [&] {
            std::memset(from.data, 'e', size);
            const status s = guest.net.put_notify(guest.other, from, guest.there.at(0), size);
            std::memset(from.data, 'l', size);
            return s;
          });
          (void)serve_for_value(side, guest.net, guest.seen, 0);
        }
        side.ready(0);
      });
}

/// Completions and receives have queues of their own: a completion wakes a sleeping thread although nothing arrives.
TYPED_TEST_P(options, a_completion_alone_wakes_a_sleeping_thread) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr duration nap = 30s;  // each lost wake-up costs as much
  TestFixture::play(
      {.limit = 40s, .once = true},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::remote_write);
        serve(side, host.net, host.seen, 1);
        EXPECT_EQ(host.seen.notices, 0U);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64, {.sleeps = true, .silence_limit = 20s});
        for (std::uint64_t i = 1; i <= 200; ++i) {
          push(side, guest.net, guest.seen, "put",
               [&] { return guest.net.put(guest.other, guest.memory.first(8), guest.there.at(0), &guest); });
          side.at("asleep until the put has completed");
          while (guest.seen.completions < i) {
            (void)guest.net.wait(nap);
            guest.net.progress(guest.seen);
          }
        }
        side.ready(0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(options, sources_up_to_the_inject_size_are_reusable_at_once_and_larger_ones_later,
                            a_completion_alone_wakes_a_sleeping_thread);

INSTANTIATE_TYPED_TEST_SUITE_P(little, options, environment_of<copies_little>, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(nothing, options, environment_of<copies_nothing>, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(nothing, put_notify, environment_of<copies_nothing>, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(nothing, waiting, environment_of<copies_nothing>, fabric_name);

}  // namespace weft::conformance
