// SPDX-License-Identifier: Apache-2.0
//
// A handler behind one function pointer: each kind of event reaches its own overload, and a refusal of a message comes
// back. Hot path: no. Threads: one.
#include "../../compose/engine/erased_handler.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace {
using namespace weft;
using detail::erased_handler;

/// The kinds of events in their order, as one letter each. The catch-all would take rvalues first.
struct recorder {
  std::string seen;
  bool takes_messages = true;
  void operator()(const completed& e) { seen += e.what == operation::get ? 'c' : '?'; }
  void operator()(const failed& e) { seen += e.why.code == errc::deadline ? 'f' : '?'; }
  bool operator()(const received& e) {
    seen += e.message.size() == 3 ? 'r' : '?';
    return takes_messages;
  }
  void operator()(const notified& e) { seen += e.immediate == 7 ? 'n' : '?'; }
  void operator()(const requested& e) { seen += e.has_private_data ? 'q' : '?'; }
  void operator()(const connected& e) { seen += e.has_private_data ? 'o' : '?'; }
  void operator()(const lost& e) { seen += e.why.code == errc::closed ? 'l' : '?'; }
  template <class Other>
  void operator()(Other&&) {
    seen += '!';
  }
};

TEST(erased_handler, each_event_reaches_its_own_overload_as_a_const_lvalue) {
  recorder user;
  const erased_handler on = erased_handler::of(user);
  const std::byte three[3]{};
  on(completed{operation::get, {}, nullptr, {}});
  on(failed{operation::put, {}, nullptr, error(errc::deadline, "put")});
  (void)on(received{{}, three});
  on(notified{{}, 7});
  on(requested{{}, true, {}});
  on(connected{{}, true, {}});
  on(lost{{}, error(errc::closed, "goodbye")});
  EXPECT_EQ(user.seen, "cfrnqol");
}

TEST(erased_handler, a_message_that_the_handler_leaves_is_left) {
  recorder user;
  user.takes_messages = false;
  EXPECT_FALSE(erased_handler::of(user)(received{}));
  user.takes_messages = true;
  EXPECT_TRUE(erased_handler::of(user)(received{}));
}

TEST(erased_handler, a_handler_that_answers_nothing_takes_every_message) {
  const auto user = [](const auto&) {};
  EXPECT_TRUE(erased_handler::of(user)(received{}));
}

TEST(erased_handler, of_an_erased_handler_is_a_copy_that_outlives_it) {
  recorder user;
  const auto copied = [&user] {
    erased_handler first = erased_handler::of(user);
    return erased_handler::of(first);
  }();
  static_assert(std::is_same_v<decltype(copied), const erased_handler>);
  copied(notified{{}, 7});
  EXPECT_EQ(user.seen, "n");
}
}  // namespace
