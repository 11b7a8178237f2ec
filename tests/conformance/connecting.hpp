// SPDX-License-Identifier: Apache-2.0
//
// Connecting: private data of every length, accept and reject, no listener, the wrong fabric, too many peers. The same
// on fabrics with connections and on fabrics with addresses only. Hot path: no. Threads: one per side.
#pragma once

#include "../../compose/callbacks.hpp"
#include "two_sides.hpp"

#include <cerrno>
#include <optional>

namespace weft::conformance {

/// The row as another build has it: with a different answer to a family that both sides must share.
template <class F>
struct of_other_rules : F {
  static constexpr std::string_view shared = "endpoint=by_pigeon";
  static constexpr std::uint64_t fingerprint = F::fingerprint ^ 0x100;
};

using private_bytes = std::optional<std::vector<std::byte>>;

inline private_bytes some_private(std::size_t size) {
  std::vector<std::byte> data(size);
  paint(data, size);
  return data;
}
inline private_bytes kept(bool has, const_bytes data) {
  return has ? private_bytes(std::vector<std::byte>(data.begin(), data.end())) : std::nullopt;
}

/// Waits for one request and sends its private data to the other side.
template <class F>
peer one_request(test_side& side, transport<F>& net, observer& seen, private_bytes* data = nullptr) {
  std::optional<peer> asked;
  seen.on_requested = [&](const requested& r) {
    asked = r.peer;
    if (data != nullptr) *data = kept(r.has_private_data, r.private_data);
  };
  await(side, net, seen, "a request", [&] { return asked.has_value(); });
  seen.on_requested = nullptr;
  return *asked;
}

template <class Environment>
class connecting : public suite<Environment> {};
TYPED_TEST_SUITE_P(connecting);

TYPED_TEST_P(connecting, private_data_of_every_length_reaches_both_sides) {
  using fabric = typename TestFixture::tested_fabric;
  static const auto cases = [] {
    return std::vector<private_bytes>{std::nullopt, some_private(0), some_private(1), some_private(17),
                                      some_private(64)};
  };
  TestFixture::play(
      {},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        side.send_value(1, net.listen_address());
        observer seen;
        for (const private_bytes& expected : cases()) {
          private_bytes came;
          const peer p = one_request(side, net, seen, &came);
          EXPECT_EQ(came, expected);
          EXPECT_TRUE(expected ? net.accept(p, *expected) : net.accept(p));
          serve(side, net, seen, 1);
          (void)side.wait_for_value(1);
          EXPECT_TRUE(net.close(p, patience, seen));
          side.ready(1);
        }
      },
      [](test_side& side) {
        auto net = opened<fabric>(side);
        const std::string where = side.wait_for_text(0);
        for (const private_bytes& given : cases()) {
          observer seen;
          private_bytes came;
          std::optional<peer> stands;
          seen.on_connected = [&](const connected& c) {
            stands = c.peer;
            came = kept(c.has_private_data, c.private_data);
          };
          auto p = given ? net.start_connect(where, *given) : net.start_connect(where);
          ASSERT_TRUE(p) << p.error().sentence;
          await(side, net, seen, "the connection", [&] { return stands.has_value(); });
          EXPECT_EQ(came, given);
          EXPECT_EQ(*stands, *p);
          side.ready(0);
          await(side, net, seen, "the other side's goodbye", [&] { return seen.losses == 1; });
          EXPECT_EQ(seen.last_loss.code, errc::closed);
          serve(side, net, seen, 0);
          (void)side.wait_for_value(0);
        }
      });
}

TYPED_TEST_P(connecting, private_data_of_65_bytes_is_refused_with_both_sizes) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        side.send_value(1, net.listen_address());
        observer seen;
        serve(side, net, seen, 1);
        EXPECT_EQ(seen.requests, 0U);
      },
      [](test_side& side) {
        auto net = opened<fabric>(side);
        observer seen;
        const auto p = net.connect(side.wait_for_text(0), *some_private(65), patience, seen);
        ASSERT_FALSE(p);
        EXPECT_EQ(p.why().code, errc::invalid);
        EXPECT_NE(p.error().sentence.find("65"), std::string::npos) << p.error().sentence;
        EXPECT_NE(p.error().sentence.find("64"), std::string::npos) << p.error().sentence;
        side.ready(0);
      });
}

