// SPDX-License-Identifier: Apache-2.0
//
// Failures of a device under rdma-core's own port. The tests reach below the port, forge its credit or reset its queue
// pair, which a program that uses weft cannot do. Runs in the guest; two processes.
#include "device_errors.hpp"

#include <algorithm>
#include <string>

namespace weft::testing {
namespace {

struct card_shape : selected_shape {
  /// The queue pair forgets its peer silently: later operations are never acknowledged.
  static void vanish(port_of<card_shape>::link link) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_RESET;
    if (const int r = ibv_modify_qp(link.held->pair, &attributes, IBV_QP_STATE); r != 0)
      std::fprintf(stderr, "to RESET: %d\n", r);
  }
};
/// InfiniBand devices flush the queues of a broken link, so each operation ends. Soft iWARP forgets some; the transport
/// ends those.
constexpr bool flushes = card_shape::write_immediate;
using card_errors = device_errors_of<card_shape>;

TEST_F(card_errors, an_atomic_with_a_wrong_key_fails) {
  if (!card_shape::native_atomics) GTEST_SKIP() << "the target executes this row's atomics";
  ASSERT_TRUE(fetch_add({self.there.address, self.there.key ^ 0x5500}, 1, token(1)));
  EXPECT_TRUE(self.pump_until([&] { return ends_told(token(1)) == 1; })) << "the operation did not end";
  EXPECT_EQ(ends_of(token(1), {errc::denied}).typed, 1u) << ends_of(token(1), {}).text;
  met_anew_with_memory_untouched();
}

TEST_F(card_errors, operations_after_a_refused_one_end_once_each) {
  constexpr std::size_t behind = 20;
  ASSERT_TRUE(write<post_mode::signalled>({self.there.address, self.there.key ^ 0x5500}, 16, token(1)));
  std::size_t posted = 0;
  for (; posted < behind; ++posted)
    if (!write_once<post_mode::signalled>(self.there, 8, token(2))) break;
  EXPECT_TRUE(self.pump_until(
      [&] { return self.lost && (!flushes || (ends_told(token(1)) == 1 && ends_told(token(2)) == posted)); }));
  self.pump_for(50ms);
  const tally sum = ends_of(token(2), {errc::closed, errc::peer_lost});
  EXPECT_LE(ends_told(token(2)), posted) << sum.text;
  EXPECT_EQ(sum.other, 0u) << sum.text;
  if (flushes) {
    EXPECT_EQ(ends_told(token(2)) - sum.fine, posted) << sum.text;
  }
  const status next = write_once<post_mode::signalled>(self.there, 8, token(3));
  EXPECT_EQ(next.code, errc::peer_lost) << "a broken link is no full queue";
}

/// A device has few reads in flight at a time (ibv_query_device(3), max_qp_rd_atom; weft requests 16). Other reads
/// wait, also between writes.
TEST_F(card_errors, more_reads_than_the_device_allows_at_once_all_complete) {
  constexpr std::size_t piece = 512;
  for (int round = 0; round < 5; ++round) {
    std::size_t reads = 0, writes = 0;
    for (status last{}; last; ++reads) {
      const std::size_t at = reads % 64 * piece;
      last = port().read(self.peer, {self.scratch.data() + at, piece, self.scratch_memory.descriptor},
                         {self.there.address + at, self.there.key}, token(1));
      if (!last) break;
      if (reads % 3 != 0) continue;
      last = write_once<post_mode::signalled>({self.there.address + 65536, self.there.key}, 64, token(2));
      writes += last.code == errc::ok;
    }
    EXPECT_GT(reads, 16u * 3);
    EXPECT_TRUE(self.pump_until([&] { return ends_told(token(1)) >= reads && ends_told(token(2)) >= writes; }))
        << ends_told(token(1)) << " of " << reads << " reads, " << ends_told(token(2)) << " of " << writes
        << " writes ended";
    self.pump_for(20ms);
    EXPECT_EQ(ends_of(token(1), {}).fine, reads);
    EXPECT_EQ(ends_of(token(2), {}).fine, writes);
    self.ended.clear();
  }
  EXPECT_TRUE(self.part());
}

TEST_F(card_errors, a_peer_without_receives_makes_the_device_retry_or_ends_the_connection) {
  ASSERT_TRUE(self.say("S3000"));
  self.pump_for(500ms);  // after this message it posts no receives for a while
  std::atomic_ref(self.peer.held->words->granted).fetch_add(40);
  std::size_t posted = 0;
  while (posted < slot_count + 20 && send(token(1))) ++posted;
  ASSERT_GT(posted, slot_count);
  EXPECT_TRUE(self.pump_until(
      [&] { return flushes ? ends_told(token(1)) == posted && self.messages.size() >= posted : self.lost; }));
  self.pump_for(50ms);
  // Soft iWARP reports the operation that it was sending when its peer ended the link as an error of this side's queue
  // (Linux 6.1 siw_qp_sq_process).
  const auto cut_off = [](const status& s) { return s.code == errc::invalid && s.native_code == IBV_WC_LOC_QP_OP_ERR; };
  const auto& ends = self.ended[token(1)];
  const auto sending = flushes ? 0U : static_cast<std::size_t>(std::count_if(ends.begin(), ends.end(), cut_off));
  const tally sum = ends_of(token(1), {errc::peer_lost, errc::closed, errc::broken});
  std::printf("[ observed ] %zu sends without receives: %zu arrived, %zu in error:%s, link %s\n", posted, sum.fine,
              sum.typed, sum.text.c_str(), self.lost ? "lost" : "kept");
  EXPECT_EQ(sum.other, sending) << sum.text;
  EXPECT_LE(sending, 1u) << sum.text;
  if (flushes) {
    EXPECT_EQ(sum.fine, posted) << sum.text;
  } else {
    EXPECT_LE(ends_told(token(1)), posted) << "each ends once at most";
  }
}

TEST_F(card_errors, a_peer_without_acknowledgements_is_lost_after_the_retries) {
  if (!card_shape::native_atomics)
    GTEST_SKIP() << "iWARP leaves repeating to the transport below, and its queue pairs cannot be reset";
  ASSERT_TRUE(self.say("D"));
  self.pump_for(200ms);
  ASSERT_TRUE(write<post_mode::signalled>(self.there, 64, token(1)));
  ASSERT_TRUE(write<post_mode::signalled>(self.there, 64, token(2)));
  EXPECT_TRUE(self.pump_until([&] { return ends_told(token(1)) + ends_told(token(2)) == 2 && self.lost; }, 12s));
  self.pump_for(50ms);
  EXPECT_EQ(ends_of(token(1), {errc::peer_lost}).typed, 1u) << ends_of(token(1), {}).text;
  ASSERT_EQ(ends_told(token(1)), 1u);
  EXPECT_EQ(self.ended[token(1)].front().native_code, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(ends_of(token(2), {errc::closed}).typed, 1u) << ends_of(token(2), {}).text;
}

}  // namespace
}  // namespace weft::testing

int main(int argc, char** argv) {
  using namespace weft::testing;
  if (argc == 5 && std::string(argv[1]) == "--peer") return target_main<card_shape>(std::stoi(argv[3]), argv[4]);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
