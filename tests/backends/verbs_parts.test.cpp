// SPDX-License-Identifier: Apache-2.0
//
// Parts of the verbs backend that need no device: error numbers, signalling, full queues, credit, and strict parsing of
// peers' bytes.
#include <weft/backends/verbs/address.hpp>
#include <weft/backends/verbs/credit.hpp>
#include <weft/backends/verbs/errors.hpp>
#include <weft/backends/verbs/memory.hpp>
#include <weft/backends/verbs/receive_queue.hpp>
#include <weft/backends/verbs/send_queue.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace weft::backends::verbs {
namespace {

using testing::HasSubstr;

// ---- error numbers
TEST(verbs_errors, each_status_of_a_completion_has_one_meaning_and_keeps_its_number) {
  EXPECT_EQ(ended(IBV_WC_SUCCESS), status{});
  const std::vector<std::pair<ibv_wc_status, errc>> expected{
      {IBV_WC_LOC_LEN_ERR, errc::truncated},   {IBV_WC_LOC_QP_OP_ERR, errc::invalid},
      {IBV_WC_LOC_PROT_ERR, errc::invalid},    {IBV_WC_WR_FLUSH_ERR, errc::closed},
      {IBV_WC_BAD_RESP_ERR, errc::broken},     {IBV_WC_REM_INV_REQ_ERR, errc::invalid},
      {IBV_WC_REM_ACCESS_ERR, errc::denied},   {IBV_WC_REM_OP_ERR, errc::broken},
      {IBV_WC_RETRY_EXC_ERR, errc::peer_lost}, {IBV_WC_RNR_RETRY_EXC_ERR, errc::peer_lost},
      {IBV_WC_GENERAL_ERR, errc::native},
  };
  for (const auto& [how, meant] : expected) {
    const status s = ended(how);
    EXPECT_EQ(s.code, meant) << ibv_wc_status_str(how);
    EXPECT_EQ(s.from, origin::verbs);
    EXPECT_EQ(s.native_code, static_cast<int>(how));
  }
}

TEST(verbs_errors, a_full_queue_is_an_answer_and_other_errors_keep_their_number) {
  EXPECT_TRUE(posted(0, "ibv_post_send"));
  EXPECT_EQ(posted(ENOMEM, "ibv_post_send").waits_for(), waits_for::queue);
  EXPECT_EQ(posted(-ENOMEM, "ibv_post_send").waits_for(), waits_for::queue);  // some drivers return negative numbers
  const status s = posted(EINVAL, "ibv_post_send");
  EXPECT_EQ(s.code, errc::invalid);
  EXPECT_EQ(s.from, origin::system);
  EXPECT_EQ(s.native_code, EINVAL);
  EXPECT_EQ(posted(ENOTCONN, "ibv_post_send").code, errc::peer_lost);
  const failure f = refused(ENODEV, "rdma_bind_addr", "fabric x: opening");
  EXPECT_EQ(f.why.code, errc::unsupported);
  EXPECT_THAT(f.sentence, HasSubstr("fabric x: opening: rdma_bind_addr answered 19 (No such device)"));
}

// ---- the send queue
struct nobody {};

TEST(verbs_send_queue, posts_are_refused_before_admission_and_after_shutdown) {
  send_queue<nobody> queue;
  queue.open(nullptr, 4, 2, 2);
  EXPECT_TRUE(queue.full());
  EXPECT_TRUE(queue.reserve_full());
  queue.admit();
  EXPECT_FALSE(queue.full());
  queue.shut();
  EXPECT_TRUE(queue.full());
  EXPECT_TRUE(queue.reserve_full());
}

TEST(verbs_send_queue, only_the_backend_uses_the_reserve) {
  send_queue<nobody> queue;
  queue.open(nullptr, 4, 2, 2);
  queue.admit();
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(queue.full());
    (void)queue.take(nullptr, false);
  }
  EXPECT_TRUE(queue.full());
  EXPECT_FALSE(queue.reserve_full());
  (void)queue.take(nullptr, false);
  (void)queue.take(nullptr, false);
  EXPECT_TRUE(queue.reserve_full());
}

