// SPDX-License-Identifier: Apache-2.0
//
// Tagged messages with tagged::matched_over_messages: who takes which message, what waits without a receive and how
// much of it, and how a receive ends. The same on every fabric and on sets, because weft matches. Hot path: no.
// Threads: one per side.
#pragma once

#include "../allocation_count.hpp"
#include "../environment.hpp"
#include "../messages.hpp"
#include "../run_record.hpp"

#include "../../../compose/tagged/tagged.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>

namespace weft::conformance {

constexpr std::uint32_t window = 8;
constexpr std::uint64_t any_tag = ~std::uint64_t{0};

template <class Environment>
class tagged_messages : public suite<Environment> {};
TYPED_TEST_SUITE_P(tagged_messages);

/// Side 1: sends messages one after the other; side 0 has each before the next leaves.
template <class F>
void send_singly(test_side& side, initiator_side<F>& guest, std::initializer_list<std::uint64_t> tags) {
  std::uint64_t number = 0;
  for (const std::uint64_t tag : tags) {
    const local_memory from = guest.memory.first(8);
    std::memcpy(from.data, &++number, sizeof number);
    push(side, guest.net, guest.seen, "send_tagged", [&] { return guest.net.send_tagged(guest.other, from, tag); });
    (void)serve_for_value(side, guest.net, guest.seen, 0);
  }
}
/// A receive with memory of its own.
struct slot {
  tagged_receive receive;
  std::array<std::byte, 8> memory{};
  local_memory into() noexcept { return {memory.data(), memory.size()}; }
  std::uint64_t number() const noexcept {
    std::uint64_t n = 0;
    std::memcpy(&n, memory.data(), sizeof n);
    return n;
  }
};

TYPED_TEST_P(tagged_messages, a_message_takes_the_first_posted_receive_that_fits) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::none);
        std::array<slot, 4> slots;
        const tag_match wanted[] = {
            {.tag = 1}, {.ignore = any_tag}, {.tag = 2, .from = host.other}, {.tag = 0x10, .ignore = 0xf}};
        for (std::size_t i = 0; i < slots.size(); ++i)
          ASSERT_TRUE(host.net.receive_tagged(slots[i].receive, wanted[i], slots[i].into()));
        EXPECT_EQ(host.net.receive_tagged(slots[0].receive, wanted[0], slots[0].into()).code, errc::invalid);
        std::vector<void*> ended;
        host.seen.on_completed = [&](const completed& c) {
          EXPECT_EQ(c.what, operation::receive_tagged);
          EXPECT_EQ(c.peer, host.other);
          ended.push_back(c.context);
        };
        const std::size_t order[] = {1, 0, 2, 3};
        const std::uint64_t tags[] = {2, 1, 2, 0x1b};
        for (std::size_t i = 0; i < slots.size(); ++i) {
          await(side, host.net, host.seen, "a message", [&] { return ended.size() == i + 1; });
          slot& took = slots[order[i]];
          EXPECT_EQ(ended[i], &took.receive);
          EXPECT_TRUE(took.receive.ended() && took.receive.why());
          EXPECT_EQ(took.number(), i + 1);
          EXPECT_EQ(took.receive.tag(), tags[i]);
          EXPECT_EQ(took.receive.size(), 8U);
          EXPECT_EQ(took.receive.from(), host.other);
          side.ready(1);
        }
        serve(side, host.net, host.seen, 1);
        EXPECT_EQ(host.net.garbled() + host.net.stale(), 0U);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64);
        send_singly(side, guest, {2, 1, 2, 0x1b});
        side.ready(0);
      });
}

