// SPDX-License-Identifier: Apache-2.0
//
// Clients without credentials that take what they can get, in virtual time: places and memory. An honest client is
// served all the same, and the stranger gets a sentence.
#include "simulated.hpp"

#include <weft/compose/selected.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weft::test {
namespace {

using fabric = over<selected, loopback::port>;
using net_type = transport<fabric>;

struct result_of_run {
  loopback::run_outcome how;
  call_log log;
  std::size_t most_clients = 0;
  std::size_t clients_left = 0;
  std::uint64_t started = 0;  ///< Executors.
};

/// The end of a run, whether the stranger has done its worst, and how often a claim was looked up.
struct run_marks {
  bool over = false;
  bool ready = false;
  std::uint64_t lookups = 0;
};

/// Counts the executors that a manager starts, and the bills that it looks for.
struct counting_spawner : simulated_spawner<fabric> {
  using child = simulated_spawner<fabric>::child;
  counting_spawner(loopback::world& world, function_library& library, std::uint64_t& started, run_marks& marks)
      : simulated_spawner<fabric>(world, library), started_(&started), marks_(&marks) {}
  result<child> start(const executor_order& order) {
    ++*started_;
    return simulated_spawner<fabric>::start(order);
  }
  std::optional<bill_fields> inherit(const token&) {
    ++marks_->lookups;
    return std::nullopt;
  }

