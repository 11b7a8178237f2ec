// SPDX-License-Identifier: Apache-2.0
//
// Rails: transfers over several transports arrive whole, complete once, and are counted at the target. The loss of a
// rail is reported. Hot path: no. Threads: one per side.
#pragma once

#include "../../compose/notification_counter.hpp"
#include "../../compose/rails/rails.hpp"
#include "two_sides.hpp"

namespace weft::conformance {

inline constexpr std::uint32_t rail_count = 3;
inline constexpr std::uint64_t stripe = 512;

template <class F>
rails<F> opened_rails(party& side, bool listens, std::uint32_t count = rail_count) {
  side.at("open rails");
  rails_options o{.nodes = std::vector<std::string>(count, home()), .page_bytes = stripe, .transfers = 8};
  o.each.listens = listens;
  o.each.sleeps = side.simulated();
  o.each.operations = 64;
  auto all = rails<F>::open(o);
  if (!all) throw stopped("open rails: " + all.error().sentence);
  return std::move(all).value();
}
template <class F, class Done>
void await(party& side, rails<F>& all, observer& seen, std::string_view what, Done&& done) {
  side.at(what);
  if (const status s = all.until(std::forward<Done>(done), patience, seen); !s)
    throw stopped("waited for " + std::string(what) + ": " + describe(s));
}
template <class F, class Post>
void push(party& side, rails<F>& all, observer& seen, std::string_view what, Post&& post) {
  await(side, all, seen, what, [&] {
    const status s = post();
    if (!s && !s.is_again()) throw stopped(std::string(what) + ": " + describe(s));
    return bool(s);
  });
}

/// Side 0: rails with a striped region that side 1 may use.
template <class F>
struct striped_host {
  rails<F> all;
  observer seen;
  notification_counter arrivals{64};
  striped_region memory;
  striped_peer other;

  striped_host(party& side, std::size_t size) : all(opened_rails<F>(side, true)) {
    seen.on_notified = [this](const notified& n) { EXPECT_TRUE(arrivals.note(n.immediate)); };
    memory = all.allocate(size, rights::all).value();
    side.tell(1, all.listen_address());
    side.at("accept");
    auto p = all.accept_one(patience, seen);
    if (!p) throw stopped("accept: " + p.error().sentence);
    other = *p;
    if (const status s = all.send_region(other, memory, owner_polls, patience, seen); !s)
      throw stopped("send_region: " + describe(s));
  }
  void serve(party& side) {
    await(side, all, seen, "progress until side 1 sends a value", [&] { return side.heard(1); });
  }
};
/// Side 1.
template <class F>
struct striped_guest {
  rails<F> all;
  observer seen;
  striped_region memory;
  striped_peer other;
  remote_striped_region there;

