// SPDX-License-Identifier: Apache-2.0
//
// Tagged messages in virtual time: the order of matching over a network with every fault, two builds with different
// windows, and a peer that ignores its window. The rule of order is that of MPI: of two messages of one sender that
// both fit a receive, the receive takes the earlier one, unless an earlier receive took it.
#include <weft/compose/sets/members.hpp>
#include <weft/compose/tagged/tagged.hpp>
#include <weft/compose/transport.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <vector>

namespace weft {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;
using tagging = with<fabrics::loopback, answers::tagged::matched_over_messages<6>>;

loopback::faults trouble() {
  loopback::faults f;
  f.delay_most = duration(30'000);
  f.loss = 0.05;
  f.reorder = 0.5;
  f.full_queue = 0.05;
  f.full_queue_time = 200us;
  f.spurious_wake = 0.05;
  return f;
}

constexpr int senders = 3;
constexpr std::uint64_t each = 60;

/// A tag is a kind, above bits that are zero. The payload is the message's number.
constexpr std::uint64_t tag_of(std::uint64_t kind) noexcept { return kind << 40; }

/// One post of a receive, in the order of the posts.
struct posted {
  tagged_receive receive;
  std::uint64_t kind = 0;
  std::uint64_t ignored_kinds = 0;
  std::uint64_t wanted = 0;        ///< A sender; `senders` or more: any.
  std::uint64_t sender = senders;  ///< Of the message.
  std::byte number{};

  bool met() const noexcept { return sender < senders; }
  bool takes(const posted& other) const noexcept {
    return ((other.receive.tag() ^ tag_of(kind)) & ~tag_of(ignored_kinds)) == 0 &&
           (wanted >= senders || wanted == other.sender);
  }
};

void receive_all(std::uint64_t seed, std::deque<posted>& posts) {
  std::mt19937_64 draw(seed);
  auto net = open<tagging>({.node = "receiver", .service = "7471", .max_message_bytes = 1024}).value();
  std::array<peer, senders> peers;
  int met = 0;
  std::uint64_t taken = 0;
  const auto on = overloaded{[&](const requested& r) {
                               peers[static_cast<std::size_t>(r.private_data[0])] = r.peer;
                               EXPECT_TRUE(net.accept(r.peer));
                               ++met;
                             },
                             [&](const completed& c) { taken += c.what == operation::receive_tagged ? 1U : 0U; },
                             [](const lost&) {}, [](auto&&) {}};
  EXPECT_TRUE(net.until([&] { return met == senders; }, 10s, on));
  const auto all_live = [&] { return peers[0].alive() && peers[1].alive() && peers[2].alive(); };
  EXPECT_TRUE(net.until(all_live, 10s, on));
  while (taken < senders * each) {
    std::size_t waiting = 0;
    for (const posted& p : posts) waiting += p.receive.posted() ? 1U : 0U;
    if (waiting < 12 && draw() % 3 == 0) {
      posted& p = posts.emplace_back();
      p.kind = draw() % 4;
      p.ignored_kinds = waiting > 9 ? 7 : draw() % 4;  // one that takes all kinds: nothing waits for ever
      p.wanted = waiting > 9 ? senders : draw() % (2 * senders);
      const peer from = p.wanted < senders ? peers[p.wanted] : peer();
      EXPECT_TRUE(net.receive_tagged(
          p.receive, {.tag = tag_of(p.kind), .ignore = tag_of(p.ignored_kinds), .from = from}, {&p.number, 1}));
    }
    if (draw() % 4 == 0) loopback::sleep_for(duration(draw() % 20'000));
    net.progress(on);
    if (net.now() > instant{} + 60s) return ADD_FAILURE() << "seed " << seed << ": " << taken << " messages were taken";
  }
  EXPECT_EQ(net.garbled() + net.stale() + net.waiting_tagged(), 0U);
  for (posted& p : posts)
    if (!net.cancel_tagged(p.receive))
      p.sender = static_cast<std::uint64_t>(std::find(peers.begin(), peers.end(), p.receive.from()) - peers.begin());
  for (int i = 0; i < 100; ++i) net.progress(on), loopback::sleep_for(100us);
}

void send_all(std::uint64_t seed, std::uint64_t who) {
  std::mt19937_64 draw(seed * senders + who);
  loopback::sleep_for(duration(draw() % 500'000));
  auto net = open<tagging>({.max_message_bytes = 1024}).value();
  const auto on = [](auto&&) {};
  const std::byte name[] = {static_cast<std::byte>(who)};
  const peer to = net.connect("receiver:7471", name, 10s, on).value();
  owned_region memory = net.allocate(each, rights::none).value();
  for (std::uint64_t i = 0; i < each; ++i) {
    const std::uint64_t tag = tag_of(draw() % 4);
    const local_memory from = memory.slice(i, 1);
    *from.data = static_cast<std::byte>(i);
    EXPECT_TRUE(net.retry([&] { return net.send_tagged(to, from, tag); }, 30s, on));
  }
  EXPECT_TRUE(net.until([&] { return !to.alive(); }, 60s, on));
}

/// Every pair of posts, against the rule.
void expect_no_overtaking(std::uint64_t seed, const std::deque<posted>& posts) {
  std::size_t pairs = 0;
  for (std::size_t late = 1; late < posts.size(); ++late)
    for (std::size_t early = 0; early < late; ++early) {
      const posted& first = posts[early];
      const posted& second = posts[late];
      if (!first.met() || !second.met() || first.sender != second.sender || !first.takes(second)) continue;
      ++pairs;
      EXPECT_LT(first.number, second.number)
          << "seed " << seed << ": receive " << late << " took a message that receive " << early << " fits";
    }
  EXPECT_GT(pairs, 500U) << "too few pairs: the test shows nothing";
  for (const posted& p : posts)
    if (p.met()) {
      EXPECT_TRUE(p.takes(p));
    }
}

TEST(tagged_messages, of_one_sender_do_not_overtake_each_other) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    loopback::world w(seed, trouble());
    std::deque<posted> posts;
    w.spawn("receiver", [&] { receive_all(seed, posts); });
    for (std::uint64_t who = 0; who < senders; ++who)
      w.spawn("sender" + std::to_string(who), [seed, who] { send_all(seed, who); });
    const auto run = w.run(10min);
    EXPECT_TRUE(run) << "seed " << seed << ": " << run.sentence;
    expect_no_overtaking(seed, posts);
    if (testing::Test::HasFailure()) return;
  }
}

template <class Caller, class Listener>
std::string refusal_between() {
  std::string reason;
  loopback::world w(1);
  bool over = false;
  w.spawn("listener", [&] {
    auto net = open<Listener>({.node = "listener", .service = "7471"}).value();
    while (!over) net.progress([](auto&&) {}), loopback::sleep_for(10us);
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<Caller>({}).value();
    const auto met = net.connect("listener:7471", 10s, [](auto&&) {});
    EXPECT_EQ(met.why().code, errc::incompatible);
    if (!met) reason = met.error().sentence;
    over = true;
  });
  const auto run = w.run(60s);
  EXPECT_TRUE(run) << run.sentence;
  return reason;
}

TEST(tagged_messages, are_no_difference_between_builds) {
  using other = with<tagging, answers::notify::message_after_delivery>;
  EXPECT_EQ((refusal_between<other, fabrics::loopback>()),
            "listener:7471 cannot talk to this build: fabric loopback: the caller was built for "
            "notify=message_after_delivery, the listener for notify=immediate [WEFT-O008]");
  EXPECT_EQ((refusal_between<fabrics::loopback, other>()),
            "listener:7471 cannot talk to this build: fabric loopback: the caller was built for notify=immediate, the "
            "listener for notify=message_after_delivery [WEFT-O008]");
  EXPECT_EQ(tagging::shared, fabrics::loopback::shared);
  EXPECT_EQ(tagging::fingerprint, fabrics::loopback::fingerprint);
  EXPECT_EQ((with<tagging, answers::tagged::none>::shared), fabrics::loopback::shared);
}

/// Sends as if its peer kept 64 messages.
void ignore_the_window(transport<tagging>& net) {
  for (auto& one : detail::transport_parts::engine_of(net).peers) one.tagged_window = 64;
}
using larger = with<fabrics::loopback, answers::tagged::matched_over_messages<64>>;

/// Another window than the receiver's: the sender keeps to the receiver's, unless the test makes it ignore that.
template <class Sender>
void send_more_than_the_window(bool ignores) {
  constexpr std::uint64_t window = 6;
  const std::uint64_t sent = ignores ? 20 : window;
  loopback::world w(5);
  bool over = false;
  w.spawn("receiver", [&] {
    auto net = open<tagging>({.node = "receiver", .service = "7471"}).value();
    const auto on = [](auto&&) {};
    const peer other = net.accept_one(10s, on).value();
    EXPECT_TRUE(net.until([&] { return net.waiting_tagged() + net.garbled() == sent; }, 10s, on));
    EXPECT_EQ(net.waiting_tagged(), window);
    EXPECT_EQ(net.garbled(), sent - window);
    for (std::uint64_t i = 0; i < window; ++i) {
      std::byte number{};
      EXPECT_TRUE(net.receive_tagged({.ignore = ~std::uint64_t{0}}, {&number, 1}, 1s, on));
      EXPECT_EQ(static_cast<std::uint64_t>(number), i);
    }
    EXPECT_TRUE(other.alive());
    over = true;
  });
  w.spawn("sender", [&] {
    loopback::sleep_for(1ms);
    auto net = open<Sender>({}).value();
    const auto on = [](auto&&) {};
    const peer to = net.connect("receiver:7471", 10s, on).value();
    if constexpr (std::same_as<Sender, tagging>)
      if (ignores) ignore_the_window(net);
    owned_region memory = net.allocate(sent + 1, rights::none).value();
    for (std::uint64_t i = 0; i < sent; ++i) {
      *memory.slice(i, 1).data = static_cast<std::byte>(i);
      EXPECT_TRUE(net.retry([&] { return net.send_tagged(to, memory.slice(i, 1), i); }, 10s, on));
    }
    if (!ignores) EXPECT_EQ(net.send_tagged(to, memory.first(1), 0).waits_for(), waits_for::receive_slot);
    EXPECT_TRUE(net.until([&] { return over; }, 10s, on));
  });
  const auto run = w.run(60s);
  EXPECT_TRUE(run) << run.sentence;
}
TEST(tagged_messages, of_a_peer_that_ignores_the_window_take_no_more_than_the_window) {
  send_more_than_the_window<tagging>(true);
}
TEST(tagged_messages, keep_to_the_receivers_window) {
  send_more_than_the_window<tagging>(false);
  send_more_than_the_window<larger>(false);
}

}  // namespace
}  // namespace weft
