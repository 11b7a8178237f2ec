// SPDX-License-Identifier: Apache-2.0
//
// The table of connections, pair by pair: the next state of each pair is written here by hand, and the actions obey
// rules that hold for every pair. docs.connection_states compares the whole table with its committed page.
#include <weft/compose/connecting/handshake.hpp>
#include <weft/compose/connecting/transitions.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace weft {
using namespace detail;  // NOLINT(google-build-using-namespace): what is tested
namespace {

/// One letter per state. f: free, d: dialling, g: greeting, a: arrived, q: requested, e: established, l: leaving,
/// r: refusing, c: closing, x: lost.
constexpr std::string_view letters = "fdgaqelrcx";

struct row {
  peer_event event;
  std::string_view next;  ///< For each state, in the order of `letters`.
};
constexpr row expected[] = {
    {peer_event::owner_connects, "ddgaqelrcx"}, {peer_event::owner_accepts, "fdgaeelrcx"},
    {peer_event::owner_rejects, "fdgarelrcx"},  {peer_event::owner_closes, "fffffcfffx"},
    {peer_event::owner_releases, "ffffffffff"}, {peer_event::link_arrives, "adgaqelrcx"},
    {peer_event::link_stands, "fggaqelrcx"},    {peer_event::link_refused, "fxxfxxxffx"},
    {peer_event::link_ends, "fxgfqexffx"},      {peer_event::link_drained, "fdxfxxxffx"},
    {peer_event::hello, "fdgqqelrcx"},          {peer_event::hello_refused, "fdgrqelrcx"},
    {peer_event::hello_unproven, "fdgaqelrcx"}, {peer_event::challenge, "fdgaqelrcx"},
    {peer_event::hello_garbled, "fdgfqelrcx"},  {peer_event::accept, "fdeaqelrcx"},
    {peer_event::answer_garbled, "fdgaqelrcx"}, {peer_event::reject, "fdxaqelrcx"},
    {peer_event::data_message, "fdgaqelrcx"},   {peer_event::control_message, "fdgaqelrcx"},
    {peer_event::goodbye, "fdgaqllrcx"},        {peer_event::hello_failed, "fdxaqelrcx"},
    {peer_event::repeat_time, "fdgaqelrcx"},    {peer_event::patience_over, "fdgfqexffx"},
    {peer_event::peer_dies, "fxxfxxxffx"},
};

constexpr peer_state state_at(std::size_t i) { return static_cast<peer_state>(i); }
constexpr peer_event event_at(std::size_t i) { return static_cast<peer_event>(i); }

template <class Check>
void for_each_pair(Check check) {
  for (std::size_t s = 0; s < peer_states; ++s)
    for (std::size_t e = 0; e < peer_events; ++e) {
      SCOPED_TRACE(std::string(name_of(state_at(s))) + " x " + std::string(name_of(event_at(e))));
      check(state_at(s), event_at(e), transition_of(state_at(s), event_at(e)));
    }
}
bool reports_an_end(peer_action a) {
  return a == peer_action::report_lost || a == peer_action::report_unreachable || a == peer_action::report_closed;
}
bool gives_back(peer_action a) { return a == peer_action::release || a == peer_action::drop; }
bool is_call(peer_event e) { return e <= peer_event::owner_releases; }
bool is_message(peer_event e) { return e >= peer_event::hello && e <= peer_event::goodbye; }
/// States of peers that the application has a handle of, by its own call or by `requested`.
bool is_known(peer_state s) {
  return s == peer_state::dialling || s == peer_state::greeting || s == peer_state::requested ||
         s == peer_state::established || s == peer_state::leaving;
}

TEST(transitions, each_pair_leads_to_the_state_that_is_expected) {
  std::array<bool, peer_events> seen{};
  for (const row& r : expected) {
    seen[static_cast<std::size_t>(r.event)] = true;
    ASSERT_EQ(r.next.size(), peer_states);
    for (std::size_t s = 0; s < peer_states; ++s)
      EXPECT_EQ(letters[static_cast<std::size_t>(transition_of(state_at(s), r.event).next)], r.next[s])
          << name_of(state_at(s)) << " x " << name_of(r.event);
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), std::ptrdiff_t{peer_events});
}

