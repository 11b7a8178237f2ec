// SPDX-License-Identifier: Apache-2.0
//
// checks::verified and checks::trusted. Compiled twice: without NDEBUG a wrong post under checks::trusted ends the
// program with a sentence; with NDEBUG correct programs run, and no duty is evaluated that costs an atomic load. Under
// both, a target refuses wrong requests of a peer.
#include <weft/compose/transport.hpp>
#include <weft/compose/with.hpp>
#include <weft/core/describe.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weft {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;

using verified = fabrics::loopback;
using trusted = with<verified, answers::checks::trusted>;
static_assert(!answer<verified, checks_family>::trusts_caller && answer<trusted, checks_family>::trusts_caller);
static_assert(trusted::fingerprint == verified::fingerprint, "each side decides alone");

constexpr std::size_t page = 4096;

/// The initiator, connected to a target with a region of one page.
template <class F>
struct initiator_end {
  transport<F> net;
  peer other;
  remote_region all;       ///< Grants everything.
  remote_region readable;  ///< Grants remote_read.
  owned_region memory;
  int ends = 0;
  std::uint64_t old = 0;
  std::optional<status> failure = std::nullopt;
  bool lost_peer = false;

  template <class Post>
  void complete(Post&& post, int most = 1) {
    const int before = ends;
    const status s = net.retry(post, 1s, on());
    ASSERT_TRUE(s) << describe(s);
    ASSERT_TRUE(net.until([&] { return ends - before == most; }, 1s, on()));
  }
  auto on() {
    return overloaded{[this](const completed& c) {
                        ++ends;
                        old = c.old;
                      },
                      [this](const failed& f) {
                        ++ends;
                        failure = f.why;
                      },
                      [this](const lost&) { lost_peer = true; }, [](auto&&) {}};
  }
};

/// What the target saw.
struct seen_by_target {
  std::vector<std::byte> bytes;
  std::uint64_t notices = 0;
  std::uint64_t messages = 0;
};

/// Runs `act` at the initiator. With `leaves` the target closes when it gets a message.
template <class F>
seen_by_target play(const std::function<void(initiator_end<F>&)>& act, bool leaves = false) {
  loopback::world w(7);
  bool over = false;
  seen_by_target seen;
  w.spawn("target", [&] {
    auto net = open<F>({.node = "target", .service = "7471"}).value();
    const auto all = net.allocate(page, rights::all).value();
    const auto readable = net.allocate(page, rights::remote_read).value();
    bool leave = false;
    const auto on = overloaded{[&](const notified&) { ++seen.notices; },
                               [&](const received&) {
                                 ++seen.messages;
                                 leave = leaves;
                               },
                               [](auto&&) {}};
    const peer from = net.accept_one(1s, on).value();
    EXPECT_TRUE(net.until([&] { return from.alive(); }, 1s, on));
    for (const auto* each : {&all, &readable}) {
      const status sent = net.retry([&] { return net.send_region(from, *each, owner_polls); }, 1s, on);
      EXPECT_TRUE(sent) << describe(sent);
    }
    while (!over) {
      net.progress(on);
      if (leave) {
        EXPECT_TRUE(net.close(from, 1s, on));
        leave = false;
      }
      loopback::sleep_for(10us);
    }
    seen.bytes.assign(all.data(), all.data() + all.size());
  });
  w.spawn("initiator", [&] {
    loopback::sleep_for(100us);
    auto net = open<F>({.operations = 4}).value();
    const peer other = net.connect("target:7471", 1s).value();
    const auto all = net.receive_region(other, 1s).value();
    const auto readable = net.receive_region(other, 1s).value();
    auto memory = net.allocate(page, rights::none).value();
    initiator_end<F> end{std::move(net), other, all, readable, std::move(memory)};
    act(end);
    over = true;
  });
  const auto run = w.run(60s);
  EXPECT_TRUE(run) << run.sentence;
  return seen;
}

