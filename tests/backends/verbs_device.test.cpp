// SPDX-License-Identifier: Apache-2.0
//
// The verbs backend against a device of this process (tests/stub_device): calls, signalling, and behaviour that real
// devices show only after failures. Each operation ends once.
#include "../stub_device/stub_device.hpp"
#include "../stub_device/tested_row.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft::backends::verbs {
namespace {

using shape = shape_of<stub_device::tested_row>;
using port_type = port<shape>;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint32_t receives = 16;

port_options with(bool listens) {
  port_options o{.operations = 32, .receives = receives, .links = 4};
  o.node = "127.0.0.1";
  o.listens = listens;
  o.sleeps = true;
  return o;
}

/// One end: a port, its link, memory, and its completions.
struct side {
  std::unique_ptr<port_type> net;
  port_type::link link{};
  std::vector<std::byte> memory = std::vector<std::byte>(8192);
  registration own;
  bool stands = false, lost = false;
  std::map<void*, std::vector<status>> ends;
  std::vector<completion_entry> arrivals;

  explicit side(bool listens) {
    auto opened = port_type::open(with(listens));
    if (!opened) throw std::runtime_error(opened.error().sentence);
    net = std::move(opened).value();
    own = net->register_memory(memory, rights::all, 0).value();
  }
  void poll() {
    net->poll_links([this](link_change what, std::uint32_t, port_type::link l) {
      if (what == link_change::arrived) {
        link = l;
        post_receives();
      }
      stands |= what == link_change::established;
      lost |= what == link_change::lost || what == link_change::refused;
      return 1U;
    });
    net->poll([this](const completion_entry& c) {
      if (c.kind == completion_kind::ended) ends[c.context].push_back(c.outcome);
      else arrivals.push_back(c);
    });
  }
  void post_receives(std::size_t each = 64) {
    for (std::size_t i = 0; i < receives; ++i)
      ASSERT_TRUE(net->post_receive(link, {memory.data() + 4096 + 64 * i, each, own.descriptor}, &receives_[i]));
  }
  local_memory from(std::size_t size) { return {memory.data(), size, own.descriptor}; }
  remote_memory there(std::size_t offset = 0) const {
    return {reinterpret_cast<std::uint64_t>(memory.data()) + offset, own.key};
  }

 private:
  char receives_[32] = {};
};

class verbs_device : public testing::Test {
 protected:
  side listener{true}, caller{false};
  std::vector<char> marks = std::vector<char>(256);

  void SetUp() override {
    caller.link = caller.net->dial(listener.net->address(), 1).value();
    caller.post_receives();
    for (int i = 0; i < 100 && !(caller.stands && listener.stands); ++i) both();
    ASSERT_TRUE(caller.stands && listener.stands);
    stub_device::forget();
  }
  void TearDown() override { stub_device::forget(); }
  void both() {
    caller.poll();
    listener.poll();
  }
  void settle() {
    for (int i = 0; i < 20; ++i) both();
  }
  status put(void* context, std::size_t size = 8) {
    if (context == nullptr)
      return caller.net->write<post_mode::unsignalled>(caller.link, caller.from(size), listener.there(), nullptr);
    return caller.net->write<post_mode::signalled>(caller.link, caller.from(size), listener.there(), context);
  }
  /// Each of the contexts has one completion of this kind.
  void expect_each_once(std::size_t count, errc how) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto& reported = caller.ends[&marks[i]];
      ASSERT_EQ(reported.size(), 1U) << "operation " << i;
      EXPECT_EQ(reported[0].code, how) << "operation " << i;
    }
  }
};

// ---- posts
TEST_F(verbs_device, an_operation_is_one_call_with_short_payloads_inline) {
  std::strcpy(reinterpret_cast<char*>(caller.memory.data()), "abcdefg");
  ASSERT_TRUE(put(&marks[0]));
  EXPECT_EQ(stub_device::seen().doorbells, 1U);
  EXPECT_EQ(stub_device::seen().signalled, 1U);
  EXPECT_EQ(stub_device::seen().inlined, 1U);
  settle();
  expect_each_once(1, errc::ok);
  EXPECT_STREQ(reinterpret_cast<const char*>(listener.memory.data()), "abcdefg");
  ASSERT_TRUE(put(&marks[1], 1024));
  EXPECT_EQ(stub_device::seen().inlined, 1U) << "too long to be inline";
  EXPECT_EQ(stub_device::seen().built, stub_device::extended ? 2U : 0U);
}