TEST(verbs_send_queue, every_nth_post_is_signalled_unasked) {
  send_queue<nobody> queue;
  queue.open(nullptr, 16, 0, 4);
  queue.admit();
  std::vector<bool> signalled;
  for (int i = 0; i < 12; ++i) signalled.push_back(queue.take(nullptr, false).signalled);
  const std::vector<bool> expected{false, false, false, true, false, false, false, true, false, false, false, true};
  EXPECT_EQ(signalled, expected);
  EXPECT_FALSE(queue.take(nullptr, false).signalled);
  EXPECT_TRUE(queue.take(nullptr, true).signalled) << "requested";
  EXPECT_FALSE(queue.take(nullptr, false).signalled) << "counting restarts";
}

TEST(verbs_send_queue, a_completion_frees_the_unsignalled_places_before_it) {
  send_queue<nobody> queue;
  queue.open(nullptr, 8, 0, 4);
  queue.admit();
  int context = 0;
  (void)queue.take(nullptr, false);
  (void)queue.take(nullptr, false);
  auto& third = queue.take(&context, true);
  (void)queue.take(nullptr, false);
  EXPECT_EQ(queue.in_flight(), 4U);
  EXPECT_TRUE(queue.has_unreported_end());
  queue.retire(third);
  EXPECT_EQ(queue.in_flight(), 1U);
  EXPECT_FALSE(queue.has_unreported_end());
  EXPECT_EQ(third.context, &context);
}

TEST(verbs_send_queue, a_signalled_place_is_kept_until_its_own_completion) {
  send_queue<nobody> queue;
  queue.open(nullptr, 4, 0, 2);
  queue.admit();
  int reads = 0;
  auto& read = queue.take(&reads, true);
  auto& send = queue.take(nullptr, true);
  queue.retire(send);  // it overtook the read
  EXPECT_EQ(queue.in_flight(), 2U);
  EXPECT_TRUE(queue.has_unreported_end());
  EXPECT_EQ(read.context, &reads);
  queue.retire(read);
  EXPECT_EQ(queue.in_flight(), 0U);
}

TEST(verbs_send_queue, completions_in_order_retire_at_once_and_others_later) {
  send_queue<nobody> queue;
  queue.open(nullptr, 8, 0, 4);
  queue.admit();
  auto& first = queue.take(nullptr, true);
  auto& second = queue.take(nullptr, true);
  (void)queue.take(nullptr, false);
  auto& fourth = queue.take(nullptr, true);
  auto& fifth = queue.take(nullptr, true);
  EXPECT_FALSE(queue.retire_next(second)) << "it overtook the first";
  EXPECT_TRUE(queue.retire_next(first));
  EXPECT_TRUE(queue.retire_next(second));
  EXPECT_EQ(queue.in_flight(), 3U);
  EXPECT_FALSE(queue.retire_next(fourth)) << "an unsignalled one is before it";
  queue.retire_rare(fourth);
  EXPECT_EQ(queue.in_flight(), 1U);
  queue.end_next_rare();
  EXPECT_FALSE(queue.retire_next(fifth)) << "a post waits for room";
  queue.retire_rare(fifth);
  EXPECT_EQ(queue.in_flight(), 0U);
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(queue.retire_next(queue.take(nullptr, true))) << "also around the end of the places: " << i;
}

TEST(verbs_receive_queue, accepts_as_many_receives_as_fit) {
  nobody mine;
  receive_queue<nobody> queue;
  queue.open(&mine, 3);
  int contexts[5] = {};
  std::set<receive_place<nobody>*> taken;
  for (int i = 0; i < 3; ++i) {
    auto* place = queue.take(&contexts[i]);
    ASSERT_NE(place, nullptr);
    EXPECT_EQ(place->context, &contexts[i]);
    EXPECT_EQ(place->owner, &mine);
    taken.insert(place);
  }
  EXPECT_EQ(taken.size(), 3U);
  EXPECT_EQ(queue.take(&contexts[3]), nullptr);
  EXPECT_EQ(queue.take(&contexts[3]), nullptr) << "and it stays shut";
  auto* const ended = *taken.begin();
  queue.end(*ended);
  EXPECT_EQ(queue.take(&contexts[4]), ended);
  EXPECT_EQ(ended->context, &contexts[4]);
  EXPECT_EQ(queue.take(&contexts[3]), nullptr);
}