std::uint64_t word_at(const std::vector<std::byte>& bytes, std::size_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

// ---- correct programs

template <class F>
void every_kind_of_post() {
  const auto seen = play<F>([](initiator_end<F>& end) {
    for (std::size_t i = 0; i < page; ++i) end.memory.data()[i] = static_cast<std::byte>(i % 251);
    auto& net = end.net;
    end.complete([&] { return net.put(end.other, end.memory.slice(8, 8), end.all.at(0), &end); });
    end.complete([&] { return net.put_notify(end.other, end.memory.slice(16, 8), end.all.at(page - 8), 3, &end); });
    end.complete([&] { return net.send(end.other, end.memory.first(64), &end); });
    const std::array<local_memory, 2> pieces{end.memory.slice(24, 8), end.memory.slice(32, 8)};
    end.complete([&] { return net.put(end.other, pieces, end.all.at(64), &end); });
    {
      auto batch = net.batch(end.other);
      for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(batch.put(end.memory.slice(8 * i, 8), end.all.at(128 + 8 * i)));
      end.complete([&] { return batch.close(&end); });
    }
    end.complete([&] { return net.fetch_add(end.other, end.all.at(256), 5, &end); });
    end.complete([&] { return net.fetch_add(end.other, end.all.at(256), 6, &end); });
    EXPECT_EQ(end.old, 5U);
    end.complete([&] { return net.get(end.other, end.memory.slice(512, 8), end.all.at(0), &end); });
    EXPECT_EQ(std::memcmp(end.memory.data() + 512, end.memory.data() + 8, 8), 0);
    end.complete([&] { return net.get(end.other, end.memory.first(page), end.readable.at(0), &end); });
    EXPECT_FALSE(end.failure.has_value());
  });
  EXPECT_EQ(seen.notices, 1U);
  EXPECT_EQ(seen.messages, 1U);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(seen.bytes[i], std::byte(8 + i));
    EXPECT_EQ(seen.bytes[page - 8 + i], std::byte(16 + i));
    EXPECT_EQ(seen.bytes[72 + i], std::byte(32 + i));
    EXPECT_EQ(seen.bytes[152 + i], std::byte(24 + i));
  }
  EXPECT_EQ(word_at(seen.bytes, 256), 11U);
}
TEST(a_correct_program, runs_alike_with_both_answers) {
  every_kind_of_post<verified>();
  every_kind_of_post<trusted>();
}

TEST(a_trusted_caller, still_gets_again_from_a_full_pool) {
  play<trusted>([](initiator_end<trusted>& end) {
    int posted = 0;
    status s;
    while ((s = end.net.put(end.other, end.memory.first(8), end.all.at(0), &end))) ASSERT_LE(++posted, 1000);
    EXPECT_TRUE(s.is_again());
    EXPECT_TRUE(end.net.until([&] { return end.ends == posted; }, 1s, end.on()));
  });
}

TEST(a_trusted_caller, may_close_batches_and_groups_of_a_peer_that_ended_meanwhile) {
  play<trusted>(
      [](initiator_end<trusted>& end) {
        auto closed = end.net.batch(end.other);
        EXPECT_TRUE(closed.put(end.memory.first(8), end.all.at(0)));
        auto asked = end.net.batch(end.other);
        EXPECT_TRUE(asked.put_notify(end.memory.first(8), end.all.at(8), 1));
        auto grouped = end.net.coalesce(end.other);
        EXPECT_TRUE(grouped.send(end.memory.first(8)));
        {
          auto left = end.net.batch(end.other);
          EXPECT_TRUE(left.send(end.memory.first(8)));
          auto group_left = end.net.coalesce(end.other);
          EXPECT_TRUE(group_left.send(end.memory.first(8)));
          EXPECT_TRUE(end.net.send(end.other, end.memory.first(8)));
          EXPECT_TRUE(end.net.until([&] { return !end.other.alive(); }, 1s, end.on()));
        }
        EXPECT_EQ(closed.close().code, errc::peer_lost);
        EXPECT_EQ(asked.close(&end).code, errc::peer_lost);
        EXPECT_EQ(grouped.close().code, errc::peer_lost);
      },
      true);
}

