// SPDX-License-Identifier: Apache-2.0
//
// The loopback refuses what the row's hardware refuses, overwrites what it overwrites, and reads late what it reads
// late.
#include "test_side.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace weft::test {
namespace {

template <class Row, class Ask>
void ask(Ask what) {
  using side = test_side<Row>;
  loopback::world w(21);
  bool over = false;
  const auto run = converse<Row>(
      w,
      [&](side& me) {
        while (!over) me.idle(10us);
      },
      [&](side& me) {
        what(me);
        over = true;
      });
  EXPECT_TRUE(run) << run.sentence;
}

TEST(contract, a_source_that_is_not_registered_is_refused_at_the_call) {
  ask<consuming>([](auto& me) {
    std::array<std::byte, 8> loose{};
    const auto send = [&](local_memory from) {
      return me.net->template send<post_mode::signalled>(me.link, from, 0, nullptr).code;
    };
    EXPECT_EQ(send({loose.data(), 8, nullptr}), errc::invalid);
    EXPECT_EQ(send({loose.data(), 8, me.staging_held.descriptor}), errc::invalid) << "registered, but other memory";
    EXPECT_EQ(send({me.staging.data() + me.staging.size() - 4, 8, me.staging_held.descriptor}), errc::invalid)
        << "past the end";
    EXPECT_EQ(send({loose.data(), 0, nullptr}), errc::ok) << "no bytes need no registration";
    EXPECT_EQ(me.net->post_receive(me.link, {loose.data(), 8, nullptr}, nullptr).code, errc::invalid);
  });
}

TEST(contract, modes_and_sizes_that_the_row_lacks_are_refused_at_the_call) {
  ask<consuming>([](auto& me) {
    EXPECT_EQ((me.net->template write<post_mode::delivered>(me.link, me.staged(0, 8), {}, nullptr)).code,
              errc::unsupported);
    EXPECT_EQ(me.net->inject(me.link, const_bytes(me.staging).first(65), 0).code, errc::invalid);
    std::vector<std::byte> large((1 << 20) + 1);
    registration held = me.net->register_local(large).value();
    EXPECT_EQ((me.net->template send<post_mode::signalled>(me.link, {large.data(), large.size(), held.descriptor}, 0,
                                                           nullptr))
                  .code,
              errc::out_of_range);
    me.net->deregister(held);
  });
  ask<counting>([](auto& me) {
    EXPECT_EQ((me.net->template write_immediate<post_mode::signalled>(me.link, me.staged(0, 8), {}, 1, nullptr)).code,
              errc::unsupported);
  });
}

TEST(contract, the_context_is_overwritten_while_the_operation_lasts) {
  ask<consuming>([](auto& me) {
    alignas(8) std::array<unsigned char, 65> context{};
    ASSERT_TRUE(me.say(pattern(4), 0, context.data()));
    EXPECT_NE(context[0], 0);
    EXPECT_NE(context[63], 0);
    EXPECT_EQ(context[64], 0);
    ASSERT_TRUE(me.until([&] { return me.ended.size() == 1; }));
    EXPECT_EQ(me.ended[0].context, context.data());
  });
}

TEST(contract, the_queue_has_the_requested_depth) {
  loopback::world w(22);
  w.spawn("both", [] {
    test_side<silent_refusal> server({.node = {}, .service = "7471", .listens = true});
    test_side<silent_refusal> me({.node = {}, .service = {}, .operations = 5});
    me.link = me.net->dial(server.net->address(), 1).value();
    while (!me.up) {
      me.turn();
      server.turn();
    }
    int posted = 0;
    status said{};
    while ((said = me.net->read(me.link, me.staged(0, 8), server.spot(0), nullptr))) ++posted;
    EXPECT_EQ(posted, 5);
    EXPECT_EQ(said.waits_for(), waits_for::queue);
    for (int i = 0; i < 100'000 && me.ended.size() < 5; ++i) {
      me.turn();
      server.turn();
    }
    EXPECT_EQ(me.ended.size(), 5U);
    EXPECT_TRUE(me.net->read(me.link, me.staged(0, 8), server.spot(0), nullptr));
  });
  const auto run = w.run(10s);
  EXPECT_TRUE(run) << run.sentence;
}

TEST(contract, a_source_changed_before_its_completion_is_sent_changed) {
  using side = test_side<silent_refusal>;
  loopback::world w(23);
  int spoilt = 0;
  const auto run = converse<silent_refusal>(
      w,
      [&](side& me) {
        ASSERT_TRUE(me.until([&] { return me.messages.size() == 20; }));
        for (const auto& each : me.messages) spoilt += each[0] == std::byte{0xee};
      },
      [&](side& me) {
        for (int i = 0; i < 20; ++i) {
          ASSERT_TRUE(me.say(pattern(4), 0));
          me.staging[0] = std::byte{0xee};  // too early, on purpose
          ASSERT_TRUE(me.until([&] { return me.ended.size() == static_cast<std::size_t>(i) + 1; }));
        }
        me.idle(1ms);
      });
  EXPECT_TRUE(run) << run.sentence;
  EXPECT_EQ(spoilt, 20);
}

TEST(contract, a_message_larger_than_its_receive_fails_with_its_size) {
  using side = test_side<consuming>;
  loopback::world w(24);
  const auto run = converse<consuming>(
      w,
      [&](side& me) {
        ASSERT_TRUE(me.until([&] { return !me.received.empty(); }));
        EXPECT_EQ(me.received[0].outcome.code, errc::truncated);
        EXPECT_EQ(me.received[0].length, side::slot + 1);
      },
      [&](side& me) {
        ASSERT_TRUE(me.say(pattern(side::slot + 1), 0));
        me.idle(1ms);
      });
  EXPECT_TRUE(run) << run.sentence;
}

TEST(contract, messages_wait_for_receives_in_order) {
  using side = test_side<consuming>;
  loopback::world w(25);
  const auto run = converse<consuming>(
      w,
      [&](side& me) {
        loopback::sleep_for(5ms);  // 16 receives, 60 messages
        ASSERT_TRUE(me.until([&] { return me.messages.size() == 60; }));
        for (std::size_t i = 0; i < 60; ++i) EXPECT_EQ(me.received[i].immediate, i);
        EXPECT_GT(me.net->starved(), 0U);
      },
      [&](side& me) {
        for (std::uint32_t i = 0; i < 60; ++i) ASSERT_TRUE(me.say(pattern(4), i));
        ASSERT_TRUE(me.until([&] { return me.ended.size() == 60; }));
        me.idle(10ms);
      });
  EXPECT_TRUE(run) << run.sentence;
}

/// `counting`, but a refused write is reported: its end tells who refused.
struct reporting {
  static constexpr std::string_view name = "reporting";
  static constexpr fabric_facts make() {
    fabric_facts f = counting::make();
    f.refused_write = refusal::reported;
    return f;
  }
};
/// By a port that does not bind its regions.
struct unbound_shape : shape_of<reporting> {
  static constexpr bool bind_regions = false;
};

/// The end of a write into a region of the same thread's port, which grants `granted`. The region stays unchanged.
template <port_shape Shape>
void expect_denied(std::uint64_t seed, rights granted) {
  loopback::world w(seed);
  w.spawn("both", [granted] {
    using net = loopback::port<Shape>;
    auto target = net::open({.node = {}, .service = "1"}).value();
    auto me = net::open({}).value();
    std::array<std::byte, 64> memory{};
    const registration held = target->register_memory(memory, granted, 5).value();
    auto link = me->dial(target->address(), 1).value();
    me->poll_links([](link_change, std::uint32_t, typename net::link) { return 0U; });
    std::array<std::byte, 8> from{std::byte{1}};
    ASSERT_TRUE(me->template write<post_mode::signalled>(link, {from.data(), 8, nullptr}, {0, held.key}, nullptr));
    errc ended = errc::ok;
    for (int i = 0; i < 1000 && ended == errc::ok; ++i)
      me->poll([&](const completion_entry& reported) { ended = reported.outcome.code; });
    EXPECT_EQ(ended, errc::denied);
    EXPECT_EQ(memory[0], std::byte{});
  });
  EXPECT_TRUE(w.run(1s));
}

TEST(contract, an_unbound_region_is_unreachable) { expect_denied<unbound_shape>(26, rights::all); }
TEST(contract, a_region_takes_no_write_without_the_right) {
  expect_denied<shape_of<reporting>>(28, rights::remote_read);
  expect_denied<shape_of<reporting>>(29, rights::none);
}

TEST(contract, keys_must_fit_and_be_unique) {
  using net = loopback::port<shape_of<silent_refusal>>;
  auto me = net::open({}).value();
  std::array<std::byte, 8> memory{};
  EXPECT_TRUE(me->register_memory(memory, rights::all, 5));
  const auto twice = me->register_memory(memory, rights::all, 5);
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().sentence.find("key 5 names another region"), std::string::npos);
}

TEST(contract, an_addressed_peer_may_start_after_the_connect) {
  loopback::world w(27);
  w.spawn("client", [] {
    test_side<deathless> me;
    ASSERT_TRUE(me.dial(me.net->resolve("server", "7471").value()));
    ASSERT_TRUE(me.say(pattern(4), 1));  // to an empty address: lost silently
    loopback::sleep_for(10ms);
    ASSERT_TRUE(me.say(pattern(4), 2));
    me.idle(10ms);
  });
  w.after(5ms, [&] {
    w.spawn("server", [] {
      test_side<deathless> me({.node = {}, .service = "7471"});
      ASSERT_TRUE(me.until([&] { return !me.messages.empty(); }));
      EXPECT_EQ(me.received[0].immediate, 2U);
    });
  });
  EXPECT_TRUE(w.run(1s));
}

}  // namespace
}  // namespace weft::test
