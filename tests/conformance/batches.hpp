// SPDX-License-Identifier: Apache-2.0
//
// Batches: each member arrives once, as if it had been posted alone. A batch closes on every path. A refused member is
// not part of the batch. progress() posts the members that a full queue refused. Hot path: no. Threads: one per side.
#pragma once

#include "two_sides.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

namespace weft::conformance {

template <class Environment>
class batches : public suite<Environment> {
 public:
  static constexpr bool simulated = Environment::simulated;
};
TYPED_TEST_SUITE_P(batches);

/// Side 0: a region of 64-byte slots. A notice names the slot whose bytes must be there. A message carries its own
/// number.
struct slots_of_a_batch {
  static constexpr std::size_t each = 64;
  std::uint32_t count;
  std::vector<std::uint32_t> reported = std::vector<std::uint32_t>(count);
  std::vector<std::uint32_t> came = std::vector<std::uint32_t>(count);

  template <class F>
  void take(test_side& side, transport_options o = {}) {
    target_side<F> host(side, count * each, rights::remote_write, o);
    host.seen.on_notified = [&](const notified& n) {
      ASSERT_LT(n.immediate, count);
      EXPECT_EQ(++reported[n.immediate], 1U) << "notice " << n.immediate << " arrived twice";
      EXPECT_EQ(first_unlike(host.region.memory().subspan(n.immediate * each, each), n.immediate), each)
          << "before its bytes: " << n.immediate;
    };
    host.seen.on_received = [&](const received& m) {
      std::uint32_t which = count;
      ASSERT_EQ(m.message.size(), sizeof which);
      std::memcpy(&which, m.message.data(), sizeof which);
      ASSERT_LT(which, count);
      EXPECT_EQ(++came[which], 1U) << "message " << which << " arrived twice";
    };
    serve(side, host.net, host.seen, 1);
    const std::uint64_t notices = side.wait_for_number(1), messages = side.wait_for_number(1);
    await(
        side, host.net, host.seen, "all of the batch",
        [&] { return host.seen.notices >= notices && host.seen.messages >= messages; }, patience * 2);
    side.ready(1);
    serve(side, host.net, host.seen, 1);
    EXPECT_EQ(host.seen.notices, notices);
    EXPECT_EQ(host.seen.messages, messages);
    for (std::uint32_t i = 0; i < count; ++i)
      EXPECT_EQ(first_unlike(host.region.memory().subspan(i * each, each), i), each) << "put " << i << " is missing";
  }
};

/// Side 1: memory with the same slots, followed by a number for each message.
template <class F>
struct batching : initiator_side<F> {
  static constexpr std::size_t each = slots_of_a_batch::each;
  std::uint32_t count;
  std::uint64_t notices = 0, messages = 0;

  batching(test_side& side, std::uint32_t slots, transport_options o = {})
      : initiator_side<F>(side, slots * (each + 4), o), count(slots) {
    for (std::uint32_t i = 0; i < count; ++i) {
      paint({this->memory.data() + i * each, each}, i);
      std::memcpy(number(i).data, &i, sizeof i);
    }
  }
  local_memory slot(std::uint32_t i) const { return this->memory.slice(i * each, each); }
  local_memory number(std::uint32_t i) const { return this->memory.slice(count * each + i * 4, 4); }

