// SPDX-License-Identifier: Apache-2.0
//
// Failures of the device, live, on the port of the fabric that this file is compiled for. Each operation ends once,
// with the kind of its error, in time. The target's memory is unchanged. Runs in the guest; two processes.
#include "device_errors.hpp"

#include <array>
#include <span>
#include <string>

namespace weft::testing {
namespace {

constexpr const fabric_facts& facts = selected_shape::facts;
/// A port that counts its peer's receives refuses to send more; on the library's own rows the device retries.
template <class Link>
constexpr bool counts_receives = requires(Link link) {
  link.held->credit;
};
constexpr bool knows_receives = counts_receives<port_of<selected_shape>::link>;

/// InfiniBand devices flush the queues of a broken link, so each operation ends. Soft iWARP and the library's rows
/// forget some; the transport ends those when the link is lost (conformance: put_get, liveness_of_peers). No operation
/// ends twice.
constexpr bool flushes = knows_receives && selected_shape::write_immediate;
/// Errors of a refused access. libfabric 1.17 has one number for every device error, EIO, without a more exact name.
constexpr std::array refused_kinds{errc::denied, errc::out_of_range, errc::peer_lost, errc::closed, errc::native};
constexpr std::span<const errc> refusals =
    std::span(refused_kinds).first(refused_kinds.size() - (knows_receives ? 1 : 0));
/// Errors of operations after it, or to a dead peer.
constexpr std::span<const errc> losses = refusals.subspan(2);

/// A library that connects at the first post does so once: libfabric 1.17's ofi_rxm keeps a broken connection.
constexpr bool met_again = !facts.connects_lazily;

struct device_errors : device_errors_of<selected_shape> {
  /// A write that the target's device must refuse, then a valid write, which must not succeed.
  void refused_write(remote_memory at, std::size_t size) {
    constexpr post_mode mode = selected_shape::delivery_complete && !selected_shape::write_immediate
                                   ? post_mode::delivered
                                   : post_mode::signalled;
    std::memset(self.scratch.data(), 0x66, size);
    const status posted = this->write<mode>(at, size, token(1));
    if (!posted) self.ended[token(1)].push_back(posted);  // the link broke between the two posts: an answer of the call
    const bool in_time =
        self.pump_until([&] { return completions_reported(token(1)) == 1 || (!flushes && self.lost); });
    self.pump_for(50ms);
    const tally sum = ends_of(token(1), refusals);
    RecordProperty("ended", sum.text + "; " + port().last_error_text());
    std::printf("[ observed ] refused write:%s, %s, link %s\n", sum.text.c_str(), port().last_error_text().c_str(),
                self.lost ? "lost" : "kept");
    EXPECT_TRUE(in_time) << "neither the write nor its link ended";
    EXPECT_EQ(sum.typed, completions_reported(token(1))) << sum.text;
    EXPECT_LE(completions_reported(token(1)), 1u) << "once";
    if (knows_receives && facts.refused_write != refusal::silent) {
      EXPECT_EQ(ends_of(token(1), {errc::denied}).typed, 1u) << sum.text;
    }
    if (met_again) met_anew_with_memory_untouched();
  }
};

TEST_F(device_errors, a_write_with_a_wrong_key_fails) {
  refused_write({self.there.address, self.there.key ^ 0x5500}, 16);
}

TEST_F(device_errors, a_write_past_the_region_fails) {
  refused_write({self.there.address + region_bytes + 4096, self.there.key}, 16);
}

TEST_F(device_errors, a_write_across_the_end_fails_as_a_whole) {
  refused_write({self.there.address + region_bytes - 8, self.there.key}, 16);
}

TEST_F(device_errors, a_wrapping_address_is_refused) { refused_write({~std::uint64_t{0} - 7, self.there.key}, 16); }

TEST_F(device_errors, a_read_with_a_wrong_key_fails_and_reads_nothing) {
  std::memset(self.scratch.data(), 0x66, 64);
  const remote_memory at{self.there.address, self.there.key ^ 0x5500};
  ASSERT_TRUE(self.post([&] {
    return port().read(self.peer, {self.scratch.data(), 64, self.scratch_memory.descriptor}, at, token(1));
  }));
  EXPECT_TRUE(self.pump_until([&] { return completions_reported(token(1)) == 1 || (!flushes && self.lost); }))
      << "the operation did not end";
  self.pump_for(50ms);
  const tally sum = ends_of(token(1), refusals);
  EXPECT_EQ(sum.typed, completions_reported(token(1))) << sum.text << "; " << port().last_error_text();
  EXPECT_LE(completions_reported(token(1)), 1u);
  EXPECT_EQ(self.scratch[0], std::byte{0x66});
  if (met_again) met_anew_with_memory_untouched();
}

/// Operations after a broken one never succeed, and each ends once. A library that takes more posts than the queue
/// holds reads completions meanwhile and keeps them; those must arrive too.
TEST_F(device_errors, a_full_send_queue_is_reported_and_loses_nothing) {
  const std::size_t most = 4 * port().limits().queue_depth + 64;
  std::size_t posted = 0;
  status last{};
  for (; posted < most; ++posted) {
    last = write_once<post_mode::signalled>({self.there.address + 8 * (posted % 1024), self.there.key}, 8, token(1));
    if (!last) break;
  }
  std::printf("[ observed ] send queue: %zu accepted, then %d\n", posted, static_cast<int>(last.code));
  if (knows_receives || posted < most) {
    EXPECT_EQ(last.code, errc::again) << "after " << posted;
    EXPECT_EQ(last.waits_for(), waits_for::queue);
  }
  EXPECT_GE(posted, facts.queue_depth / 2);
  EXPECT_TRUE(self.pump_until([&] { return completions_reported(token(1)) >= posted; }))
      << completions_reported(token(1)) << " of " << posted;
  self.pump_for(50ms);
  EXPECT_EQ(ends_of(token(1), {}).fine, posted);
  EXPECT_EQ(completions_reported(token(1)), posted);
  EXPECT_TRUE(write<post_mode::signalled>(self.there, 8, token(2))) << "the queue has room again";
  EXPECT_TRUE(self.end_of(token(2)));
}

TEST_F(device_errors, an_exhausted_receive_queue_is_reported_and_loses_nothing) {
  const auto awake = std::chrono::steady_clock::now() + 3000ms;
  ASSERT_TRUE(self.say("S3000"));  // after this message it posts no receive
  self.pump_for(500ms);
  std::size_t posted = 0;
  status last{};
  for (;; ++posted) {
    last = send(token(1));
    if (!last) break;
    if (posted > 10'000) break;
  }
  EXPECT_EQ(last.code, errc::again) << "after " << posted;
  EXPECT_TRUE(std::chrono::steady_clock::now() < awake) << "too late to say anything";
  if (knows_receives) {
    EXPECT_EQ(last.waits_for(), waits_for::receive_slot);
    EXPECT_LE(posted, slot_count);
    EXPECT_GT(posted, slot_count / 2);
  }
  std::printf("[ observed ] %zu sends before again(%d)\n", posted, last.native_code);
  EXPECT_TRUE(
      self.pump_until([&] { return completions_reported(token(1)) >= posted && self.messages.size() >= posted; }));
  self.pump_for(50ms);
  EXPECT_EQ(ends_of(token(1), {}).fine, posted);
  EXPECT_EQ(self.messages.size(), posted) << "each message was echoed once";
  EXPECT_FALSE(self.lost);
}

/// Forged credit: the device itself meets an empty receive queue. An InfiniBand device retries until there is a
/// receive; an iWARP device ends the connection.
TEST_F(device_errors, a_killed_peer_ends_each_operation_once) {
  ASSERT_TRUE(self.say("S30000"));
  std::size_t sends = 0, writes = 0, later = 0;
  while (sends < 8 && send(token(1))) ++sends;
  while (writes < 40 && write<post_mode::signalled>({self.there.address, self.there.key}, 4096, token(2))) ++writes;
  self.target.kill_now();
  // Posts go on until one is refused: each accepted one ends.
  status last{};
  const bool refused = self.pump_until(
      [&] {
        last = write_once<post_mode::signalled>(self.there, 8, token(3));
        later += last.code == errc::ok;
        return self.lost || (!last && !last.is_again());
      },
      knows_receives ? 10s : 2s);
  const auto all_ended = [&] {
    return self.lost && completions_reported(token(1)) >= sends && completions_reported(token(2)) >= writes &&
           completions_reported(token(3)) >= later;
  };
  const bool ended = self.pump_until(all_ended, flushes ? 10s : 1s);
  self.pump_for(50ms);
  std::printf("[ observed ] killed: %s; ended %zu of %zu sends, %zu of %zu writes, %zu of %zu later ones; link %s\n",
              refused ? "posts are refused" : "posts are not refused", completions_reported(token(1)), sends,
              completions_reported(token(2)), writes, completions_reported(token(3)), later,
              self.lost ? "lost" : "kept");
  if (knows_receives) {
    EXPECT_TRUE(refused && self.lost);
    EXPECT_EQ(write_once<post_mode::signalled>(self.there, 8, token(4)).code, errc::peer_lost);
  }
  if (flushes) {
    EXPECT_TRUE(ended);
    EXPECT_EQ(completions_reported(token(1)) + completions_reported(token(2)) + completions_reported(token(3)),
              sends + writes + later);
  }
  EXPECT_LE(completions_reported(token(1)), sends);
  EXPECT_LE(completions_reported(token(2)), writes);
  EXPECT_LE(completions_reported(token(3)), later);
  for (const std::uintptr_t each : {1u, 2u, 3u})
    EXPECT_EQ(ends_of(token(each), losses).other, 0u) << ends_of(token(each), {}).text;
}

/// Soft-RoCE reports a local operation error, where InfiniBand's specification (11.6.2) has a local length error.
TEST_F(device_errors, a_message_larger_than_the_receive_is_an_error_at_the_receiver) {
  ASSERT_TRUE(self.say("X"));
  EXPECT_TRUE(self.pump_until([&] { return !self.receive_errors.empty(); })) << "no event was reported";
  self.pump_for(100ms);
  ASSERT_FALSE(self.receive_errors.empty());
  const status first = self.receive_errors.front();
  std::printf("[ observed ] too small a receive: %s, link %s\n", port().last_error_text().c_str(),
              self.lost ? "lost" : "kept");
  EXPECT_TRUE(first.code == errc::truncated || first.code == (knows_receives ? errc::invalid : errc::native))
      << static_cast<int>(first.code) << "; " << port().last_error_text();
  EXPECT_TRUE(self.messages.empty());
  EXPECT_LE(self.receive_errors.size(), slot_count) << "each receive ends once";
}

}  // namespace
}  // namespace weft::testing

int main(int argc, char** argv) {
  using namespace weft::testing;
  if (argc == 5 && std::string(argv[1]) == "--peer") return target_main<selected_shape>(std::stoi(argv[3]), argv[4]);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