TYPED_TEST_P(tagged_messages, a_receive_takes_the_first_arrived_message_that_fits) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::none);
        for (std::uint64_t i = 1; i <= 5; ++i) {
          await(side, host.net, host.seen, "a message", [&] { return host.net.waiting_tagged() == i; });
          side.ready(1);
        }
        const tag_match wanted[] = {{.tag = 5}, {.ignore = any_tag}, {.tag = 7, .ignore = 3, .from = host.other}};
        const std::uint64_t numbers[] = {2, 1, 3};
        std::array<slot, 3> slots;
        for (std::size_t i = 0; i < slots.size(); ++i) {
          ASSERT_TRUE(host.net.receive_tagged(slots[i].receive, wanted[i], slots[i].into()));
          EXPECT_TRUE(slots[i].receive.ended()) << "the message was there";
          EXPECT_EQ(slots[i].number(), numbers[i]);
        }
        await(side, host.net, host.seen, "the events", [&] { return host.seen.completions == slots.size(); });
        const auto taken = host.net.receive_tagged({.tag = 5}, slots[0].into(), patience, host.seen);
        ASSERT_TRUE(taken) << taken.error().sentence;
        EXPECT_EQ(taken->tag, 5U);
        EXPECT_EQ(taken->from, host.other);
        EXPECT_EQ(slots[0].number(), 5U) << "message 4 has another tag";
        EXPECT_EQ(host.seen.completions, slots.size()) << "a call that waits makes no event";
        EXPECT_EQ(host.net.waiting_tagged(), 1U);
        serve(side, host.net, host.seen, 1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64);
        send_singly(side, guest, {9, 5, 6, 10, 5});
        side.ready(0);
      });
}

/// Tags of the stream: a kind in the upper half, the message's number in the lower.
constexpr std::uint64_t stream_tag(std::uint64_t i) noexcept { return i % 5 << 32 | i; }
constexpr std::uint64_t number_bits = 0xffffffff;
constexpr std::uint32_t stream_slot = 3000;
/// Around the sizes that are injected, copied, gathered or staged; 0 and the largest.
constexpr std::size_t stream_size(std::uint64_t i) noexcept {
  constexpr std::size_t sizes[] = {0, 8, 1, 40, 100, 130, 240, 256, 300, 660, 720, 1500, stream_slot - 16};
  return sizes[i % std::size(sizes)];
}

