// SPDX-License-Identifier: Apache-2.0
//
// What only a set of fabrics has: the choice for each peer and its reason, peers of several fabrics at once, words that
// two fabrics reach, fall-backs, and the sentences where nothing can be chosen. Hot path: no. Threads: one per side.
#pragma once

#include "set_sides.hpp"

#include <algorithm>
#include <string>

namespace weft::conformance {

template <class Environment>
class sets : public suite<Environment> {
 public:
  using set = typename Environment::fabric;
  using first = typename fabrics_of<set>::first;
  using last = typename fabrics_of<set>::last;
};
TYPED_TEST_SUITE_P(sets);

TYPED_TEST_P(sets, peers_of_two_fabrics_write_to_one_side_and_are_told_apart) {
  using fabric = typename TestFixture::set;
  using last = typename TestFixture::last;
  const auto caller = [](transport_options o) {
    return [o](test_side& side) {
      auto net = opened<fabric>(side, o);
      observer seen;
      auto memory = net.allocate(4096, rights::none).value();
      const peer p = meet_as_caller(side, net, seen);
      const auto there = net.receive_region(p, patience, seen).value();
      const auto verdicts = net.explain(p);
      EXPECT_EQ(verdicts.size(), sizeof_set<fabric>);
      const auto taken = std::find_if(verdicts.begin(), verdicts.end(),
                                      [](const auto& v) { return v.is == fabric_verdict::kind::taken; });
      if (taken == verdicts.end()) throw stopped("no fabric was taken: " + weft::detail::listed(verdicts));
      EXPECT_EQ(taken->fabric, net.fabric_of(p));
      if (!o.fabrics.empty()) EXPECT_EQ(taken->fabric, o.fabrics);
      EXPECT_FALSE(taken->reason.empty());
      side.send_value(0, taken->fabric);
      const auto which = static_cast<std::uint64_t>(side.number());
      paint({memory.data(), 1000}, which);
      bool done = false;
      seen.on_completed = [&](const completed& c) { done = done || c.context == &done; };
      push(side, net, seen, "put_notify", [&] {
        return net.put_notify(p, memory.first(1000), there.at(which * 1000), static_cast<std::uint32_t>(70 + which),
                              &done);
      });
      await(side, net, seen, "the end of the put", [&] { return done; });
      done = false;
      push(side, net, seen, "get", [&] { return net.get(p, memory.slice(2000, 1000), there.at(which * 1000), &done); });
      await(side, net, seen, "the end of the get", [&] { return done; });
      EXPECT_EQ(first_unlike(memory.memory().subspan(2000, 1000), which), 1000U);
      side.ready(0);
      serve(side, net, seen, 0);
    };
  };
  TestFixture::play(
      {},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        observer seen;
        const auto page = net.allocate(4096, rights::all).value();
        std::vector<std::uint32_t> notices;
        seen.on_notified = [&](const notified& n) { notices.push_back(n.immediate); };
        for (const int k : {1, 2}) side.send_value(k, net.listen_address());
        const std::vector<peer> all = accept_all(side, net, seen, 2);
        for (const peer& p : all)
          push(side, net, seen, "send_region", [&] { return net.send_region(p, page, owner_polls); });
        for (const int k : {1, 2}) serve(side, net, seen, k);
        std::vector<std::string> chosen{side.wait_for_text(1), side.wait_for_text(2)};
        std::vector<std::string> here{std::string(net.fabric_of(all[0])), std::string(net.fabric_of(all[1]))};
        std::sort(chosen.begin(), chosen.end());
        std::sort(here.begin(), here.end());
        EXPECT_EQ(chosen, here);
        EXPECT_NE(chosen[0], chosen[1]) << "side 2 may only use the last fabric";
        for (const peer& p : all) {
          const fabric_verdict said = net.explain(p).at(0);
          EXPECT_EQ(said.fabric, net.fabric_of(p));
          EXPECT_EQ(said.is, fabric_verdict::kind::taken);
          EXPECT_EQ(said.reason, "the peer called by this fabric");
        }
        await(side, net, seen, "both notices", [&] { return notices.size() == 2; });
        for (const int k : {1, 2}) serve(side, net, seen, k);
        for (const std::uint64_t k : {1U, 2U}) EXPECT_EQ(first_unlike(page.memory().subspan(k * 1000, 1000), k), 1000U);
        for (const int k : {1, 2}) side.ready(k);
        for (const peer& p : all) EXPECT_TRUE(net.close(p, patience, seen));
      },
      caller({}), caller(only(last::name)));
}