// ---- what a peer sends is checked under both answers

/// A place that its own record calls good, and the target does not.
remote_place forged(const remote_region& of) {
  remote_place at = of.at(0);
  at.address += std::uint64_t{1} << 20;
  at.room = page;
  return at;
}
template <class F>
void a_forged_request_fails(const std::function<status(initiator_end<F>&)>& post) {
  const auto seen = play<F>([&](initiator_end<F>& end) {
    end.complete([&] { return post(end); });
    ASSERT_TRUE(end.failure.has_value());
    EXPECT_TRUE(end.failure->code == errc::denied || end.failure->code == errc::out_of_range) << describe(*end.failure);
  });
  EXPECT_EQ(seen.notices, 0U);
  for (const std::byte each : seen.bytes) EXPECT_EQ(each, std::byte{});
}
TEST(a_trusting_target, refuses_atomics_of_a_peer_outside_of_its_regions) {
  using executing = with<verified, answers::atomics::target, answers::checks::trusted>;
  a_forged_request_fails<executing>(
      [](initiator_end<executing>& end) { return end.net.fetch_add(end.other, forged(end.all), 1, &end); });
  a_forged_request_fails<executing>([](initiator_end<executing>& end) {
    remote_place at = end.readable.at(0);
    at.granted = rights::all;
    return end.net.fetch_add(end.other, at, 1, &end);
  });
}
TEST(a_trusting_target, refuses_fused_notices_of_a_peer_outside_of_its_regions) {
  using fused = fused_up_to<with<verified, answers::notify::message_after_delivery, answers::checks::trusted>, 100>;
  a_forged_request_fails<fused>([](initiator_end<fused>& end) {
    return end.net.put_notify(end.other, end.memory.first(8), forged(end.all), 1, &end);
  });
}

// ---- wrong posts

struct wrong_post {
  const char* name;
  errc code;
  const char* sentence;  ///< Of checks::trusted.
};
constexpr wrong_post wrong_posts[] = {
    {"a put after the region", errc::out_of_range, "weft: put: more bytes than the peer's region has from this place"},
    {"a put of a slice after its region", errc::out_of_range, "weft: put: a slice ends after its region"},
    {"a put without the right", errc::denied, "weft: put: the peer's region does not grant the access"},
    {"a put to nobody", errc::invalid, "weft: put: the peer is not alive"},
    {"a put_notify after the region", errc::out_of_range, "weft: put_notify: more bytes than"},
    {"a get after the region", errc::out_of_range, "weft: get: more bytes than"},
    {"a message that is too long", errc::truncated, "weft: send: a message of more bytes than the peer's receives"},
    {"a message to nobody", errc::invalid, "weft: send: the peer is not alive"},
    {"a misaligned word", errc::invalid, "weft: fetch_add: the word is not aligned to its size"},
    {"a word without the right", errc::denied, "weft: fetch_add: the peer's region does not grant the access"},
    {"a word after the region", errc::out_of_range, "weft: fetch_add: more bytes than"},
    {"a list after the region", errc::out_of_range, "weft: put: more bytes than"},
    {"a list of messages that is too long", errc::truncated, "weft: send: a message of more bytes than"},
    {"a member after the region", errc::out_of_range, "weft: put: more bytes than"},
    {"a member of a group without the right", errc::denied, "weft: put_notify: the peer's region does not grant"},
    {"a delivered put after the region", errc::out_of_range, "weft: put: more bytes than"},
};