  striped_guest(party& side, std::size_t size) : all(opened_rails<F>(side, false)) {
    memory = all.allocate(size, rights::none).value();
    const std::string where = side.ask_text(0);
    side.at("connect");
    auto p = all.connect(where, patience, seen);
    if (!p) throw stopped("connect: " + p.error().sentence);
    other = *p;
    auto region = all.receive_region(other, patience, seen);
    if (!region) throw stopped("receive region: " + region.error().sentence);
    there = *region;
  }
};

template <class Stage>
class striped_rails : public suite<Stage> {};
TYPED_TEST_SUITE_P(striped_rails);

TYPED_TEST_P(striped_rails, transfers_of_every_size_arrive_and_notices_are_counted) {
  using fabric = typename TestFixture::tested_fabric;
  struct transfer {
    std::uint64_t offset, size;
  };
  static constexpr transfer all[] = {{0, 0},
                                     {0, 1},
                                     {7, 8},
                                     {0, stripe},
                                     {stripe - 1, 2},
                                     {100, 5 * stripe},
                                     {2 * stripe, 3 * stripe},
                                     {511, 7 * stripe + 3}};
  TestFixture::play(
      {},
      [](party& side) {
        striped_host<fabric> host(side, 10 * stripe);
        for (std::uint32_t i = 0; i < std::size(all); ++i) {
          const std::uint64_t notices = host.all.notices(all[i].offset, all[i].size);
          await(side, host.all, host.seen, "all notices of a transfer",
                [&] { return host.arrivals.reached(i, notices); });
          EXPECT_EQ(first_unlike(host.memory.memory().subspan(all[i].offset, all[i].size), i), all[i].size) << i;
          side.ready(1);
          host.serve(side);
          (void)side.ask(1);
          EXPECT_EQ(host.arrivals.seen(i), notices);
        }
      },
      [](party& side) {
        striped_guest<fabric> guest(side, 20 * stripe);
        std::uint64_t ends = 0;
        for (std::uint32_t i = 0; i < std::size(all); ++i) {
          const striped_slice source = guest.memory.slice(3, all[i].size);
          paint(guest.memory.memory().subspan(3, all[i].size), i);
          push(side, guest.all, guest.seen, "put_notify",
               [&] { return guest.all.put_notify(guest.other, source, guest.there.at(all[i].offset), i, &guest); });
          ++ends;
          await(side, guest.all, guest.seen, "its completion, and a value of the other side",
                [&] { return guest.seen.completions == ends && side.heard(0); });
          (void)side.ask(0);
          if (all[i].size > 0) {
            const striped_slice back = guest.memory.slice(10 * stripe, all[i].size);
            push(side, guest.all, guest.seen, "get",
                 [&] { return guest.all.get(guest.other, back, guest.there.at(all[i].offset), &guest); });
            ++ends;
            await(side, guest.all, guest.seen, "the get's completion", [&] { return guest.seen.completions == ends; });
            EXPECT_EQ(first_unlike(guest.memory.memory().subspan(10 * stripe, all[i].size), i), all[i].size) << i;
          }
          side.ready(0);
        }
        EXPECT_EQ(guest.all.in_flight(), 0U);
      });
}

TYPED_TEST_P(striped_rails, more_transfers_than_queues_hold_complete_once_each) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t count = 40;
  static constexpr std::uint64_t size = 30 * stripe;  // eight at once: more pieces than the rails hold
  TestFixture::play(
      {},
      [](party& side) {
        striped_host<fabric> host(side, size);
        await(side, host.all, host.seen, "all notices", [&] { return host.arrivals.reached(5, count * 30); });
        side.ready(1);
        host.serve(side);
        EXPECT_EQ(host.arrivals.seen(5), count * 30U);
      },
      [](party& side) {
        striped_guest<fabric> guest(side, size);
        std::vector<int> ends(count);
        guest.seen.on_completed = [&](const completed& e) {
          EXPECT_EQ(e.peer, guest.other.on(0));
          ++*static_cast<int*>(e.context);
        };
        for (int& each : ends)
          push(side, guest.all, guest.seen, "put_notify", [&] {
            return guest.all.put_notify(guest.other, guest.memory.first(size), guest.there.at(0), 5, &each);
          });
        await(side, guest.all, guest.seen, "all completions, and a value of the other side",
              [&] { return guest.all.in_flight() == 0 && side.heard(0); });
        for (const int each : ends) EXPECT_EQ(each, 1);
        std::uint64_t told = 0;
        const auto overloads = overloaded{[&](const completed&) { ++told; },
                                          [](auto&&) {}};  // the second handler must not take events of the first
        push(side, guest.all, guest.seen, "put",
             [&] { return guest.all.put(guest.other, guest.memory.first(8), guest.there.at(0), &guest); });
        const instant end = guest.all.now() + patience;
        while (told == 0 && guest.all.now() < end) guest.all.progress(overloads);
        EXPECT_EQ(told, 1U);
        side.ready(0);
      });
}

