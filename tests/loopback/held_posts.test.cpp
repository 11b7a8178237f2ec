// SPDX-License-Identifier: Apache-2.0
//
// Batches over a port that holds posts with the hint that more follows, and refuses posts when the test says so. The
// test sees the mode of each write, and the posts that the port still holds.
#include <weft/compose/transport.hpp>
#include <weft/compose/with.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace weft {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;

/// What the port of the caller does and saw.
struct control_of_port {
  bool full = false;
  std::vector<post_mode> writes;              ///< Accepted ones, also those with a hint.
  std::vector<std::function<status()>> held;  ///< Accepted with the hint, and not sent yet.

  template <class Post>
  status post(bool more, Post&& now) {
    if (full) return again(waits_for::queue, "a full queue of the test");
    if (more) {
      held.emplace_back(std::forward<Post>(now));
      return {};
    }
    for (auto& each : std::exchange(held, {})) EXPECT_TRUE(each());
    return now();
  }
};

template <class Shape>
class holding_port : public loopback::port<Shape> {
  using base = loopback::port<Shape>;

 public:
  using link = typename base::link;
  static constexpr bool hints_more = true;
  inline static holding_port* latest = nullptr;  ///< The port that was opened last.
  control_of_port control;

  static result<std::unique_ptr<holding_port>> open(const port_options& options) {
    loopback::simulation& sim = loopback::here();
    auto made = loopback::open_endpoint(sim, options, loopback::behaviour_of<Shape>(), Shape::name);
    if (!made) return made.error();
    latest = new holding_port(sim, std::move(made).value());
    return std::unique_ptr<holding_port>(latest);
  }

  template <post_mode M, bool More = false>
  status write(link to, local_memory from, remote_memory at, void* context) noexcept {
    const status s = control.post(More, [=, this] { return base::template write<M>(to, from, at, context); });
    if (s) control.writes.push_back(M);
    return s;
  }
  template <post_mode M, bool More = false>
  status send(link to, local_memory from, std::uint32_t immediate, void* context) noexcept {
    return control.post(More, [=, this] { return base::template send<M>(to, from, immediate, context); });
  }
  template <post_mode M, bool More = false>
  status write_immediate(link to, local_memory from, remote_memory at, std::uint64_t immediate,
                         void* context) noexcept {
    return control.post(More,
                        [=, this] { return base::template write_immediate<M>(to, from, at, immediate, context); });
  }
  status inject_write(link to, const_bytes from, remote_memory at) noexcept {
    return control.post(false, [=, this] { return base::inject_write(to, from, at); });
  }
  status inject_write_immediate(link to, const_bytes from, remote_memory at, std::uint64_t immediate) noexcept {
    return control.post(false, [=, this] { return base::inject_write_immediate(to, from, at, immediate); });
  }
  status inject(link to, const_bytes from, std::uint32_t immediate) noexcept {
    return control.post(false, [=, this] { return base::inject(to, from, immediate); });
  }

 private:
  holding_port(loopback::simulation& sim, std::shared_ptr<loopback::endpoint> at) : base(sim, std::move(at)) {}
};

/// The in-process fabric, whose refused writes are silent, so puts ask for delivery.
struct confirming : fabrics::loopback {
  static constexpr std::string_view name = "confirming";
  template <class Shape>
  using port = holding_port<Shape>;
  static constexpr fabric_facts facts = [] {
    fabric_facts f = fabrics::loopback::facts;
    f.refused_write = refusal::silent;
    return f;
  }();
  using policies =
      detail::replaced<fabrics::loopback::policies, policy_set<answers::write_fault::delivery_confirmed>>::type;
};
using port_of_test = detail::engine<confirming>::port_type;
static_assert(detail::engine<confirming>::write_mode == post_mode::delivered);
static_assert(detail::member_posts<detail::engine<confirming>>::hints);

constexpr std::size_t each = 64, slots = 8;