TEST(transitions, each_pair_has_a_reason_that_is_one_sentence) {
  for_each_pair([](peer_state, peer_event, const transition& t) {
    ASSERT_FALSE(t.why.empty());
    EXPECT_TRUE(t.why.ends_with('.')) << t.why;
    EXPECT_LE(std::count(t.why.begin(), t.why.end(), ' '), 15) << t.why;
  });
}

TEST(transitions, after_lost_nothing_succeeds) {
  for (std::size_t e = 0; e < peer_events; ++e) {
    const transition& t = transition_of(peer_state::lost, event_at(e));
    EXPECT_TRUE(t.next == peer_state::lost || t.next == peer_state::free) << name_of(event_at(e));
    EXPECT_TRUE(t.does == peer_action::none || t.does == peer_action::impossible || t.does == peer_action::release ||
                t.does == peer_action::refuse_call || t.does == peer_action::count_stale ||
                t.does == peer_action::count_garbled)
        << name_of(event_at(e)) << ": " << name_of(t.does);
  }
}

TEST(transitions, each_state_can_be_reached_and_can_reach_free) {
  std::array<bool, peer_states> reached{true};
  for (std::size_t round = 0; round < peer_states; ++round)
    for (std::size_t s = 0; s < peer_states; ++s)
      for (std::size_t e = 0; reached[s] && e < peer_events; ++e)
        reached[static_cast<std::size_t>(transition_of(state_at(s), event_at(e)).next)] = true;
  for (std::size_t s = 0; s < peer_states; ++s) {
    EXPECT_TRUE(reached[s]) << name_of(state_at(s));
    EXPECT_EQ(transition_of(state_at(s), peer_event::owner_releases).next, peer_state::free) << name_of(state_at(s));
  }
}

TEST(transitions, each_state_has_an_answer_to_each_kind_of_message) {
  for_each_pair([](peer_state s, peer_event e, const transition& t) {
    if (s != peer_state::free && is_message(e)) {
      EXPECT_NE(t.does, peer_action::impossible);
    }
  });
  for (std::uint32_t kind = 0; kind < wire::message_kinds; ++kind) {
    const peer_event e = event_of(static_cast<wire::message_kind>(kind));
    EXPECT_TRUE(e == peer_event::data_message || e == peer_event::control_message || e == peer_event::goodbye);
  }
  EXPECT_EQ(event_of(wire::message_kind::fused), peer_event::data_message);
  EXPECT_EQ(event_of(wire::message_kind::heartbeat), peer_event::control_message);
}

TEST(transitions, a_peer_is_established_by_an_accept_alone) {
  for_each_pair([](peer_state s, peer_event e, const transition& t) {
    if (t.next != peer_state::established || s == peer_state::established) return;
    EXPECT_TRUE((s == peer_state::greeting && e == peer_event::accept) ||
                (s == peer_state::requested && e == peer_event::owner_accepts));
  });
}

TEST(transitions, an_end_is_reported_once_and_to_those_who_know_the_peer) {
  for_each_pair([](peer_state s, peer_event e, const transition& t) {
    EXPECT_EQ(reports_an_end(t.does), s != peer_state::lost && t.next == peer_state::lost);
    EXPECT_EQ(gives_back(t.does), s != peer_state::free && t.next == peer_state::free);
    if (reports_an_end(t.does)) {
      EXPECT_TRUE(is_known(s));
    }
    if (gives_back(t.does) && is_known(s)) {
      EXPECT_TRUE(is_call(e)) << "the application never hears of the end";
    }
  });
}

TEST(transitions, messages_are_delivered_between_the_accept_and_the_goodbye) {
  for_each_pair([](peer_state s, peer_event e, const transition& t) {
    if (t.does == peer_action::deliver) {
      EXPECT_TRUE(s == peer_state::established && is_message(e));
    }
    if (t.does == peer_action::deliver_overtaken) {
      EXPECT_TRUE(s == peer_state::leaving && is_message(e));
    }
    if (t.does == peer_action::keep) {
      EXPECT_TRUE(s == peer_state::greeting && is_message(e));
    }
  });
}

