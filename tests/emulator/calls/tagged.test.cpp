// SPDX-License-Identifier: Apache-2.0
//
// Each call and flag of fi_tagged(3).
#include "pair.hpp"

#include <bit>

namespace weft::calls {
namespace {

class tagged : public pair {
 public:
  /// A tagged receive by fi_trecvmsg, which searches with FI_PEEK, FI_CLAIM and FI_DISCARD.
  ssize_t search(std::uint64_t tag, std::uint64_t ignore, void* with, std::uint64_t flags, std::size_t size = 0) {
    vector_ = {b.at(0), size};
    descriptor_ = b.descriptor();
    fi_msg_tagged message{};
    message.msg_iov = &vector_;
    message.desc = &descriptor_;
    message.iov_count = size == 0 ? 0 : 1;
    message.addr = FI_ADDR_UNSPEC;
    message.tag = tag;
    message.ignore = ignore;
    message.context = with;
    return post([&] { return fi_trecvmsg(b.ep, &message, flags | FI_COMPLETION); });
  }
  /// Searches until a message is found: it may still be on its way.
  fi_cq_tagged_entry find(std::uint64_t tag, void* with, std::uint64_t flags) {
    for (int tries = 0; tries < 100000; ++tries) {
      if (search(tag, 0, with, flags) != 0) break;
      if (!until([&] { return !b.entries.empty() || !b.errors.empty(); })) break;
      if (!b.entries.empty()) return entry(b);
      EXPECT_EQ(error(b).err, FI_ENOMSG);
    }
    ADD_FAILURE() << "no message was found";
    return {};
  }
  void send(std::uint64_t tag, std::size_t size, int value) {
    a.fill(0, size, value);
    ASSERT_EQ(post([&] { return fi_tsend(a.ep, a.at(0), size, a.descriptor(), a.other, tag, context()); }), 0);
  }