/// A listener with a region, and a caller that runs `act(net, peer, memory, place of a slot, control of the port)`.
/// Afterwards the listener's slots [0, written) hold their numbers.
template <class Act>
void play(std::size_t written, Act act) {
  loopback::world w(3);
  bool over = false;
  w.spawn("listener", [&] {
    auto net = open<confirming>({.node = "listener", .service = "7471", .sleeps = true}).value();
    auto memory = net.allocate(each * slots, rights::remote_write).value();
    const auto on = overloaded{[](auto&&) {}};
    const peer p = net.accept_one(5s, on).value();
    auto said = net.export_region(memory, owner_polls);
    while (!net.send(p, net.memory({said.data(), said.size()}))) net.progress(on);
    EXPECT_TRUE(net.until([&] { return over; }, 60s, on));
    for (std::size_t i = 0; i < written; ++i)
      EXPECT_EQ(std::to_integer<std::size_t>(memory.data()[i * each]), i + 1) << "put " << i << " is missing";
  });
  w.spawn("caller", [&] {
    loopback::sleep_for(100us);
    auto net = open<confirming>({.sleeps = true}).value();
    control_of_port& control = port_of_test::latest->control;
    auto memory = net.allocate(each * slots, rights::none).value();
    for (std::size_t i = 0; i < slots; ++i) memory.data()[i * each] = static_cast<std::byte>(i + 1);
    remote_region there;
    bool heard = false;
    const auto on =
        overloaded{[&](const received& m) {
                     there = net.parse_region(m.message).value();
                     heard = true;
                   },
                   [](const failed& f) { ADD_FAILURE() << name_of(f.what) << " failed"; }, [](const auto&) {}};
    const peer to = net.connect("listener:7471", 5s, on).value();
    ASSERT_TRUE(net.until([&] { return heard; }, 5s, on));
    control.writes.clear();
    act(net, to, memory, there, control, on);
    EXPECT_TRUE(net.flush(to, 5s, on));
    over = true;
  });
  const auto run = w.run(120s);
  EXPECT_TRUE(run) << run.sentence;
}

TEST(held_posts, a_put_that_a_closed_batch_leaves_to_progress_asks_for_delivery) {
  play(2, [](auto& net, peer to, auto& memory, const remote_region& there, control_of_port& control, auto& on) {
    {
      auto b = net.batch(to);
      ASSERT_TRUE(b.put(memory.slice(0, each), there.at(0)));
      ASSERT_TRUE(b.put(memory.slice(each, each), there.at(each)));
      control.full = true;
    }  // its last member finds a full queue
    net.progress(on);
    ASSERT_EQ(control.writes.size(), 1U) << "the queue is still full";
    control.full = false;
    for (int polls = 0; polls < 100 && control.writes.size() < 2; ++polls) net.progress(on);
    ASSERT_EQ(control.writes.size(), 2U) << "progress() posts the last member";
    EXPECT_EQ(control.writes[1], post_mode::delivered);
    EXPECT_TRUE(control.held.empty());
  });
}

/// Members that were posted with the hint before a member or close() found a full queue.
template <class Refused>
void polls_release_held_posts(std::size_t members, Refused refused) {
  play(members - 1,
       [&](auto& net, peer to, auto& memory, const remote_region& there, control_of_port& control, auto& on) {
         auto b = net.batch(to);
         for (std::size_t i = 0; i < members; ++i) ASSERT_TRUE(b.put(memory.slice(i * each, each), there.at(i * each)));
         ASSERT_EQ(control.held.size(), members - 1) << "all members but the last";
         control.full = true;
         EXPECT_TRUE(refused(b, memory, there).is_again());
         for (int polls = 0; polls < 10; ++polls) net.progress(on);
         EXPECT_EQ(control.held.size(), members - 1) << "the queue is still full";
         control.full = false;
         for (int polls = 0; polls < 4; ++polls) net.progress(on);
         EXPECT_TRUE(control.held.empty()) << "the caller only polls";
         EXPECT_EQ(b.posted(), members - 1);
         EXPECT_TRUE(net.until([&] { return net.in_flight() == 0; }, 5s, on));
         EXPECT_TRUE(b.put(memory.slice(0, each), there.at(0))) << "the batch is still open";
         EXPECT_TRUE(b.close());
         EXPECT_TRUE(control.held.empty());
       });
}

TEST(held_posts, polls_release_them_after_a_member_was_refused) {
  polls_release_held_posts(
      5, [](auto& b, auto& memory, const remote_region& there) { return b.put(memory.slice(0, each), there.at(0)); });
}

TEST(held_posts, polls_release_them_after_a_close_was_refused) {
  polls_release_held_posts(5, [](auto& b, auto& /*memory*/, const remote_region& /*there*/) { return b.close(); });
}

TEST(held_posts, a_repeated_member_releases_them_without_another_message) {
  play(4, [](auto& net, peer to, auto& memory, const remote_region& there, control_of_port& control, auto& on) {
    auto b = net.batch(to);
    const auto put = [&](std::size_t i) { return b.put(memory.slice(i * each, each), there.at(i * each)); };
    for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(put(i));
    control.full = true;
    ASSERT_TRUE(put(3).is_again());
    control.full = false;
    net.progress(on);
    ASSERT_TRUE(put(3));
    EXPECT_TRUE(control.held.empty()) << "the member after `again` carries no hint";
    EXPECT_TRUE(b.close());
  });
}

}  // namespace
}  // namespace weft
