// SPDX-License-Identifier: Apache-2.0
//
// The sentences of open() where the library differs from the row: each row here is a true one with one wrong fact.
// Nothing found: the sentence names the conflicting requirements. Something else found: it names every different fact,
// and the options.
#include "../../compose/transport.hpp"
#include "../../generated/tcp.hpp"
#include "libfabric_shapes.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace weft::testing {
namespace {

using backends::libfabric::conflict_search;

template <class Shape>
using port_of = backends::libfabric::port<Shape>;

/// A row with one fact changed by `Change`, which takes and returns the facts.
template <class Shape, auto Change>
struct falsified : Shape {
  static constexpr std::string_view name = "falsified";
  static constexpr fabric_facts facts = Change(Shape::facts);
};

template <class Shape>
std::string refusal_of(port_options options = {}) {
  options.node = "127.0.0.1";
  auto opened = port_of<Shape>::open(options);
  return opened ? "(it opened)" : std::string(opened.error().sentence);
}
void expect_says(const std::string& sentence, std::initializer_list<const char*> words) {
  for (const char* each : words)
    EXPECT_NE(sentence.find(each), std::string::npos) << "\"" << each << "\" is missing in: " << sentence;
}
void expect_silent_on(const std::string& sentence, std::initializer_list<const char*> words) {
  for (const char* each : words)
    EXPECT_EQ(sentence.find(each), std::string::npos) << "\"" << each << "\" must not be in: " << sentence;
}

// ---- nothing found

struct ordered_atomics : tcp_rxm_shape {
  static constexpr std::string_view name = "ordered_atomics";
  static constexpr bool native_atomics = true;  // removes the order that it requests, too
};
constexpr auto wide_immediate = [](fabric_facts f) { return f.write_immediate_bytes = 16, f; };
constexpr auto absent = [](fabric_facts f) { return f.provider = "no_such_provider", f; };

TEST(libfabric_refusals, two_conflicting_requirements_are_named_and_no_other) {
  const std::string said = refusal_of<ordered_atomics>();
  expect_says(said,
              {"fabric ordered_atomics: libfabric ",
               "found nothing: its provider \"tcp;ofi_rxm\" does not grant together, though any fewer of them, "
               "atomics: provider and order_send_after_write: true; everything else that was asked for is granted"});
  expect_silent_on(said, {"immediate", "node", "endpoint_type"});
}
TEST(libfabric_refusals, one_impossible_requirement_is_named_with_the_alternative) {
  expect_says(refusal_of<falsified<tcp_shape, wide_immediate>>(),
              {"does not grant write_immediate_bytes: 16 (it returns 8); everything else"});
}
TEST(libfabric_refusals, independent_unmet_requirements_are_all_named) {
  port_options options;
  options.receives = 1'000'000;
  expect_says(
      refusal_of<falsified<tcp_shape, wide_immediate>>(options),
      {"does not grant write_immediate_bytes: 16 (it returns 8), and does not grant receives: 1000000 (it returns "});
}
TEST(libfabric_refusals, an_unavailable_address_is_named_too) {
  port_options options;
  options.service = "no_such_service";  // looked up in a file, without a network
  expect_says(refusal_of<tcp_shape>(options), {"does not grant service: \"no_such_service\""});
}
TEST(libfabric_refusals, a_missing_provider_is_named) {
  expect_says(refusal_of<falsified<tcp_shape, absent>>(), {"has no provider \"no_such_provider\" here"});
}
TEST(libfabric_refusals, more_receives_than_the_library_queues_are_refused) {
  port_options options;
  options.receives = 1'000'000;
  expect_says(refusal_of<tcp_shape>(options), {"receives"});
}

TEST(libfabric_refusals, conflicts_are_minimal) {
  using sets = std::vector<std::vector<std::size_t>>;
  const auto all = [](auto granted) { return conflict_search(6, granted).all(); };
  EXPECT_EQ(all([](const std::vector<bool>& kept) { return !(kept[1] && kept[3] && kept[4]); }), (sets{{1, 3, 4}}));
  EXPECT_EQ(all([](const std::vector<bool>& kept) { return !kept[5] && !(kept[0] && kept[2]); }), (sets{{5}, {0, 2}}));
  EXPECT_EQ(all([](const std::vector<bool>&) { return false; }), sets{}) << "no requirement that can be dropped helps";
}

// ---- something else found

struct pointers_and_keys : tcp_shape {
  static constexpr std::string_view name = "pointers_and_keys";
  static constexpr bool virtual_address = true;
  static constexpr bool provider_key = true;
};
constexpr auto older = [](fabric_facts f) { return f.inject_bytes = 4096, f.until = {1, 16}, f; };
constexpr auto deep = [](fabric_facts f) { return f.queue_depth = 1 << 20, f; };
constexpr auto many_pieces = [](fabric_facts f) { return f.rma_gather_limit = 200, f; };
constexpr auto deep_and_injecting = [](fabric_facts f) { return f.inject_bytes = 1 << 20, deep(f); };
constexpr auto opaque = [](fabric_facts f) { return f.address_resolution = address_resolution::opaque, f; };

TEST(libfabric_refusals, each_different_fact_is_listed_with_the_answer_that_depends_on_it) {
  expect_says(refusal_of<pointers_and_keys>(),
              {"virtual_addressing: asked yes, returned no, baked yes (region_address depends on it)",
               "key_owner provider: asked yes, returned no, baked yes (region_key depends on it)"});
  expect_says(refusal_of<falsified<tcp_shape, older>>(),
              {"inject_bytes: asked at least 4096, returned 128, baked 4096", "library version", "before 1.16"});
  expect_says(refusal_of<falsified<tcp_shape, opaque>>(),
              {"address_resolution socket: asked no, returned yes, baked no (bootstrap depends on it)"});
}

TEST(libfabric_refusals, a_difference_without_a_dependent_answer_refuses_unless_tolerated) {
  using row = falsified<tcp_shape, deep>;
  expect_says(refusal_of<row>(), {"queue_depth (transmit): asked at least 1048576, returned ",
                                  "(no answer depends on it)", "on_difference::degrade accepts these"});
  port_options options;
  options.node = "127.0.0.1";
  for (const on_difference chosen : {on_difference::degrade, on_difference::warn}) {
    options.on_difference = chosen;
    auto opened = port_of<row>::open(options);
    ASSERT_TRUE(opened) << opened.error().sentence;
    expect_says((*opened)->limits().differences, {"queue_depth (transmit)", "queue_depth (receive)"});
    EXPECT_LT((*opened)->limits().queue_depth, row::facts.queue_depth);
  }
}

TEST(libfabric_refusals, a_difference_with_a_dependent_answer_always_refuses) {
  for (const on_difference chosen : {on_difference::degrade, on_difference::warn}) {
    port_options options;
    options.on_difference = chosen;
    const std::string said = refusal_of<falsified<tcp_shape, deep_and_injecting>>(options);
    expect_says(said, {"inject_bytes: asked at least 1048576", "queue_depth"});
    expect_silent_on(said, {"on_difference::degrade accepts these"});
    expect_says(refusal_of<pointers_and_keys>(options), {"region_address depends on it"});
    expect_says(refusal_of<falsified<tcp_shape, many_pieces>>(options),
                {"rma_gather_limit: asked at least 200, returned ", "(gather lists depends on it)"});
  }
}

struct deep_fabric : fabrics::tcp {
  static constexpr fabric_facts facts = deep(fabrics::tcp::facts);
};
TEST(libfabric_refusals, a_transport_is_opened_with_the_same_choice_and_warns) {
  transport_options options{.node = "127.0.0.1"};
  const auto refused = open<deep_fabric>(options);
  ASSERT_FALSE(refused);
  expect_says(refused.error().sentence,
              {"fabric tcp: the library is not what this program was generated for: queue_depth (transmit)"});
  const auto said_by = [&](on_difference chosen) {
    options.on_difference = chosen;
    ::testing::internal::CaptureStderr();
    const auto opened = open<deep_fabric>(options);
    EXPECT_TRUE(opened && opened->limits().differences.starts_with("queue_depth (transmit)"));
    return ::testing::internal::GetCapturedStderr();
  };
  expect_says(said_by(on_difference::warn), {"weft: warning: fabric tcp: the library is not", "queue_depth (receive)"});
  EXPECT_EQ(said_by(on_difference::degrade), "");
}

TEST(libfabric_refusals, a_true_row_has_no_differences) {
  port_options options;
  options.node = "127.0.0.1";
  auto opened = port_of<tcp_shape>::open(options);
  ASSERT_TRUE(opened) << opened.error().sentence;
  EXPECT_EQ((*opened)->limits().differences, "");
}

}  // namespace
}  // namespace weft::testing