TYPED_TEST_P(sets, additions_by_two_fabrics_to_one_word_sum_exactly) {
  using fabric = typename TestFixture::set;
  using last = typename TestFixture::last;
  static constexpr std::uint64_t count = 200;
  const auto adder = [](transport_options o) {
    return [o](test_side& side) {
      auto net = opened<fabric>(side, o);
      observer seen;
      const peer p = meet_as_caller(side, net, seen);
      const auto there = net.parse_region(p, serve_for_value(side, net, seen, 0)).value();
      std::uint64_t ended = 0;
      seen.on_completed = [&](const completed&) { ++ended; };
      for (std::uint64_t i = 0; i < count; ++i)
        push(side, net, seen, "fetch_add", [&] { return net.fetch_add(p, there.at(8), 3, &ended); });
      await(side, net, seen, "all additions", [&] { return ended == count; });
      side.ready(0);
      serve(side, net, seen, 0);
    };
  };
  TestFixture::play(
      {},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        observer seen;
        const auto page = net.template allocate_words<atomicity::target>(64, rights::remote_atomic).value();
        for (const int k : {1, 2}) side.send_value(k, net.listen_address());
        (void)accept_all(side, net, seen, 2);
        // The description for any peer of the set.
        for (const int k : {1, 2}) side.send_value(k, const_bytes(net.export_region(page, owner_polls)));
        for (std::uint64_t i = 0; i < count; ++i) {
          page.template word<std::uint64_t>(8).fetch_add(1);
          net.progress(seen);
        }
        for (const int k : {1, 2}) (void)serve_for_value(side, net, seen, k);
        EXPECT_EQ(page.template word<std::uint64_t>(8).load(), count * 7);
        for (const int k : {1, 2}) side.ready(k);
        await(side, net, seen, "the callers' ends", [&] { return seen.losses == 2; });
      },
      adder({}), adder(only(last::name)));
}

TYPED_TEST_P(sets, a_killed_peer_of_one_fabric_disturbs_no_peer_of_the_other) {
  using fabric = typename TestFixture::set;
  using last = typename TestFixture::last;
  TestFixture::play(
      {.first_is_killed = true},
      [](test_side& side) {  // by the best fabric; it is killed
        auto net = opened<fabric>(side, {});
        observer seen;
        seen.on_received = [](const received&) {};
        (void)meet_as_caller(side, net, seen, 1);
        side.ready(2);
        serve(side, net, seen, 1);
      },
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        observer seen;
        for (const int k : {0, 2}) side.send_value(k, net.listen_address());
        std::array<peer, 2> all{};
        std::uint64_t echoed = 0;
        std::uint64_t before = 0;
        seen.on_received = [&](const received&) { ++echoed; };  // the one may send before the other has called
        for (const peer& p : accept_all(side, net, seen, 2)) all[net.fabric_of(p) == last::name] = p;
        seen.on_received = [&](const received& m) {
          EXPECT_EQ(m.peer, all[1]);
          ++echoed;
        };
        seen.on_lost = [&](const lost& l) {
          if (l.peer == all[0]) EXPECT_EQ(l.why.code, errc::peer_lost), before = echoed;
        };
        await(
            side, net, seen, "the loss of the killed one", [&] { return !all[0].alive(); }, patience * 2);
        await(side, net, seen, "messages after it", [&] { return echoed > before + 100; });
        EXPECT_TRUE(all[1].alive());
        side.ready(2);
        await(side, net, seen, "the other's end", [&] { return !all[1].alive(); });
      },
      [](test_side& side) {
        auto net = opened<fabric>(side, only(last::name));
        observer seen;
        const auto memory = net.allocate(64, rights::none).value();
        const peer p = meet_as_caller(side, net, seen, 1);
        (void)serve_for_value(side, net, seen, 0);
        std::uint64_t sent = 0;
        while (!side.has_value(1)) {
          push(side, net, seen, "send", [&] { return net.send(p, memory.first(8)); });
          if (++sent == 50) side.kill(0);
          net.progress(seen);
          if (side.simulated()) side.rest(10us);
        }
        EXPECT_TRUE(p.alive());
        EXPECT_TRUE(net.close(p, patience, seen));
      });
}

