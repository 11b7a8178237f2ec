// SPDX-License-Identifier: Apache-2.0
//
// Each call of fi_cntr(3) and fi_av(3), and fi_poll(3), scalable endpoints and shared contexts of fi_endpoint(3).
#include "pair.hpp"

#include <array>

namespace weft::calls {
namespace {

class counters : public pair {};
class addresses : public pair {};
class contexts : public pair {};

TEST_F(counters, they_can_be_set_added_to_and_waited_for) {
  WEFT_OPEN(.caps = FI_MSG);
  fi_cntr_attr attributes{};
  fid_cntr* counter = nullptr;
  const int opened = fi_cntr_open(domain, &attributes, &counter, nullptr);
  if (opened == -FI_ENOSYS) GTEST_SKIP() << "the provider has no counters";
  ASSERT_EQ(opened, 0);
  EXPECT_EQ(fi_cntr_read(counter), 0U);
  EXPECT_EQ(fi_cntr_add(counter, 3), 0);
  EXPECT_TRUE(until([&] { return fi_cntr_read(counter) == 3U; }));
  EXPECT_EQ(fi_cntr_wait(counter, 3, 1000), 0);
  EXPECT_EQ(fi_cntr_wait(counter, 4, 1), -FI_ETIMEDOUT);
  EXPECT_EQ(fi_cntr_set(counter, 9), 0);
  EXPECT_TRUE(until([&] { return fi_cntr_read(counter) == 9U; }));
  EXPECT_EQ(fi_cntr_adderr(counter, 2), 0);
  EXPECT_TRUE(until([&] { return fi_cntr_readerr(counter) == 2U; }));
  EXPECT_EQ(fi_cntr_seterr(counter, 5), 0);
  EXPECT_TRUE(until([&] { return fi_cntr_readerr(counter) == 5U; }));
  EXPECT_EQ(fi_close(&counter->fid), 0);
}

TEST_F(counters, each_end_is_counted_by_its_own) {
  WEFT_OPEN(.caps = FI_MSG | FI_RMA | FI_RMA_EVENT);
  struct counted {
    std::uint64_t flag;
    fid_cntr* of_a = nullptr;
    fid_cntr* of_b = nullptr;
  };
  std::array<counted, 6> all{{{FI_SEND}, {FI_RECV}, {FI_WRITE}, {FI_READ}, {FI_REMOTE_WRITE}, {FI_REMOTE_READ}}};
  // endpoints of their own: counters are bound before an endpoint is enabled
  std::array<fid_ep*, 2> ends{};
  std::array<side*, 2> sides{&a, &b};
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(fi_endpoint(domain, info, &ends.at(i), nullptr), 0);
    ASSERT_EQ(fi_ep_bind(ends.at(i), &sides.at(i)->av->fid, 0), 0);
    ASSERT_EQ(fi_ep_bind(ends.at(i), &sides.at(i)->cq->fid, FI_TRANSMIT | FI_RECV), 0);
    for (counted& each : all) {
      fid_cntr*& made = i == 0 ? each.of_a : each.of_b;
      fi_cntr_attr attributes{};
      ASSERT_EQ(fi_cntr_open(domain, &attributes, &made, nullptr), 0);
      ASSERT_EQ(fi_ep_bind(ends.at(i), &made->fid, each.flag), 0);
    }
    ASSERT_EQ(fi_enable(ends.at(i)), 0);
  }
  std::vector<std::byte> name(256);
  std::size_t length = name.size();
  fi_addr_t to = FI_ADDR_UNSPEC;
  ASSERT_EQ(fi_getname(&ends[1]->fid, name.data(), &length), 0);
  ASSERT_EQ(fi_av_insert(a.av, name.data(), 1, &to, 0, nullptr), 1);
  ASSERT_EQ(post([&] { return fi_recv(ends[1], b.at(0), 64, b.descriptor(), FI_ADDR_UNSPEC, context()); }), 0);
  ASSERT_EQ(post([&] { return fi_send(ends[0], a.at(0), 8, a.descriptor(), to, context()); }), 0);
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(post([&] { return fi_write(ends[0], a.at(0), 8, a.descriptor(), to, base(b), key(b), context()); }), 0);
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(post([&] { return fi_read(ends[0], a.at(0), 8, a.descriptor(), to, base(b), key(b), context()); }), 0);
  const auto reaches = [&](fid_cntr* counter, std::uint64_t n) {
    return until([&] { return fi_cntr_read(counter) == n; });
  };
  EXPECT_TRUE(reaches(all[0].of_a, 1)) << "sends";
  EXPECT_TRUE(reaches(all[1].of_b, 1)) << "receives";
  EXPECT_TRUE(reaches(all[2].of_a, 2)) << "writes";
  EXPECT_TRUE(reaches(all[3].of_a, 3)) << "reads";
  EXPECT_TRUE(reaches(all[4].of_b, 2)) << "remote writes";
  EXPECT_TRUE(reaches(all[5].of_b, 3)) << "remote reads";
  EXPECT_EQ(fi_cntr_read(all[0].of_b), 0U);
  for (fid_ep* each : ends) EXPECT_EQ(fi_close(&each->fid), 0);
  for (const counted& each : all)
    for (fid_cntr* one : {each.of_a, each.of_b}) EXPECT_EQ(fi_close(&one->fid), 0);
}

TEST_F(addresses, insert_lookup_text_and_remove) {
  WEFT_OPEN(.caps = FI_MSG);
  std::vector<std::byte> name(256);
  std::size_t length = 1;
  EXPECT_EQ(fi_getname(&b.ep->fid, name.data(), &length), -FI_ETOOSMALL);
  const std::size_t needed = length;
  length = name.size();
  ASSERT_EQ(fi_getname(&b.ep->fid, name.data(), &length), 0);
  EXPECT_EQ(length, needed);
  std::vector<std::byte> two(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(needed));
  two.insert(two.end(), two.begin(), two.end());
  std::array<fi_addr_t, 2> places{};
  std::array<int, 2> faults{-1, -1};
  ASSERT_EQ(fi_av_insert(a.av, two.data(), 2, places.data(), FI_SYNC_ERR, faults.data()), 2);
  EXPECT_EQ(faults[0], 0);
  std::vector<std::byte> found(needed);
  length = needed;
  ASSERT_EQ(fi_av_lookup(a.av, places[1], found.data(), &length), 0);
  EXPECT_EQ(length, needed);
  EXPECT_EQ(std::memcmp(found.data(), name.data(), needed), 0);
  std::array<char, 256> text{};
  length = text.size();
  ASSERT_NE(fi_av_straddr(a.av, name.data(), text.data(), &length), nullptr);
  EXPECT_GT(std::strlen(text.data()), 4U);
  EXPECT_EQ(fi_av_remove(a.av, &places[1], 1, 0), 0);
}

/// Only for a provider whose answers WEFT_CALLS_EXPECT names: they were read from its source.
TEST_F(addresses, those_by_name_are_refused_as_by_the_provider) {
  const char* wanted = ::secure_getenv("WEFT_CALLS_EXPECT");
  if (wanted == nullptr) GTEST_SKIP() << "nothing is known of this provider";
  WEFT_OPEN(.caps = FI_MSG);
  std::array<fi_addr_t, 4> places{};
  EXPECT_EQ(fi_av_insertsvc(a.av, "localhost", "7471", places.data(), 0, nullptr), -FI_ENOSYS);
  const bool one_service = std::string(wanted).find("one_service_per_node") != std::string::npos;
  EXPECT_EQ(fi_av_insertsym(a.av, "localhost", 1, "7471", 2, places.data(), 0, nullptr),
            one_service ? -FI_EINVAL : -FI_ENOSYS);
  EXPECT_EQ(fi_av_insertsym(a.av, "localhost", 1, "7471", 1, places.data(), 0, nullptr), -FI_ENOSYS);
}

TEST_F(contexts, a_poll_set_names_the_queue_that_has_an_entry) {
  WEFT_OPEN(.caps = FI_MSG);
  fi_poll_attr attributes{};
  fid_poll* set = nullptr;
  const int opened = fi_poll_open(domain, &attributes, &set);
  if (opened == -FI_ENOSYS) GTEST_SKIP() << "the provider has no poll sets";
  ASSERT_EQ(opened, 0);
  ASSERT_EQ(fi_poll_add(set, &b.cq->fid, 0), 0);
  std::array<void*, 2> found{};
  EXPECT_EQ(fi_poll(set, found.data(), 2), 0);
  ASSERT_EQ(post([&] { return fi_recv(b.ep, b.at(0), 64, b.descriptor(), FI_ADDR_UNSPEC, context()); }), 0);
  ASSERT_EQ(post([&] { return fi_send(a.ep, a.at(0), 8, a.descriptor(), a.other, context()); }), 0);
  int ready = 0;
  for (int tries = 0; tries < 10000 && ready == 0; ++tries) ready = fi_poll(set, found.data(), 2);
  EXPECT_EQ(ready, 1);
  EXPECT_EQ(found[0], &b);
  EXPECT_EQ(fi_poll_del(set, &b.cq->fid, 0), 0);
  EXPECT_EQ(fi_close(&set->fid), 0);
}

TEST_F(contexts, a_message_reaches_the_context_that_its_address_names) {
  WEFT_OPEN(.caps = FI_MSG);
  if (info->domain_attr->max_ep_rx_ctx < 2) {
    fid_ep* refused = nullptr;
    EXPECT_EQ(fi_scalable_ep(domain, info, &refused, nullptr), -FI_ENOSYS);
    return;
  }
  constexpr int bits = 2;
  fi_av_attr table{};
  table.type = FI_AV_TABLE;
  table.rx_ctx_bits = bits;
  fid_av* av = nullptr;
  ASSERT_EQ(fi_av_open(domain, &table, &av, nullptr), 0);
  info->ep_attr->tx_ctx_cnt = info->ep_attr->rx_ctx_cnt = 2;
  fid_ep* whole = nullptr;
  ASSERT_EQ(fi_scalable_ep(domain, info, &whole, nullptr), 0);
  ASSERT_EQ(fi_scalable_ep_bind(whole, &av->fid, 0), 0);
  std::array<fid_ep*, 2> transmits{};
  std::array<fid_ep*, 2> receives{};
  for (int i = 0; i < 2; ++i) {
    const auto at = static_cast<std::size_t>(i);
    ASSERT_EQ(fi_tx_context(whole, i, nullptr, &transmits.at(at), nullptr), 0);
    ASSERT_EQ(fi_rx_context(whole, i, nullptr, &receives.at(at), nullptr), 0);
    ASSERT_EQ(fi_ep_bind(transmits.at(at), &a.cq->fid, FI_TRANSMIT), 0);
    ASSERT_EQ(fi_ep_bind(receives.at(at), &b.cq->fid, FI_RECV), 0);
    ASSERT_EQ(fi_enable(transmits.at(at)), 0);
    ASSERT_EQ(fi_enable(receives.at(at)), 0);
  }
  ASSERT_EQ(fi_enable(whole), 0);
  std::vector<std::byte> name(256);
  std::size_t length = name.size();
  fi_addr_t itself = FI_ADDR_UNSPEC;
  ASSERT_EQ(fi_getname(&whole->fid, name.data(), &length), 0);
  ASSERT_EQ(fi_av_insert(av, name.data(), 1, &itself, 0, nullptr), 1);
  std::array<void*, 2> of{context(), context()};
  for (std::size_t i = 0; i < 2; ++i)
    ASSERT_EQ(post([&] { return fi_recv(receives.at(i), b.at(0), 64, nullptr, FI_ADDR_UNSPEC, of.at(i)); }), 0);
  for (const int i : {1, 0}) {
    const auto at = static_cast<std::size_t>(i);
    ASSERT_EQ(post([&] { return fi_send(transmits[0], a.at(0), 8, nullptr, fi_rx_addr(itself, i, bits), context()); }),
              0);
    EXPECT_EQ(entry(b).op_context, of.at(at));
    (void)entry(a);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(fi_close(&transmits.at(i)->fid), 0);
    EXPECT_EQ(fi_close(&receives.at(i)->fid), 0);
  }
  EXPECT_EQ(fi_close(&whole->fid), 0);
  EXPECT_EQ(fi_close(&av->fid), 0);
}

TEST_F(contexts, operation_flags_can_be_read_and_changed) {
  WEFT_OPEN(.caps = FI_MSG, .transmit_flags = FI_DELIVERY_COMPLETE);
  std::uint64_t flags = FI_TRANSMIT;
  ASSERT_EQ(fi_control(&a.ep->fid, FI_GETOPSFLAG, &flags), 0);
  EXPECT_NE(flags & FI_DELIVERY_COMPLETE, 0U);
  flags = FI_TRANSMIT | FI_COMPLETION;
  ASSERT_EQ(fi_control(&a.ep->fid, FI_SETOPSFLAG, &flags), 0);
  flags = FI_TRANSMIT;
  ASSERT_EQ(fi_control(&a.ep->fid, FI_GETOPSFLAG, &flags), 0);
  EXPECT_EQ(flags & FI_DELIVERY_COMPLETE, 0U);
}

}  // namespace
}  // namespace weft::calls