TYPED_TEST_P(striped_rails, a_lost_rail_is_reported_once_and_fails_each_transfer_once) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](party& side) {
        striped_host<fabric> host(side, 30 * stripe);
        await(side, host.all, host.seen, "some notices", [&] { return host.arrivals.reached(1, 30); });
        EXPECT_TRUE(host.all.rail(1).close(host.other.on(1), 2s, host.seen));
        await(side, host.all, host.seen, "progress until side 1 sends a value", [&] { return side.heard(1); });
      },
      [](party& side) {
        striped_guest<fabric> guest(side, 30 * stripe);
        std::uint64_t posted = 0;
        guest.seen.on_failed = [](const failed& e) {
          EXPECT_TRUE(e.why.code == errc::peer_lost || e.why.code == errc::closed) << describe(e.why);
        };
        guest.seen.on_lost = [&](const lost& e) { EXPECT_EQ(e.peer, guest.other.on(0)); };
        await(side, guest.all, guest.seen, "the loss", [&] {
          const status s =
              guest.all.put_notify(guest.other, guest.memory.first(30 * stripe), guest.there.at(0), 1, &guest);
          if (!s && !s.is_again() && s.code != errc::peer_lost) throw stopped("put_notify: " + describe(s));
          posted += std::uint64_t{bool(s)};
          return guest.seen.losses > 0;
        });
        EXPECT_EQ(guest.all.put(guest.other, guest.memory.first(1), guest.there.at(0), &guest).code, errc::peer_lost);
        await(side, guest.all, guest.seen, "all completions", [&] { return guest.all.in_flight() == 0; });
        EXPECT_EQ(guest.seen.ends(), posted);
        EXPECT_EQ(guest.seen.losses, 1U);
        side.ready(0);
        (void)guest.all.close(guest.other, 2s, guest.seen);
      });
}

TYPED_TEST_P(striped_rails, transfers_out_of_bounds_and_other_stripe_sizes_are_refused) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](party& side) {
        striped_host<fabric> host(side, 4 * stripe);
        host.serve(side);
        (void)side.ask(1);
        side.tell(1, host.all.listen_address());
        host.serve(side);
      },
      [](party& side) {
        {
          striped_guest<fabric> guest(side, 4 * stripe);
          const auto put = [&](std::size_t from, std::size_t size, std::uint64_t to) {
            return guest.all.put(guest.other, guest.memory.slice(from, size), guest.there.at(to), &guest).code;
          };
          EXPECT_EQ(put(0, 1, 4 * stripe), errc::out_of_range);
          EXPECT_EQ(put(0, 2, 4 * stripe - 1), errc::out_of_range);
          EXPECT_EQ(put(4 * stripe, 1, 0), errc::out_of_range);
          EXPECT_EQ(put(1, ~std::size_t{0}, 0), errc::out_of_range);
          EXPECT_EQ(guest.all.in_flight(), 0U);
          EXPECT_FALSE(guest.all.parse_region({}));
          EXPECT_TRUE(guest.all.close(guest.other, 5s, guest.seen));
        }
        side.ready(0);
        const std::string where = side.ask_text(0);
        auto two = opened_rails<fabric>(side, false, 2);
        const auto few = two.connect(where, patience);
        ASSERT_FALSE(few);
        EXPECT_NE(few.error().sentence.find("there are 3 addresses"), std::string::npos) << few.error().sentence;
        const auto cut = two.connect(where.substr(0, where.rfind(',')), patience);
        ASSERT_FALSE(cut);
        EXPECT_EQ(cut.error().why.code, errc::rejected);
        EXPECT_NE(cut.error().sentence.find("of 3 with pages of 512 bytes"), std::string::npos) << cut.error().sentence;
        side.ready(0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(striped_rails, transfers_of_every_size_arrive_and_notices_are_counted,
                            more_transfers_than_queues_hold_complete_once_each,
                            a_lost_rail_is_reported_once_and_fails_each_transfer_once,
                            transfers_out_of_bounds_and_other_stripe_sizes_are_refused);

}  // namespace weft::conformance