TYPED_TEST_P(sets, the_best_fabric_is_passed_over_only_where_that_is_allowed) {
  using fabric = typename TestFixture::set;
  using foreign = typename fabrics_of<fabric>::foreign;
  using first = typename TestFixture::first;
  TestFixture::play(
      {.once = true},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        observer seen;
        side.send_value(1, net.listen_address());
        auto p = net.accept_one(patience, seen);
        if (!p) throw stopped("accept: " + p.error().sentence);
        EXPECT_NE(net.fabric_of(*p), first::name);
        serve(side, net, seen, 1);
      },
      [](test_side& side) {
        const std::string where = side.wait_for_text(0);
        {
          auto net = opened<foreign>(side, {});
          const auto refused = net.connect(where, patience);
          EXPECT_FALSE(refused);
          if (!refused) {
            EXPECT_EQ(refused.why().code, errc::incompatible);
            EXPECT_TRUE(contains(refused.error().sentence, std::string(first::name) + ", the best fabric of this pair"))
                << refused.error().sentence;
            EXPECT_TRUE(contains(refused.error().sentence, "fallback::allowed would take"));
          }
          EXPECT_EQ(net.fallbacks(), 0U);
        }
        transport_options o;
        o.fallback = fallback::allowed;
        auto net = opened<foreign>(side, o);
        observer seen;
        auto p = net.connect(where, patience, seen);
        if (!p) throw stopped("connect: " + p.error().sentence);
        EXPECT_NE(net.fabric_of(*p), first::name);
        EXPECT_EQ(net.fallbacks(), 1U);
        bool said = false;
        for (const auto& v : net.explain(*p))
          said = said || (v.fabric == first::name && v.is == fabric_verdict::kind::unusable);
        EXPECT_TRUE(said);
        side.ready(0);
        EXPECT_TRUE(net.close(*p, patience, seen));
      });
}

TYPED_TEST_P(sets, a_rejection_is_no_fault_of_the_fabric) {
  using fabric = typename TestFixture::set;
  TestFixture::play(
      {.once = true},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        observer seen;
        int asked = 0;
        seen.on_requested = [&](const requested& r) {
          ++asked;
          EXPECT_TRUE(net.reject(r.peer, "the table is full"));
        };
        side.send_value(1, net.listen_address());
        serve(side, net, seen, 1);
        EXPECT_EQ(asked, 1) << "another fabric leads to the same program";
      },
      [](test_side& side) {
        transport_options o;
        o.fallback = fallback::allowed;
        auto net = opened<fabric>(side, o);
        observer seen;
        const auto p = net.connect(side.wait_for_text(0), patience, seen);
        EXPECT_EQ(p.why().code, errc::rejected);
        if (!p) EXPECT_TRUE(contains(p.error().sentence, "the table is full")) << p.error().sentence;
        EXPECT_EQ(net.fallbacks(), 0U);
        side.ready(0);
      });
}