  /// Member i of a batch. There are three kinds; each slot is put by one of them.
  template <class Batch>
  status add(Batch& b, std::uint32_t i) {
    const status s =
        i % 3 == 2 ? b.put_notify(slot(i), this->there.at(i * each), i) : b.put(slot(i), this->there.at(i * each));
    notices += std::uint64_t{s && i % 3 == 2};
    return s;
  }
  template <class Batch>
  status say(Batch& b, std::uint32_t i) {
    const status s = b.send(number(i));
    messages += std::uint64_t{static_cast<bool>(s)};
    return s;
  }
  void finish(test_side& side) {
    side.send_value(0, notices);
    side.send_value(0, messages);
    (void)serve_for_value(side, this->net, this->seen, 0);
    await(side, this->net, this->seen, "nothing in flight", [&] { return this->net.in_flight() == 0; });
    // Without an order between writes, puts before the last member may still be in flight.
    if constexpr (flushes<F>) {
      EXPECT_TRUE(this->net.flush(this->other, patience, this->seen));
    }
    side.ready(0);
  }
};

TYPED_TEST_P(batches, members_of_every_kind_arrive_once_and_the_last_completes) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t count = 240;
  TestFixture::play(
      {}, [](test_side& side) { slots_of_a_batch{count}.take<fabric>(side); },
      [](test_side& side) {
        batching<fabric> guest(side, count);
        guest.seen.on_completed = [&](const completed& c) { EXPECT_EQ(c.context, &guest); };
        std::uint32_t closed = 0;
        for (std::uint32_t i = 0; i < count; ++closed) {
          auto b = guest.net.batch(guest.other);
          for (const std::uint32_t end = std::min(count, i + 16); i < end; ++i) {
            push(side, guest.net, guest.seen, "member", [&] { return guest.add(b, i); });
            if (i % 5 == 0) push(side, guest.net, guest.seen, "message", [&] { return guest.say(b, i); });
          }
          push(side, guest.net, guest.seen, "close", [&] { return b.close(&guest); });
          EXPECT_FALSE(b.is_open());
          EXPECT_EQ(b.put(guest.slot(0), guest.there.at(0)).code, errc::invalid);
          EXPECT_EQ(b.close().code, errc::invalid);
        }
        await(side, guest.net, guest.seen, "a completion for each batch",
              [&] { return guest.seen.completions >= closed; });
        guest.finish(side);
        EXPECT_EQ(guest.seen.completions, closed);
      });
}

TYPED_TEST_P(batches, batches_close_on_every_path) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t count = 12;
  TestFixture::play(
      {}, [](test_side& side) { slots_of_a_batch{count}.take<fabric>(side); },
      [](test_side& side) {
        batching<fabric> guest(side, count);
        const auto add = [&](auto& b, std::uint32_t i) {
          push(side, guest.net, guest.seen, "member", [&] { return guest.add(b, i); });
        };
        {  // the end of its scope, after a member failed
          auto b = guest.net.batch(guest.other);
          add(b, 0);
          if (refuses_wrong_posts<fabric>) {
            EXPECT_EQ(b.put(guest.slot(0), guest.there.at(count * 64)).code, errc::out_of_range);
            EXPECT_EQ(b.send({nullptr, 1U << 30, nullptr}).code, errc::truncated);
          }
          add(b, 1);
          EXPECT_EQ(b.posted(), 1U);
        }
        try {  // an exception of its owner
          auto b = guest.net.batch(guest.other);
          add(b, 2);
          add(b, 3);
          throw std::runtime_error("an exception of the owner");
        } catch (const std::runtime_error&) {
        }
        {  // moved once
          auto b = guest.net.batch(guest.other);
          add(b, 4);
          auto heir = std::move(b);
          add(heir, 5);
          EXPECT_EQ(b.put(guest.slot(0), guest.there.at(0)).code,
                    errc::invalid);  // NOLINT(bugprone-use-after-move): closed by the move
          auto third = guest.net.batch(guest.other);
          add(third, 6);
          heir = std::move(third);  // the old batch of `heir` is posted
          add(heir, 7);
        }
        {  // of one member, and of none
          auto one = guest.net.batch(guest.other);
          add(one, 8);
          push(side, guest.net, guest.seen, "close", [&] { return one.close(); });
          EXPECT_EQ(one.posted(), 1U);
          auto none = guest.net.batch(guest.other);
          EXPECT_EQ(none.close(&guest).code, errc::invalid);
          EXPECT_TRUE(none.close());
          auto dropped = guest.net.batch(guest.other);
        }
        auto last = guest.net.batch(guest.other);
        for (std::uint32_t i = 9; i < count; ++i) add(last, i);
        push(side, guest.net, guest.seen, "close", [&] { return last.close(); });
        guest.finish(side);
        EXPECT_EQ(guest.seen.ends(), 0U) << "no completion was requested";
      });
}

