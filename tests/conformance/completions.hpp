// SPDX-License-Identifier: Apache-2.0
//
// Ends: each posted operation is told once, with its context; one more than the transport was opened for is `again`,
// and says of what. Hot path: no. Threads: one per side.
#pragma once

#include "two_sides.hpp"

namespace weft::conformance {

template <class Stage>
class completions : public suite<Stage> {};
TYPED_TEST_SUITE_P(completions);

TYPED_TEST_P(completions, each_operation_of_every_kind_is_told_once_with_its_context) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::size_t count = 600;
  TestFixture::play(
      {},
      [](party& side) {
        hosting<fabric> host(side, 4096, rights::all);
        host.seen.on_received = [](const received&) {};
        host.seen.on_notified = [](const notified&) {};
        (void)serve_and_ask(side, host.net, host.seen, 1);
        (void)host.net.until([&] { return host.seen.messages >= count / 6 && host.seen.notices >= count / 6; },
                             patience, host.seen);
        EXPECT_EQ(host.seen.messages, count / 6);
        EXPECT_EQ(host.seen.notices, count / 6);
        side.ready(1);
      },
      [](party& side) {
        visiting<fabric> guest(side, 4096);
        std::vector<std::pair<operation, int>> posted(count);
        guest.seen.on_completed = [&](const completed& c) {
          auto* entry = static_cast<std::pair<operation, int>*>(c.context);
          ASSERT_TRUE(entry >= posted.data() && entry < posted.data() + count) << "a context that was never given";
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
            side, guest.net, guest.seen, "all ends", [&] { return guest.seen.ends() >= count; }, patience * 2);
        side.ready(0);
        (void)serve_and_ask(side, guest.net, guest.seen, 0);
        EXPECT_EQ(guest.seen.completions, count);
        await(side, guest.net, guest.seen, "nothing in flight", [&] { return guest.net.in_flight() == 0; });
        for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(posted[i].second, 1) << "operation " << i;
      });
}

TYPED_TEST_P(completions, one_more_than_fits_is_answered_again) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t fits = 16;
  TestFixture::play(
      {},
      [](party& side) {
        hosting<fabric> host(side, 4096, rights::all);
        (void)serve_and_ask(side, host.net, host.seen, 1);
      },
      [](party& side) {
        visiting<fabric> guest(side, 4096, {.operations = fits});
        const auto get = [&] { return guest.net.get(guest.other, guest.memory.first(16), guest.there.at(0), &guest); };
        push(side, guest.net, guest.seen, "the first get", get);  // lazy fabrics connect now
        await(side, guest.net, guest.seen, "its end", [&] { return guest.seen.completions == 1; });
        std::uint32_t taken = 0;
        status last;
        while (taken <= fits && (last = get())) ++taken;
        EXPECT_TRUE(last.is_again()) << describe(last);
        EXPECT_LE(taken, fits);
        if (last.waits_for() == waits_for::operation_slot) {
          EXPECT_EQ(taken, fits);
        }
        EXPECT_EQ(guest.net.in_flight(), taken) << "a refused post holds something";
        await(side, guest.net, guest.seen, "their ends", [&] { return guest.seen.completions == 1U + taken; });
        await(side, guest.net, guest.seen, "nothing in flight", [&] { return guest.net.in_flight() == 0; });
        push(side, guest.net, guest.seen, "one more", get);
        await(side, guest.net, guest.seen, "its end", [&] { return guest.seen.completions == 2U + taken; });
        side.ready(0);
      });
}

TYPED_TEST_P(completions, an_operation_that_nobody_answers_ends_once_by_its_deadline) {
  using fabric = typename TestFixture::tested_fabric;
  static const transport_options soon{.operation_timeout = 1s, .silence_limit = 60s};
  TestFixture::play(
      {},
      [](party& side) {
        hosting<fabric> host(side, 64, rights::remote_write, soon);
        auto counters = host.net.template allocate_words<atomicity::target>(64, rights::remote_atomic).value();
        side.tell(1, const_bytes(host.net.export_region(counters, owner_polls)));
        serve(side, host.net, host.seen, 1);
        (void)side.ask(1);
        side.ready(1);
        side.at("making no progress");
        while (!side.heard(1)) side.rest(10ms);
        (void)side.ask(1);
        serve(side, host.net, host.seen, 1);
      },
      [](party& side) {
        visiting<fabric> guest(side, 64, soon);
        const auto counters =
            guest.net.template parse_words<atomicity::target>(serve_and_ask(side, guest.net, guest.seen, 0)).value();
        side.ready(0);
        (void)serve_and_ask(side, guest.net, guest.seen, 0);
        int first = 0, second = 0;
        guest.seen.on_failed = [&](const failed& f) {
          EXPECT_EQ(f.context, &first);
          EXPECT_EQ(f.why.code, errc::deadline) << describe(f.why);
        };
        guest.seen.on_completed = [&](const completed& c) { EXPECT_EQ(c.context, &second); };
        const auto post = [&](int* context) {
          push(side, guest.net, guest.seen, "fetch_add",
               [&] { return guest.net.template fetch_add<std::uint64_t>(guest.other, counters.at(8), 1, context); });
        };
        post(&first);
        await(side, guest.net, guest.seen, "the deadline", [&] { return guest.seen.ends() == 1; });
        EXPECT_EQ(guest.net.in_flight(), 0U);
        side.ready(0);
        post(&second);  // its answer comes behind the late one, which nobody is told
        await(side, guest.net, guest.seen, "the second one's end", [&] { return guest.seen.ends() == 2; });
        EXPECT_EQ(guest.seen.completions, 1U);
        side.ready(0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(completions, each_operation_of_every_kind_is_told_once_with_its_context,
                            one_more_than_fits_is_answered_again,
                            an_operation_that_nobody_answers_ends_once_by_its_deadline);

}  // namespace weft::conformance
