// SPDX-License-Identifier: Apache-2.0
//
// A peer of another release: its hello has another wire version, and unknown bytes after the part with a fixed layout.
// The peer gets a sentence as its answer, on connected and on addressed rows. The application gets no request.
#include <weft/compose/transport.hpp>
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
                 answers::inject::as_the_row_permits, answers::checks::verified>;
};

/// The bytes of a hello as a later release might send it.
std::vector<std::byte> later_hello(const address_bytes& from) {
  wire::introduction i;
  i.wire_version = wire::version + 1;
  i.nonce = 5;
  i.connection = wire::connection_number::of(3, 1);
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
      const auto no = wire::parse_refusal(const_bytes(slot).first(reported.length));
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
  std::string ask() {
    const auto body = later_hello(net->address());
    const auto tag = wire::message_tag::of(wire::message_kind::hello, {});
    bool sent = false;
    for (int i = 0; i < 2000 && answer.empty(); ++i) {
      if (!sent)
        sent = bool(net->template send<post_mode::signalled>(
            link, {const_cast<std::byte*>(body.data()), body.size(), nullptr}, tag.word, nullptr));
      turn();
    }
    return answer;
  }
};

template <class Row>
void meets_a_later_release() {
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
    EXPECT_EQ(asking_alone<Row>("7471").ask(),
              "the caller was built for wire version 6, the listener for wire version 5");
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

/// A listener by hand: it answers a hello with an accept of another hello, and then with the right one.
template <class Row>
void gets_an_accept_of_another_hello() {
  using port_type = loopback::port<shape_of<Row>>;
  loopback::world w(13);
  bool over = false;
  w.spawn("listener", [&] {
    auto net = port_type::open({.node = "listener", .service = "7471", .listens = true}).value();
    typename port_type::link link{};
    std::vector<std::byte> slot(4096);
    std::vector<std::byte> answer(wire::largest_handshake);
    wire::introduction hello;
    const auto receive = [&] {
      EXPECT_TRUE(net->post_receive(link, {slot.data(), slot.size(), nullptr}, slot.data()));
    };
    if constexpr (!port_type::link_has_receives) receive();
    int answers = 0;
    bool asked = false;
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
        EXPECT_EQ(wire::parse(const_bytes(slot).first(c.length), hello), wire::parse_verdict::good);
        if constexpr (!port_type::link_has_receives)
          link = net->dial(address_bytes(hello.address.begin(), hello.address.end()), 1).value();
      });
      if (asked && answers < 2) {
        wire::introduction accept = hello;
        accept.address = {};
        accept.connection = wire::connection_number::of(0, 1);
        if (answers == 0) accept.nonce ^= 2;
        answer.resize(wire::largest_handshake);
        answer.resize(wire::encode(accept, answer));
        const auto tag = wire::message_tag::of(wire::message_kind::accept, hello.connection);
        if (net->template send<post_mode::signalled>(link, {answer.data(), answer.size(), nullptr}, tag.word, nullptr))
          ++answers;
        loopback::sleep_for(1ms);  // the bytes have left
      }
      loopback::sleep_for(50us);
    }
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<Row>({}).value();
    unsigned stands = 0;
    const auto on = overloaded{[&](const connected&) { ++stands; }, [](auto&&) {}};
    EXPECT_TRUE(net.start_connect("listener:7471"));
    EXPECT_TRUE(net.until([&] { return net.garbled() == 1; }, 50ms, on)) << "the wrong accept was not counted";
    EXPECT_EQ(stands, 0U) << "an accept of another hello connected";
    EXPECT_TRUE(net.until([&] { return stands == 1; }, 10s, on));
    over = true;
  });
  const auto run = w.run(120s);
  EXPECT_TRUE(run) << run.sentence;
}

TEST(an_accept_of_another_hello, does_not_connect_over_a_connection) {
  gets_an_accept_of_another_hello<connected_row>();
}
TEST(an_accept_of_another_hello, does_not_connect_at_an_address) { gets_an_accept_of_another_hello<addressed_row>(); }

TEST(a_message_that_is_too_large, connected_is_counted_with_both_sizes) {
  meets_a_message_that_is_too_large<connected_row>();
}
TEST(a_message_that_is_too_large, addressed_is_counted_with_both_sizes) {
  meets_a_message_that_is_too_large<addressed_row>();
}

TEST(a_later_release, connected_is_answered_with_a_sentence) { meets_a_later_release<connected_row>(); }
TEST(a_later_release, addressed_is_answered_with_a_sentence) { meets_a_later_release<addressed_row>(); }

}  // namespace
}  // namespace weft
