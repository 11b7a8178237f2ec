// SPDX-License-Identifier: Apache-2.0
//
// Each call of fi_msg(3), and fi_cancel, fi_getopt and fi_setopt of fi_endpoint(3).
#include "pair.hpp"

#include <array>

namespace weft::calls {
namespace {

class messages : public pair {};

constexpr std::size_t half = memory_size / 2;

TEST_F(messages, each_call_that_sends_is_received) {
  WEFT_OPEN(.caps = FI_MSG);
  const bool data = info->domain_attr->cq_data_size > 0;
  const std::size_t injected = std::min<std::size_t>(info->tx_attr->inject_size, 8);
  a.fill(0, 64, 5);
  iovec vector{a.at(0), 8};
  void* descriptor = a.descriptor();
  fi_msg message{};
  message.msg_iov = &vector;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = a.other;
  message.data = 77;
  struct call {
    const char* name;
    std::function<ssize_t(void*)> send;
    std::size_t length;
    bool completes;
    std::uint64_t with_data;
  };
  const std::vector<call> calls{
      {"send", [&](void* c) { return fi_send(a.ep, a.at(0), 8, descriptor, a.other, c); }, 8, true, 0},
      {"sendv", [&](void* c) { return fi_sendv(a.ep, &vector, &descriptor, 1, a.other, c); }, 8, true, 0},
      {"sendmsg",
       [&](void* c) {
         message.context = c;
         return fi_sendmsg(a.ep, &message, FI_COMPLETION);
       },
       8, true, 0},
      {"sendmsg with data",
       [&](void* c) {
         message.context = c;
         return fi_sendmsg(a.ep, &message, FI_COMPLETION | FI_REMOTE_CQ_DATA);
       },
       8, true, 77},
      {"inject", [&](void*) { return fi_inject(a.ep, a.at(0), injected, a.other); }, injected, false, 0},
      {"senddata", [&](void* c) { return fi_senddata(a.ep, a.at(0), 8, descriptor, 78, a.other, c); }, 8, true, 78},
      {"injectdata", [&](void*) { return fi_injectdata(a.ep, a.at(0), injected, 79, a.other); }, injected, false, 79}};
  for (const call& each : calls) {
    if (each.with_data != 0 && !data) continue;
    SCOPED_TRACE(each.name);
    void* receive = context();
    void* send = context();
    ASSERT_EQ(post([&] { return fi_recv(b.ep, b.at(0), 64, b.descriptor(), FI_ADDR_UNSPEC, receive); }), 0);
    ASSERT_EQ(post([&] { return each.send(send); }), 0);
    const auto got = entry(b);
    EXPECT_EQ(got.op_context, receive);
    EXPECT_EQ(got.len, each.length);
    EXPECT_NE(got.flags & FI_RECV, 0U);
    EXPECT_EQ((got.flags & FI_REMOTE_CQ_DATA) != 0, each.with_data != 0);
    if (each.with_data != 0) {
      EXPECT_EQ(got.data, each.with_data);
    }
    EXPECT_EQ(std::memcmp(a.at(0), b.at(0), each.length), 0);
    if (each.completes) {
      EXPECT_EQ(entry(a).op_context, send);
    }
    EXPECT_TRUE(quiet());
  }
}

TEST_F(messages, each_call_that_receives_gets_one) {
  WEFT_OPEN(.caps = FI_MSG);
  iovec vector{b.at(0), 64};
  void* descriptor = b.descriptor();
  fi_msg message{};
  message.msg_iov = &vector;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = FI_ADDR_UNSPEC;
  for (int call = 0; call < 2; ++call) {
    void* receive = context();
    message.context = receive;
    ASSERT_EQ(post([&] {
                return call == 0 ? fi_recvv(b.ep, &vector, &descriptor, 1, FI_ADDR_UNSPEC, receive)
                                 : fi_recvmsg(b.ep, &message, FI_COMPLETION);
              }),
              0);
    a.fill(0, 8, 20 + call);
    ASSERT_EQ(post([&] { return fi_send(a.ep, a.at(0), 8, a.descriptor(), a.other, context()); }), 0);
    EXPECT_EQ(entry(b).op_context, receive);
    EXPECT_EQ(std::memcmp(a.at(0), b.at(0), 8), 0);
    (void)entry(a);
  }
}

TEST_F(messages, a_message_that_came_first_waits_for_its_receive) {
  WEFT_OPEN(.caps = FI_MSG);
  for (int i = 0; i < 5; ++i) {
    a.fill(static_cast<std::size_t>(i) * 8, 8, 30 + i);
    ASSERT_EQ(post([&] {
                return fi_send(a.ep, a.at(static_cast<std::size_t>(i) * 8), 8, a.descriptor(), a.other, context());
              }),
              0);
  }
  for (int i = 0; i < 100; ++i) poll();
  const bool ordered = (info->rx_attr->msg_order & FI_ORDER_SAS) != 0;
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(post([&] { return fi_recv(b.ep, b.at(0), 64, b.descriptor(), FI_ADDR_UNSPEC, context()); }), 0);
    EXPECT_EQ(entry(b).len, 8U);
    if (ordered) {
      EXPECT_EQ(*b.at(0), std::byte(30 + i));
    }
  }
}

TEST_F(messages, a_message_that_is_too_long_for_its_receive_is_an_error_there) {
  WEFT_OPEN(.caps = FI_MSG);
  void* receive = context();
  ASSERT_EQ(post([&] { return fi_recv(b.ep, b.at(0), 16, b.descriptor(), FI_ADDR_UNSPEC, receive); }), 0);
  ASSERT_EQ(post([&] { return fi_send(a.ep, a.at(0), 40, a.descriptor(), a.other, context()); }), 0);
  const auto failed = error(b);
  EXPECT_EQ(failed.err, FI_ETRUNC);
  EXPECT_EQ(failed.op_context, receive);
}

TEST_F(messages, one_buffer_takes_many_messages) {
  WEFT_OPEN(.caps = FI_MSG | FI_MULTI_RECV);
  std::size_t least = 64;
  ASSERT_EQ(fi_setopt(&b.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least), 0);
  std::size_t told = 0;
  std::size_t length = sizeof told;
  ASSERT_EQ(fi_getopt(&b.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &told, &length), 0);
  EXPECT_EQ(told, least);
  iovec vector{b.at(0), 256};
  void* descriptor = b.descriptor();
  fi_msg message{};
  message.msg_iov = &vector;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = FI_ADDR_UNSPEC;
  message.context = context();
  ASSERT_EQ(post([&] { return fi_recvmsg(b.ep, &message, FI_MULTI_RECV | FI_COMPLETION); }), 0);
  std::size_t got = 0;
  bool released = false;
  for (int i = 0; i < 4; ++i) {
    a.fill(0, 50, 40 + i);
    ASSERT_EQ(post([&] { return fi_send(a.ep, a.at(0), 50, a.descriptor(), a.other, context()); }), 0);
    const auto one = entry(b);
    EXPECT_EQ(one.op_context, message.context);
    if ((one.flags & FI_RECV) != 0 && one.len == 50) {
      EXPECT_EQ(std::memcmp(one.buf, a.at(0), 50), 0);
      ++got;
    }
    released = released || (one.flags & FI_MULTI_RECV) != 0;
    (void)entry(a);
  }
  EXPECT_EQ(got, 4U);
  if (!released) {
    EXPECT_NE(entry(b).flags & FI_MULTI_RECV, 0U);  // 56 bytes are left, and 64 are the least
  }
}

TEST_F(messages, a_receive_from_one_sender_takes_no_other) {
  WEFT_OPEN(.caps = FI_MSG | FI_DIRECTED_RECV);
  std::array<std::byte, 256> name{};
  std::size_t length = name.size();
  fi_addr_t itself = FI_ADDR_UNSPEC;
  ASSERT_EQ(fi_getname(&b.ep->fid, name.data(), &length), 0);
  ASSERT_EQ(fi_av_insert(b.av, name.data(), 1, &itself, 0, nullptr), 1);
  void* of_itself = context();
  void* of_other = context();
  ASSERT_EQ(post([&] { return fi_recv(b.ep, b.at(0), 64, b.descriptor(), itself, of_itself); }), 0);
  ASSERT_EQ(post([&] { return fi_recv(b.ep, b.at(64), 64, b.descriptor(), b.other, of_other); }), 0);
  ASSERT_EQ(post([&] { return fi_send(a.ep, a.at(0), 8, a.descriptor(), a.other, context()); }), 0);
  EXPECT_EQ(entry(b).op_context, of_other);
  ASSERT_EQ(post([&] { return fi_send(b.ep, b.at(half), 8, b.descriptor(), itself, context()); }), 0);
  EXPECT_TRUE(until([&] { return b.entries.size() == 2; }));
  EXPECT_TRUE(b.entries.at(0).op_context == of_itself || b.entries.at(1).op_context == of_itself);
}

TEST_F(messages, a_cancelled_receive_ends_with_an_error_entry) {
  WEFT_OPEN(.caps = FI_MSG);
  void* receive = context();
  ASSERT_EQ(post([&] { return fi_recv(b.ep, b.at(0), 64, b.descriptor(), FI_ADDR_UNSPEC, receive); }), 0);
  const ssize_t cancelled = fi_cancel(&b.ep->fid, receive);
  if (cancelled == -FI_ENOSYS) GTEST_SKIP() << "the provider cancels nothing";
  ASSERT_EQ(cancelled, 0);
  const auto failed = error(b);
  EXPECT_EQ(failed.err, FI_ECANCELED);
  EXPECT_EQ(failed.op_context, receive);
  ASSERT_EQ(post([&] { return fi_recv(b.ep, b.at(0), 64, b.descriptor(), FI_ADDR_UNSPEC, context()); }), 0);
  ASSERT_EQ(post([&] { return fi_send(a.ep, a.at(0), 8, a.descriptor(), a.other, context()); }), 0);
  EXPECT_EQ(entry(b).len, 8U);  // the cancelled receive takes nothing
}

TEST_F(messages, a_receive_without_a_completion_is_silent) {
  WEFT_OPEN(.caps = FI_MSG, .receive_binding = FI_SELECTIVE_COMPLETION);
  ASSERT_EQ(post([&] { return fi_recv(b.ep, b.at(0), 64, b.descriptor(), FI_ADDR_UNSPEC, context()); }), 0);
  iovec vector{b.at(64), 64};
  void* descriptor = b.descriptor();
  fi_msg message{};
  message.msg_iov = &vector;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = FI_ADDR_UNSPEC;
  message.context = context();
  ASSERT_EQ(post([&] { return fi_recvmsg(b.ep, &message, FI_COMPLETION); }), 0);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(post([&] { return fi_send(a.ep, a.at(0), 8, a.descriptor(), a.other, context()); }), 0);
    (void)entry(a);
  }
  EXPECT_EQ(entry(b).op_context, message.context);
  EXPECT_TRUE(quiet());
}

TEST_F(messages, an_unknown_option_is_refused) {
  WEFT_OPEN(.caps = FI_MSG);
  std::size_t value = 0;
  std::size_t length = sizeof value;
  EXPECT_EQ(fi_getopt(&a.ep->fid, FI_OPT_ENDPOINT, 9999, &value, &length), -FI_ENOPROTOOPT);
  EXPECT_EQ(fi_setopt(&a.ep->fid, FI_OPT_ENDPOINT, 9999, &value, sizeof value), -FI_ENOPROTOOPT);
}

}  // namespace
}  // namespace weft::calls
