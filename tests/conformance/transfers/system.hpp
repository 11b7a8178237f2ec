// SPDX-License-Identifier: Apache-2.0
//
// A target with pages and an initiator with a transfer engine, in one thread and virtual time.
// Hot path: no. Threads: one fiber per side.
#pragma once

#include "../sides/stored_call.hpp"

#include <weft/generated/loopback.hpp>
#include <weft/transfers/engine.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <vector>

namespace weft::transfers::test {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;

/// Without any order. The end of a put that asks for it means that its bytes are visible.
struct unordered : fabrics::loopback {
  static constexpr std::string_view name = "unordered";
  static constexpr fabric_facts facts = [] {
    fabric_facts f = fabrics::loopback::facts;
    f.order_write_after_write = false;
    return f;
  }();
};
/// No end of a put means that its bytes are visible: the peer must be asked. Puts end when they leave (silent), so a
/// notice without the question comes before bytes.
struct asking : fabrics::loopback {
  static constexpr std::string_view name = "asking";
  static constexpr fabric_facts facts = [] {
    fabric_facts f = fabrics::loopback::facts;
    f.order_write_after_write = false;
    f.delivery_complete = false;
    f.refused_write = weft::refusal::silent;
    return f;
  }();
};
static_assert(detail::confirmation_of<unordered> == detail::confirms::state);
static_assert(detail::confirmation_of<asking> == detail::confirms::flush);
static_assert(detail::confirmation_of<ordered<fabrics::loopback, order::write_after_write>> == detail::confirms::end);

inline constexpr std::uint32_t page = 64;
inline constexpr std::uint32_t pages = 200;

/// Byte `i` of page `p` in round `round`.
inline std::byte content(std::uint32_t round, std::uint32_t p, std::uint32_t i) {
  return static_cast<std::byte>(1 + (round * 37 + p * 11 + i) % 251);
}

/// What both sides share beside the fabric.
struct board {
  bool over = false;
  bytes target{};  ///< The target's pages, for the test to look at.
  std::vector<std::uint32_t> notices;
  conformance::stored_call<void(std::uint32_t)> noticed = [](std::uint32_t) {};
};

template <complete_fabric F>
void be_target(board& shared, const char* node = "target", rights granted = rights::all) {
  auto net = open<F>({.node = node, .service = "7471", .sleeps = true, .operation_timeout = 2s}).value();
  auto memory = net.allocate(std::size_t{page} * pages, granted).value();
  shared.target = memory.memory();
  const auto on = overloaded{[&](const notified& n) {
                               shared.notices.push_back(n.immediate);
                               shared.noticed(n.immediate);
                             },
                             [](const auto&) {}};
  const peer p = net.accept_one(5s, on).value();
  ASSERT_TRUE(net.retry([&] { return net.send_region(p, memory, owner_polls); }, 5s, on));
  ASSERT_TRUE(net.until([&] { return shared.over; }, 600s, on));
}

/// The initiator's side: pages of its own, the target's, and an engine.
template <complete_fabric F>
struct listing_side {
  transport<F> net;
  owned_region memory;
  peer to;
  remote_region there;
  std::uint32_t others = 0;  ///< Events that are not of the engine.
  std::optional<engine<F>> lists;
  struct handler {
    std::uint32_t* others;
    void operator()(const auto&) const { ++*others; }
  } on{&others};

  explicit listing_side(const engine_options& o = {}, const transport_options& how = {.sleeps = true})
      : net(open<F>(how).value()) {
    loopback::sleep_for(100us);
    memory = net.allocate(std::size_t{page} * pages, rights::none).value();
    to = net.connect("target:7471", 5s, on).value();
    there = net.receive_region(to, 5s, on).value();
    lists.emplace(make_engine(net, o).value());
    others = 0;
  }
  /// Page i of this side to page pages - 1 - i of the target, or from there.
  std::vector<transfer> whole(std::uint32_t first = 0, std::uint32_t count = pages) const {
    std::vector<transfer> all;
    for (std::uint32_t i = first; i < first + count; ++i)
      all.push_back({memory.slice(std::size_t{i} * page, page), there.at(std::uint64_t{pages - 1 - i} * page)});
    return all;
  }
  void paint(std::uint32_t round) const {
    for (std::uint32_t p = 0; p < pages; ++p)
      for (std::uint32_t i = 0; i < page; ++i) memory.data()[p * page + i] = content(round, p, i);
  }
};

/// How many pages of the round are at the target, in the places of whole().
inline std::uint32_t pages_there(const board& shared, std::uint32_t round) {
  std::uint32_t right = 0;
  for (std::uint32_t p = 0; p < pages; ++p) {
    bool same = true;
    for (std::uint32_t i = 0; i < page; ++i)
      same = same && shared.target[std::size_t{pages - 1 - p} * page + i] == content(round, p, i);
    right += std::uint32_t{same};
  }
  return right;
}

/// Runs a target and the body of an initiator. The body ends the target by `over`.
template <complete_fabric F>
void play(std::uint64_t seed, const loopback::faults& trouble,
          const conformance::stored_call<void(board&, loopback::world&)>& body, rights granted = rights::all) {
  loopback::world w(seed, trouble);
  board shared;
  w.serve("target", [&] { be_target<F>(shared, "target", granted); });
  bool played = false;
  w.spawn("initiator", [&] {
    body(shared, w);
    shared.over = true;
    played = true;
  });
  const auto run = w.run(600s);
  EXPECT_TRUE(run) << "seed " << seed << ": " << run.sentence;
  EXPECT_TRUE(played) << "seed " << seed;
}

}  // namespace weft::transfers::test