TYPED_TEST_P(connecting, a_rejection_arrives_with_its_private_data) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        side.send_value(1, net.listen_address());
        observer seen;
        const peer p = one_request(side, net, seen);
        EXPECT_TRUE(net.reject(p, "the table is full"));
        serve(side, net, seen, 1);
        EXPECT_FALSE(p.alive());
      },
      [](test_side& side) {
        auto net = opened<fabric>(side);
        observer seen;
        const auto p = net.connect(side.wait_for_text(0), patience, seen);
        ASSERT_FALSE(p);
        EXPECT_EQ(p.why().code, errc::rejected);
        EXPECT_NE(p.error().sentence.find("the table is full"), std::string::npos) << p.error().sentence;
        side.ready(0);
      });
}

TYPED_TEST_P(connecting, connecting_where_nobody_listens_fails_by_the_deadline) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play({}, [](test_side& side) {
    std::string where;
    {
      auto gone = opened<fabric>(side, listening());
      where = gone.listen_address();
    }
    auto net = opened<fabric>(side);
    observer seen;
    const instant start = net.now();
    const auto p = net.connect(where, 3s, seen);
    ASSERT_FALSE(p);
    EXPECT_TRUE(p.why().code == errc::unreachable || p.why().code == errc::deadline) << p.error().sentence;
    EXPECT_NE(p.error().sentence.find(where), std::string::npos) << p.error().sentence;
    EXPECT_LT(net.now() - start, 10s);
    EXPECT_EQ(net.in_flight(), 0U) << "a connection that never came up still holds memory";
  });
}

TYPED_TEST_P(connecting, an_invalid_address_is_refused_with_an_example) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play({}, [](test_side& side) {
    auto net = opened<fabric>(side);
    observer seen;
    for (const char* wrong : {"", "127.0.0.1", "::1:7471", ":7471", "127.0.0.1:"}) {
      const auto p = net.connect(wrong, 1s, seen);
      ASSERT_FALSE(p) << wrong;
      EXPECT_EQ(p.why().code, errc::invalid) << wrong;
      EXPECT_NE(p.error().sentence.find("[::1]:7471"), std::string::npos) << p.error().sentence;
    }
  });
}

TYPED_TEST_P(connecting, a_peer_of_another_build_is_refused_with_a_sentence) {
  using fabric = typename TestFixture::tested_fabric;
  if (is_fabric_set<fabric>) GTEST_SKIP() << "row " << fabric::name << ": the builds of a set are those of its fabrics";
  TestFixture::play(
      {},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        side.send_value(1, net.listen_address());
        observer seen;
        serve(side, net, seen, 1);
        EXPECT_EQ(seen.requests, 0U) << "the application got a request from a peer of another build";
      },
      [](test_side& side) {
        auto net = opened<std::conditional_t<is_fabric_set<fabric>, fabric, of_other_rules<fabric>>>(side);
        observer seen;
        const auto p = net.connect(side.wait_for_text(0), patience, seen);
        ASSERT_FALSE(p);
        EXPECT_EQ(p.why().code, errc::incompatible);
        EXPECT_NE(p.error().sentence.find("fabric " + std::string(fabric::name) + ": the "), std::string::npos)
            << p.error().sentence;
        EXPECT_NE(p.error().sentence.find(" was built for endpoint=by_pigeon"), std::string::npos)
            << p.error().sentence;
        side.ready(0);
      });
}

TYPED_TEST_P(connecting, a_message_directly_after_the_acceptance_is_not_lost) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr int rounds = 5;
  TestFixture::play(
      {},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        auto memory = net.allocate(64, rights::none).value();
        side.send_value(1, net.listen_address());
        observer seen;
        std::vector<peer> asked;  // the next request may arrive while the last peer closes, and must not be lost
        seen.on_requested = [&](const requested& r) { asked.push_back(r.peer); };
        for (std::size_t i = 0; i < rounds; ++i) {
          await(side, net, seen, "a request", [&] { return asked.size() > i; });
          const peer p = asked[i];
          EXPECT_TRUE(net.accept(p));
          memory.data()[0] = static_cast<std::byte>(i);
          push(side, net, seen, "send", [&] { return net.send(p, memory.first(1), &seen); });
          serve(side, net, seen, 1);
          (void)side.wait_for_value(1);
          EXPECT_TRUE(net.close(p, patience, seen));
        }
        EXPECT_EQ(net.stale() + net.garbled(), 0U);
      },
      [](test_side& side) {
        auto net = opened<fabric>(side);
        const std::string where = side.wait_for_text(0);
        for (int i = 0; i < rounds; ++i) {
          observer seen;
          int came = -1;
          seen.on_received = [&](const received& m) {
            EXPECT_EQ(m.message.size(), 1U);
            EXPECT_EQ(seen.connections, 1U) << "the message arrived before the connection was up";
            came = static_cast<int>(m.message[0]);
          };
          const auto p = net.start_connect(where);
          ASSERT_TRUE(p) << p.error().sentence;
          await(side, net, seen, "the message", [&] { return came >= 0; });
          EXPECT_EQ(came, i);
          side.ready(0);
          await(side, net, seen, "the goodbye", [&] { return seen.losses == 1; });
        }
      });
}