TEST(transitions, handshakes_go_out_in_states_that_have_one) {
  for_each_pair([](peer_state, peer_event, const transition& t) {
    if (t.does == peer_action::send_handshake || t.does == peer_action::refuse_hello) {
      EXPECT_TRUE(handshake_of(t.next).has_value());
    }
  });
  EXPECT_EQ(handshake_of(peer_state::closing), std::nullopt) << "a close after an accept is no rejection";
}

TEST(transitions, an_ended_link_stays_ended_until_this_side_hangs_up) {
  for (std::size_t s = 0; s < link_states; ++s)
    EXPECT_EQ(link_table[s][static_cast<std::size_t>(link_event::hung_up)], link_state::none);
  for (const link_event e : {link_event::made, link_event::stands, link_event::ends}) {
    const auto ended = static_cast<std::size_t>(link_state::ended);
    EXPECT_EQ(link_table[ended][static_cast<std::size_t>(e)], link_state::ended);
    const link_state next = link_table[static_cast<std::size_t>(link_state::none)][static_cast<std::size_t>(e)];
    EXPECT_EQ(next, e == link_event::made ? link_state::opening : link_state::none);
  }
}

/// What advance() uses of an engine and of a record.
struct counted_engine {
  struct record : peer_header {
    record() { renew({7}, 0x12345678'00000000U); }
    peer_state state = peer_state::free;
    std::uint32_t since = 0;
  };
  static constexpr bool goodbye_overtakes = false;
  bool retrying = false;
  std::uint64_t garbled = 0;
  std::uint64_t stale = 0;
  std::uint32_t half_open = 0;
  std::uint32_t tick = 0;
  struct {
    std::uint32_t unfinished = 0;
    void is_unfinished(const record& /*r*/) noexcept { ++unfinished; }
  } peers;
};

TEST(advance, delivers_what_waited_here_while_the_goodbye_came) {
  counted_engine engine;
  counted_engine::record r;
  r.state = peer_state::leaving;
  EXPECT_EQ(advance(engine, r, peer_event::data_message), peer_action::count_stale);
  engine.retrying = true;
  EXPECT_EQ(advance(engine, r, peer_event::data_message), peer_action::deliver);
  EXPECT_EQ(engine.stale, 1U);
}

TEST(advance, assigns_the_next_state_and_its_consequences) {
  for_each_pair([](peer_state s, peer_event e, const transition& t) {
    counted_engine engine;
    engine.half_open = 1;
    engine.tick = 5;
    counted_engine::record r;
    r.state = s;
    const peer_action does = advance(engine, r, e);
    EXPECT_EQ(does, t.does == peer_action::deliver_overtaken ? peer_action::count_stale : t.does);
    EXPECT_EQ(r.state, t.next);
    EXPECT_EQ(r.since, t.next == s ? 0U : 5U);
    EXPECT_EQ(engine.half_open, 1U + std::uint32_t{is_half_open(t.next)} - std::uint32_t{is_half_open(s)});
    EXPECT_EQ(engine.stale, std::uint64_t{does == peer_action::count_stale});
    EXPECT_EQ(engine.garbled, std::uint64_t{does == peer_action::impossible || does == peer_action::count_garbled ||
                                            does == peer_action::drop});
    if (t.next != s) {
      EXPECT_EQ(r.live_number(), t.next == peer_state::established ? r.number : peer_header::dead);
    }
    EXPECT_EQ(r.word().proof(), 0x12345678U) << "the proof is lost";
    const bool rests = t.next == s || t.next == peer_state::established || t.next == peer_state::free;
    EXPECT_EQ(engine.peers.unfinished, rests ? 0U : 1U) << "the timers would never look at it";
  });
}

TEST(advance, keeps_its_counts_on_every_way_through_the_table) {
  std::mt19937 draw(11);
  counted_engine engine;
  counted_engine::record r;
  for (int step = 0; step < 200'000; ++step) {
    (void)advance(engine, r, event_at(draw() % peer_events));
    ASSERT_EQ(engine.half_open, std::uint32_t{is_half_open(r.state)});
    ASSERT_EQ(r.is_live(), r.state == peer_state::established);
  }
}

}  // namespace
}  // namespace weft