TYPED_TEST_P(sets, programs_of_one_fabric_meet_a_set_by_the_fabrics_name) {
  using fabric = typename TestFixture::set;
  using last = typename TestFixture::last;
  TestFixture::play(
      {.once = true},
      [](test_side& side) {  // a set, called by a program of the last fabric; then it calls that program
        auto net = opened<fabric>(side, listening());
        observer seen;
        const auto page = net.allocate(64, rights::remote_write).value();
        side.send_value(1, net.template listen_address<last>());
        auto p = net.accept_one(patience, seen);
        if (!p) throw stopped("accept: " + p.error().sentence);
        EXPECT_EQ(net.fabric_of(*p), last::name);
        push(side, net, seen, "send_region", [&] { return net.send_region(*p, page, owner_polls); });
        seen.on_notified = [](const notified&) {};
        await(side, net, seen, "a notice", [&] { return seen.notices == 1; });
        const std::string where(reinterpret_cast<const char*>(serve_for_value(side, net, seen, 1).data()));
        const auto back = net.connect(std::string(last::name) + "@" + where, patience, seen);
        if (!back) throw stopped("connect: " + back.error().sentence);
        EXPECT_EQ(net.explain(*back).at(0).reason, "the caller named it");
        side.ready(1);
        await(side, net, seen, "both ends", [&] { return seen.losses == 2; });
      },
      [](test_side& side) {
        auto net = opened<last>(side, listening());
        observer seen;
        const auto memory = net.allocate(64, rights::none).value();
        const peer p = meet_as_caller(side, net, seen);
        const auto there = net.receive_region(p, patience, seen).value();
        push(side, net, seen, "put_notify", [&] { return net.put_notify(p, memory.first(8), there.at(0), 5); });
        side.send_value(0, net.listen_address() + '\0');
        auto back = net.accept_one(patience, seen);
        if (!back) throw stopped("accept: " + back.error().sentence);
        serve(side, net, seen, 0);
        EXPECT_TRUE(net.close(*back, patience, seen));
        EXPECT_TRUE(net.close(p, patience, seen));
      });
}

TYPED_TEST_P(sets, nothing_in_common_and_wrong_names_are_said_in_one_sentence) {
  using fabric = typename TestFixture::set;
  using first = typename TestFixture::first;
  using last = typename TestFixture::last;
  TestFixture::play(
      {.once = true},
      [](test_side& side) {
        auto net = opened<fabric>(side, only(first::name, listening()));
        observer seen;
        side.send_value(1, net.listen_address());
        EXPECT_EQ(net.template on<last>(), nullptr);
        // Nobody's handle, where the last fabric is not open, and below where the first one is not.
        const auto memory = net.allocate(64, rights::none).value();
        EXPECT_EQ(net.send(peer(), memory.first(8)).code, errc::invalid);
        EXPECT_EQ(net.put(peer(), memory.first(8), {}, &seen).code, errc::invalid);
        serve(side, net, seen, 1);
      },
      [](test_side& side) {
        const std::string where = side.wait_for_text(0);
        auto net = opened<fabric>(side, only(last::name));
        observer seen;
        const auto memory = net.allocate(64, rights::none).value();
        EXPECT_EQ(net.send(peer(), memory.first(8)).code, errc::invalid);
        EXPECT_EQ(net.fetch_add(peer(), remote_place(), 1, &seen).code, errc::invalid);
        EXPECT_EQ(net.accept(peer()).code, errc::peer_lost);
        const auto none = net.connect(where, patience, seen);
        EXPECT_EQ(none.why().code, errc::incompatible);
        EXPECT_TRUE(contains(none.error().sentence, std::string(last::name) + ": the other side does not offer it"))
            << none.error().sentence;
        EXPECT_TRUE(
            contains(none.error().sentence, std::string(first::name) + ": the choice of fabrics leaves it out"));
        const auto unknown = net.connect("tpc@" + where, patience, seen);
        EXPECT_EQ(unknown.why().code, errc::invalid);
        EXPECT_TRUE(contains(unknown.error().sentence, "\"tpc\" is no fabric of this program"))
            << unknown.error().sentence;
        const auto left_out = net.connect(std::string(first::name) + "@" + where, patience, seen);
        EXPECT_EQ(left_out.why().code, errc::unsupported);
        transport_options o;
        o.node = home();
        o.fabrics = "tpc";
        const auto refused = open<fabric>(o);
        EXPECT_EQ(refused.why().code, errc::invalid);
        EXPECT_TRUE(contains(refused.error().sentence, "no fabric \"tpc\": it has")) << refused.error().sentence;
        side.ready(0);
      });
}