TYPED_TEST_P(tagged_messages, of_every_size_arrive_once_and_whole_among_messages_and_notices) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint64_t count = 400;
  static constexpr bool ordered = fabric::facts.order_send_after_send;
  struct taking {
    tagged_receive receive;
    std::vector<std::byte> memory = std::vector<std::byte>(stream_slot);
  };
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::remote_write, {.max_message_bytes = stream_slot});
        std::deque<taking> places(7);
        std::vector<int> came(count);
        std::map<std::uint64_t, std::uint64_t> last;
        std::uint64_t tagged = 0;
        const auto post = [&](taking& t, std::uint64_t kind) {
          ASSERT_TRUE(host.net.receive_tagged(t.receive, {.tag = kind << 32, .ignore = number_bits},
                                              {t.memory.data(), t.memory.size()}));
        };
        host.seen.on_received = [](const received& m) { EXPECT_EQ(first_unlike(m.message, 77), m.message.size()); };
        host.seen.on_notified = [](const notified&) {};
        host.seen.on_completed = [&](const completed& c) {
          auto& t = *static_cast<tagged_receive*>(c.context);
          auto& place = *std::find_if(places.begin(), places.end(), [&](taking& p) { return &p.receive == &t; });
          const std::uint64_t i = t.tag() & number_bits;
          ASSERT_LT(i, count);
          EXPECT_EQ(++came[i], 1) << "message " << i;
          EXPECT_EQ(t.tag(), stream_tag(i));
          EXPECT_EQ(t.size(), stream_size(i));
          EXPECT_EQ(first_unlike(const_bytes(place.memory).first(t.size()), i), t.size());
          if (ordered) {
            EXPECT_LE(last[i % 5], i) << "overtaken";
          }
          last[i % 5] = i;
          ++tagged;
          if (side.below(3) == 0) post(place, side.below(5));  // inside a handler
        };
        // Each receive of 7 is posted for a kind by chance, so some messages wait and some find a receive.
        const auto arrived = [&] {
          for (taking& t : places)
            if (!t.receive.posted() && (t.receive.ended() || t.receive.size() == 0) && side.below(4) == 0 &&
                !t.receive.posted()) {
              const status s = host.net.receive_tagged(t.receive, {.tag = side.below(5) << 32, .ignore = number_bits},
                                                       {t.memory.data(), t.memory.size()});
              EXPECT_TRUE(s || s.code == errc::invalid) << describe(s);
            } else if (t.receive.posted() && side.below(50) == 0 && host.net.cancel_tagged(t.receive)) {
              EXPECT_EQ(t.receive.why().code, errc::closed);
            }
          return tagged == count;
        };
        host.seen.on_failed = [](const failed& f) {
          EXPECT_EQ(f.what, operation::receive_tagged);
          EXPECT_EQ(f.why.code, errc::closed) << describe(f.why);
        };
        await(side, host.net, host.seen, "all tagged messages", arrived, patience * 2);
        await(side, host.net, host.seen, "all others",
              [&] { return host.seen.messages == count / 4 && host.seen.notices == count / 4; });
        EXPECT_EQ(host.net.waiting_tagged() + host.net.garbled() + host.net.stale(), 0U);
        side.ready(1);
        serve(side, host.net, host.seen, 1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, count * stream_slot + 64);
        auto& net = guest.net;
        EXPECT_EQ(net.largest_tagged_message(guest.other), stream_slot - 16);
        std::uint64_t signalled = 0;
        const local_memory plain = guest.memory.slice(count * stream_slot, 40);
        paint({plain.data, plain.size}, 77);
        for (std::uint64_t i = 0; i < count; ++i) {
          const local_memory from = guest.memory.slice(i * stream_slot, stream_size(i));
          paint({from.data, from.size}, i);
          const bool with_context = side.below(2) == 0;
          signalled += with_context ? 1U : 0U;
          push(side, net, guest.seen, "send_tagged", [&] {
            return with_context ? net.send_tagged(guest.other, from, stream_tag(i), &guest)
                                : net.send_tagged(guest.other, from, stream_tag(i));
          });
          if (i % 4 == 1) push(side, net, guest.seen, "send", [&] { return net.send(guest.other, plain); });
          if (i % 4 == 3)
            push(side, net, guest.seen, "put_notify",
                 [&] { return net.put_notify(guest.other, plain, guest.there.at(0), 9); });
        }
        serve(side, net, guest.seen, 0, patience * 4);
        (void)side.wait_for_value(0);
        await(side, net, guest.seen, "nothing in flight", [&] { return net.in_flight() == 0; });
        EXPECT_EQ(guest.seen.completions, signalled);
        side.ready(0);
      });
}

TYPED_TEST_P(tagged_messages, at_most_a_window_waits_and_nothing_is_lost) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint64_t more = 5 * window;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::none);
        host.seen.on_received = [](const received&) {};
        await(side, host.net, host.seen, "a plain message behind a full window",
              [&] { return host.seen.messages == 1 && host.net.waiting_tagged() == window; });
        side.ready(1);
        std::uint64_t sum = 0;
        for (std::uint64_t i = 1; i <= window + more; ++i) {
          slot s;
          const auto taken = host.net.receive_tagged({.ignore = any_tag}, s.into(), patience, host.seen);
          ASSERT_TRUE(taken) << taken.error().sentence;
          EXPECT_TRUE(s.number() == i || !fabric::facts.order_send_after_send);
          EXPECT_LE(host.net.waiting_tagged(), window);
          sum += s.number();
        }
        EXPECT_EQ(sum, (window + more) * (window + more + 1) / 2);
        side.ready(1);
        serve(side, host.net, host.seen, 1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, (window + more + 1) * 8);
        auto& net = guest.net;
        const auto post = [&](std::uint64_t i) {
          const local_memory from = guest.memory.slice((i - 1) * 8, 8);
          std::memcpy(from.data, &i, sizeof i);
          return net.send_tagged(guest.other, from, i);
        };
        std::uint64_t next = 1;
        for (; next <= window; ++next) push(side, net, guest.seen, "send_tagged", [&] { return post(next); });
        push(side, net, guest.seen, "send", [&] { return net.send(guest.other, guest.memory.first(8)); });
        while (!side.has_value(0)) {
          const status s = post(next);
          EXPECT_EQ(s.waits_for(), waits_for::receive_slot) << describe(s);
          net.progress(guest.seen);
          side.rest(10us);
        }
        (void)side.wait_for_value(0);
        for (; next <= window + more; ++next) push(side, net, guest.seen, "send_tagged", [&] { return post(next); });
        (void)serve_for_value(side, net, guest.seen, 0);
        side.ready(0);
      });
}

