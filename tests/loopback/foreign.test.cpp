// SPDX-License-Identifier: Apache-2.0
//
// Peers by hand, on connected and on addressed rows. A peer of another release gets a sentence as its answer, and the
// application gets no request. Answers to another hello, and messages of strangers, change nothing.
#include <weft/compose/transport.hpp>
#include <weft/compose/with.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;

struct connected_row : fabrics::loopback {};
struct addressed_row : fabrics::loopback {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = fabrics::loopback::facts;
    f.endpoint_type = endpoint_type::addressed;
    return f;
  }();
  using policies =
      policy_set<answers::endpoint::addressed, answers::bootstrap::socket_address, answers::framing::immediate,
                 answers::region_address::offset, answers::region_key::application,
                 answers::local_descriptor::not_needed, answers::region_binding::domain, answers::notify::immediate,
                 answers::write_fault::reported, answers::atomics::provider, answers::progress::polling,
                 answers::wait::yield, answers::threading::one_owner, answers::completion::selective,
                 answers::liveness::heartbeat, answers::receive_buffers::slots, answers::receive_pool::shared,
                 answers::flush::message_behind_writes, answers::coalesce::none, answers::queues::one,
                 answers::inject::as_the_row_permits, answers::checks::verified, answers::authentication::none,
                 answers::tagged::none>;
};

/// Addressed rows whose messages have room for a proof: in an immediate of 8 bytes, or in a header. Only silence tells
/// of a death.
struct wide_row : addressed_row {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = addressed_row::facts;
    f.send_immediate_bytes = f.write_immediate_bytes = 8;
    f.reports_killed_peer = false;
    return f;
  }();
};
struct framed_row : wide_row {
  using policies = typename detail::replaced<addressed_row::policies, policy_set<answers::framing::header>>::type;
};
/// Connections whose ends only silence tells.
struct silent_row : fabrics::loopback {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = fabrics::loopback::facts;
    f.reports_killed_peer = false;
    return f;
  }();
  using policies =
      typename detail::replaced<fabrics::loopback::policies, policy_set<answers::liveness::heartbeat>>::type;
};
static_assert(detail::engine<silent_row>::links_have_receives);
static_assert(detail::engine<wide_row>::proves_sender && detail::engine<framed_row>::proves_sender);
static_assert(!detail::engine<addressed_row>::proves_sender && !detail::engine<connected_row>::proves_sender);

/// The bytes of a hello as another release might send it.
std::vector<std::byte> foreign_hello(const address_bytes& from, std::uint16_t version) {
  wire::introduction i;
  i.wire_version = version;
  i.connection = wire::connection_number::of(3, 1);
  i.proof = 5;
  i.nonce = i.own_word().value;
  i.address = from;
  std::vector<std::byte> body(wire::largest_handshake);
  body.resize(wire::encode(i, body));
  body.insert(body.end(), 24, std::byte{0xff});
  return body;
}

template <class Row>
struct asking_alone {
  using port_type = loopback::port<shape_of<Row>>;
  std::unique_ptr<port_type> net;
  typename port_type::link link{};
  std::vector<std::byte> slot = std::vector<std::byte>(4096);
  wire::refusal_form form = wire::refusal_form::with_nonce;
  std::string answer;

  explicit asking_alone(const std::string& service) {
    port_options options;
    options.sleeps = true;
    net = port_type::open(options).value();
    if constexpr (!port_type::link_has_receives) receive();
    link = net->dial(net->resolve("listener", service).value(), 1).value();
    if constexpr (port_type::link_has_receives) receive();
  }
  void receive() { EXPECT_TRUE(net->post_receive(link, {slot.data(), slot.size(), nullptr}, slot.data())); }
  void turn() {
    net->poll_links([](link_change, std::uint32_t, typename port_type::link) -> std::uint32_t { return 0; });
    net->poll([this](const completion_entry& reported) {
      if (reported.kind != completion_kind::received || !reported.outcome) return;
      const auto no = wire::parse_refusal(const_bytes(slot).first(reported.length), form);
      answer = no ? std::string(reinterpret_cast<const char*>(no->reason.data()), no->reason.size())
                  : "something else than a refusal";
    });
    loopback::sleep_for(50us);
  }
  /// A message that is larger than the listener's receives.
  void overrun() {
    std::vector<std::byte> large(5000, std::byte{7});
    bool sent = false;
    for (int i = 0; i < 400; ++i) {
      if (!sent)
        sent = bool(net->template send<post_mode::signalled>(link, {large.data(), large.size(), nullptr}, 1, nullptr));
      turn();
    }
    EXPECT_TRUE(sent);
  }
  std::string ask(std::uint16_t version) {
    if (version < wire::first_version_with_proof) form = wire::refusal_form::without_nonce;
    const auto body = foreign_hello(net->address(), version);
    const auto tag = wire::message_tag::of(wire::message_kind::hello, {});
    bool sent = false;
    for (int i = 0; i < 2000 && answer.empty(); ++i) {
      if (!sent)
        sent = bool(
            net->template send<post_mode::signalled>(link, {const_cast<std::byte*>(body.data()), body.size(), nullptr},
                                                     static_cast<std::uint32_t>(tag.word), nullptr));
      turn();
    }
    return answer;
  }
};