TEST(verbs_send_queue, a_withdrawn_post_makes_the_next_one_signalled) {
  send_queue<nobody> queue;
  queue.open(nullptr, 8, 0, 4);
  queue.admit();
  EXPECT_FALSE(queue.take(nullptr, false).signalled);
  queue.take_back(1);
  EXPECT_EQ(queue.in_flight(), 0U);
  EXPECT_TRUE(queue.take(nullptr, false).signalled) << "the withdrawn post may have been the signalled one";
}

/// A device that completes only signalled operations, sometimes a later one first. The queue never overruns, never
/// loses the context of a place, and never gets stuck.
TEST(verbs_send_queue, never_overruns_and_never_gets_stuck) {
  std::mt19937 draw(7);
  for (std::uint32_t size = 2; size < 40; ++size) {
    send_queue<nobody> queue;
    queue.open(nullptr, size, 2, 1 + static_cast<std::uint32_t>(draw() % 32));
    queue.admit();
    std::vector<std::pair<send_place<nobody>*, std::uint64_t*>> card;  // signalled places, with their expected contexts
    std::vector<std::uint64_t> numbers(3000);
    std::uint64_t posted = 0;
    for (int step = 0; step < 2500; ++step) {
      if (!queue.full() && draw() % 3 != 0) {
        auto& place = queue.take(&numbers.at(posted), draw() % 4 == 0);
        if (place.signalled) card.emplace_back(&place, &numbers.at(posted));
        ++posted;
        ASSERT_LE(queue.in_flight(), size);
      } else if (!card.empty()) {
        const auto which = card.begin() + (card.size() > 1 && draw() % 4 == 0 ? 1 : 0);
        ASSERT_EQ(which->first->context, which->second) << "a place was reused before its completion";
        queue.retire(*which->first);
        card.erase(which);
      } else {
        ASSERT_FALSE(queue.full()) << "full, and no post in it will complete: stuck at size " << size;
      }
    }
    EXPECT_GT(posted, 800U);
  }
}

// ---- credit
TEST(verbs_credit, no_more_is_sent_than_granted) {
  credit_words words;
  send_credit mine;
  EXPECT_TRUE(mine.none(words));
  words.granted = 2;
  EXPECT_FALSE(mine.none(words));
  mine.spend();
  mine.spend();
  EXPECT_TRUE(mine.none(words));
  mine.give_back();
  EXPECT_FALSE(mine.none(words));
}

TEST(verbs_credit, counts_wrap_around) {
  credit_words words;
  send_credit mine;
  receive_offer theirs(8);
  std::uint64_t sent = 0;
  words.granted = 0xffff'fffeU;
  for (std::uint32_t i = 0; i != 0xffff'fffeU; i += 0x1111'1111U)  // reached in steps: only the equality matters
    EXPECT_FALSE(mine.none(words));
  send_credit near_the_end;
  for (std::uint32_t i = 0; i < 4; ++i) near_the_end.give_back();  // has spent 2^32 - 4
  words.granted = 2;
  while (!near_the_end.none(words)) {
    near_the_end.spend();
    ++sent;
  }
  EXPECT_EQ(sent, 6U);
}

TEST(verbs_credit, credit_returns_in_portions_and_none_is_kept_back) {
  for (const std::uint32_t receives : {1U, 2U, 3U, 8U, 64U}) {
    receive_offer offer(receives);
    credit_words words;
    send_credit peer;
    std::uint32_t tellings = 0;
    for (std::uint32_t i = 0; i < receives; ++i) offer.posted();
    words.granted = offer.count();  // the introduction
    offer.reported();
    for (std::uint32_t sent = 0; sent < 1000; ++sent) {
      ASSERT_FALSE(peer.none(words)) << "stuck with " << receives << " receives after " << sent;
      peer.spend();
      offer.posted();  // handled at once, and posted again
      if (!offer.due()) continue;
      words.granted = offer.count();
      offer.reported();
      ++tellings;
    }
    EXPECT_LE(tellings, 1000 / std::max(1U, receives / 4));
  }
}