TYPED_TEST_P(tagged_messages, a_receive_ends_by_truncation_cancel_or_deadline) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::none);
        auto& net = host.net;
        slot small, withdrawn;
        std::optional<failed> end;
        host.seen.on_failed = [&](const failed& f) { end = f; };
        ASSERT_TRUE(net.receive_tagged(withdrawn.receive, {.tag = 3}, withdrawn.into()));
        EXPECT_TRUE(net.cancel_tagged(withdrawn.receive));
        EXPECT_FALSE(net.cancel_tagged(withdrawn.receive)) << "it has ended";
        await(side, net, host.seen, "the end of the cancelled receive", [&] { return end.has_value(); });
        EXPECT_EQ(end->context, &withdrawn.receive);
        EXPECT_EQ(end->why.code, errc::closed);
        {
          slot forgotten;
          ASSERT_TRUE(net.receive_tagged(forgotten.receive, {.tag = 3}, forgotten.into()));
        }
        EXPECT_EQ(net.receive_tagged({.tag = 3}, withdrawn.into(), 2ms, host.seen).why().code, errc::deadline);

        end.reset();
        ASSERT_TRUE(net.receive_tagged(small.receive, {.tag = 4}, small.into()));
        side.ready(1);  // 20 bytes with tag 4, then 8 with tag 3
        await(side, net, host.seen, "the truncated message", [&] { return end.has_value(); });
        EXPECT_EQ(end->why.code, errc::truncated);
        EXPECT_EQ(end->why.receiver_bytes(), 8);
        EXPECT_EQ(end->peer, host.other);
        EXPECT_EQ(small.receive.size(), 20U);
        EXPECT_EQ(first_unlike(const_bytes(small.memory), 20), 8U) << "the first bytes of the message";
        EXPECT_TRUE(net.receive_tagged({.tag = 3}, withdrawn.into(), patience, host.seen))
            << "a receive that was withdrawn took no message";
        side.ready(1);
        serve(side, net, host.seen, 1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 8192);
        (void)serve_for_value(side, guest.net, guest.seen, 0);
        paint(guest.memory.memory(), 20);
        const std::uint32_t most = guest.net.largest_tagged_message(guest.other);
        const status s = guest.net.send_tagged(guest.other, guest.memory.first(most + 1), 1);
        EXPECT_EQ(s.code, errc::truncated);
        EXPECT_EQ(s.receiver_bytes(), static_cast<std::int32_t>(most));
        push(side, guest.net, guest.seen, "send_tagged",
             [&] { return guest.net.send_tagged(guest.other, guest.memory.first(20), 4); });
        push(side, guest.net, guest.seen, "send_tagged",
             [&] { return guest.net.send_tagged(guest.other, guest.memory.first(8), 3); });
        (void)serve_for_value(side, guest.net, guest.seen, 0);
        side.ready(0);
      });
}

