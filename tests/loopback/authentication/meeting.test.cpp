// SPDX-License-Identifier: Apache-2.0
//
// Peers that prove a shared secret, in virtual time: the right secret meets, also where messages of the handshake are
// lost, repeated or overtaken. Another secret, or none on one side, ends in a sentence that shows no secret.
#include "rows.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace weft::test {
namespace {

/// Virtual time between two polls: a poll without optimisation, and with a sanitizer, costs tens of microseconds.
constexpr duration step = 1ms;

/// WEFT_SEEDS=n asks for another number.
std::uint64_t seeds() {
  const char* asked = std::getenv("WEFT_SEEDS");  // NOLINT(concurrency-mt-unsafe): one thread
  return asked == nullptr ? 30 : std::strtoull(asked, nullptr, 10);
}

/// What both sides saw of one meeting.
struct meeting {
  bool met = false;
  std::string sentence;  ///< The caller's, where they did not meet.
  errc why = errc::ok;
  int requests = 0;   ///< What the listener's application heard of.
  int connected = 0;  ///< Of the caller's connection.
  std::string said;   ///< Private data of the caller, as the listener saw it.
  std::string answered;
};

std::string text_of(const_bytes b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }
const_bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

template <class Listener, class Caller>
meeting meet(std::string_view listener_knows, std::string_view caller_knows, std::uint64_t seed = 1,
             const loopback::faults& trouble = {}, duration patience = 20s) {
  loopback::world w(seed, trouble);
  bool over = false;
  meeting seen;
  const auto options = [](std::string_view knows) {
    transport_options o;
    o.secret = knows.empty() ? secret() : secret(knows);
    o.silence_limit = 60s;  // raw losses take heartbeats too
    return o;
  };
  w.spawn("listener", [&] {
    auto asked = options(listener_knows);
    asked.node = "listener";
    asked.service = "7471";
    auto net = open<Listener>(asked).value();
    const auto on = overloaded{[&](const requested& r) {
                                 ++seen.requests;
                                 seen.said = text_of(r.private_data);
                                 EXPECT_TRUE(net.accept(r.peer, bytes_of("welcome")));
                               },
                               [](auto&&) {}};
    while (!over) {
      net.progress(on);
      loopback::sleep_for(step);
    }
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<Caller>(options(caller_knows)).value();
    const auto on = overloaded{[&](const connected& c) {
                                 ++seen.connected;
                                 seen.answered = text_of(c.private_data);
                               },
                               [&](const lost& l) {
                                 seen.why = l.why.code;
                                 seen.sentence = std::string(net.reason());
                               },
                               [](auto&&) {}};
    EXPECT_TRUE(net.start_connect("listener:7471", bytes_of("hi")));
    const auto poll_for = [&](duration time, auto&& until) {
      for (const instant end = net.now() + time; net.now() < end && !until(); loopback::sleep_for(step))
        net.progress(on);
    };
    poll_for(patience, [&] { return seen.connected > 0 || seen.why != errc::ok; });
    seen.met = seen.connected == 1 && seen.why == errc::ok;
    poll_for(1s, [] { return false; });  // late and repeated messages
    EXPECT_LE(seen.connected, 1);
    over = true;
  });
  const auto run = w.run(10min);
  EXPECT_TRUE(run) << run.sentence;
  EXPECT_EQ(seen.sentence.find("5EC2E7"), std::string::npos) << "a sentence shows a secret: " << seen.sentence;
  return seen;
}

template <class F>
class shared_secret : public testing::Test {};
using rows = testing::Types<connected_fabric, addressed_fabric, wide_fabric>;
TYPED_TEST_SUITE(shared_secret, rows);

TYPED_TEST(shared_secret, that_is_equal_meets_and_carries_private_data) {
  const auto seen = meet<TypeParam, TypeParam>(right_secret, right_secret);
  EXPECT_TRUE(seen.met) << seen.sentence;
  EXPECT_EQ(seen.requests, 1);
  EXPECT_EQ(seen.said, "hi");
  EXPECT_EQ(seen.answered, "welcome");
}
TYPED_TEST(shared_secret, that_differs_is_refused_before_the_application_hears_of_it) {
  const auto seen = meet<TypeParam, TypeParam>(right_secret, wrong_secret);
  EXPECT_FALSE(seen.met);
  EXPECT_EQ(seen.requests, 0);
  EXPECT_EQ(seen.why, errc::rejected);
  EXPECT_EQ(seen.sentence, "the shared secrets differ: give both sides the same transport_options::secret");
}
TYPED_TEST(shared_secret, meets_with_delays_repeats_and_overtaking) {
  loopback::faults trouble;
  trouble.loss = 0.3;
  trouble.reorder = 1;
  trouble.handshake_duplication = 1;
  trouble.full_queue = 0.2;
  for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
    const auto seen = meet<TypeParam, TypeParam>(right_secret, right_secret, seed, trouble);
    EXPECT_TRUE(seen.met) << "seed " << seed << ": " << seen.sentence;
    EXPECT_EQ(seen.requests, 1) << "seed " << seed;
  }
}
/// Each message of the handshake may be lost, and each may come twice.
TYPED_TEST(shared_secret, meets_where_messages_are_lost_and_repeated) {
  if (detail::engine<TypeParam>::connected) GTEST_SKIP() << "connections lose nothing";
  loopback::faults trouble;
  trouble.raw_loss = 0.3;
  trouble.raw_duplication = 0.3;
  trouble.reorder = 1;
  trouble.handshake_duplication = 0.5;
  for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
    const auto seen = meet<TypeParam, TypeParam>(right_secret, right_secret, seed, trouble, 60s);
    EXPECT_TRUE(seen.met) << "seed " << seed << ": " << seen.sentence;
    EXPECT_GE(seen.requests, 1) << "seed " << seed;
  }
  const auto wrong = meet<TypeParam, TypeParam>(right_secret, wrong_secret, 1, trouble, 60s);
  EXPECT_FALSE(wrong.met);
  EXPECT_EQ(wrong.requests, 0);
}

template <class Row>
void one_side_has_none() {
  using Proving = proving<Row>;
  using Plain = plain<Row>;
  const auto caller_has_none = meet<Proving, Plain>(right_secret, "");
  EXPECT_FALSE(caller_has_none.met);
  EXPECT_EQ(caller_has_none.requests, 0);
  EXPECT_EQ(caller_has_none.why, errc::rejected);
  EXPECT_EQ(caller_has_none.sentence,
            "this listener asks for a shared secret, and the caller has none: build the caller with "
            "authentication::shared_secret");
  const auto listener_has_none = meet<Plain, Proving>("", right_secret);
  EXPECT_FALSE(listener_has_none.met);
  EXPECT_EQ(listener_has_none.requests, 0);
  EXPECT_EQ(listener_has_none.why, errc::rejected);
  EXPECT_EQ(listener_has_none.sentence,
            "the caller asks for a shared secret, and this listener has none (authentication::none)");
}
TEST(a_secret_on_one_side, over_a_connection_is_refused_with_a_sentence) { one_side_has_none<fabrics::loopback>(); }
TEST(a_secret_on_one_side, at_an_address_is_refused_with_a_sentence) { one_side_has_none<addressed_row>(); }
TEST(a_secret_on_one_side, with_proven_messages_is_refused_with_a_sentence) { one_side_has_none<wide_row>(); }

}  // namespace
}  // namespace weft::test