TEST(verbs_credit, introductions_are_read_strictly) {
  const credit_introduction mine{0x1234'5678'9abc'def0U, 0xdead'beefU, 64};
  const auto bytes_of = mine.bytes_of();
  const auto read = credit_introduction::parse(bytes_of);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->address, mine.address);
  EXPECT_EQ(read->key, mine.key);
  EXPECT_EQ(read->receives, mine.receives);
  std::vector<std::byte> padded(bytes_of.begin(), bytes_of.end());
  padded.resize(56);  // the size that the InfiniBand connection manager delivers
  EXPECT_TRUE(credit_introduction::parse(padded));
  for (std::size_t n = 0; n < bytes_of.size(); ++n)
    EXPECT_FALSE(credit_introduction::parse(const_bytes(bytes_of).first(n))) << n;
  padded[0] ^= std::byte{1};
  EXPECT_FALSE(credit_introduction::parse(padded)) << "another form";
  const credit_introduction crooked{0x1001, 1, 1};
  EXPECT_FALSE(credit_introduction::parse(crooked.bytes_of())) << "no word begins there";
}

// ---- memory and addresses
TEST(verbs_memory, rights_map_to_exactly_their_access_flags) {
  EXPECT_EQ(access_of(rights::none, true, false), IBV_ACCESS_LOCAL_WRITE);
  EXPECT_EQ(access_of(rights::remote_read, true, false), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
  EXPECT_EQ(access_of(rights::remote_write, true, true), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  EXPECT_EQ(access_of(rights::remote_atomic, true, false), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
  EXPECT_EQ(access_of(rights::remote_atomic, false, false), IBV_ACCESS_LOCAL_WRITE)
      << "the target executes them: no device may";
  EXPECT_EQ(access_of(rights::none, false, true), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)
      << "the sink of a read on this wire";
  EXPECT_EQ(access_of(rights::remote_read, false, true), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ)
      << "its key is known to peers";
  EXPECT_EQ(local_key(descriptor_of(0xffff'ffffU)), 0xffff'ffffU);
}

TEST(verbs_addresses, are_read_strictly_and_printed_for_people) {
  const auto four = resolve_address("127.0.0.1", "7471", "test");
  ASSERT_TRUE(four) << four.error().sentence;
  EXPECT_EQ(four->printable(), "127.0.0.1:7471");
  EXPECT_FALSE(four->any());
  const auto six = resolve_address("::1", "7471", "test");
  ASSERT_TRUE(six) << six.error().sentence;
  EXPECT_EQ(six->printable(), "[::1]:7471");
  for (const auto& each : {*four, *six}) {
    auto bytes_of = each.bytes_of();
    const auto back = socket_address::parse(bytes_of);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->printable(), each.printable());
    bytes_of.pop_back();
    EXPECT_FALSE(socket_address::parse(bytes_of));
    bytes_of.resize(bytes_of.size() + 2);
    EXPECT_FALSE(socket_address::parse(bytes_of));
  }
  EXPECT_FALSE(socket_address::parse({}));
  EXPECT_FALSE(socket_address::parse(address_bytes(16)));
  EXPECT_FALSE(resolve_address("127.0.0.1", "no such service", "test"));
  const auto anywhere = resolve_address("", "7471", "test");
  ASSERT_TRUE(anywhere);
  EXPECT_TRUE(anywhere->any());
}

TEST(verbs_addresses, the_route_to_a_local_address_starts_there) {
  const auto from = source_towards(*resolve_address("127.0.0.1", "9", "test"));
  ASSERT_TRUE(from);
  EXPECT_EQ(from->printable(), "127.0.0.1:0");
}

}  // namespace
}  // namespace weft::backends::verbs
