// SPDX-License-Identifier: Apache-2.0
//
// Counters of a set of fabrics, in virtual time: each peer has its own, whichever fabric reaches it, and counters that
// begin on request count from then on.
#include <weft/backends/loopback/port.hpp>
#include <weft/compose/counting/counted.hpp>
#include <weft/compose/sets/tagged.hpp>
#include <weft/generated/mapped.hpp>
#include <weft/generated/tcp.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>

namespace weft {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;
using pair = with_each<fabric_set<over<fabrics::mapped, loopback::port>, over<fabrics::tcp, loopback::port>>,
                       answers::tagged::matched_over_messages<>>;
using always = counted<pair>;
using on_request = counted<pair, counting::on_request>;
static_assert(is_fabric_set<always> && is_fabric_set<on_request>);
static_assert(always::fingerprint == pair::fingerprint, "a peer need not count");
static_assert(ordering<always>::send_after_send == ordering<pair>::send_after_send);

/// Runs `body` on a set that listens; `callers` of it are reached by one fabric each, and send 3 bytes, then a tagged
/// message of 5.
template <class Set>
void beside_callers(const std::function<void(transport<Set>&, std::array<peer, 2>)>& body) {
  loopback::world w(3);
  std::string where;
  bool over = false;
  for (const std::string_view fabric : {"mapped", "tcp"})
    w.spawn(std::string(fabric), [&, fabric] {
      while (where.empty()) loopback::sleep_for(100us);
      auto net = open<pair>({.fabrics = std::string(fabric)}).value();
      const auto on = [](auto&&) {};
      const auto memory = net.allocate(64, rights::none).value();
      const peer p = net.connect(where, 5s, on).value();
      EXPECT_TRUE(net.retry([&] { return net.send(p, memory.first(3)); }, 1s, on));
      EXPECT_TRUE(net.retry([&] { return net.send_tagged(p, memory.first(5), 1); }, 1s, on));
      EXPECT_TRUE(net.until([&] { return over; }, 10s, on));
    });
  w.spawn("counted", [&] {
    auto net = open<Set>({.node = "counted", .service = "7471"}).value();
    where = net.listen_address();
    std::array<peer, 2> all;
    for (int i = 0; i < 2; ++i) {
      const peer p = net.accept_one(5s, [](auto&&) {}).value();
      all[net.fabric_of(p) == "tcp" ? 1 : 0] = p;
    }
    body(net, all);
    over = true;
    for (int i = 0; i < 100; ++i) net.progress([](auto&&) {}), loopback::sleep_for(10us);
  });
  const auto run = w.run(120s);
  EXPECT_TRUE(run) << run.sentence;
}

TEST(counters_of_a_set, are_of_each_peer_whichever_fabric_reaches_it) {
  beside_callers<always>([](transport<always>& net, std::array<peer, 2> all) {
    ASSERT_TRUE(all[0] && all[1]);
    const auto memory = net.allocate(256, rights::none).value();
    const auto on = overloaded{[](const received&) { return true; }, [](auto&&) {}};
    int ends = 0;
    const auto counted_ends = overloaded{[&](const completed&) { ++ends; }, [](auto&&) {}};
    EXPECT_TRUE(net.retry([&] { return net.send(all[0], memory.first(7), &ends); }, 1s, on));
    for (int i = 0; i < 2; ++i)
      EXPECT_TRUE(net.retry([&] { return net.send_tagged(all[1], memory.first(9), 2, &ends); }, 1s, on));
    EXPECT_TRUE(net.until([&] { return ends == 3; }, 1s, counted_ends));
    EXPECT_EQ(net.send(peer(), memory.first(1)).code, errc::invalid);
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(net.receive_tagged({.tag = 1}, memory.first(64), 5s, on));
    EXPECT_TRUE(net.until([&] { return net.counters().traffic.messages == 4; }, 5s, on));

    const peer_counters first = net.counters(all[0]), second = net.counters(all[1]);
    EXPECT_EQ(first.of(traffic::send).posted, 1U);
    EXPECT_EQ(first.of(traffic::send).bytes, 7U);
    EXPECT_EQ(first.of(traffic::send).completed, 1U);
    EXPECT_EQ(second.of(traffic::send).posted, 2U);
    EXPECT_EQ(second.of(traffic::send).bytes, 18U);
    EXPECT_EQ(second.of(traffic::send).completed, 2U);
    for (const peer_counters& each : {first, second}) {
      EXPECT_EQ(each.messages, 2U);
      EXPECT_EQ(each.message_bytes, 8U);
    }
    const transport_counters whole = net.counters();
    EXPECT_EQ(whole.traffic.of(traffic::send).posted, 3U);
    EXPECT_EQ(whole.traffic.refused, 1U);
    EXPECT_EQ(whole.peers_met, 2U);
  });
}

TEST(counters_of_a_set, begin_on_request) {
  char folder[] = "/tmp/weft-counters-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  ASSERT_EQ(::setenv("XDG_RUNTIME_DIR", folder, 1), 0);
  beside_callers<on_request>([](transport<on_request>& net, std::array<peer, 2> all) {
    const auto memory = net.allocate(64, rights::none).value();
    const auto on = [](auto&&) {};
    EXPECT_TRUE(net.retry([&] { return net.send(all[0], memory.first(7)); }, 1s, on));
    EXPECT_EQ(net.counters().traffic.of(traffic::send).posted, 0U);
    EXPECT_EQ(net.counters(all[0]).of(traffic::send).posted, 0U);
    EXPECT_EQ(net.write_trace("/dev/null").code, errc::invalid);
    const auto exposed = net.expose_counters();
    ASSERT_TRUE(exposed) << exposed.error().sentence;
    EXPECT_TRUE(std::filesystem::exists(*exposed));
    EXPECT_TRUE(net.start_counting()) << "it counts already";
    EXPECT_TRUE(net.retry([&] { return net.send(all[1], memory.first(7)); }, 1s, on));
    EXPECT_EQ(net.counters().traffic.of(traffic::send).posted, 1U);
    EXPECT_EQ(net.counters(all[1]).of(traffic::send).bytes, 7U);
    const std::uint64_t polls = net.counters().polls;
    (void)net.progress(on);
    EXPECT_EQ(net.counters().polls, polls + 1);
  });
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(folder) / "weft")) << "its file ends with the transport";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace weft
