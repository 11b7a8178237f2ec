// SPDX-License-Identifier: Apache-2.0
//
// The verbs backend with one pool of receives for all links, against a device of this process (tests/stub_device). Two
// links share the pool, an empty pool fails one operation once, and a closed link takes no receive with it.
#include "../../compose/with.hpp"
#include "../../generated/ibverbs_roce.hpp"
#include "../stub_device/stub_device.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

namespace weft::backends::verbs {
namespace {

using shape = shape_of<with<fabrics::ibverbs_roce, weft::answers::receive_pool::shared>>;
using port_type = port<shape>;
static_assert(!port_type::link_has_receives);

constexpr std::uint32_t receives = 16;

/// One end: a port, its links, memory, and its completions. Its tags are 100 and more.
struct end_of_pool {
  std::unique_ptr<port_type> net;
  std::vector<port_type::link> links;
  std::vector<std::byte> memory = std::vector<std::byte>(8192);
  std::array<char, receives> marks{};
  registration own;
  int stands = 0, lost = 0;
  std::map<void*, std::vector<status>> ends;
  std::vector<completion_entry> arrivals;

  explicit end_of_pool(bool listens) {
    port_options o{.operations = 32, .receives = receives, .links = 4};
    o.node = "127.0.0.1";
    o.listens = listens;
    auto opened = port_type::open(o);
    if (!opened) throw std::runtime_error(opened.error().sentence);
    net = std::move(opened).value();
    own = net->register_memory(memory, rights::all, 0).value();
    for (std::size_t i = 0; i < receives; ++i)
      if (!post(i)) throw std::runtime_error("a receive of the pool was refused");
  }
  status post(std::size_t i) {
    return net->post_receive({}, {memory.data() + 4096 + 64 * i, 64, own.descriptor}, &marks.at(i));
  }
  void poll() {
    net->poll_links([this](link_change what, std::uint32_t, port_type::link l) {
      if (what == link_change::arrived) links.push_back(l);
      stands += what == link_change::established;
      lost += what == link_change::lost || what == link_change::refused;
      return static_cast<std::uint32_t>(99 + links.size());
    });
    net->poll([this](const completion_entry& c) {
      if (c.kind == completion_kind::ended) ends[c.context].push_back(c.outcome);
      else arrivals.push_back(c);
    });
  }
  status say(std::size_t link, void* context, std::uint32_t immediate = 7) {
    return net->send<post_mode::signalled>(links.at(link), {memory.data(), 8, own.descriptor}, immediate, context);
  }
};

class verbs_device_pool : public testing::Test {
 protected:
  end_of_pool listener{true}, one{false}, other{false};
  std::array<char, 64> marks{};