template <class Row>
void meets_another_release(std::uint16_t version) {
  loopback::world w(7);
  bool over = false;
  unsigned asked = 0;
  w.spawn("listener", [&] {
    auto net = open<Row>({.node = "listener", .service = "7471", .sleeps = true}).value();
    const auto on = overloaded{[&](const requested&) { ++asked; }, [](auto&&) {}};
    EXPECT_TRUE(net.until([&] { return over; }, 60s, on));
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    EXPECT_EQ(asking_alone<Row>("7471").ask(version),
              "the caller was built for wire version " + std::to_string(version) + ", the listener for wire version 7");
    over = true;
  });
  const auto run = w.run(120s);
  EXPECT_TRUE(run) << run.sentence;
  EXPECT_EQ(asked, 0U) << "the application got a request from a peer of another build";
}

/// Any process that knows the address may send anything. A message that does not fit is counted with both sizes, and
/// its receive serves the next message.
template <class Row>
void meets_a_message_that_is_too_large() {
  loopback::world w(11);
  bool over = false;
  w.spawn("listener", [&] {
    auto net =
        open<Row>({.node = "listener", .service = "7471", .sleeps = true, .max_message_bytes = 4000, .receives = 1})
            .value();
    EXPECT_TRUE(net.until([&] { return over; }, 60s, overloaded{[](auto&&) {}}));
    EXPECT_EQ(net.overrun().times, 2U) << "the receive of the first was not posted again";
    EXPECT_EQ(net.garbled(), 2U);
    using framing_answer = answer<Row, framing_family>;  // both sizes include its bytes
    EXPECT_EQ(describe(net.overrun()), "a message of 5000 bytes does not fit into a receive of " +
                                           std::to_string(4000 + framing_answer::bytes_in_front) +
                                           " (transport_options::max_message_bytes of its receiver)");
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    asking_alone<Row> alone("7471");
    alone.overrun();
    alone.overrun();
    over = true;
  });
  const auto run = w.run(120s);
  EXPECT_TRUE(run) << run.sentence;
}

/// An answer of a listener by hand: its kind, and how its nonce and its proof differ from the right ones.
struct wrong_answer {
  wire::message_kind kind;
  std::uint64_t nonce;
  std::uint64_t proof;
};

std::vector<std::byte> answer_to(const wire::introduction& hello, wire::message_kind kind,
                                 std::uint64_t nonce_differs) {
  std::vector<std::byte> body(wire::largest_handshake);
  if (kind == wire::message_kind::reject) {
    body.resize(wire::encode(
        wire::refusal_notice{static_cast<std::uint8_t>(errc::rejected), hello.nonce ^ nonce_differs, {}}, body));
  } else {
    wire::introduction accept = hello;
    accept.address = {};
    accept.connection = wire::connection_number::of(0, 1);
    accept.proof = 9;
    accept.nonce ^= nonce_differs;
    body.resize(wire::encode(accept, body));
  }
  return body;
}

