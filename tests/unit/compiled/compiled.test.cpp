// SPDX-License-Identifier: Apache-2.0
//
// A program that links weft::loopback_compiled. Its fabric's rare work comes from the library. The same work of another
// fabric, and of other answers, is compiled here. All three behave alike, to the nanosecond of virtual time.
#include <weft/compose/progress/once_per_fabric.hpp>
#include <weft/compose/with.hpp>
#include <weft/weft.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#if !defined(WEFT_COMPILED)
#error "this test must link weft::loopback_compiled"
#endif

namespace weft {
namespace {

namespace loopback = backends::loopback;

/// The row's twin: another type with the row's answers, so no library has its code.
struct twin : selected {};
using trusting = with<selected, answers::checks::trusted>;

struct outcome {
  std::string bytes;
  std::string sentence;  ///< Why nobody answered at another port.
  std::uint32_t notice = 0;
  int closed = 0;
  std::int64_t listener_ended = 0, caller_ended = 0;  ///< Virtual time, in ns.
  bool operator==(const outcome&) const = default;
};

template <class F>
std::int64_t time_of(const transport<F>& net) {
  return net.now().time_since_epoch().count();
}

/// Two sides meet, write, notify and part.
template <class F>
outcome meet() {
  loopback::world w(7);
  outcome seen;
  w.spawn("listener", [&] {
    auto net = open<F>({.node = "listener", .service = "7471"}).value();
    const auto page = net.allocate(4096, rights::remote_write).value();
    const peer from = net.accept_one(1s).value();
    const auto on = overloaded{[&](const notified& n) { seen.notice = n.immediate; },
                               [&](const lost& l) { seen.closed += l.why.code == errc::closed; }, [](auto&&) {}};
    require(net.retry([&] { return net.send_region(from, page, owner_polls); }, 1s, on));
    require(net.until([&] { return seen.closed > 0; }, 1s, on));
    seen.bytes = reinterpret_cast<const char*>(page.data());
    seen.listener_ended = time_of(net);
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<F>({}).value();
    if (const auto nobody = net.connect("listener:7472", 10ms); !nobody) seen.sentence = nobody.error().sentence;
    const peer to = net.connect("listener:7471", 1s).value();
    const auto page = net.receive_region(to, 1s).value();
    auto text = net.allocate(64, rights::none).value();
    std::strcpy(reinterpret_cast<char*>(text.data()), "hello");
    bool done = false;
    const auto on = overloaded{[&](const completed&) { done = true; }, [](auto&&) {}};
    require(net.retry([&] { return net.put_notify(to, text.first(6), page.at(0), 7, &done); }, 1s, on));
    require(net.until([&] { return done; }, 1s, on));
    require(net.close(to, 1s, on));
    seen.caller_ended = time_of(net);
  });
  const auto run = w.run(60s);
  EXPECT_TRUE(run) << run.sentence;
  return seen;
}

TEST(a_compiled_library, behaves_as_the_headers_do) {
  const outcome library = meet<selected>(), headers = meet<twin>();
  EXPECT_EQ(library.bytes, "hello");
  EXPECT_EQ(library.notice, 7U);
  EXPECT_EQ(library.closed, 1);
  EXPECT_GT(library.caller_ended, 0);
  EXPECT_NE(library.sentence, "");
  EXPECT_EQ(library, headers) << library.sentence << '\n' << headers.sentence;
}

TEST(a_compiled_library, leaves_room_for_other_answers) {
  const outcome library = meet<selected>(), other = meet<trusting>();
  EXPECT_EQ(other.bytes, library.bytes);
  EXPECT_EQ(other.notice, library.notice);
}

}  // namespace
}  // namespace weft