  void SetUp() override {
    for (end_of_pool* each : {&one, &other}) {
      each->links.push_back(each->net->dial(listener.net->address(), 1).value());
      for (int i = 0; i < 100 && each->stands == 0; ++i) all();
      ASSERT_EQ(each->stands, 1);
    }
    settle();
    ASSERT_EQ(listener.stands, 2);
    stub_device::forget();
  }
  void TearDown() override { stub_device::forget(); }
  void all() {
    for (end_of_pool* each : {&listener, &one, &other}) each->poll();
  }
  void settle() {
    for (int i = 0; i < 20; ++i) all();
  }
};

TEST_F(verbs_device_pool, the_connecting_side_learns_the_acceptors_tag) {
  EXPECT_EQ(one.net->peer_tag(one.links[0]), 100U);
  EXPECT_EQ(other.net->peer_tag(other.links[0]), 101U);
  EXPECT_EQ(listener.net->peer_tag(listener.links[0]), no_tag);
}

TEST_F(verbs_device_pool, two_connections_share_one_pool_and_each_receive_ends_once) {
  for (std::size_t i = 0; i < receives / 4; ++i) {
    ASSERT_TRUE(one.say(0, &marks[i]));
    const remote_memory there{reinterpret_cast<std::uint64_t>(listener.memory.data()), listener.own.key};
    ASSERT_TRUE(one.net->write_immediate<post_mode::signalled>(one.links[0], {one.memory.data(), 8, one.own.descriptor},
                                                               there, 8, &marks[i + 16]));
    ASSERT_TRUE(other.say(0, &marks[i], 9));
    ASSERT_TRUE(other.say(0, &marks[i + 16], 9));
  }
  settle();
  ASSERT_EQ(listener.arrivals.size(), receives);
  std::map<void*, int> used;
  std::map<std::uint64_t, int> reported;
  for (const completion_entry& each : listener.arrivals) {
    EXPECT_TRUE(each.outcome);
    ++used[each.context];
    ++reported[each.immediate];
    EXPECT_EQ(each.kind == completion_kind::write_with_immediate, each.immediate == 8);
  }
  EXPECT_EQ(used.size(), receives) << "each receive of the pool, once";
  EXPECT_EQ(reported, (std::map<std::uint64_t, int>{{7, 4}, {8, 4}, {9, 8}}));
  EXPECT_EQ(stub_device::seen().receives, 0U) << "none is a link's";
  for (std::size_t i = 0; i < receives; ++i) EXPECT_TRUE(listener.post(i)) << i;
  EXPECT_EQ(listener.post(0).waits_for(), waits_for::queue) << "more than the pool has";
  EXPECT_EQ(stub_device::seen().shared_receives, receives);
}

TEST_F(verbs_device_pool, messages_continue_while_receives_are_posted_again) {
  for (std::size_t i = 0; i < 50 * receives; ++i) {
    ASSERT_TRUE((i % 2 == 0 ? one : other).say(0, &marks[0])) << i;
    all();
    for (const completion_entry& each : listener.arrivals)
      ASSERT_TRUE(listener.post(static_cast<std::size_t>(static_cast<char*>(each.context) - listener.marks.data())));
    listener.arrivals.clear();
  }
  EXPECT_EQ(listener.lost, 0);
}

TEST_F(verbs_device_pool, an_empty_pool_fails_one_connection_once_and_the_other_stays) {
  for (std::size_t i = 0; i < receives; ++i) ASSERT_TRUE(one.say(0, &marks[i]));
  ASSERT_TRUE(other.say(0, &marks[0])) << "no credit is needed: the pool may be filled again";
  settle();
  ASSERT_EQ(other.ends[&marks[0]].size(), 1U);
  EXPECT_EQ(other.ends[&marks[0]][0].code, errc::peer_lost);
  EXPECT_EQ(other.ends[&marks[0]][0].native_code, static_cast<int>(IBV_WC_RNR_RETRY_EXC_ERR));
  EXPECT_EQ(other.lost, 1);
  EXPECT_EQ(listener.lost, 1);
  EXPECT_EQ(one.lost, 0);
  ASSERT_TRUE(listener.post(0));
  ASSERT_TRUE(one.say(0, &marks[32]));
  settle();
  ASSERT_EQ(one.ends[&marks[32]].size(), 1U);
  EXPECT_TRUE(one.ends[&marks[32]][0]);
}

TEST_F(verbs_device_pool, a_closed_connection_leaves_the_pool_complete) {
  ASSERT_TRUE(one.say(0, &marks[0]));
  listener.net->hang_up(listener.links[0]);
  settle();
  ASSERT_EQ(listener.arrivals.size(), 1U) << "received messages are reported";
  EXPECT_EQ(one.lost, 1);
  for (std::size_t i = 1; i < receives; ++i) ASSERT_TRUE(other.say(0, &marks[i]));
  settle();
  EXPECT_EQ(listener.arrivals.size(), receives);
  for (const completion_entry& each : listener.arrivals) EXPECT_TRUE(each.outcome);
}

TEST_F(verbs_device_pool, a_too_long_message_ends_its_connection_and_returns_its_receive) {
  ASSERT_TRUE(
      one.net->send<post_mode::signalled>(one.links[0], {one.memory.data(), 1000, one.own.descriptor}, 7, &marks[0]));
  settle();
  ASSERT_EQ(listener.arrivals.size(), 1U);
  EXPECT_EQ(listener.arrivals[0].outcome.code, errc::truncated);
  EXPECT_EQ(listener.lost, 1);
  EXPECT_EQ(one.lost, 1);
  EXPECT_EQ(other.lost, 0);
  EXPECT_TRUE(listener.post(0));
}

}  // namespace
}  // namespace weft::backends::verbs