TYPED_TEST_P(tagged_messages, a_peer_that_is_lost_or_closes_ends_the_receives_that_name_it) {
  using fabric = typename TestFixture::tested_fabric;
  for (const bool killed : {false, true})
    TestFixture::play(
        {.first_is_killed = killed},
        [killed](test_side& side) {
          target_side<fabric> host(side, 64, rights::none, {.silence_limit = 600ms});
          host.seen.on_lost = [](const lost&) {};
          push(side, host.net, host.seen, "send_tagged",
               [&] { return host.net.send_tagged(host.other, host.region.first(8), 1); });
          (void)serve_for_value(side, host.net, host.seen, 1);
          if (killed) serve(side, host.net, host.seen, 1, 10min);
          EXPECT_TRUE(host.net.close(host.other, patience, host.seen));
        },
        [killed](test_side& side) {
          slot named, any;
          {
            initiator_side<fabric> guest(side, 64, {.silence_limit = 600ms});
            auto& net = guest.net;
            ASSERT_TRUE(net.receive_tagged(named.receive, {.tag = 7, .from = guest.other}, named.into()));
            ASSERT_TRUE(net.receive_tagged(any.receive, {.tag = 7}, any.into()));
            await(side, net, guest.seen, "a message without a receive", [&] { return net.waiting_tagged() == 1; });
            const errc why = killed ? errc::peer_lost : errc::closed;
            guest.seen.on_failed = [&](const failed& f) {
              EXPECT_EQ(f.context, &named.receive);
              EXPECT_EQ(f.peer, guest.other);
              EXPECT_EQ(f.why.code, why) << describe(f.why);
              EXPECT_EQ(guest.seen.losses, 0U) << "operations end before their peer";
            };
            guest.seen.on_lost = [](const lost&) {};
            side.ready(0);
            if (killed) side.kill(0);
            await(side, net, guest.seen, "the loss", [&] { return guest.seen.losses == 1; });
            EXPECT_EQ(guest.seen.failures, 1U);
            EXPECT_TRUE(any.receive.posted()) << "it names no peer";
            EXPECT_EQ(net.waiting_tagged(), 0U);
            EXPECT_EQ(net.dropped_tagged(), 1U);
            EXPECT_EQ(net.receive_tagged(named.receive, {.from = guest.other}, named.into()).code, errc::peer_lost);
            EXPECT_EQ(net.send_tagged(guest.other, guest.memory.first(8), 7).code, errc::peer_lost);
          }
          EXPECT_TRUE(any.receive.ended()) << "its transport is gone";
          EXPECT_EQ(any.receive.why().code, errc::closed);
        });
}

TYPED_TEST_P(tagged_messages, a_receive_of_any_peer_says_who_sent) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint64_t each = 60;
  const auto sender = [](test_side& side) {
    auto net = opened<fabric>(side);
    observer seen;
    auto memory = net.allocate(8, rights::none).value();
    const peer p = meet_as_caller(side, net, seen);
    for (std::uint64_t i = 0; i < each; ++i)
      push(side, net, seen, "send_tagged",
           [&] { return net.send_tagged(p, memory.first(8), static_cast<std::uint64_t>(side.number()) << 32 | i); });
    (void)serve_for_value(side, net, seen, 0);
    side.ready(0);
  };
  TestFixture::play(
      {},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        observer seen;
        std::array<peer, 3> from;
        for (const int other : {1, 2}) from[static_cast<std::size_t>(other)] = meet_as_listener(side, net, seen, other);
        std::array<std::uint64_t, 3> came{};
        for (std::uint64_t i = 0; i < 2 * each; ++i) {
          slot s;
          const auto taken = net.receive_tagged({.ignore = any_tag}, s.into(), patience, seen);
          ASSERT_TRUE(taken) << taken.error().sentence;
          const std::uint64_t who = taken->tag >> 32;
          ASSERT_TRUE(who == 1 || who == 2);
          EXPECT_EQ(taken->from, from[who]);
          EXPECT_TRUE((taken->tag & number_bits) == came[who] || !fabric::facts.order_send_after_send);
          ++came[who];
        }
        EXPECT_EQ(came[1], each);
        EXPECT_EQ(came[2], each);
        for (const int other : {1, 2}) side.ready(other);
        for (const int other : {1, 2}) (void)serve_for_value(side, net, seen, other);
      },
      sender, sender);
}