/// A listener by hand: it gives wrong answers to a hello, and then the right one. `garbled`, `stale`: what the caller
/// must count.
template <class Row>
void gets_wrong_answers(std::vector<wrong_answer> answers, std::uint64_t garbled, std::uint64_t stale) {
  using port_type = loopback::port<shape_of<Row>>;
  using engine_type = detail::engine<Row>;
  loopback::world w(13);
  bool over = false, all_counted = false;
  w.spawn("listener", [&] {
    auto net = port_type::open({.node = "listener", .service = "7471", .listens = true}).value();
    typename port_type::link link{};
    std::vector<std::byte> slot(4096), message;
    wire::introduction hello;
    const auto receive = [&] {
      EXPECT_TRUE(net->post_receive(link, {slot.data(), slot.size(), nullptr}, slot.data()));
    };
    if constexpr (!port_type::link_has_receives) receive();
    std::size_t next = 0;
    bool asked = false;
    const auto give = [&](const wrong_answer& a) {
      const auto tag = wire::message_tag::of(a.kind, {hello.own_word().value ^ a.proof << 32});
      message.assign(engine_type::front, {});
      engine_type::put_front(message, tag);
      const auto body = answer_to(hello, a.kind, a.nonce);
      message.insert(message.end(), body.begin(), body.end());
      const bool sent(net->template send<post_mode::signalled>(link, {message.data(), message.size(), nullptr},
                                                               engine_type::immediate_of(tag), nullptr));
      loopback::sleep_for(1ms);  // the bytes have left
      return sent;
    };
    while (!over) {
      net->poll_links([&](link_change change, std::uint32_t, typename port_type::link which) -> std::uint32_t {
        if (change != link_change::arrived) return no_tag;
        link = which;
        receive();
        return 1;
      });
      net->poll([&](const completion_entry& c) {
        if (c.kind != completion_kind::received || asked) return;
        asked = true;
        EXPECT_EQ(wire::parse(const_bytes(slot).first(c.length).subspan(engine_type::front), hello),
                  wire::parse_verdict::good);
        EXPECT_EQ(hello.nonce, hello.own_word().value);
        if constexpr (!port_type::link_has_receives)
          link = net->dial(address_bytes(hello.address.begin(), hello.address.end()), 1).value();
      });
      if (asked && next < answers.size()) next += give(answers[next]);
      else if (next == answers.size() && all_counted) next += give({wire::message_kind::accept, 0, 0});
      loopback::sleep_for(50us);
    }
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<Row>({}).value();
    unsigned stands = 0, losses = 0;
    const auto on = overloaded{[&](const connected&) { ++stands; }, [&](const lost&) { ++losses; }, [](auto&&) {}};
    EXPECT_TRUE(net.start_connect("listener:7471"));
    EXPECT_TRUE(net.until([&] { return net.garbled() + net.stale() >= answers.size(); }, 50ms, on))
        << "a wrong answer was not counted";
    EXPECT_EQ(net.garbled(), garbled);
    EXPECT_EQ(net.stale(), stale);
    EXPECT_EQ(stands + losses, 0U) << "a wrong answer was believed";
    all_counted = true;
    EXPECT_TRUE(net.until([&] { return stands == 1; }, 10s, on));
    over = true;
  });
  const auto run = w.run(120s);
  EXPECT_TRUE(run) << run.sentence;
}

using enum wire::message_kind;
TEST(an_accept_of_another_hello, does_not_connect_over_a_connection) {
  gets_wrong_answers<connected_row>({{accept, 2, 0}}, 1, 0);
}
TEST(an_accept_of_another_hello, does_not_connect_at_an_address) {
  gets_wrong_answers<addressed_row>({{accept, 2, 0}}, 1, 0);
}
TEST(a_reject_of_another_hello, ends_nothing_at_an_address) {
  gets_wrong_answers<addressed_row>({{reject, 2, 0}, {reject, ~std::uint64_t{0}, 0}}, 2, 0);
}
TEST(an_answer_without_the_proof, is_stale_where_immediates_have_8_bytes) {
  gets_wrong_answers<wide_row>({{accept, 0, 1}, {reject, 0, 1}, {accept, 2, 0}, {reject, 2, 0}}, 2, 2);
}
TEST(an_answer_without_the_proof, is_stale_where_messages_have_a_header) {
  gets_wrong_answers<framed_row>({{accept, 0, 1}, {reject, 0, 1}, {accept, 2, 0}, {reject, 2, 0}}, 2, 2);
}

/// A listener by hand that answers no hello before the third: fabrics without connections lose messages.
TEST(a_hello_without_an_answer, is_repeated_at_an_address) {
  using port_type = loopback::port<shape_of<addressed_row>>;
  using engine_type = detail::engine<addressed_row>;
  loopback::world w(14);
  unsigned heard = 0;
  bool over = false;
  w.spawn("listener", [&] {
    auto net = port_type::open({.node = "listener", .service = "7471", .listens = true}).value();
    std::vector<std::byte> slot(4096), body;
    wire::introduction hello;
    const auto receive = [&] { EXPECT_TRUE(net->post_receive({}, {slot.data(), slot.size(), nullptr}, slot.data())); };
    receive();
    while (!over) {
      net->poll([&](const completion_entry& c) {
        if (c.kind != completion_kind::received) return;
        EXPECT_EQ(wire::parse(const_bytes(slot).first(c.length), hello), wire::parse_verdict::good);
        ++heard;
        receive();
      });
      if (heard >= 3 && body.empty()) {
        body = answer_to(hello, accept, 0);
        const auto link = net->dial(address_bytes(hello.address.begin(), hello.address.end()), 1).value();
        const auto tag = wire::message_tag::of(accept, {hello.own_word().value});
        EXPECT_TRUE(net->send<post_mode::signalled>(link, {body.data(), body.size(), nullptr},
                                                    engine_type::immediate_of(tag), nullptr));
      }
      loopback::sleep_for(1ms);
    }
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<addressed_row>({}).value();
    bool stands = false;
    const auto on = overloaded{[&](const connected&) { stands = true; }, [](auto&&) {}};
    EXPECT_TRUE(net.start_connect("listener:7471"));
    for (int rounds = 0; rounds < 1000 && !stands; ++rounds) {  // a call that waits would poll some million times
      net.progress(on);
      loopback::sleep_for(5ms);
    }
    EXPECT_TRUE(stands);
    EXPECT_GE(heard, 3U);
    over = true;
  });
  const auto run = w.run(120s);
  EXPECT_TRUE(run) << run.sentence;
}

