// SPDX-License-Identifier: Apache-2.0
//
// Many transports in one process, each with a thread of its own, share no mutable state of weft. The thread sanitizer
// (preset tsan) shows it; without it only results are checked. Transports open and close while others work.
#include "../../compose/progress_thread.hpp"
#include "../../compose/selected.hpp"
#include "../../compose/transport.hpp"
#include "../../core/describe.hpp"
#include "in_one_process.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace weft::test {
namespace {

constexpr int pairs = 4;
constexpr std::uint32_t puts = 200;
constexpr std::uint64_t adds = 100;

/// Errors that both ends of a pair found; each thread writes its own.
using sentence = std::string;

/// Takes puts and adds until its peer closes.
template <class F>
sentence listen(transport<F> net, announcement& where) {
  auto memory = net.allocate(4096, rights::all);
  if (!memory) return memory.error().sentence;
  where.tell(net.listen_address());
  auto other = net.accept_one(20s);
  if (!other) return other.error().sentence;
  status shared;
  while ((shared = net.send_region(*other, *memory, owner_polls)).is_again()) (void)net.progress([](auto&&) {});
  if (!shared) return "the region could not be described: " + describe(shared);
  std::uint64_t sum = 0;
  bool left = false;
  const auto on =
      overloaded{[&](const notified& n) { sum += n.immediate; }, [&](const lost&) { left = true; }, [](auto&&) {}};
  if (const status s = net.until([&] { return left; }, 30s, on); !s) return "the caller did not leave: " + describe(s);
  if (sum != std::uint64_t{puts} * (puts + 1) / 2) return "the notices' sum is " + std::to_string(sum);
  std::uint64_t word = 0;
  std::memcpy(&word, memory->data(), sizeof word);
  return word == adds ? "" : "the word is " + std::to_string(word);
}

template <class F>
struct caller {
  transport<F> net;
  std::uint64_t ended = 0;
  std::set<std::uint64_t> old{};
  sentence wrong{};

  void operator()(const completed& e) {
    ++ended;
    if (e.what == operation::fetch_add) old.insert(e.old);
  }
  void operator()(const failed& e) { wrong = describe(e.why); }
  void operator()(const lost& e) { wrong = describe(e.why); }
  void operator()(auto&&) {}

  template <class Post>
  void push(Post&& post) {
    for (status s = post(); !s; s = post()) {
      if (!s.is_again()) wrong = describe(s);
      if (!wrong.empty()) return;
      (void)net.progress(*this);
      std::this_thread::yield();  // the listener may need this processor
    }
  }
  sentence run(announcement& where) {
    auto source = net.allocate(64, rights::none);
    if (!source) return source.error().sentence;
    auto other = net.connect(where.hear(), 20s);
    if (!other) return other.error().sentence;
    auto there = net.receive_region(*other, 20s);
    if (!there) return there.error().sentence;
    for (std::uint32_t i = 1; i <= puts; ++i)
      push([&] { return net.put_notify(*other, source->first(8), there->at(64 + i % 8 * 8), i, this); });
    for (std::uint64_t i = 0; i < adds; ++i) push([&] { return net.fetch_add(*other, there->at(0), 1, this); });
    const status s = net.until([&] { return ended == puts + adds || !wrong.empty(); }, 30s, *this);
    if (!wrong.empty() || !s) return wrong.empty() ? describe(s) : wrong;
    if (old.size() != adds) return "only " + std::to_string(old.size()) + " old values differ";
    const status closed = net.close(*other, 5s, *this);
    return closed ? "" : describe(closed);
  }
};

TEST(threads, each_thread_has_its_own_transport) {
  std::array<sentence, 2 * pairs> found;
  in_one_process<selected>(pairs, [&found]<class F>(std::type_identity<F>, int i, bool listens, announcement& where) {
    sentence& mine = found[static_cast<std::size_t>(2 * i + int{listens})];
    auto net = open<F>({.node = "127.0.0.1", .listens = listens});
    if (!net) mine = net.error().sentence;
    else mine = listens ? listen<F>(std::move(*net), where) : caller<F>{std::move(*net)}.run(where);
  });
  for (const sentence& each : found) EXPECT_EQ(each, "");
}

/// A transport has one owner at a time. It may change threads, here after opening and before closing.
TEST(threads, threads_hand_transports_to_each_other) {
  for (int round = 0; round < 3; ++round) {
    auto net = open<selected>({.node = "127.0.0.1", .listens = true});
    ASSERT_TRUE(net) << net.error().sentence;
    std::jthread([&] { EXPECT_TRUE((*net).allocate(4096, rights::all)); }).join();
    EXPECT_FALSE((*net).listen_address().empty());
    std::jthread([mine = std::move(*net)]() mutable { const transport<selected> last = std::move(mine); }).join();
  }
}

/// The goodbye of the first may lie in the queue of the second, and the memory of the first is gone.
TEST(threads, transports_that_met_end_one_after_the_other) {
  if (selected::name == "loopback") GTEST_SKIP() << "a world never leaves its thread";
  for (const bool caller_first : {true, false}) {
    auto listener = open<selected>({.node = "127.0.0.1", .listens = true});
    auto caller = open<selected>({.node = "127.0.0.1"});
    ASSERT_TRUE(listener) << listener.error().sentence;
    ASSERT_TRUE(caller) << caller.error().sentence;
    const std::string where = (*listener).listen_address();
    auto first = std::make_unique<transport<selected>>(std::move(*listener));
    auto second = std::make_unique<transport<selected>>(std::move(*caller));
    {
      const std::jthread accepts([&] { EXPECT_TRUE(first->accept_one(20s)); });
      EXPECT_TRUE(second->connect(where, 20s));
    }
    if (caller_first) first.swap(second);
    first.reset();
    second.reset();
  }
}

/// The thread polls its transport, so the transport must not end before it.
TEST(threads, a_progress_thread_ends_before_another_takes_its_place) {
  if (selected::name == "loopback") GTEST_SKIP() << "a world never leaves its thread";
  const auto begin = [] {
    const auto on = [](const auto&) {};
    return progress_thread<selected, decltype(on)>(open<selected>({.node = "127.0.0.1"}).value(), on);
  };
  auto loop = begin();
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the thread polls by now
    loop = begin();
  }
  auto& same = loop;
  loop = std::move(same);
  EXPECT_FALSE(loop.stop().descriptor() < -1);
}

}  // namespace
}  // namespace weft::test