TYPED_TEST_P(batches, members_that_a_full_queue_refuses_are_posted_by_progress) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t count = 600;
  TestFixture::play(
      {}, [](test_side& side) { slots_of_a_batch{count}.take<fabric>(side, {.receives = 4}); },
      [](test_side& side) {
        batching<fabric> guest(side, count, {.operations = 8});
        for (std::uint32_t i = 0; i < count;) {  // never closed by hand: progress posts the members that remain
          auto b = guest.net.batch(guest.other);
          for (const std::uint32_t end = std::min(count, i + 7); i < end; ++i) {
            push(side, guest.net, guest.seen, "member", [&] { return guest.add(b, i); });
            push(side, guest.net, guest.seen, "message", [&] { return guest.say(b, i); });
          }
        }
        guest.finish(side);
        EXPECT_EQ(guest.seen.failures, 0U);
      });
}

/// Longer than the queues, each kind in a batch of its own: no member may wait for the batch's end.
TYPED_TEST_P(batches, batches_longer_than_the_queue_arrive_whole) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t members = 4096;
  TestFixture::play(
      {}, [](test_side& side) { slots_of_a_batch{2 * members}.take<fabric>(side); },
      [](test_side& side) {
        batching<fabric> guest(side, 2 * members);
        const auto one_batch = [&](std::string_view what, auto&& add) {
          auto b = guest.net.batch(guest.other);
          for (std::uint32_t i = 0; i < members; ++i)
            push(side, guest.net, guest.seen, what, [&] { return add(b, i); });
          push(side, guest.net, guest.seen, "close", [&] { return b.close(); });
          EXPECT_EQ(b.posted(), members);
        };
        one_batch("batch.put", [&](auto& b, std::uint32_t i) {
          return b.put(guest.slot(members + i), guest.there.at((members + i) * guest.each));
        });
        one_batch("batch.put_notify", [&](auto& b, std::uint32_t i) {
          const status s = b.put_notify(guest.slot(i), guest.there.at(i * guest.each), i);
          guest.notices += std::uint64_t{static_cast<bool>(s)};
          return s;
        });
        one_batch("batch.send", [&](auto& b, std::uint32_t i) { return guest.say(b, i); });
        guest.finish(side);
        EXPECT_EQ(guest.seen.failures, 0U);
      });
}

/// The same with few operations: held posts may not keep all slots either.
TYPED_TEST_P(batches, batches_longer_than_the_operations_arrive_whole) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t count = 600;
  TestFixture::play(
      {}, [](test_side& side) { slots_of_a_batch{count}.take<fabric>(side, {.receives = 4}); },
      [](test_side& side) {
        batching<fabric> guest(side, count, {.operations = 8});
        auto b = guest.net.batch(guest.other);
        for (std::uint32_t i = 0; i < count; ++i) {
          push(side, guest.net, guest.seen, "member", [&] { return guest.add(b, i); });
          if (i % 5 == 0) push(side, guest.net, guest.seen, "message", [&] { return guest.say(b, i); });
        }
        push(side, guest.net, guest.seen, "close", [&] { return b.close(); });
        guest.finish(side);
        EXPECT_EQ(guest.seen.failures, 0U);
      });
}

/// Batches that are open at the same time share one queue: all of them together may not fill the queue with held posts.
TYPED_TEST_P(batches, batches_open_at_the_same_time_arrive_whole) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t members = 1536, open = 24;
  TestFixture::play(
      {}, [](test_side& side) { slots_of_a_batch{members}.take<fabric>(side); },
      [](test_side& side) {
        batching<fabric> guest(side, members);
        {
          std::vector<decltype(guest.net.batch(guest.other))> all;
          for (std::uint32_t i = 0; i < open; ++i) all.push_back(guest.net.batch(guest.other));
          for (std::uint32_t i = 0; i < members; ++i)
            push(side, guest.net, guest.seen, "member", [&] { return guest.add(all[i % open], i); });
        }  // each closes itself
        guest.finish(side);
        EXPECT_EQ(guest.seen.failures, 0U);
      });
}

