// SPDX-License-Identifier: Apache-2.0
//
// The order in which tagged messages and receives find each other, against two plain lists that are searched from their
// start. Few tags and masks, so that most pairs fit. Hot path: no. Threads: none.
#include <weft/compose/tagged/matching.hpp>
#include <weft/wire/tagged.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <vector>

namespace weft::detail {
namespace {

/// What the structure is compared with.
struct plain_lists {
  std::vector<posted_receive*> receives;
  std::vector<waiting_message*> messages;

  posted_receive* receive_for(const peer_header* sender, std::uint64_t tag) {
    return first(receives, [&](const posted_receive& r) { return r.takes(sender, tag); });
  }
  waiting_message* message_for(const posted_receive& r) {
    return first(messages, [&](const waiting_message& m) { return r.takes(m.sender, m.tag); });
  }

 private:
  template <class Each, class Which>
  static Each* first(std::vector<Each*>& list, Which&& which) {
    const auto at = std::find_if(list.begin(), list.end(), [&](const Each* each) { return which(*each); });
    if (at == list.end()) return nullptr;
    Each* const found = *at;
    list.erase(at);
    return found;
  }
};

TEST(tag_matching, keeps_the_order_of_two_plain_lists) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 draw(seed);
    const auto below = [&](std::uint64_t bound) { return draw() % bound; };
    std::array<peer_header, 3> peers;
    tag_matching tested;
    plain_lists plain;
    std::vector<std::unique_ptr<posted_receive>> receives;
    std::vector<std::unique_ptr<waiting_message>> messages;
    std::size_t met = 0;
    for (int step = 0; step < 2000; ++step) {
      if (below(2) == 0) {
        auto& r = *receives.emplace_back(std::make_unique<posted_receive>());
        r.tag = below(6) << 40 | below(3);
        r.ignore = below(3) != 0 ? 0 : below(2) == 0 ? 3 : ~std::uint64_t{0};
        r.wanted = below(2) == 0 ? nullptr : &peers[below(peers.size())];
        waiting_message* const m = tested.message_for(r);
        ASSERT_EQ(m, plain.message_for(r)) << "seed " << seed << ", step " << step;
        met += m != nullptr ? 1U : 0U;
        if (m == nullptr) {
          tested.post(r);
          plain.receives.push_back(&r);
        }
      } else {
        auto& m = *messages.emplace_back(std::make_unique<waiting_message>());
        m.sender = &peers[below(peers.size())];
        m.tag = below(6) << 40 | below(3);
        posted_receive* const r = tested.receive_for(m.sender, m.tag);
        ASSERT_EQ(r, plain.receive_for(m.sender, m.tag)) << "seed " << seed << ", step " << step;
        met += r != nullptr ? 1U : 0U;
        if (r == nullptr) {
          tested.keep(m);
          plain.messages.push_back(&m);
        }
      }
      if (!plain.receives.empty() && below(50) == 0) {  // a receive is withdrawn
        posted_receive* const gone = plain.receives[below(plain.receives.size())];
        gone->leave();
        std::erase(plain.receives, gone);
      }
      if (below(200) == 0) {  // a peer is gone
        const peer_header* const gone = &peers[below(peers.size())];
        std::size_t taken = 0;
        tested.take_out_receives([&](const posted_receive& r) { return r.wanted == gone; },
                                 [&](posted_receive&) { ++taken; });
        EXPECT_EQ(taken, std::erase_if(plain.receives, [&](auto* r) { return r->wanted == gone; }));
      }
    }
    EXPECT_GT(met, 200U) << "too few pairs: the test shows nothing";
  }
}

TEST(tag_matching, a_receive_that_ignores_all_bits_is_first_where_it_was_posted_first) {
  tag_matching tested;
  peer_header sender;
  posted_receive any, exact;
  any.ignore = ~std::uint64_t{0};
  exact.tag = 7;
  tested.post(any);
  tested.post(exact);
  EXPECT_EQ(tested.receive_for(&sender, 7), &any);
  EXPECT_EQ(tested.receive_for(&sender, 7), &exact);
  EXPECT_EQ(tested.receive_for(&sender, 7), nullptr);
}

TEST(tagged_in_a_hello, is_the_last_word_and_no_other) {
  const std::pair<std::string_view, std::uint32_t> good[] = {
      {"notify=immediate tagged=32", 32}, {"tagged=4096", 4096}, {"tagged=2", 2}};
  for (const auto& [text, window] : good) EXPECT_EQ(wire::tagged_window_in(text), window) << text;
  for (const std::string_view none : {"", "notify=immediate", "tagged=8 notify=immediate", "untagged=8", "tagged=4097",
                                      "tagged=99999999999", "tagged=8x", "tagged=-8", "tagged="})
    EXPECT_EQ(wire::tagged_window_in(none), 0U) << none;
  EXPECT_EQ(wire::without_tagged_word("notify=immediate tagged=32"), "notify=immediate");
  EXPECT_EQ(wire::without_tagged_word("tagged=32"), "");
  EXPECT_EQ(wire::without_tagged_word("notify=immediate"), "notify=immediate");
}

TEST(tagged_on_the_wire, has_golden_bytes_and_refuses_others) {
  std::array<std::byte, 20> body{};
  wire::encode_tagged(body.data(), 0x1122334455667788);
  body[16] = std::byte{'x'};
  const std::array<unsigned char, 20> golden{0,    0,    4,    0,    0,    0,    0,    0,  0x88,
                                             0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 'x'};
  for (std::size_t i = 0; i < golden.size(); ++i) EXPECT_EQ(body[i], std::byte{golden[i]}) << i;
  const auto whole = wire::parse_tagged(const_bytes(body));
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->tag, 0x1122334455667788U);
  EXPECT_EQ(whole->payload.size(), 4U);
  EXPECT_EQ(wire::parse_tagged(const_bytes(body).first(16))->payload.size(), 0U);
  EXPECT_FALSE(wire::parse_tagged(const_bytes(body).first(15)));
  EXPECT_FALSE(wire::is_tagged(const_bytes(body).first(7)));
  body[4] = std::byte{1};  // a head that is no message's
  EXPECT_FALSE(wire::parse_tagged(const_bytes(body)) || wire::is_tagged(const_bytes(body)));

  std::array<std::byte, 8> credit{};
  wire::encode_tagged_credit(credit.data(), 258);
  const std::array<unsigned char, 8> golden_credit{0, 0, 5, 0, 2, 1, 0, 0};
  for (std::size_t i = 0; i < credit.size(); ++i) EXPECT_EQ(credit[i], std::byte{golden_credit[i]}) << i;
  EXPECT_EQ(wire::parse_tagged_credit(credit), 258U);
  EXPECT_TRUE(wire::is_tagged(credit));
  EXPECT_FALSE(wire::parse_tagged_credit(const_bytes(credit).first(7)));
  credit[0] = std::byte{1};
  EXPECT_FALSE(wire::parse_tagged_credit(credit) || wire::is_tagged(credit));
  wire::group_member m;
  EXPECT_EQ(wire::group_reader(const_bytes(body).first(16)).next(m), wire::group_verdict::garbled)
      << "a transport without tags takes it for a group";
}

}  // namespace
}  // namespace weft::detail
