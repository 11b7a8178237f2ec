// SPDX-License-Identifier: Apache-2.0
//
// Identity of a build: names of answers, the fingerprint that peers compare, the text in binaries, and answers by hand.
#include <weft/compose/built_for.hpp>
#include <weft/compose/connecting/compatibility.hpp>
#include <weft/compose/with.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <string>

namespace weft {
using namespace detail;  // NOLINT(google-build-using-namespace): under test
namespace {

using row = fabrics::loopback;

// Both compilers must give the same names: peers compare these words.
static_assert(policy_name<answers::notify::immediate>() == "notify::immediate");
static_assert(family_name<answers::wait::spin>() == "wait" && answer_name<answers::wait::spin>() == "spin");

// ---- answers by hand
static_assert(can_answer<row, answers::notify::message_after_delivery> &&
              !can_answer<row, answers::notify::remote_counter>);
static_assert(!can_answer<row, atomics_family> && !can_answer<int, answers::wait::spin>);
using by_hand = with<row, answers::notify::message_after_delivery, answers::atomics::target>;
static_assert(consistent_fabric<by_hand>());
static_assert(std::same_as<answer<by_hand, notify_family>, answers::notify::message_after_delivery>);
static_assert(std::same_as<answer<by_hand, endpoint_family>, answer<row, endpoint_family>>,
              "what nobody asked for stays");
static_assert(by_hand::fingerprint != row::fingerprint, "its peers must have the same answers");
static_assert(with<row, answer<row, notify_family>>::fingerprint == row::fingerprint,
              "the row's own answer changes nothing");
static_assert(with<row, answer<row, wait_family>>::shared == row::shared, "each side chooses its own way to wait");
static_assert(can_answer<by_hand, answers::wait::spin> == can_answer<row, answers::wait::spin>,
              "a fabric made from a row has the row's refusals");

TEST(an_answer_by_hand, is_part_of_the_fingerprint_that_peers_compare) {
  const std::string words(by_hand::shared);
  EXPECT_NE(words.find("notify=message_after_delivery "), std::string::npos) << words;
  EXPECT_NE(words.find("atomics=target "), std::string::npos) << words;
  EXPECT_NE(words.find("endpoint=connected "), std::string::npos) << words;
}

// ---- the text in a binary
TEST(built_for, names_fabric_releases_wire_and_answers) {
  const std::string text(built_for<row>.view());
  EXPECT_EQ(text.rfind("weft-built-for 1\nfabric=loopback\n", 0), 0U) << text;
  for (const char* line : {"\nlibrary=weft\n", "\nsince=1.0\n", "\nuntil=later\n", "\nwire=7\n", "\nmade_from=rules ",
                           "\nanswers=endpoint::connected "})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

// ---- compatibility
const_bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

constexpr build_words ours{"some", "notify=immediate key_bytes=8", 1};
wire::introduction theirs(std::uint64_t fingerprint, std::string_view fabric, std::string_view shared) {
  wire::introduction i;
  i.fingerprint = fingerprint;
  i.fabric = bytes_of(fabric);
  i.shared = bytes_of(shared);
  return i;
}

TEST(compatibility, matching_builds_have_no_difference) {
  EXPECT_EQ(incompatibility(ours, theirs(1, "some", ours.shared), wire::parse_verdict::good, asking::they), "");
}

TEST(compatibility, names_the_first_difference) {
  const auto good = wire::parse_verdict::good;
  EXPECT_EQ(incompatibility(ours, theirs(2, "other", ours.shared), good, asking::they),
            "the caller was built for fabric other, the listener for fabric some");
  EXPECT_EQ(incompatibility(ours, theirs(2, "some", "notify=remote_counter key_bytes=8"), good, asking::they),
            "fabric some: the caller was built for notify=remote_counter, the listener for notify=immediate");
  EXPECT_EQ(incompatibility(ours, theirs(2, "some", "notify=immediate key_bytes=4"), good, asking::we),
            "fabric some: the caller was built for key_bytes=8, the listener for key_bytes=4");
  EXPECT_EQ(incompatibility(ours, theirs(2, "some", ours.shared), good, asking::they),
            "caller and listener were built for other rules of fabric some: generate both from one matrix");
  auto old = theirs(1, "some", ours.shared);
  old.wire_version = 1;
  EXPECT_EQ(incompatibility(ours, old, wire::parse_verdict::other_wire_version, asking::we),
            "the caller was built for wire version 7, the listener for wire version 1");
}

TEST(compatibility, the_longest_names_fit_into_a_refusal) {
  const std::string longest = "notify=immediate_consumes_receive";
  const std::string name(40, 'f');
  const auto sentence = incompatibility({name, "notify=message_after_ordered_write", 1}, theirs(2, name, longest),
                                        wire::parse_verdict::good, asking::they);
  EXPECT_LE(sentence.size(), wire::largest_reason) << sentence;
}

}  // namespace
}  // namespace weft
