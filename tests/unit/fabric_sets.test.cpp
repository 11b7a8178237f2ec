// SPDX-License-Identifier: Apache-2.0
//
// Sets of fabrics without a network: what a set promises, which fabric is best, the verdict on each, and the
// directory's bytes.
#include "../../backends/process/host.hpp"
#include "../../compose/sets/fabric_set.hpp"
#include "../../compose/with.hpp"
#include "../../generated/loopback.hpp"
#include "../../generated/mapped.hpp"

#include <gtest/gtest.h>

namespace {
using namespace weft;
using kind = fabric_verdict::kind;
using fabrics::loopback;
using fabrics::mapped;

/// A row of other hosts: it must be polled, keeps no order, and knows a dead peer by its silence.
struct far : mapped {
  static constexpr std::string_view name = "far";
  static constexpr std::uint64_t fingerprint = 77;
  static constexpr std::uint32_t half_round_trip_ns = 0;
  static constexpr fabric_facts facts = [] {
    fabric_facts f = mapped::facts;
    f.same_host = f.order_send_after_write = f.order_write_after_write = false;
    f.data_progress = data_progress::polling;
    f.completion_wait = completion_wait::none;
    f.inject_bytes = 16;
    f.gather_limit = 2;
    f.largest_message = 1000;
    f.local_registration = true;
    return f;
  }();
  using policies = detail::replaced<mapped::policies,
                                    policy_set<answers::progress::polling, answers::liveness::heartbeat,
                                               answers::local_descriptor::required, answers::flush::refused>>::type;
};
/// The same on a faster network.
struct near_far : far {
  static constexpr std::string_view name = "near_far";
  static constexpr std::uint32_t half_round_trip_ns = 900;
};
struct slow_far : far {
  static constexpr std::string_view name = "slow_far";
  static constexpr std::uint32_t half_round_trip_ns = 12'340;
};
using pair = fabric_set<mapped, far>;

TEST(a_set, promises_what_each_of_its_fabrics_keeps) {
  static_assert(complete_fabric<pair>);
  static_assert(pair::name == "mapped+far");
  static_assert(!pair::facts.order_send_after_write && !pair::facts.same_host && pair::facts.local_registration);
  static_assert(pair::facts.inject_bytes == 16 && pair::facts.gather_limit == 2 && pair::facts.largest_message == 1000);
  static_assert(pair::facts.data_progress == data_progress::polling);
  static_assert(pair::facts.completion_wait == completion_wait::none);
  static_assert(answer<pair, progress_family>::needs_owner && answer<pair, liveness_family>::speaks);
  static_assert(!answer<pair, local_descriptor_family>::any_memory);
  static_assert(std::same_as<answer<pair, flush_family>, answers::flush::refused>);
  static_assert(ordering<mapped>::send_after_write && !ordering<pair>::send_after_write);
  static_assert(usual_atomicity<mapped> == atomicity::provider && usual_atomicity<pair> == atomicity::target);
  static_assert(usual_atomicity<fabric_set<mapped>> == atomicity::provider, "one fabric is one executor");
  static_assert(pair::fingerprint != fabric_set<far, mapped>::fingerprint);
  static_assert(is_fabric_set<pair> && !is_fabric_set<far>);
}

/// What a set of two such rows promises, in either order.
template <class Check>
void in_either_order(fabric_facts a, fabric_facts b, Check&& check) {
  check(detail::weakest_of(a, b));
  check(detail::weakest_of(b, a));
}
TEST(the_facts_of_a_set, are_sizes_of_the_smaller_one) {
  fabric_facts small = mapped::facts;
  fabric_facts large = mapped::facts;
  small.write_immediate_bytes = 4, large.write_immediate_bytes = 8;
  small.send_immediate_bytes = 4, large.send_immediate_bytes = 8;
  small.rma_gather_limit = 1, large.rma_gather_limit = 8;
  small.queue_depth = 16, large.queue_depth = 512;
  small.largest_write = 1U << 20, large.largest_write = 1U << 30;
  in_either_order(small, large, [](const fabric_facts& w) {
    EXPECT_EQ(w.write_immediate_bytes, 4U);
    EXPECT_EQ(w.send_immediate_bytes, 4U);
    EXPECT_EQ(w.rma_gather_limit, 1U);
    EXPECT_EQ(w.queue_depth, 16U);
    EXPECT_EQ(w.largest_write, 1U << 20);
  });
}
TEST(the_facts_of_a_set, are_promises_of_both_and_duties_of_one) {
  fabric_facts strict = mapped::facts;
  fabric_facts loose = mapped::facts;
  strict.delivery_complete = strict.reports_killed_peer = strict.order_send_after_send = true;
  loose.delivery_complete = loose.reports_killed_peer = loose.order_send_after_send = false;
  strict.write_immediate_consumes_receive = strict.connects_lazily = false;
  loose.write_immediate_consumes_receive = loose.connects_lazily = true;
  strict.refused_write = refusal::reported, loose.refused_write = refusal::silent;
  strict.full_queue = full_queue::refuses, loose.full_queue = full_queue::loses;
  strict.atomics = loose.atomics = atomic_execution::provider;
  in_either_order(strict, loose, [](const fabric_facts& w) {
    EXPECT_FALSE(w.delivery_complete || w.reports_killed_peer || w.order_send_after_send);
    EXPECT_TRUE(w.write_immediate_consumes_receive && w.connects_lazily);
    EXPECT_EQ(w.refused_write, refusal::silent);
    EXPECT_EQ(w.full_queue, full_queue::loses);
    EXPECT_EQ(w.atomics, atomic_execution::none) << "a word has one executor";
    EXPECT_EQ(w.atomic_operations, std::string_view("none"));
  });
}

TEST(a_plan, lists_each_fabric_with_its_reason) {
  EXPECT_EQ(detail::listed({{"mapped", kind::unusable, "no room"}, {"far", kind::next, "it is there"}}),
            "mapped: no room; far: it is there");
  EXPECT_EQ(detail::listed({}), "");
}

TEST(the_best_fabric, is_on_the_same_host_then_the_one_that_was_measured_faster_then_the_first) {
  static_assert(detail::best_first<far, mapped>() == std::array<std::size_t, 2>{1, 0});
  static_assert(detail::best_first<slow_far, near_far, mapped>() == std::array<std::size_t, 3>{2, 1, 0});
  static_assert(detail::best_first<far, near_far>() == std::array<std::size_t, 2>{0, 1}, "nobody measured far");
  static_assert(detail::best_first<slow_far, far, near_far>() == std::array<std::size_t, 3>{0, 1, 2});
  static_assert(detail::best_first<loopback, mapped>() == std::array<std::size_t, 2>{0, 1});
  static_assert(detail::half_round_trip_of<loopback> == 0 && detail::half_round_trip_of<mapped> > 0);
  EXPECT_EQ(detail::printed_half_round_trip(detail::profile_of<slow_far>), "half round trip 12.34 us");
  EXPECT_EQ(detail::printed_half_round_trip(detail::profile_of<near_far>), "half round trip 0.90 us");
  EXPECT_EQ(detail::printed_half_round_trip({"", 0, false, false, 1096}), "half round trip 1.10 us");
  EXPECT_EQ(detail::printed_half_round_trip(detail::profile_of<far>), "half round trip not measured");
}

struct meeting {
  detail::own_fabric mine{true, false, false, {}};
  wire::fabric_directory here{5, 1000, {}};
  wire::fabric_directory there{
      5, 1000, {{"mapped", mapped::fingerprint, "127.0.0.1:1"}, {"far", far::fingerprint, "127.0.0.1:2"}}};
  fabric_verdict of(const detail::fabric_profile& p) const { return detail::judge(p, mine, here, there); }
};

TEST(a_verdict, says_why_a_fabric_cannot_serve_a_pair) {
  const auto& near = detail::profile_of<mapped>;
  const auto& away = detail::profile_of<far>;
  EXPECT_EQ(meeting().of(near).is, kind::next);
  EXPECT_EQ(meeting().of(away).is, kind::next);
  {
    meeting m;
    m.there.host = 6;
    EXPECT_EQ(m.of(near).is, kind::not_legal);
    EXPECT_NE(m.of(near).reason.find("another host"), std::string::npos);
    EXPECT_EQ(m.of(away).is, kind::next) << "only memory of one host asks for the host";
    m.here.host = m.there.host = 0;
    EXPECT_EQ(m.of(near).is, kind::not_legal) << "two hosts without a number are not one";
  }
  {
    meeting m;
    m.there.user = 0;
    EXPECT_EQ(m.of(near).is, kind::not_legal);
    EXPECT_NE(m.of(near).reason.find("another user (0, here 1000)"), std::string::npos) << m.of(near).reason;
  }
  {
    meeting m;
    m.there.fabrics.pop_back();
    EXPECT_EQ(m.of(away).is, kind::not_legal);
    m.there.fabrics.front().fingerprint ^= 1;
    EXPECT_EQ(m.of(near).is, kind::unusable) << "both have it, so it is not passed over in silence";
  }
  {
    meeting m;
    m.mine = {false, false, false, "no library"};
    EXPECT_EQ(m.of(near).is, kind::not_legal);
    EXPECT_NE(m.of(near).reason.find("no library"), std::string::npos);
    m.mine.differs = true;
    EXPECT_EQ(m.of(near).is, kind::unusable);
    m.there.host = 6;
    EXPECT_EQ(m.of(near).is, kind::not_legal) << "it could not serve this pair anyway";
    m.mine.left_out = true;
    EXPECT_EQ(m.of(near).is, kind::left_out);
  }
  {
    meeting m;
    m.mine = {};
    m.mine.waits = true;
    EXPECT_EQ(m.of(near).is, kind::next) << "it opens when this peer needs it";
    EXPECT_NE(m.of(near).reason.find("opened when a peer needs it"), std::string::npos) << m.of(near).reason;
    EXPECT_EQ(meeting().of(near).reason.find("opened when"), std::string::npos);
  }
}

TEST(a_choice_of_fabrics, names_fabrics_of_the_set) {
  constexpr std::array profiles{detail::profile_of<mapped>, detail::profile_of<far>};
  std::array<detail::own_fabric, 2> own{};
  EXPECT_EQ(detail::leave_out_others("far", "WEFT_FABRICS", profiles, own), "");
  EXPECT_TRUE(own[0].left_out && !own[1].left_out);
  EXPECT_EQ(detail::leave_out_others("far,mapped", "WEFT_FABRICS", profiles, own), "");
  EXPECT_FALSE(own[0].left_out || own[1].left_out);
  for (const char* wrong : {"tpc", "fa", "far,", ",", "far, mapped", "far;mapped"}) {
    const std::string said = detail::leave_out_others(wrong, "WEFT_FABRICS", profiles, own);
    if (std::string_view(wrong) == "far,") EXPECT_EQ(said, "");
    else EXPECT_NE(said.find("it has mapped, far"), std::string::npos) << wrong << ": " << said;
  }
}

TEST(a_directory, is_strict_and_encodes_to_itself) {
  const meeting m;
  const auto good = wire::encode(m.there);
  EXPECT_EQ(wire::parse_directory(good), m.there);
  for (std::size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(wire::parse_directory(const_bytes(good).first(n))) << n;
  auto longer = good;
  longer.push_back(std::byte{});
  EXPECT_FALSE(wire::parse_directory(longer));
  auto none = m.there;
  none.fabrics.clear();
  EXPECT_FALSE(wire::parse_directory(wire::encode(none)));
  auto many = m.there;
  many.fabrics.resize(wire::most_fabrics + 1, many.fabrics.front());
  EXPECT_FALSE(wire::parse_directory(wire::encode(many)));
  auto coloured = m.there;
  coloured.fabrics.front().address = "127.0.0.1:1\x1b[31m";
  EXPECT_FALSE(wire::parse_directory(wire::encode(coloured))) << "a terminal would obey it";
  auto too_long = m.there;
  too_long.fabrics.front().address.assign(wire::longest_fabric_address + 1, '1');
  EXPECT_FALSE(wire::parse_directory(wire::encode(too_long)));
}

TEST(this_host, has_one_number_in_every_process_of_its_namespaces) {
  EXPECT_NE(backends::process::number_of_this_host(), 0U);
  EXPECT_EQ(backends::process::number_of_this_host(), backends::process::number_of_this_host());
}

TEST(a_set_without_any_fabric_here, is_refused_with_a_reason_for_each) {
  transport_options o;
  o.fabrics = ",";
  EXPECT_EQ(open<pair>(o).why().code, errc::invalid);
  ::setenv("WEFT_FABRICS", "tpc", 1);
  const auto refused = open<fabric_set<mapped>>({});
  ::unsetenv("WEFT_FABRICS");
  EXPECT_EQ(refused.why().code, errc::invalid);
  EXPECT_EQ(refused.error().sentence.rfind("WEFT_FABRICS is \"tpc\"", 0), 0U) << refused.error().sentence;
}
}  // namespace