TEST_F(verbs_device, some_unsignalled_posts_are_signalled_so_the_queue_never_fills) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(put(nullptr)) << i;
    if (i % 16 == 15) caller.poll();
  }
  settle();
  EXPECT_TRUE(caller.ends.empty());
  EXPECT_GT(stub_device::seen().signalled, 20U);
  EXPECT_LT(stub_device::seen().signalled, 260U);
}

TEST_F(verbs_device, a_full_queue_answers_again_and_drains) {
  std::size_t posted = 0;
  status s;
  for (; posted < marks.size() && (s = put(&marks[posted])); ++posted) {
  }
  EXPECT_EQ(posted, 32U);
  EXPECT_EQ(s.waits_for(), waits_for::queue);
  settle();
  expect_each_once(posted, errc::ok);
  EXPECT_TRUE(put(&marks[posted]));
}

TEST_F(verbs_device, a_full_driver_gives_again_and_posts_nothing) {
  stub_device::refuse_post(ENOMEM);
  EXPECT_EQ(put(&marks[0]).waits_for(), waits_for::queue);
  settle();
  EXPECT_TRUE(caller.ends.empty());
  EXPECT_TRUE(put(&marks[0]));
  settle();
  expect_each_once(1, errc::ok);
}

TEST_F(verbs_device, messages_wait_for_receives_and_then_continue) {
  std::size_t sent = 0;
  status s;
  for (; sent < 64; ++sent)
    if (s = caller.net->send<post_mode::signalled>(caller.link, caller.from(8), 7, &marks[sent]); !s) break;
  EXPECT_EQ(sent, receives);
  EXPECT_EQ(s.waits_for(), waits_for::receive_slot);
  settle();
  EXPECT_EQ(listener.arrivals.size(), sent);
  listener.post_receives();
  settle();
  EXPECT_TRUE(caller.net->send<post_mode::signalled>(caller.link, caller.from(8), 7, &marks[sent]));
}

TEST_F(verbs_device, a_refused_receive_is_named) {
  ASSERT_TRUE(caller.net->send<post_mode::signalled>(caller.link, caller.from(8), 7, &marks[0]));
  settle();
  ASSERT_EQ(listener.arrivals.size(), 1U);
  std::vector<void*> named;
  const auto post = [&](void* context) {
    listener.net->post_receive(listener.link, {listener.memory.data() + 4096, 64, listener.own.descriptor}, context,
                               [&](void* c) { named.push_back(c); });
  };
  auto& calls = stub_device::context()->ops;
  const auto taken = std::exchange(calls.post_recv, [](ibv_qp*, ibv_recv_wr*, ibv_recv_wr**) { return ENOMEM; });
  post(&marks[1]);
  calls.post_recv = taken;
  EXPECT_EQ(named, std::vector<void*>{&marks[1]}) << "by the library";
  post(&marks[2]);
  EXPECT_EQ(named.size(), 1U) << "its place is free again";
  std::size_t next = 3;
  while (named.size() == 1 && next < marks.size()) post(&marks[next++]);
  ASSERT_EQ(named.size(), 2U) << "by the port: all places are taken";
  EXPECT_EQ(named[1], &marks[next - 1]);
}

// ---- failures
struct ending {
  ibv_wc_status how;
  errc meant;
};
class verbs_device_broken : public verbs_device, public testing::WithParamInterface<ending> {};