/// A peer crashes, and a stranger speaks in its place. The stranger knows the connection's number, not the proof.
template <class Row>
void hears_a_stranger_in_place_of_a_dead_peer() {
  using engine_type = detail::engine<Row>;
  loopback::world w(17);
  bool dead = false, over = false;
  std::uint32_t number = 0;
  w.spawn("listener", [&] {
    auto net = open<Row>({.node = "listener", .service = "7471", .sleeps = true, .silence_limit = 100ms}).value();
    unsigned losses = 0, others = 0;
    const auto on = overloaded{[&](const lost& l) {
                                 EXPECT_EQ(l.why.code, errc::peer_lost);
                                 ++losses;
                               },
                               [&](const auto&) { ++others; }};
    const peer p = net.accept_one(10s, on).value();
    number = detail::peer_access::number(p);
    w.crash("peer");
    dead = true;
    const instant from = net.now();
    EXPECT_TRUE(net.until([&] { return losses == 1; }, 60s, on));
    EXPECT_LE(net.now() - from, 1s) << "heartbeats of a stranger kept a dead peer alive";
    EXPECT_EQ(others, 0U);
    EXPECT_GE(net.stale(), 5U) << "the stranger was not heard at all";
    EXPECT_EQ(net.garbled(), 0U);
    over = true;
  });
  w.spawn("peer", [&] {
    loopback::sleep_for(100us);
    auto net = open<Row>({.silence_limit = 10s}).value();
    const auto on = overloaded{[](auto&&) {}};
    EXPECT_TRUE(net.connect("listener:7471", 10s, on));
    EXPECT_TRUE(net.until([&] { return dead; }, 60s, on));
    (void)net.until([] { return false; }, 60s, on);
  });
  w.spawn("stranger", [&] {
    while (!dead) loopback::sleep_for(100us);
    asking_alone<Row> alone("7471");
    const auto tag = wire::message_tag::of(heartbeat, wire::connection_word::of({number}, 0));
    std::byte message[wire::header_bytes]{};
    engine_type::put_front(message, tag);
    while (!over) {
      (void)alone.net->template send<post_mode::signalled>(alone.link, {message, engine_type::front, nullptr},
                                                           engine_type::immediate_of(tag), nullptr);
      alone.turn();
      loopback::sleep_for(1ms);
    }
  });
  const auto run = w.run(120s);
  EXPECT_TRUE(run) << run.sentence;
}
TEST(a_heartbeat_of_a_stranger, keeps_no_peer_alive_where_immediates_have_8_bytes) {
  hears_a_stranger_in_place_of_a_dead_peer<wide_row>();
}
TEST(a_heartbeat_of_a_stranger, keeps_no_peer_alive_where_messages_have_a_header) {
  hears_a_stranger_in_place_of_a_dead_peer<framed_row>();
}

TEST(a_heartbeat_of_a_stranger, keeps_no_peer_alive_over_a_connection_of_its_own) {
  hears_a_stranger_in_place_of_a_dead_peer<silent_row>();
}

TEST(a_message_that_is_too_large, connected_is_counted_with_both_sizes) {
  meets_a_message_that_is_too_large<connected_row>();
}
TEST(a_message_that_is_too_large, addressed_is_counted_with_both_sizes) {
  meets_a_message_that_is_too_large<addressed_row>();
}

TEST(a_later_release, connected_is_answered_with_a_sentence) { meets_another_release<connected_row>(8); }
TEST(a_later_release, addressed_is_answered_with_a_sentence) { meets_another_release<addressed_row>(8); }
TEST(an_earlier_release, connected_is_answered_in_its_own_form) { meets_another_release<connected_row>(5); }
TEST(an_earlier_release, addressed_is_answered_in_its_own_form) { meets_another_release<addressed_row>(5); }

}  // namespace
}  // namespace weft
