// SPDX-License-Identifier: Apache-2.0
//
// Each call of fi_rma(3).
#include "pair.hpp"

namespace weft::calls {
namespace {

class remote : public pair {
 public:
  static constexpr std::size_t size = 48;

  /// The bytes of `a` are in `b` now, from the offset on.
  void expect_written(std::size_t offset, std::size_t length) {
    EXPECT_TRUE(until([&] { return std::memcmp(a.at(0), b.at(offset), length) == 0; })) << "the bytes are not there";
  }
};

TEST_F(remote, each_write_reaches_the_target) {
  WEFT_OPEN(.caps = FI_MSG | FI_RMA, .transmit_flags = FI_DELIVERY_COMPLETE);
  const std::size_t injected = std::min<std::size_t>(info->tx_attr->inject_size, size);
  iovec vector{a.at(0), size};
  void* descriptor = a.descriptor();
  std::uint64_t offset = 4096;
  fi_rma_iov target{};
  fi_msg_rma message{};
  message.msg_iov = &vector;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = a.other;
  message.rma_iov = &target;
  message.rma_iov_count = 1;
  const auto to = [&] { return base(b) + offset; };
  struct call {
    const char* name;
    std::function<ssize_t(void*)> write;
    std::size_t length;
    bool completes;
  };
  const std::vector<call> calls{
      {"write", [&](void* c) { return fi_write(a.ep, a.at(0), size, descriptor, a.other, to(), key(b), c); }, size,
       true},
      {"writev", [&](void* c) { return fi_writev(a.ep, &vector, &descriptor, 1, a.other, to(), key(b), c); }, size,
       true},
      {"writemsg",
       [&](void* c) {
         target = {to(), size, key(b)};
         message.context = c;
         return fi_writemsg(a.ep, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE);
       },
       size, true},
      {"inject_write", [&](void*) { return fi_inject_write(a.ep, a.at(0), injected, a.other, to(), key(b)); }, injected,
       false}};
  for (const call& each : calls) {
    SCOPED_TRACE(each.name);
    void* with = context();
    offset += 4096;
    a.fill(0, size, static_cast<int>(offset / 4096));
    ASSERT_EQ(post([&] { return each.write(with); }), 0);
    if (each.completes) {
      EXPECT_EQ(entry(a).op_context, with);
    }
    expect_written(offset, each.length);
    EXPECT_TRUE(quiet());
  }
}

TEST_F(remote, writes_with_data_are_noticed) {
  WEFT_OPEN(.caps = FI_MSG | FI_RMA);
  iovec vector{a.at(0), size};
  void* descriptor = a.descriptor();
  fi_rma_iov target{base(b), size, key(b)};
  fi_msg_rma message{};
  message.msg_iov = &vector;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = a.other;
  message.rma_iov = &target;
  message.rma_iov_count = 1;
  message.data = 52;
  message.context = context();
  a.fill(0, size, 8);
  const ssize_t first =
      post([&] { return fi_writedata(a.ep, a.at(0), size, descriptor, 51, a.other, base(b), key(b), context()); });
  if (first == -FI_ENOSYS) {
    EXPECT_EQ(fi_inject_writedata(a.ep, a.at(0), 0, 53, a.other, base(b), key(b)), -FI_ENOSYS);
    GTEST_SKIP() << "writes carry no data here, and are refused";
  }
  ASSERT_EQ(first, 0);
  ASSERT_EQ(post([&] { return fi_writemsg(a.ep, &message, FI_COMPLETION | FI_REMOTE_CQ_DATA); }), 0);
  const std::size_t injected = std::min<std::size_t>(info->tx_attr->inject_size, size);
  ASSERT_EQ(post([&] { return fi_inject_writedata(a.ep, a.at(0), injected, 53, a.other, base(b), key(b)); }), 0);
  std::uint64_t seen = 0;
  for (int i = 0; i < 3; ++i) {
    const auto notice = entry(b);
    EXPECT_NE(notice.flags & FI_REMOTE_CQ_DATA, 0U);
    seen |= std::uint64_t{1} << (notice.data - 51);
  }
  EXPECT_EQ(seen, 7U);
  expect_written(0, size);
}

/// Only for a provider whose source has such an answer: WEFT_CALLS_IMMEDIATE_WITHOUT_MESSAGES has its immediate's
/// bytes.
TEST_F(remote, writes_without_contexts_where_no_messages_are_requested) {
  const char* bytes = ::secure_getenv("WEFT_CALLS_IMMEDIATE_WITHOUT_MESSAGES");
  if (bytes == nullptr) GTEST_SKIP() << "this provider has one answer for all capabilities";
  ASSERT_FALSE(open({.caps = FI_MSG | FI_RMA, .modes = 0})) << "messages need contexts";
  ASSERT_FALSE(open({.caps = FI_RMA | FI_RECV, .modes = 0})) << "so do receives";
  ASSERT_TRUE(open({.caps = FI_RMA, .modes = 0}));
  EXPECT_EQ(info->mode, 0U);
  EXPECT_EQ(info->caps & (FI_MSG | FI_TAGGED | FI_SEND | FI_RECV), 0U);
  EXPECT_EQ(std::to_string(info->domain_attr->cq_data_size), bytes);
  constexpr std::uint64_t wide = 0x1122334455667788;
  a.fill(0, size, 9);
  ASSERT_EQ(
      post([&] { return fi_writedata(a.ep, a.at(0), size, a.descriptor(), wide, a.other, base(b), key(b), nullptr); }),
      0);
  EXPECT_EQ(entry(a).op_context, nullptr);
  EXPECT_EQ(entry(b).data, wide);
  expect_written(0, size);
}

TEST_F(remote, contexts_that_were_offered_are_the_librarys) {
  const char* bytes = ::secure_getenv("WEFT_CALLS_IMMEDIATE_WITHOUT_MESSAGES");
  if (bytes == nullptr) GTEST_SKIP() << "this provider has one answer for all capabilities";
  ASSERT_TRUE(open({.caps = FI_RMA}));
  EXPECT_NE(info->mode & FI_CONTEXT, 0U) << "the answer with messages comes first";
}

TEST_F(remote, each_read_gets_the_targets_bytes) {
  WEFT_OPEN(.caps = FI_MSG | FI_RMA);
  iovec vector{a.at(0), size};
  void* descriptor = a.descriptor();
  fi_rma_iov source{base(b), size, key(b)};
  fi_msg_rma message{};
  message.msg_iov = &vector;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = a.other;
  message.rma_iov = &source;
  message.rma_iov_count = 1;
  for (int call = 0; call < 3; ++call) {
    void* with = context();
    message.context = with;
    b.fill(0, size, 60 + call);
    ASSERT_EQ(post([&] {
                return call == 0   ? fi_read(a.ep, a.at(0), size, descriptor, a.other, base(b), key(b), with)
                       : call == 1 ? fi_readv(a.ep, &vector, &descriptor, 1, a.other, base(b), key(b), with)
                                   : fi_readmsg(a.ep, &message, FI_COMPLETION);
              }),
              0);
    EXPECT_EQ(entry(a).op_context, with);
    EXPECT_EQ(std::memcmp(a.at(0), b.at(0), size), 0);
  }
}

TEST_F(remote, a_read_with_a_wrong_key_fails) {
  WEFT_OPEN(.caps = FI_MSG | FI_RMA);
  void* with = context();
  ASSERT_EQ(post([&] { return fi_read(a.ep, a.at(0), size, a.descriptor(), a.other, base(b), key(b) ^ 0x55, with); }),
            0);
  EXPECT_EQ(error(a).op_context, with);
}

}  // namespace
}  // namespace weft::calls
