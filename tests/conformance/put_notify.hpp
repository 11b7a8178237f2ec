// SPDX-License-Identifier: Apache-2.0
//
// put_notify: each notice arrives exactly once, with its immediate, after all of its bytes are visible, whatever
// carries the notice. Offsets are random and disjoint, so the handler can check the bytes. Hot path: no. Threads: one
// per side.
#pragma once

#include "two_sides.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace weft::conformance {

/// Offset and size of the i-th write; both sides compute the same from one seed.
class scattered {
 public:
  static constexpr std::size_t slot = 1000;
  static constexpr std::size_t largest = 900;  ///< Most are much smaller: rows may carry small ones in another way.

  scattered(std::uint64_t seed, std::uint32_t count) : count_(count), places_(count), sizes_(count) {
    std::mt19937_64 draw(seed);
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[draw() % i]);
    for (std::uint32_t i = 0; i < count; ++i) {
      sizes_[i] = draw() % 8 == 0 ? largest - draw() % 300 : 1 + draw() % 120;
      places_[i] = order[i] * slot + draw() % (slot - sizes_[i]);
    }
  }
  std::uint32_t count() const noexcept { return count_; }
  std::size_t place(std::uint32_t i) const { return places_.at(i); }
  std::size_t size(std::uint32_t i) const { return sizes_.at(i); }
  std::size_t bytes_in_all() const noexcept { return count_ * slot; }

 private:
  std::uint32_t count_;
  std::vector<std::size_t> places_;
  std::vector<std::size_t> sizes_;
};

/// Side 0: counts each notice and checks its bytes. At the end it checks every byte that no write touched.
template <class F>
void take_scattered(test_side& side, const scattered& plan) {
  target_side<F> host(side, plan.bytes_in_all(), rights::remote_write);
  std::vector<std::uint32_t> reported(plan.count());
  host.seen.on_notified = [&](const notified& n) {
    if (n.immediate >= plan.count()) {
      ADD_FAILURE() << "immediate " << n.immediate << " was not sent";
      return;
    }
    EXPECT_EQ(++reported[n.immediate], 1U) << "notice " << n.immediate << " arrived twice";
    const const_bytes there = host.region.memory().subspan(plan.place(n.immediate), plan.size(n.immediate));
    EXPECT_EQ(first_unlike(there, n.immediate), there.size())
        << "notice " << n.immediate << " arrived before its bytes";
    EXPECT_TRUE(!n.peer || n.peer == host.other);
    side.book.notified(1, host.net.now(), n.immediate, there);
  };
  await(
      side, host.net, host.seen, "all notices", [&] { return host.seen.notices >= plan.count(); }, patience * 2);
  side.ready(1);
  serve(side, host.net, host.seen, 1);
  EXPECT_EQ(host.seen.notices, plan.count()) << "more notices arrived than were sent";
  std::vector<bool> ours(plan.bytes_in_all());
  for (std::uint32_t i = 0; i < plan.count(); ++i)
    std::fill_n(ours.begin() + static_cast<std::ptrdiff_t>(plan.place(i)), plan.size(i), true);
  std::vector<std::byte> around;
  for (std::size_t i = 0; i < ours.size(); ++i)
    if (!ours[i]) around.push_back(host.region.data()[i]);
  EXPECT_EQ(std::count(around.begin(), around.end(), std::byte{}), std::ssize(around))
      << "bytes outside of the writes changed";
  side.book.guard(host.net.now(), 1, std::vector<std::byte>(around.size()), around);
  side.book.finished(host.net.now());
}

/// Side 1: posts all of them, as fast as the queue accepts them.
template <class F>
void send_scattered(test_side& side, const scattered& plan, bool signalled) {
  initiator_side<F> guest(side, plan.count() * scattered::largest);
  std::vector<std::uint64_t> ids(plan.count());
  std::vector<std::uint32_t> ended(plan.count());
  guest.seen.on_completed = [&](const completed& c) {
    const auto i = static_cast<std::size_t>(static_cast<std::uint64_t*>(c.context) - ids.data());
    EXPECT_EQ(++ended.at(i), 1U) << "put_notify " << i << " completed twice";
    side.book.ended(ids.at(i), guest.net.now(), errc::ok);
  };
  for (std::uint32_t i = 0; i < plan.count(); ++i) {
    const local_memory from = guest.memory.slice(i * scattered::largest, plan.size(i));
    paint({from.data, from.size}, i);
    // The end of an unsignalled put is recorded when the target confirms all of them.
    ids[i] = side.book.posted(history::work::put_notify, 0, guest.net.now(),
                              signalled ? latest_end(guest.net) : instant{}, i, const_bytes(from.data, from.size));
    push(side, guest.net, guest.seen, "put_notify", [&] {
      const remote_place at = guest.there.at(plan.place(i));
      return signalled ? guest.net.put_notify(guest.other, from, at, i, &ids[i])
                       : guest.net.put_notify(guest.other, from, at, i);
    });
    if (side.below(7) == 0) guest.net.progress(guest.seen);
  }
  if (signalled)
    await(side, guest.net, guest.seen, "all completions", [&] { return guest.seen.completions >= plan.count(); });
  serve(side, guest.net, guest.seen, 0);
  (void)side.wait_for_value(0);
  if (!signalled)  // the other side has confirmed them all
    for (const std::uint64_t id : ids) side.book.ended(id, guest.net.now(), errc::ok);
  EXPECT_EQ(guest.seen.completions, signalled ? plan.count() : 0U);
  await(side, guest.net, guest.seen, "nothing in flight", [&] { return guest.net.in_flight() == 0; });
  side.book.finished(guest.net.now());
  side.ready(0);
}

