// SPDX-License-Identifier: Apache-2.0
//
// Completions: each posted operation completes once, with its context. One post more than the transport was opened for
// is `again`, with the reason. Hot path: no. Threads: one per side.
#pragma once

#include "two_sides.hpp"

namespace weft::conformance {

template <class Environment>
class completions : public suite<Environment> {};
TYPED_TEST_SUITE_P(completions);

TYPED_TEST_P(completions, each_operation_of_every_kind_completes_once_with_its_context) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::size_t count = 600;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::all);
        host.seen.on_received = [](const received&) {};
        host.seen.on_notified = [](const notified&) {};
        (void)serve_for_value(side, host.net, host.seen, 1);
        (void)host.net.until([&] { return host.seen.messages >= count / 6 && host.seen.notices >= count / 6; },
                             patience, host.seen);
        EXPECT_EQ(host.seen.messages, count / 6);
        EXPECT_EQ(host.seen.notices, count / 6);
        side.ready(1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096);
        std::vector<std::pair<operation, int>> posted(count);
        guest.seen.on_completed = [&](const completed& c) {
          auto* entry = static_cast<std::pair<operation, int>*>(c.context);
          ASSERT_TRUE(entry >= posted.data() && entry < posted.data() + count) << "a context that no post had";
          EXPECT_EQ(c.what, entry->first);
          EXPECT_EQ(c.peer, guest.other);
          EXPECT_EQ(++entry->second, 1);
        };
        constexpr operation kinds[] = {operation::send, operation::put,       operation::put_notify,
                                       operation::get,  operation::fetch_add, operation::compare_swap};
        for (std::size_t i = 0; i < count; ++i) {
          posted[i].first = kinds[i % 6];
          void* context = &posted[i];
          push(side, guest.net, guest.seen, "post", [&] {
            const local_memory mine = guest.memory.first(16);
            switch (posted[i].first) {
              case operation::send:
                return guest.net.send(guest.other, mine, context);
              case operation::put:
                return guest.net.put(guest.other, mine, guest.there.at(64), context);
              case operation::put_notify:
                return guest.net.put_notify(guest.other, mine, guest.there.at(128), 5, context);
              case operation::get:
                return guest.net.get(guest.other, guest.memory.slice(1024, 16), guest.there.at(64), context);
              case operation::fetch_add:
                return guest.net.fetch_add(guest.other, guest.there.at(0), 1, context);
              default:
                return guest.net.compare_swap(guest.other, guest.there.at(8), 0, 0, context);
            }
          });
        }
        await(
            side, guest.net, guest.seen, "all completions", [&] { return guest.seen.ends() >= count; }, patience * 2);
        side.ready(0);
        (void)serve_for_value(side, guest.net, guest.seen, 0);
        EXPECT_EQ(guest.seen.completions, count);
        await(side, guest.net, guest.seen, "nothing in flight", [&] { return guest.net.in_flight() == 0; });
        for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(posted[i].second, 1) << "operation " << i;
      });
}

TYPED_TEST_P(completions, one_post_more_than_the_queue_holds_is_answered_again) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t fits = 16;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::all);
        (void)serve_for_value(side, host.net, host.seen, 1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096, {.operations = fits});
        const auto get = [&] { return guest.net.get(guest.other, guest.memory.first(16), guest.there.at(0), &guest); };
        push(side, guest.net, guest.seen, "the first get", get);  // lazy fabrics connect now
        await(side, guest.net, guest.seen, "its completion", [&] { return guest.seen.completions == 1; });
        std::uint32_t taken = 0;
        status last;
        while (taken <= fits && (last = get())) ++taken;
        EXPECT_TRUE(last.is_again()) << describe(last);
        EXPECT_LE(taken, fits);
        if (last.waits_for() == waits_for::operation_slot) {
          EXPECT_EQ(taken, fits);
        }
        EXPECT_EQ(guest.net.in_flight(), taken) << "a refused post keeps an operation";
        await(side, guest.net, guest.seen, "their completions", [&] { return guest.seen.completions == 1U + taken; });
        await(side, guest.net, guest.seen, "nothing in flight", [&] { return guest.net.in_flight() == 0; });
        push(side, guest.net, guest.seen, "one more post", get);
        await(side, guest.net, guest.seen, "its completion", [&] { return guest.seen.completions == 2U + taken; });
        side.ready(0);
      });
}

TYPED_TEST_P(completions, an_unanswered_operation_ends_once_by_its_deadline) {
  using fabric = typename TestFixture::tested_fabric;
  static const transport_options soon{.operation_timeout = 1s, .silence_limit = 60s};
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::remote_write, soon);
        auto counters = host.net.template allocate_words<atomicity::target>(64, rights::remote_atomic).value();
        side.send_value(1, const_bytes(host.net.export_region(counters, owner_polls)));
        serve(side, host.net, host.seen, 1);
        (void)side.wait_for_value(1);
        side.ready(1);
        side.at("making no progress");
        while (!side.has_value(1)) side.rest(10ms);
        (void)side.wait_for_value(1);
        serve(side, host.net, host.seen, 1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64, soon);
        const auto counters =
            guest.net
                .template parse_words<atomicity::target>(guest.other, serve_for_value(side, guest.net, guest.seen, 0))
                .value();
        side.ready(0);
        (void)serve_for_value(side, guest.net, guest.seen, 0);
        int first = 0, second = 0;
        guest.seen.on_failed = [&](const failed& f) {
          EXPECT_EQ(f.context, &first);
          EXPECT_EQ(f.why.code, errc::deadline) << describe(f.why);
          side.book.ended(1, guest.net.now(), errc::deadline);
        };
        guest.seen.on_completed = [&](const completed& c) {
          EXPECT_EQ(c.context, &second);
          side.book.ended(2, guest.net.now(), errc::ok);
        };
        const auto post = [&](int* context) {
          (void)side.book.posted(history::work::other, 0, guest.net.now(),
                                 latest_end(guest.net, soon.operation_timeout));
          push(side, guest.net, guest.seen, "fetch_add",
               [&] { return guest.net.template fetch_add<std::uint64_t>(guest.other, counters.at(8), 1, context); });
        };
        post(&first);
        await(side, guest.net, guest.seen, "the deadline", [&] { return guest.seen.ends() == 1; });
        EXPECT_EQ(guest.net.in_flight(), 0U);
        side.ready(0);
        post(&second);  // its answer follows the late one, which the handler does not get
        await(side, guest.net, guest.seen, "the second completion", [&] { return guest.seen.ends() == 2; });
        EXPECT_EQ(guest.seen.completions, 1U);
        side.book.finished(guest.net.now());
        side.ready(0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(completions, each_operation_of_every_kind_completes_once_with_its_context,
                            one_post_more_than_the_queue_holds_is_answered_again,
                            an_unanswered_operation_ends_once_by_its_deadline);

}  // namespace weft::conformance