TYPED_TEST_P(batches, batches_to_a_closed_peer_are_refused_and_leave_nothing) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::remote_write);
        serve(side, host.net, host.seen, 1);
        EXPECT_TRUE(host.net.close(host.other, patience, host.seen));
      },
      [](test_side& side) {
        batching<fabric> guest(side, 4);
        auto b = guest.net.batch(guest.other);
        // The host's memory ends with the host. Where the library holds members until the goodbye, they may come later.
        guest.seen.on_failed = [](const failed& e) {
          EXPECT_EQ(e.what, operation::put);
          EXPECT_TRUE(e.why.code == errc::denied || e.why.code == errc::peer_lost) << describe(e.why);
        };
        for (int i = 0; i < 6; ++i)
          push(side, guest.net, guest.seen, "member", [&] { return b.put(guest.slot(0), guest.there.at(0)); });
        side.ready(0);
        await(side, guest.net, guest.seen, "the peer's goodbye", [&] { return !guest.other.alive(); });
        if (refuses_wrong_posts<fabric>) {
          EXPECT_EQ(b.put(guest.slot(1), guest.there.at(64)).code, errc::peer_lost);
        }
        EXPECT_EQ(b.close(&guest).code, errc::peer_lost);
        { auto unborn = guest.net.batch(guest.other); }
        await(side, guest.net, guest.seen, "nothing in flight", [&] { return guest.net.in_flight() == 0; });
        EXPECT_LE(guest.seen.failures, 6U);
      });
}

TYPED_TEST_P(batches, each_fetch_add_of_a_batch_completes_with_its_own_value) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint64_t count = 40;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::all);
        (void)serve_for_value(side, host.net, host.seen, 1);
        std::uint64_t word = 0;
        std::memcpy(&word, host.region.data() + 8, sizeof word);
        EXPECT_EQ(word, 3 * count);
        side.ready(1);
        (void)serve_for_value(side, host.net, host.seen, 1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64);
        std::vector<std::uint64_t> olds;
        guest.seen.on_completed = [&](const completed& c) {
          EXPECT_EQ(c.what, operation::fetch_add);
          EXPECT_EQ(c.context, &guest);
          olds.push_back(c.old);
        };
        for (std::uint64_t i = 0; i < count;) {
          auto b = guest.net.batch(guest.other);
          for (const std::uint64_t end = i + 8; i < end; ++i) {
            push(side, guest.net, guest.seen, "put", [&] { return b.put(guest.memory.first(8), guest.there.at(64)); });
            push(side, guest.net, guest.seen, "fetch_add", [&] { return b.fetch_add(guest.there.at(8), 3, &guest); });
          }
          if (refuses_wrong_posts<fabric>) {
            EXPECT_EQ(b.fetch_add(guest.there.at(9), 3, &guest).code, errc::invalid) << "not aligned";
          }
          EXPECT_EQ(b.close(&guest).code, errc::invalid) << "its last member completes by itself";
          push(side, guest.net, guest.seen, "close", [&] { return b.close(); });
          EXPECT_EQ(b.posted(), 16U);
        }
        await(side, guest.net, guest.seen, "all values", [&] { return olds.size() >= count; });
        std::sort(olds.begin(), olds.end());
        for (std::uint64_t i = 0; i < olds.size(); ++i) EXPECT_EQ(olds[i], 3 * i);
        side.ready(0);
        (void)serve_for_value(side, guest.net, guest.seen, 0);
        EXPECT_EQ(guest.seen.ends(), count);
        side.ready(0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(batches, batches_longer_than_the_queue_arrive_whole,
                            batches_longer_than_the_operations_arrive_whole, batches_open_at_the_same_time_arrive_whole,
                            each_fetch_add_of_a_batch_completes_with_its_own_value,
                            members_of_every_kind_arrive_once_and_the_last_completes, batches_close_on_every_path,
                            members_that_a_full_queue_refuses_are_posted_by_progress,
                            batches_to_a_closed_peer_are_refused_and_leave_nothing);

}  // namespace weft::conformance