TEST_P(verbs_device_broken, ends_the_operation_and_those_behind_it_once_and_the_link) {
  stub_device::end_badly(GetParam().how, 0x81, 2);
  for (std::size_t i = 0; i < 6; ++i) ASSERT_TRUE(put(&marks[i]));
  settle();
  for (std::size_t i = 0; i < 6; ++i) {
    const auto& reported = caller.ends[&marks[i]];
    ASSERT_EQ(reported.size(), 1U) << i;
    EXPECT_EQ(reported[0].code, i < 2 ? errc::ok : i == 2 ? GetParam().meant : errc::closed) << i;
  }
  EXPECT_EQ(caller.ends[&marks[2]][0].from, origin::verbs);
  EXPECT_EQ(caller.ends[&marks[2]][0].native_code, static_cast<int>(GetParam().how));
  EXPECT_THAT(caller.net->last_error_text(), HasSubstr("vendor error 129")) << "flushed operations do not hide it";
  EXPECT_TRUE(caller.lost && listener.lost);
  EXPECT_EQ(put(&marks[9]).code, errc::peer_lost);
}
INSTANTIATE_TEST_SUITE_P(
    all, verbs_device_broken,
    testing::Values(ending{IBV_WC_RETRY_EXC_ERR, errc::peer_lost}, ending{IBV_WC_RNR_RETRY_EXC_ERR, errc::peer_lost},
                    ending{IBV_WC_REM_ACCESS_ERR, errc::denied}, ending{IBV_WC_LOC_PROT_ERR, errc::invalid},
                    ending{IBV_WC_REM_OP_ERR, errc::broken}, ending{IBV_WC_GENERAL_ERR, errc::native}));

TEST_F(verbs_device, a_wrong_key_is_denied) {
  ASSERT_TRUE(caller.net->write<post_mode::signalled>(caller.link, caller.from(8), {listener.there().address, 0xbad},
                                                      &marks[0]));
  settle();
  expect_each_once(1, errc::denied);
}

TEST_F(verbs_device, a_message_larger_than_its_receive_is_truncated_where_it_arrives) {
  ASSERT_TRUE(caller.net->send<post_mode::signalled>(caller.link, caller.from(1000), 7, &marks[0]));
  settle();
  expect_each_once(1, errc::invalid);  // at the sender's device: an invalid request
  ASSERT_FALSE(listener.arrivals.empty());
  EXPECT_EQ(listener.arrivals[0].outcome.code, errc::truncated);
  for (std::size_t i = 1; i < listener.arrivals.size(); ++i) EXPECT_EQ(listener.arrivals[i].outcome.code, errc::closed);
  EXPECT_EQ(listener.arrivals.size(), receives) << "each receive ends once";
}

// ---- sleeping
TEST_F(verbs_device, completions_that_a_sleep_finds_after_arming_prevent_the_sleep_and_are_reported) {
  ASSERT_TRUE(put(&marks[0]));
  EXPECT_TRUE(caller.net->wait(std::chrono::steady_clock::now() + std::chrono::seconds(20)))
      << "the owner slept until its limit, and a completion was in the queue";
  EXPECT_EQ(stub_device::seen().armed, 1U);
  settle();
  expect_each_once(1, errc::ok);
}

// ---- opening
TEST(verbs_device_opening, a_shallower_device_is_refused_unless_such_differences_are_accepted) {
  stub_device::set_queue_depth(128);
  const auto refused = port_type::open(with(false));
  port_options o = with(false);
  o.on_difference = on_difference::degrade;
  auto accepted = port_type::open(o);
  stub_device::set_queue_depth(16384);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().sentence, HasSubstr("queue_depth: asked at least 256, returned 128"));
  ASSERT_TRUE(accepted) << accepted.error().sentence;
  EXPECT_THAT(accepted.value()->limits().differences, HasSubstr("queue_depth"));
}

TEST(verbs_device_opening, a_row_that_posts_by_ibv_wr_calls_is_refused_by_a_device_without_them) {
  stub_device::set_extended(false);
  const auto refused = port<shape_of<stub_device::extended_row>>::open(with(false));
  const auto other = port<shape_of<fabrics::ibverbs_roce>>::open(with(false));
  stub_device::set_extended(true);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().sentence,
              HasSubstr("fabric ibverbs_extended: device stub0 is not what this program was generated for"));
  EXPECT_THAT(refused.error().sentence, HasSubstr("extended_posting: asked true, returned false"));
  EXPECT_TRUE(other) << "every device takes work requests";
}

}  // namespace
}  // namespace weft::backends::verbs