TYPED_TEST_P(tagged_messages, allocate_nothing) {
  using fabric = typename TestFixture::tested_fabric;
  if (TypeParam::simulated)
    GTEST_SKIP() << "row " << fabric::name << " runs in process here: the simulated library is C++ too, and allocates";
  static constexpr int rounds = 300;
  const auto talk = [](auto& net, const peer p, const local_memory from, bool first) {
    slot s;
    std::uint64_t wrong = 0, ends = 0;
    const auto on = overloaded{[&](const completed&) { ++ends; }, [&](const failed&) { ++wrong; }, [](auto&&) {}};
    std::uint64_t before = 0;
    for (int i = 0; i < 2 * rounds; ++i) {
      if (i == rounds) before = allocation_count();
      const auto send = [&] {
        while (!net.send_tagged(p, from, 5)) net.progress(on);
      };
      const auto take = [&] {
        const std::uint64_t had = ends;
        while (!net.receive_tagged(s.receive, {.tag = i % 2 == 0 ? 5U : 4U, .ignore = i % 2 == 0 ? 0U : 1U, .from = p},
                                   s.into()))
          ++wrong;
        while (ends == had) net.progress(on);
      };
      if (first) send(), take();
      else take(), send();
    }
    EXPECT_EQ(allocation_count() - before, 0U);
    EXPECT_EQ(wrong, 0U);
  };
  TestFixture::play(
      {},
      [talk](test_side& side) {
        target_side<fabric> host(side, 64, rights::none);
        talk(host.net, host.other, host.region.first(8), false);
        side.ready(1);
        serve(side, host.net, host.seen, 1);
      },
      [talk](test_side& side) {
        initiator_side<fabric> guest(side, 64);
        talk(guest.net, guest.other, guest.memory.first(8), true);
        serve(side, guest.net, guest.seen, 0);
        side.ready(0);
      });
}

TYPED_TEST_P(tagged_messages, sides_with_and_without_them_meet_and_exchange_the_rest) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {.once = true},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::none);
        EXPECT_EQ(host.net.send_tagged(host.other, host.region.first(8), 1).code, errc::unsupported);
        EXPECT_EQ(host.net.send_tagged(host.other, host.region.first(8), 1, &side).code, errc::unsupported);
        host.seen.on_received = [](const received& m) { EXPECT_EQ(m.message.size(), 8U); };
        await(side, host.net, host.seen, "a plain message", [&] { return host.seen.messages == 1; });
        push(side, host.net, host.seen, "send", [&] { return host.net.send(host.other, host.region.first(8)); });
        side.ready(1);
        serve(side, host.net, host.seen, 1);
        EXPECT_EQ(host.net.garbled(), 0U);
      },
      [](test_side& side) {
        initiator_side<tested> guest(side, 64);
        guest.seen.on_received = [](const received&) {};
        push(side, guest.net, guest.seen, "send", [&] { return guest.net.send(guest.other, guest.memory.first(8)); });
        await(side, guest.net, guest.seen, "a plain message", [&] { return guest.seen.messages == 1; });
        serve(side, guest.net, guest.seen, 0);
        EXPECT_EQ(guest.net.garbled(), 0U);
        side.ready(0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(tagged_messages, a_message_takes_the_first_posted_receive_that_fits,
                            a_receive_takes_the_first_arrived_message_that_fits,
                            of_every_size_arrive_once_and_whole_among_messages_and_notices,
                            at_most_a_window_waits_and_nothing_is_lost, a_receive_ends_by_truncation_cancel_or_deadline,
                            a_peer_that_is_lost_or_closes_ends_the_receives_that_name_it,
                            a_receive_of_any_peer_says_who_sent, allocate_nothing,
                            sides_with_and_without_them_meet_and_exchange_the_rest);

}  // namespace weft::conformance
