// SPDX-License-Identifier: Apache-2.0
//
// Strangers without the secret, by hand: forged and recorded hellos, an accept without a proof, and the caller's own
// words sent back. The application hears of none of them, and honest peers meet meanwhile.
#include "by_hand.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace weft::test {
namespace {

/// What the listener's application saw. It accepts each request.
struct listener_view {
  int requests = 0;
  int others = 0;  ///< Events of any other kind.
};

template <class F>
listener_view listen_until(const bool& over, std::uint32_t peers = 32) {
  auto net = open<F>({.node = "listener", .service = "7471", .peers = peers, .secret = secret(right_secret)}).value();
  listener_view seen;
  const auto on = overloaded{[&](const requested& r) {
                               ++seen.requests;
                               EXPECT_TRUE(net.accept(r.peer));
                             },
                             [&](const lost&) {}, [&](const auto&) { ++seen.others; }};
  while (!over) {
    net.progress(on);
    loopback::sleep_for(100us);
  }
  return seen;
}

template <class F>
bool meets_honestly() {
  auto net = open<F>({.sleeps = true, .secret = secret(right_secret)}).value();
  const instant from = net.now();
  const auto met = net.connect("listener:7471", 5s);
  EXPECT_TRUE(met) << met.error().sentence;
  EXPECT_LE(net.now() - from, 1s);
  return bool(met);
}

/// Runs a stranger's act beside a listener.
template <class F, class Act>
listener_view beside_a_listener(Act&& act, std::uint32_t peers = 32, std::uint64_t seed = 5) {
  loopback::world w(seed);
  bool over = false;
  listener_view seen;
  w.spawn("listener", [&] { seen = listen_until<F>(over, peers); });
  w.spawn("stranger", [&] {
    loopback::sleep_for(1ms);
    act();
    over = true;
  });
  const auto run = w.run(10h);
  EXPECT_TRUE(run) << run.sentence;
  EXPECT_EQ(seen.others, 0);
  return seen;
}

template <class F>
class a_stranger : public testing::Test {};
using rows = testing::Types<connected_fabric, addressed_fabric, wide_fabric>;
TYPED_TEST_SUITE(a_stranger, rows);

/// The frame of all other tests: a peer by hand that knows the secret is accepted, and the accept proves the listener.
TYPED_TEST(a_stranger, with_the_secret_is_an_honest_peer) {
  const auto seen = beside_a_listener<TypeParam>([] {
    peer_by_hand<TypeParam> by_hand;
    by_hand.dial();
    ASSERT_TRUE(by_hand.say(wire::message_kind::hello, by_hand.first_hello()) && by_hand.hear());
    ASSERT_TRUE(by_hand.is_challenged());
    ASSERT_TRUE(by_hand.say(wire::message_kind::hello, by_hand.proven_hello(right_secret)) && by_hand.hear());
    wire::introduction accept;
    ASSERT_EQ(wire::parse(by_hand.heard, accept), wire::parse_verdict::good);
    EXPECT_TRUE(detail::is_code_of(accept.authentication, secret(right_secret), wire::proving_side::listener,
                                   by_hand.callers, *by_hand.challenge, accept));
  });
  EXPECT_EQ(seen.requests, 1);
}

TYPED_TEST(a_stranger, that_guesses_is_refused_once_and_gets_another_challenge_each_time) {
  const auto seen = beside_a_listener<TypeParam>([] {
    peer_by_hand<TypeParam> by_hand;
    std::optional<wire::challenge_nonce> before;
    for (int i = 0; i < 10; ++i) {
      by_hand.renew();
      by_hand.dial();
      ASSERT_TRUE(by_hand.say(wire::message_kind::hello, by_hand.first_hello()) && by_hand.hear());
      ASSERT_TRUE(by_hand.is_challenged());
      EXPECT_NE(by_hand.challenge, before);
      before = by_hand.challenge;
      ASSERT_TRUE(by_hand.say(wire::message_kind::hello, by_hand.proven_hello(wrong_secret)) && by_hand.hear());
      EXPECT_EQ(by_hand.refusal(), "the shared secrets differ: give both sides the same transport_options::secret");
    }
    EXPECT_TRUE(meets_honestly<TypeParam>());
  });
  EXPECT_EQ(seen.requests, 1);
}

TYPED_TEST(a_stranger, that_repeats_the_hellos_of_an_earlier_connection_is_challenged_anew) {
  std::vector<std::byte> first, proven;
  std::optional<wire::challenge_nonce> before;
  const auto repeat = [&](peer_by_hand<TypeParam>& stranger) {
    for (int i = 0; i < 1000; ++i) {
      if (i % 10 == 0) stranger.dial();
      ASSERT_TRUE(stranger.say(wire::message_kind::hello, i % 10 == 1 ? first : proven)) << i;
      ASSERT_TRUE(stranger.hear() && stranger.is_challenged()) << i;
      EXPECT_NE(stranger.challenge, before);
      if (i % 10 == 9) loopback::sleep_for(50ms);
    }
  };
  auto seen = beside_a_listener<TypeParam>([&] {
    peer_by_hand<TypeParam> honest;
    honest.dial();
    first = honest.first_hello();
    ASSERT_TRUE(honest.say(wire::message_kind::hello, first) && honest.hear() && honest.is_challenged());
    before = honest.challenge;
    proven = honest.proven_hello(right_secret);
    ASSERT_TRUE(honest.say(wire::message_kind::hello, proven) && honest.hear());
    wire::introduction accept;
    ASSERT_EQ(wire::parse(honest.heard, accept), wire::parse_verdict::good);
    ASSERT_TRUE(honest.say(wire::message_kind::goodbye, {}, accept.own_word()));
    loopback::sleep_for(200ms);
    repeat(honest);  // an address in a hello is that of its sender
  });
  EXPECT_EQ(seen.requests, 1) << "the honest one";
  const auto by_another = [&] {
    peer_by_hand<TypeParam> stranger;
    repeat(stranger);
  };
  seen = beside_a_listener<TypeParam>(by_another, 32, 6);  // another process of the listener
  EXPECT_EQ(seen.requests, 0);
}

/// WEFT_FORGED_HELLOS, or 1000.
std::size_t forged_hellos() {
  const char* asked = std::getenv("WEFT_FORGED_HELLOS");
  return asked == nullptr ? 1000 : std::stoul(asked);
}

TYPED_TEST(a_stranger, with_many_forged_hellos_meets_nobody_and_disturbs_nobody) {
  const std::size_t count = forged_hellos();
  const auto seen = beside_a_listener<TypeParam>(
      [count] {
        peer_by_hand<TypeParam> stranger;
        stranger.dial();
        for (std::size_t i = 0; i < count; ++i) {
          stranger.renew();
          if (detail::engine<TypeParam>::connected) stranger.dial();
          ASSERT_TRUE(stranger.say(wire::message_kind::hello, stranger.first_hello())) << i;
          if (!stranger.hear() || !stranger.is_challenged()) {
            --i;  // busy: all places hold strangers that are younger than 100 ms
            loopback::sleep_for(20ms);
            continue;
          }
          auto forged = stranger.proven_hello(right_secret);
          const std::size_t bit = i * forged.size() * 8 / count;
          forged[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
          ASSERT_TRUE(stranger.say(wire::message_kind::hello, forged)) << i;
          if (i == count / 2) {
            EXPECT_TRUE(meets_honestly<TypeParam>());
          }
        }
        loopback::sleep_for(20ms);
      },
      256);
  EXPECT_EQ(seen.requests, 1) << "the honest one";
}

/// A listener by hand that does not know the secret answers with `accept(hello, caller's nonce, own nonce)`.
template <class F, class MakeAccept>
void answers_without_the_secret(wire::challenge_nonce drawn, bool draws_the_callers, MakeAccept&& make) {
  loopback::world w(6);
  bool over = false;
  w.spawn("listener", [&] {
    peer_by_hand<F> fake({.node = "listener", .service = "7471", .listens = true});
    bool answered = false;
    address_bytes where;
    std::vector<std::byte> body(wire::largest_handshake);
    while (!over) {
      if (!fake.hear() || answered) continue;
      wire::introduction hello;
      ASSERT_EQ(wire::parse(const_bytes(fake.heard).subspan(detail::engine<F>::front), hello),
                wire::parse_verdict::good);
      const auto shown = wire::parse_hello_authentication(hello.authentication);
      ASSERT_TRUE(shown);
      if (draws_the_callers) drawn = shown->callers;
      if (!detail::engine<F>::connected && where.empty()) {
        where.assign(hello.address.begin(), hello.address.end());
        fake.link = fake.net->dial(where, 1).value();
      }
      const auto to = hello.own_word();
      body.resize(wire::largest_handshake);
      if (!shown->answers) {
        body.resize(wire::encode(wire::refusal_notice{wire::challenge_code, hello.nonce, drawn}, body));
        EXPECT_TRUE(fake.say(wire::message_kind::reject, body, to));
      } else {
        body = make(hello, *shown);
        answered = true;
        EXPECT_TRUE(fake.say(wire::message_kind::accept, body, to));
      }
    }
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(1ms);
    auto net = open<F>({.sleeps = true, .secret = secret(right_secret)}).value();
    const auto met = net.connect("listener:7471", 2s);
    EXPECT_FALSE(met) << "the caller believed a listener without the secret";
    if (!met) {
      const std::string& sentence = met.error().sentence;
      EXPECT_EQ(sentence.find("5EC2E7"), std::string::npos) << sentence;
      if (detail::engine<F>::links_have_receives) {
        EXPECT_EQ(sentence,
                  "listener:7471 refused the connection: the listener did not prove that it knows the shared secret "
                  "[WEFT-O007]");
      } else {
        EXPECT_EQ(met.why().code, errc::deadline) << "the right answer may still come";
        EXPECT_GE(net.garbled(), 1U);
      }
    }
    over = true;
  });
  const auto run = w.run(10min);
  EXPECT_TRUE(run) << run.sentence;
}
std::vector<std::byte> encoded(const wire::introduction& i) {
  std::vector<std::byte> body(wire::largest_handshake);
  body.resize(wire::encode(i, body));
  return body;
}

TYPED_TEST(a_stranger, that_listens_cannot_reflect_the_proof_of_its_caller) {
  for (const bool own_nonce : {false, true})
    answers_without_the_secret<TypeParam>({}, own_nonce, [](wire::introduction hello, const auto& shown) {
      hello.authentication = shown.code;  // all else is the caller's own hello
      return encoded(hello);
    });
}
TYPED_TEST(a_stranger, that_listens_cannot_accept_without_a_proof) {
  answers_without_the_secret<TypeParam>({}, false, [](wire::introduction hello, const auto&) {
    hello.authentication = {};
    return encoded(hello);
  });
}
TYPED_TEST(a_stranger, that_listens_cannot_accept_by_another_secret) {
  answers_without_the_secret<TypeParam>({}, false, [](wire::introduction hello, const auto& shown) {
    const auto code =
        detail::code_of(secret(wrong_secret), wire::proving_side::listener, shown.callers, shown.listeners, hello);
    hello.authentication = *code;
    return encoded(hello);
  });
}

}  // namespace
}  // namespace weft::test