TYPED_TEST_P(sets, a_peer_whose_type_says_its_fabric_takes_posts) {
  using fabric = typename TestFixture::set;
  using first = typename TestFixture::first;
  using last = typename TestFixture::last;
  TestFixture::play(
      {.once = true},
      [](test_side& side) {
        target_side<fabric> host(side, 256, rights::all);
        host.seen.on_notified = [](const notified&) {};
        await(side, host.net, host.seen, "both notices", [&] { return host.seen.notices == 2; });
        serve(side, host.net, host.seen, 1);
        EXPECT_EQ(first_unlike(host.region.memory().first(64), 9), 64U);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 256);
        paint(guest.memory.memory().first(64), 9);
        const auto typed = guest.net.template peer_on<first>(guest.other);
        if (!typed) throw stopped("the best fabric is not the first one");
        EXPECT_FALSE(guest.net.template peer_on<last>(guest.other));
        for (int i = 0; i < 2; ++i)
          push(side, guest.net, guest.seen, "put_notify",
               [&] { return guest.net.put_notify(*typed, guest.memory.first(64), guest.there.at(0), 1); });
        side.ready(0);
        await(side, guest.net, guest.seen, "nothing in flight", [&] { return guest.net.in_flight() == 0; });
      });
}

TYPED_TEST_P(sets, released_regions_are_out_of_reach_of_every_fabric) {
  using fabric = typename TestFixture::set;
  using first = typename TestFixture::first;
  using last = typename TestFixture::last;
  TestFixture::play({.once = true}, [](test_side& side) {
    auto net = opened<fabric>(side, listening());
    EXPECT_LE(net.limits().largest_message, net.template on<first>()->limits().largest_message);
    EXPECT_LE(net.limits().largest_message, net.template on<last>()->limits().largest_message);
    const auto kept = net.allocate(64, rights::all).value();
    std::vector<std::byte> mine(128);
    auto gone = net.register_region(mine, rights::all).value();
    EXPECT_EQ(net.parse_region(peer(), net.export_region(gone, owner_polls)).value().size(), 128U);
    const region view = gone;
    gone.reset();
    EXPECT_FALSE(net.parse_region(peer(), net.export_region(peer(), view, owner_polls)));
    EXPECT_EQ(net.parse_region(peer(), net.export_region(peer(), kept, owner_polls)).value().size(), 64U);
    EXPECT_EQ(net.register_region({}, rights::all).why().code, errc::invalid);
    auto moved = std::move(net);
    EXPECT_EQ(moved.parse_region(peer(), moved.export_region(kept, owner_polls)).value().size(), 64U);
  });
}

REGISTER_TYPED_TEST_SUITE_P(
    sets, peers_of_two_fabrics_write_to_one_side_and_are_told_apart, additions_by_two_fabrics_to_one_word_sum_exactly,
    a_killed_peer_of_one_fabric_disturbs_no_peer_of_the_other,
    the_best_fabric_is_passed_over_only_where_that_is_allowed, a_rejection_is_no_fault_of_the_fabric,
    programs_of_one_fabric_meet_a_set_by_the_fabrics_name, nothing_in_common_and_wrong_names_are_said_in_one_sentence,
    a_peer_whose_type_says_its_fabric_takes_posts, released_regions_are_out_of_reach_of_every_fabric);

}  // namespace weft::conformance