TYPED_TEST_P(connecting, two_peers_are_distinguished) {
  using fabric = typename TestFixture::tested_fabric;
  const auto caller = [](test_side& side) {
    auto net = opened<fabric>(side);
    observer seen;
    auto memory = net.allocate(64, rights::none).value();
    const peer p = meet_as_caller(side, net, seen);
    memory.data()[0] = static_cast<std::byte>(side.number());
    std::byte answer{};
    seen.on_received = [&](const received& m) { answer = m.message[0]; };
    push(side, net, seen, "send", [&] { return net.send(p, memory.first(1), &seen); });
    await(side, net, seen, "the reply", [&] { return answer != std::byte{}; });
    EXPECT_EQ(answer, static_cast<std::byte>(side.number() + 10));
    side.ready(0);
  };
  TestFixture::play(
      {},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        observer seen;
        auto memory = net.allocate(64, rights::none).value();
        side.send_value(1, net.listen_address());
        side.send_value(2, net.listen_address());
        seen.on_requested = [&](const requested& r) { EXPECT_TRUE(net.accept(r.peer)); };
        std::vector<std::pair<peer, std::byte>> arrived;
        seen.on_received = [&](const received& m) { arrived.emplace_back(m.peer, m.message[0]); };
        await(side, net, seen, "both messages", [&] { return arrived.size() == 2; });
        EXPECT_NE(arrived[0].first, arrived[1].first);
        EXPECT_NE(arrived[0].second, arrived[1].second);
        for (std::size_t i = 0; i < 2; ++i) {
          memory.data()[i] = static_cast<std::byte>(std::to_integer<int>(arrived[i].second) + 10);
          push(side, net, seen, "answer", [&] { return net.send(arrived[i].first, memory.slice(i, 1), &arrived[i]); });
        }
        serve(side, net, seen, 1);
        serve(side, net, seen, 2);
      },
      caller, caller);
}

TYPED_TEST_P(connecting, a_full_peer_table_is_an_error_at_the_connecting_side) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        observer seen;
        (void)meet_as_listener(side, net, seen);
        serve(side, net, seen, 1);
      },
      [](test_side& side) {
        auto net = opened<fabric>(side, {.peers = 1});
        observer seen;
        const std::string where = side.wait_for_text(0);
        auto first = net.connect(where, patience, seen);
        ASSERT_TRUE(first) << first.error().sentence;
        const auto second = net.connect(where, patience, seen);
        ASSERT_FALSE(second);
        EXPECT_EQ(second.why().code, errc::no_memory);
        EXPECT_NE(second.error().sentence.find("transport_options::peers"), std::string::npos)
            << second.error().sentence;
        EXPECT_TRUE(first->alive());
        side.ready(0);
      });
}

TYPED_TEST_P(connecting, ipv6_addresses_work) {
  using fabric = typename TestFixture::tested_fabric;
  if (TestFixture::facts.address_resolution != address_resolution::socket)
    GTEST_SKIP() << "row " << fabric::name << ", address_resolution: opaque: its addresses have no families";
  TestFixture::play(
      {},
      [](test_side& side) {
        auto net = opened<fabric>(side, {.node = home_of_the_sixth_family(), .listens = true});
        observer seen;
        EXPECT_TRUE(net.listen_address().starts_with("[" + home_of_the_sixth_family() + "]:")) << net.listen_address();
        (void)meet_as_listener(side, net, seen);
        serve(side, net, seen, 1);
      },
      [](test_side& side) {
        auto net = opened<fabric>(side, {.node = home_of_the_sixth_family()});
        observer seen;
        EXPECT_TRUE(meet_as_caller(side, net, seen).alive());
        side.ready(0);
      });
}

TYPED_TEST_P(connecting, wrong_places_are_refused_at_once_with_a_sentence) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play({.once = true}, [](test_side& side) {
    auto net = opened<fabric>(side);
    const auto no_listener = net.accept_one(patience);
    ASSERT_FALSE(no_listener);
    EXPECT_EQ(no_listener.why().code, errc::invalid);
    EXPECT_NE(no_listener.error().sentence.find("does not listen"), std::string::npos) << no_listener.error().sentence;
    const auto no_port = net.connect(home() + ":70001", patience);
    ASSERT_FALSE(no_port);
    EXPECT_EQ(no_port.why().code, errc::invalid);
    EXPECT_NE(no_port.error().sentence.find("70001"), std::string::npos) << no_port.error().sentence;
    const auto no_service = open<fabric>({.node = home(), .service = "70001"});
    ASSERT_FALSE(no_service);
    EXPECT_EQ(no_service.why().code, errc::invalid);
    EXPECT_NE(no_service.error().sentence.find("70001"), std::string::npos) << no_service.error().sentence;
  });
}

