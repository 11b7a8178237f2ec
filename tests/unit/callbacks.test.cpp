// SPDX-License-Identifier: Apache-2.0
//
// Callbacks of single operations: the right one is called, once for each end; all other events reach the handler; and
// nothing is allocated.
#include <weft/compose/callbacks.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

namespace {
std::size_t times_asked = 0;
}  // namespace

void* operator new(std::size_t size) {
  ++times_asked;
  if (void* made = std::malloc(size)) return made;
  throw std::bad_alloc();
}
void operator delete(void* gone) noexcept { std::free(gone); }
void operator delete(void* gone, std::size_t) noexcept { std::free(gone); }

namespace weft {
namespace {

struct counts {
  int completions = 0, failures = 0, messages = 0, others = 0;
  void operator()(const completed&) { ++completions; }
  void operator()(const failed&) { ++failures; }
  bool operator()(const received&) { return ++messages % 2 == 0; }
  void operator()(const auto&) { ++others; }
};
completed well(void* context) { return {operation::get, {}, context, {}}; }
failed badly(void* context) { return {operation::get, {}, context, error(errc::deadline, "get")}; }

TEST(callbacks, each_end_reaches_the_callback_of_its_context) {
  counts on;
  int first = 0, second = 0;
  const std::size_t times = times_asked;
  on_completion one{[&](const completed&) { ++first; }};
  on_completion two{[&](const auto&) { ++second; }};
  const auto handler = callbacks(on);
  handler(well(&one));
  handler(well(&two));
  handler(badly(&two));
  handler(well(&two));
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 3);
  EXPECT_EQ(on.completions + on.failures, 0);
  EXPECT_EQ(times_asked, times) << "a callback allocated";
}

TEST(callbacks, a_failure_that_the_callback_does_not_take_reaches_the_handler) {
  counts on;
  on_completion one{[](const completed&) { FAIL(); }};
  callbacks(on)(badly(&one));
  EXPECT_EQ(on.failures, 1);
}

TEST(callbacks, every_other_event_reaches_the_handler) {
  counts on;
  const auto handler = callbacks(on);
  static_assert(event_handler<decltype(handler)>);
  handler(well(nullptr));
  handler(badly(nullptr));
  EXPECT_FALSE(handler(received{}));
  EXPECT_TRUE(handler(received{}));
  handler(notified{});
  handler(lost{});
  handler(requested{});
  handler(connected{});
  EXPECT_EQ(on.completions, 1);
  EXPECT_EQ(on.failures, 1);
  EXPECT_EQ(on.messages, 2);
  EXPECT_EQ(on.others, 4);
}

}  // namespace
}  // namespace weft