 private:
  std::uint64_t* started_;
  run_marks* marks_;
};
using manager_type = manager<fabric, counting_spawner>;

using stranger_body = std::function<void(net_type&, const std::string& manager_at, run_marks& marks)>;

/// A manager, a stranger that begins at once and stays, and an honest client when the stranger is ready.
result_of_run play_with(const stranger_body& stranger, std::uint64_t calls = 60, duration idle_limit = 10s,
                        duration after = 0ms) {
  record() = {};
  result_of_run r;
  function_library library(simulated_functions());
  loopback::world world(7);
  std::string manager_at;
  run_marks marks;
  bool client_over = false;
  run_plan plan;
  plan.calls = calls;
  plan.workers = 8;
  world.spawn("manager", [&] {
    manager_options o;
    o.node = "manager";
    o.start_limit = 5s;
    o.longest_function = 2s;
    o.idle_limit = idle_limit;
    auto made = manager_type::open(o, counting_spawner(world, library, r.started, marks));
    ASSERT_TRUE(made) << made.error().sentence;
    manager_at = (*made)->listen_address();
    const instant limit = world.now() + 100s;
    (*made)->serve([&] {
      r.most_clients = std::max(r.most_clients, (*made)->clients());
      r.clients_left = (*made)->clients();
      return marks.over || world.now() > limit;
    });
  });
  world.spawn("stranger", [&] {
    while (manager_at.empty()) loopback::sleep_for(1ms);
    auto net = open<fabric>({.node = "stranger", .sleeps = true, .peers = 300, .silence_limit = 1h}).value();
    stranger(net, manager_at, marks);
  });
  world.spawn("client", [&] {
    for (int i = 0; i < 60'000 && !marks.ready; ++i) loopback::sleep_for(1ms);
    EXPECT_TRUE(marks.ready) << "the stranger waits still";
    loopback::sleep_for(200ms);
    if (calls > 0) client_body<fabric>(world, manager_at, plan, r.log);
    loopback::sleep_for(after);
    client_over = marks.over = true;
  });
  r.how = world.run(600s);
  EXPECT_TRUE(client_over);
  EXPECT_TRUE(r.how) << r.how.sentence;
  return r;
}

void was_served(const result_of_run& r) {
  EXPECT_TRUE(r.log.finished) << r.log.calls.size() << " calls ended; failed allocations " << r.log.failed_allocations;
  EXPECT_EQ(r.log.count(trouble::none), r.log.calls.size());
  EXPECT_EQ(r.log.failed_allocations, 0U);
}

/// Connects so many idle clients, and counts what they hear.
struct idle_clients {
  int connected = 0, lost = 0, busy = 0;
  void stay(net_type& net, const std::string& manager_at, run_marks& marks, int count) {
    const auto hello = encode(greeting{role::client, 0, {}});
    for (int i = 0; i < count; ++i) EXPECT_TRUE(net.start_connect(manager_at, hello));
    while (!marks.over) {
      marks.ready = connected + lost >= count;
      net.progress(overloaded{[this](const weft::connected&) { ++connected; },
                              [&](const weft::lost&) {
                                ++lost;
                                busy += int{net.reason().find("busy, try later") != std::string::npos};
                              },
                              [](auto&&) {}});
      (void)net.wait(5ms);
    }
  }
};

TEST(strangers, idle_clients_do_not_shut_an_honest_one_out) {
  idle_clients idle;
  const auto r =
      play_with([&](net_type& net, const std::string& at, run_marks& marks) { idle.stay(net, at, marks, 280); });
  was_served(r);
  EXPECT_GE(idle.connected, 48) << "the strangers had all places: else the test shows nothing";
  EXPECT_GT(idle.busy, 0) << "no stranger heard the sentence";
  EXPECT_LE(r.most_clients, 48U) << "16 more than allocations";
}

TEST(strangers, a_client_that_asks_for_nothing_is_closed_at_the_limit) {
  idle_clients idle;
  const auto r = play_with(
      [&](net_type& net, const std::string& at, run_marks& marks) { idle.stay(net, at, marks, 20); }, 0, 3s, 4s);
  EXPECT_EQ(idle.connected, 20);
  EXPECT_EQ(idle.lost, 20);
  EXPECT_EQ(r.most_clients, 20U);
  EXPECT_EQ(r.clients_left, 0U);
}

/// A stranger that makes a request, and what it hears.
struct asking_stranger {
  std::string sentence;
  refusal_code code{};

  /// Asks for executors with each of these addresses, one after the other, until it was refused or the run ends.
  void ask(net_type& net, const std::string& manager_at, run_marks& marks, allocate_message request,
           const std::vector<std::string>& addresses) {
    const auto on = overloaded{[this](const received& m) {
                                 if (const auto no = unpack<refused_message>(m.message)) {
                                   sentence = no->sentence;
                                   code = no->code;
                                 }
                               },
                               [](auto&&) {}};
    const auto to = net.connect(manager_at, encode(greeting{role::client, 0, {}}), 5s, on);
    ASSERT_TRUE(to) << to.error().sentence;
    const auto letter = net.allocate(largest_message, rights::none).value();
    request.function_limit_ns = 1'000'000'000;
    for (const std::string& address : addresses) {
      sentence.clear();
      request.secret = random_token();
      request.where = address;
      const std::size_t size = pack(request, letter.memory());
      EXPECT_TRUE(net.retry([&] { return net.send(*to, letter.first(size)); }, 5s, on));
      EXPECT_TRUE(net.until([&] { return !sentence.empty(); }, 5s, on))
          << "no refusal of " << testing::PrintToString(address);
      if (code != refusal_code::malformed) break;
    }
    marks.ready = !sentence.empty();
    while (!marks.over) {
      net.progress(on);
      (void)net.wait(5ms);
    }
  }
};

TEST(strangers, a_request_of_32_gib_is_refused_with_the_limit_in_its_sentence) {
  asking_stranger asks;
  const auto r = play_with([&](net_type& net, const std::string& at, run_marks& marks) {
    allocate_message request;
    request.workers = 16;
    request.slots = 64;
    request.input_bytes = request.output_bytes = 16U << 20;
    asks.ask(net, at, marks, request, {"stranger:1"});
  });
  was_served(r);
  EXPECT_EQ(asks.code, refusal_code::too_large) << asks.sentence;
  EXPECT_NE(asks.sentence.find("at most 1073741824 are possible here"), std::string::npos) << asks.sentence;
  EXPECT_EQ(r.started, 1U) << "the honest client's executor only";
}

/// The manager hands the address to its executor as an argument.
TEST(strangers, a_forged_address_starts_no_executor) {
  using namespace std::string_literals;
  asking_stranger asks;
  const auto r = play_with([&](net_type& net, const std::string& at, run_marks& marks) {
    asks.ask(net, at, marks, {},
             {"stranger:1\0--unconfined"s, "stranger:1\0"s, "stranger:1 --unconfined"s, "stranger:1\n"s,
              "--unconfined:1"s, "stranger"s, "stranger:"s, ":1"s, ""s, std::string(255, 'n') + ":1"});
  });
  was_served(r);
  EXPECT_EQ(asks.code, refusal_code::malformed) << asks.sentence;
  EXPECT_NE(asks.sentence.find("must be host:service"), std::string::npos) << asks.sentence;
  EXPECT_EQ(r.started, 1U) << "the honest client's executor only";
}

TEST(strangers, a_claim_leaves_with_its_client) {
  std::uint64_t while_there = 0, later = 0;
  const auto r = play_with(
      [&](net_type& net, const std::string& at, run_marks& marks) {
        bool lost = false;
        const auto on = overloaded{[&](const weft::lost&) { lost = true; }, [](auto&&) {}};
        const auto to = net.connect(at, encode(greeting{role::client, 0, {}}), 5s, on);
        ASSERT_TRUE(to) << to.error().sentence;
        const auto letter = net.allocate(largest_message, rights::none).value();
        claim_message claim;
        claim.secret = random_token();
        const std::size_t size = pack(claim, letter.memory());
        EXPECT_TRUE(net.retry([&] { return net.send(*to, letter.first(size)); }, 5s, on));
        EXPECT_TRUE(net.until([&] { return lost; }, 10s, on)) << "a claim is no request: the manager closes its client";
        loopback::sleep_for(100ms);
        while_there = marks.lookups;
        loopback::sleep_for(1s);
        later = marks.lookups;
        marks.ready = true;
      },
      0, 3s);
  EXPECT_EQ(r.clients_left, 0U);
  EXPECT_GT(while_there, 0U) << "else the test shows nothing";
  EXPECT_EQ(later, while_there) << "the manager still looks for the bill of a client that it closed";
}

}  // namespace
}  // namespace weft::test