TYPED_TEST_P(connecting, a_port_in_use_is_named_where_the_library_says_so) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play({.once = true}, [](test_side& side) {
    auto first = opened<fabric>(side, listening());
    const std::string where = first.listen_address();
    const std::string service = where.substr(where.rfind(':') + 1);
    const auto second = open<fabric>(knowing<fabric>({.node = home(), .service = service}));
    if (!second && second.why().native() == EADDRINUSE) {  // not every library says so
      EXPECT_EQ(second.error().sentence.rfind("port " + service + " of " + home() + " is in use", 0), 0U)
          << second.error().sentence;
    }
  });
}

TYPED_TEST_P(connecting, a_handle_carries_the_users_pointer_to_every_event) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        observer seen;
        int mine = 0;
        const peer other = meet_as_listener(side, net, seen);
        EXPECT_EQ(other.user_data(), nullptr);
        ASSERT_TRUE(other.set_user_data(&mine));
        void* with_message = nullptr;
        void* with_loss = nullptr;
        seen.on_received = [&](const received& m) { with_message = m.peer.user_data(); };
        seen.on_lost = [&](const lost& l) { with_loss = l.peer.user_data(); };
        side.ready(1);
        await(side, net, seen, "the goodbye", [&] { return seen.losses == 1; });
        EXPECT_EQ(with_message, &mine);
        EXPECT_EQ(with_loss, &mine);
        EXPECT_EQ(net.reason(), "the peer closed the connection");
        EXPECT_EQ(other.user_data(), nullptr) << "the peer is gone";
      },
      [](test_side& side) {
        auto net = opened<fabric>(side);
        observer seen;
        int before = 0;
        seen.on_connected = [](const connected&) {};
        const auto begun = net.start_connect(side.wait_for_text(0));
        ASSERT_TRUE(begun) << begun.error().sentence;
        ASSERT_TRUE(begun->set_user_data(&before)) << "before the connection is established";
        await(side, net, seen, "the connection", [&] { return begun->alive(); });
        EXPECT_EQ(begun->user_data(), &before);
        serve(side, net, seen, 0);
        (void)side.wait_for_value(0);
        const auto text = net.allocate(8, rights::none).value();
        std::uint64_t ended = 0;
        on_completion callback{[&](const completed&) { ++ended; }};
        ASSERT_TRUE(net.retry([&] { return net.send(*begun, text.first(8), &callback); }, patience, callbacks(seen)));
        ASSERT_TRUE(net.until([&] { return ended == 1; }, patience, callbacks(seen)));
        EXPECT_EQ(seen.completions, 0U) << "the end of an operation with a callback reached the handler";
        if (refuses_wrong_posts<fabric>) {
          int calls = 0;
          const auto long_text = net.allocate(net.largest_message(*begun) + 1, rights::none).value();
          const status refused =
              net.retry([&] { return ++calls, net.send(*begun, long_text.first(long_text.size()), &callback); },
                        patience, callbacks(seen));
          EXPECT_EQ(refused.code, errc::truncated) << describe(refused);
          EXPECT_EQ(calls, 1) << "a permanent error was repeated";
        }
        EXPECT_TRUE(net.close(*begun, patience, seen));
        EXPECT_EQ(begun->user_data(), nullptr);
      });
}

REGISTER_TYPED_TEST_SUITE_P(
    connecting, wrong_places_are_refused_at_once_with_a_sentence, a_port_in_use_is_named_where_the_library_says_so,
    a_handle_carries_the_users_pointer_to_every_event, private_data_of_every_length_reaches_both_sides,
    private_data_of_65_bytes_is_refused_with_both_sizes, a_rejection_arrives_with_its_private_data,
    connecting_where_nobody_listens_fails_by_the_deadline, an_invalid_address_is_refused_with_an_example,
    a_peer_of_another_build_is_refused_with_a_sentence, a_message_directly_after_the_acceptance_is_not_lost,
    two_peers_are_distinguished, a_full_peer_table_is_an_error_at_the_connecting_side, ipv6_addresses_work);

}  // namespace weft::conformance