template <class F>
status post(initiator_end<F>& end, std::string_view name) {
  auto& net = end.net;
  const local_memory word = end.memory.first(8);
  const std::array<local_memory, 2> pieces{word, end.memory.slice(8, 8)};
  std::vector<std::byte> many(1 << 20);
  const local_memory huge = net.memory(many);
  const std::array<local_memory, 2> huge_pieces{huge, word};
  if (name == "a put after the region") return net.put(end.other, word, end.all.at(page - 7), &end);
  if (name == "a put of a slice after its region")
    return net.put(end.other, end.memory.slice(page - 7, 8), end.all.at(0), &end);
  if (name == "a put without the right") return net.put(end.other, word, end.readable.at(0), &end);
  if (name == "a put to nobody") return net.put(peer(), word, end.all.at(0), &end);
  if (name == "a put_notify after the region") return net.put_notify(end.other, word, end.all.at(page), 1);
  if (name == "a get after the region") return net.get(end.other, word, end.all.at(page + 1), &end);
  if (name == "a message that is too long") return net.send(end.other, huge);
  if (name == "a message to nobody") return net.send(peer(), word);
  if (name == "a misaligned word") return net.fetch_add(end.other, end.all.at(4), 1, &end);
  if (name == "a word without the right") return net.fetch_add(end.other, end.readable.at(0), 1, &end);
  if (name == "a word after the region") return net.fetch_add(end.other, end.all.at(page), 1, &end);
  if (name == "a list after the region") return net.put(end.other, pieces, end.all.at(page - 8), &end);
  if (name == "a list of messages that is too long") return net.send(end.other, huge_pieces, &end);
  if (name == "a member after the region") {
    auto batch = net.batch(end.other);
    return batch.put(word, end.all.at(page - 7));
  }
  if (name == "a member of a group without the right") {
    auto group = net.coalesce(end.other);
    return group.put_notify(word, end.readable.at(0), 1);
  }
  if (name == "a delivered put after the region")
    return net.put(end.other, word, end.all.at(page - 7), completes_when<states::delivered>(&end));
  ADD_FAILURE() << name << " is not written";
  return {};
}

TEST(a_wrong_post, is_an_error_where_weft_verifies) {
  for (const wrong_post& each : wrong_posts)
    play<verified>([&](initiator_end<verified>& end) { EXPECT_EQ(post(end, each.name).code, each.code) << each.name; });
}

// ---- the one place of all duties

TEST(a_duty, is_the_condition_itself_where_weft_verifies) {
  EXPECT_TRUE(detail::duty_kept<false>(true, "", ""));
  EXPECT_FALSE(detail::duty_kept<false>(false, "", ""));
  EXPECT_FALSE(detail::duty_kept<false>([] { return false; }, "", ""));
}

TEST(a_duty_that_is_a_function, is_called_for_a_trusted_caller_in_a_debug_build_only) {
  int calls = 0;
  const auto counted = [&] {
    ++calls;
    return true;
  };
  EXPECT_TRUE(detail::duty_kept<true>(counted, "", ""));
#ifdef NDEBUG
  EXPECT_EQ(calls, 0);
#else
  EXPECT_EQ(calls, 1);
#endif
}

#ifndef NDEBUG
TEST(a_wrong_post_death_test, of_a_trusted_caller_ends_a_debug_build_with_a_sentence) {
  for (const wrong_post& each : wrong_posts)
    EXPECT_DEATH(play<trusted>([&](initiator_end<trusted>& end) { (void)post(end, each.name); }), each.sentence)
        << each.name;
}

TEST(a_wrong_post_death_test, to_a_peer_that_ended_names_the_peer) {
  const auto late = [] {
    play<trusted>(
        [](initiator_end<trusted>& end) {
          EXPECT_TRUE(end.net.send(end.other, end.memory.first(8)));
          EXPECT_TRUE(end.net.until([&] { return end.lost_peer; }, 1s, end.on()));
          (void)end.net.put(end.other, end.memory.first(8), end.all.at(0));
        },
        true);
  };
  EXPECT_DEATH(
      late(), "weft: put: the peer is not alive \\(checks::trusted leaves this check to the caller\\) \\[WEFT-O011\\]");
}
#endif

}  // namespace
}  // namespace weft