template <class Environment>
class put_notify : public suite<Environment> {};
TYPED_TEST_SUITE_P(put_notify);

TYPED_TEST_P(put_notify, a_thousand_signalled_puts_notify_once_each_after_their_bytes) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {}, [](test_side& side) { take_scattered<fabric>(side, scattered(11, 1000)); },
      [](test_side& side) { send_scattered<fabric>(side, scattered(11, 1000), true); });
}

TYPED_TEST_P(put_notify, a_thousand_unsignalled_puts_notify_once_each_after_their_bytes) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {}, [](test_side& side) { take_scattered<fabric>(side, scattered(12, 1000)); },
      [](test_side& side) { send_scattered<fabric>(side, scattered(12, 1000), false); });
}

TYPED_TEST_P(put_notify, every_immediate_value_arrives_unchanged) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t values[] = {0,       1,           0x7fff,      0x8000,     0xffff,
                                             0x10000, 0x7fff'ffff, 0x8000'0000, 0xffff'ffff};
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::remote_write);
        std::vector<std::uint32_t> came;
        host.seen.on_notified = [&](const notified& n) { came.push_back(n.immediate); };
        for (const std::uint32_t value : values) {
          await(side, host.net, host.seen, "one notice", [&] { return !came.empty(); });
          EXPECT_EQ(came, std::vector{value});
          came.clear();
          side.ready(1);
        }
        serve(side, host.net, host.seen, 1);
        EXPECT_TRUE(came.empty());
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096);
        for (const std::uint32_t value : values) {
          push(side, guest.net, guest.seen, "put_notify", [&] {
            return guest.net.put_notify(guest.other, guest.memory.first(8), guest.there.at(0), value, &guest);
          });
          serve(side, guest.net, guest.seen, 0);
          (void)side.wait_for_value(0);
        }
        await(side, guest.net, guest.seen, "completions", [&] { return guest.seen.completions == std::size(values); });
        side.ready(0);
      });
}

TYPED_TEST_P(put_notify, a_put_of_zero_bytes_notifies_too) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::remote_write);
        std::uint32_t sum = 0;
        host.seen.on_notified = [&](const notified& n) { sum += n.immediate; };
        await(side, host.net, host.seen, "both notices", [&] { return host.seen.notices == 2; });
        side.ready(1);
        serve(side, host.net, host.seen, 1);
        EXPECT_EQ(sum, 7U + 8U);
        EXPECT_EQ(host.seen.notices, 2U);
        for (const std::byte b : host.region.memory()) EXPECT_EQ(b, std::byte{});
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64);
        push(side, guest.net, guest.seen, "put_notify",
             [&] { return guest.net.put_notify(guest.other, guest.memory.first(0), guest.there.at(0), 7, &guest); });
        push(side, guest.net, guest.seen, "put_notify",
             [&] { return guest.net.put_notify(guest.other, guest.memory.first(0), guest.there.at(64), 8); });
        await(side, guest.net, guest.seen, "the completion", [&] { return guest.seen.completions == 1; });
        serve(side, guest.net, guest.seen, 0);
        side.ready(0);
      });
}

TYPED_TEST_P(put_notify, ten_times_more_notices_than_posted_receives_all_arrive) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t count = 320;
  const transport_options few{.receives = 8};
  TestFixture::play(
      {},
      [few](test_side& side) {
        target_side<fabric> host(side, 4096, rights::remote_write, few);
        std::uint64_t sum = 0;
        host.seen.on_notified = [&](const notified& n) { sum += n.immediate; };
        await(
            side, host.net, host.seen, "all notices", [&] { return host.seen.notices >= count; }, patience * 2);
        side.ready(1);
        serve(side, host.net, host.seen, 1);
        EXPECT_EQ(host.seen.notices, count);
        EXPECT_EQ(sum, std::uint64_t{count} * (count + 1) / 2);
      },
      [few](test_side& side) {
        initiator_side<fabric> guest(side, 4096, few);
        for (std::uint32_t i = 1; i <= count; ++i)
          push(side, guest.net, guest.seen, "put_notify",
               [&] { return guest.net.put_notify(guest.other, guest.memory.first(32), guest.there.at(0), i, &guest); });
        await(
            side, guest.net, guest.seen, "completions", [&] { return guest.seen.completions == count; }, patience * 2);
        serve(side, guest.net, guest.seen, 0);
        side.ready(0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(put_notify, a_thousand_signalled_puts_notify_once_each_after_their_bytes,
                            a_thousand_unsignalled_puts_notify_once_each_after_their_bytes,
                            every_immediate_value_arrives_unchanged, a_put_of_zero_bytes_notifies_too,
                            ten_times_more_notices_than_posted_receives_all_arrive);

}  // namespace weft::conformance