 private:
  iovec vector_{};
  void* descriptor_ = nullptr;
};

TEST_F(tagged, each_call_that_sends_is_received) {
  WEFT_OPEN(.caps = FI_TAGGED);
  const bool data = info->domain_attr->cq_data_size > 0;
  const std::size_t injected = std::min<std::size_t>(info->tx_attr->inject_size, 8);
  a.fill(0, 64, 5);
  iovec vector{a.at(0), 8};
  void* descriptor = a.descriptor();
  fi_msg_tagged message{};
  message.msg_iov = &vector;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = a.other;
  message.data = 77;
  struct call {
    const char* name;
    std::function<ssize_t(std::uint64_t, void*)> send;
    std::size_t length;
    bool completes;
    std::uint64_t with_data;
  };
  const auto by_message = [&](std::uint64_t tag, void* c, std::uint64_t flags) {
    message.tag = tag;
    message.context = c;
    return fi_tsendmsg(a.ep, &message, flags);
  };
  const std::vector<call> calls{
      {"tsend", [&](auto t, void* c) { return fi_tsend(a.ep, a.at(0), 8, descriptor, a.other, t, c); }, 8, true, 0},
      {"tsendv", [&](auto t, void* c) { return fi_tsendv(a.ep, &vector, &descriptor, 1, a.other, t, c); }, 8, true, 0},
      {"tsendmsg", [&](auto t, void* c) { return by_message(t, c, FI_COMPLETION); }, 8, true, 0},
      {"tsendmsg with data", [&](auto t, void* c) { return by_message(t, c, FI_COMPLETION | FI_REMOTE_CQ_DATA); }, 8,
       true, 77},
      {"tinject", [&](auto t, void*) { return fi_tinject(a.ep, a.at(0), injected, a.other, t); }, injected, false, 0},
      {"tsenddata", [&](auto t, void* c) { return fi_tsenddata(a.ep, a.at(0), 8, descriptor, 78, a.other, t, c); }, 8,
       true, 78},
      {"tinjectdata", [&](auto t, void*) { return fi_tinjectdata(a.ep, a.at(0), injected, 79, a.other, t); }, injected,
       false, 79}};
  std::uint64_t tag = 100;
  for (const call& each : calls) {
    if (each.with_data != 0 && !data) continue;
    SCOPED_TRACE(each.name);
    void* receive = context();
    void* other = context();
    void* send = context();
    ++tag;
    ASSERT_EQ(post([&] { return fi_trecv(b.ep, b.at(64), 64, b.descriptor(), FI_ADDR_UNSPEC, tag + 1000, 0, other); }),
              0);
    ASSERT_EQ(post([&] { return fi_trecv(b.ep, b.at(0), 64, b.descriptor(), FI_ADDR_UNSPEC, tag, 0, receive); }), 0);
    ASSERT_EQ(post([&] { return each.send(tag, send); }), 0);
    const auto got = entry(b);
    EXPECT_EQ(got.op_context, receive);
    EXPECT_EQ(got.len, each.length);
    EXPECT_EQ(got.tag, tag);
    EXPECT_NE(got.flags & FI_TAGGED, 0U);
    EXPECT_EQ((got.flags & FI_REMOTE_CQ_DATA) != 0, each.with_data != 0);
    if (each.with_data != 0) {
      EXPECT_EQ(got.data, each.with_data);
    }
    EXPECT_EQ(std::memcmp(a.at(0), b.at(0), each.length), 0);
    if (each.completes) {
      EXPECT_EQ(entry(a).op_context, send);
    }
    EXPECT_TRUE(quiet());
    ASSERT_EQ(fi_cancel(&b.ep->fid, other), 0);
    EXPECT_EQ(error(b).err, FI_ECANCELED);
  }
}

TEST_F(tagged, each_call_that_receives_gets_its_tag) {
  WEFT_OPEN(.caps = FI_TAGGED);
  iovec vector{b.at(0), 64};
  void* descriptor = b.descriptor();
  void* const by_list = context();
  ASSERT_EQ(post([&] { return fi_trecvv(b.ep, &vector, &descriptor, 1, FI_ADDR_UNSPEC, 7, 0, by_list); }), 0);
  send(7, 8, 1);
  EXPECT_EQ(entry(b).op_context, by_list);
  void* const by_message = context();
  ASSERT_EQ(search(8, 0, by_message, 0, 64), 0);
  send(8, 8, 2);
  EXPECT_EQ(entry(b).op_context, by_message);
}

TEST_F(tagged, ignored_bits_match_any_value) {
  WEFT_OPEN(.caps = FI_TAGGED);
  void* receive = context();
  ASSERT_EQ(post([&] { return fi_trecv(b.ep, b.at(0), 64, b.descriptor(), FI_ADDR_UNSPEC, 0x100, 0xff, receive); }), 0);
  send(0x142, 8, 3);
  const auto got = entry(b);
  EXPECT_EQ(got.op_context, receive);
  EXPECT_EQ(got.tag, 0x142U);
}

TEST_F(tagged, messages_that_wait_do_not_hold_up_other_tags) {
  WEFT_OPEN(.caps = FI_TAGGED);
  for (std::uint64_t tag = 0; tag < 10; ++tag) send(tag, 8 + tag, 4);
  for (std::uint64_t tag = 10; tag-- > 0;) {
    ASSERT_EQ(post([&] { return fi_trecv(b.ep, b.at(0), 64, b.descriptor(), FI_ADDR_UNSPEC, tag, 0, context()); }), 0);
    EXPECT_EQ(entry(b).len, 8 + tag);
  }
}

TEST_F(tagged, peek_tells_of_a_message_and_leaves_it) {
  WEFT_OPEN(.caps = FI_TAGGED);
  void* sought = context();
  ASSERT_EQ(search(5, 0, sought, FI_PEEK), 0);
  const auto nothing = error(b);
  EXPECT_EQ(nothing.err, FI_ENOMSG);
  EXPECT_EQ(nothing.op_context, sought);
  send(5, 24, 6);
  const auto found = find(5, sought, FI_PEEK);
  EXPECT_EQ(found.op_context, sought);
  EXPECT_EQ(found.len, 24U);
  EXPECT_EQ(found.tag, 5U);
  EXPECT_EQ(find(5, sought, FI_PEEK).len, 24U);
  ASSERT_EQ(search(5, 0, context(), 0, 64), 0);
  EXPECT_EQ(entry(b).len, 24U);
  EXPECT_EQ(std::memcmp(a.at(0), b.at(0), 24), 0);
}

TEST_F(tagged, a_claimed_message_is_for_the_claim_only) {
  WEFT_OPEN(.caps = FI_TAGGED);
  send(5, 24, 6);
  void* claim = context();
  EXPECT_EQ(find(5, claim, FI_PEEK | FI_CLAIM).len, 24U);
  ASSERT_EQ(search(5, 0, context(), FI_PEEK), 0);
  EXPECT_EQ(error(b).err, FI_ENOMSG);  // it is claimed
  ASSERT_EQ(search(5, 0, claim, FI_CLAIM, 64), 0);
  const auto got = entry(b);
  EXPECT_EQ(got.op_context, claim);
  EXPECT_EQ(got.len, 24U);
  EXPECT_EQ(std::memcmp(a.at(0), b.at(0), 24), 0);
}

TEST_F(tagged, a_discarded_message_is_gone) {
  WEFT_OPEN(.caps = FI_TAGGED);
  send(5, 24, 6);
  void* dropped = context();
  EXPECT_EQ(find(5, dropped, FI_PEEK | FI_DISCARD).op_context, dropped);
  ASSERT_EQ(search(5, 0, context(), FI_PEEK), 0);
  EXPECT_EQ(error(b).err, FI_ENOMSG);
  send(6, 24, 6);
  void* claim = context();
  EXPECT_EQ(find(6, claim, FI_PEEK | FI_CLAIM).len, 24U);
  ASSERT_EQ(search(6, 0, claim, FI_CLAIM | FI_DISCARD), 0);
  EXPECT_EQ(entry(b).op_context, claim);
  ASSERT_EQ(search(6, 0, context(), FI_PEEK), 0);
  EXPECT_EQ(error(b).err, FI_ENOMSG);
}

TEST_F(tagged, a_receive_from_one_sender_takes_no_other) {
  WEFT_OPEN(.caps = FI_TAGGED | FI_DIRECTED_RECV);
  std::vector<std::byte> name(256);
  std::size_t length = name.size();
  fi_addr_t itself = FI_ADDR_UNSPEC;
  ASSERT_EQ(fi_getname(&b.ep->fid, name.data(), &length), 0);
  ASSERT_EQ(fi_av_insert(b.av, name.data(), 1, &itself, 0, nullptr), 1);
  void* of_itself = context();
  void* of_other = context();
  ASSERT_EQ(post([&] { return fi_trecv(b.ep, b.at(0), 64, b.descriptor(), itself, 1, 0, of_itself); }), 0);
  ASSERT_EQ(post([&] { return fi_trecv(b.ep, b.at(64), 64, b.descriptor(), b.other, 1, 0, of_other); }), 0);
  send(1, 8, 9);
  EXPECT_EQ(entry(b).op_context, of_other);
}

TEST_F(tagged, all_bits_of_the_format_belong_to_the_program) {
  WEFT_OPEN(.caps = FI_TAGGED);
  const int reserved = std::countl_zero(info->ep_attr->mem_tag_format);
  const std::uint64_t widest = ~std::uint64_t{0} >> static_cast<unsigned>(reserved);
  void* receive = context();
  ASSERT_EQ(post([&] { return fi_trecv(b.ep, b.at(0), 64, b.descriptor(), FI_ADDR_UNSPEC, widest, 0, receive); }), 0);
  send(widest, 8, 9);
  EXPECT_EQ(entry(b).tag, widest);
}

TEST_F(tagged, a_message_that_is_too_long_for_its_receive_is_an_error_there) {
  WEFT_OPEN(.caps = FI_TAGGED);
  void* receive = context();
  ASSERT_EQ(post([&] { return fi_trecv(b.ep, b.at(0), 16, b.descriptor(), FI_ADDR_UNSPEC, 3, 0, receive); }), 0);
  send(3, 40, 9);
  const auto failed = error(b);
  EXPECT_EQ(failed.err, FI_ETRUNC);
  EXPECT_EQ(failed.op_context, receive);
  EXPECT_EQ(failed.tag, 3U);
}

}  // namespace
}  // namespace weft::calls
