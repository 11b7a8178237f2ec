// SPDX-License-Identifier: Apache-2.0
//
// Six bugs that are built in on purpose: the checker finds each by its name, and finds nothing in a run without one.
#include "../../history/checker.hpp"
#include "../../history/recorder.hpp"
#include "test_side.hpp"

#include <gtest/gtest.h>

namespace weft::test {
namespace {

using history::property;
using loopback::planted_bug;

/// Rows for these bugs: one with keys of the provider, one with plain answers.
struct provider_keys {
  static constexpr std::string_view name = "provider_keys";
  static constexpr fabric_facts make() {
    fabric_facts f = generous();
    f.key_owner = key_owner::provider;
    return f;
  }
};
using side = test_side<provider_keys>;

constexpr std::uint16_t client_process = 1;
constexpr std::uint16_t server_process = 2;

void record_guards(history::recorder& reported, side& me) {
  const std::vector<std::byte> untouched(side::guard);
  reported.guard(me.net->now(), 1, untouched, const_bytes(me.memory).first(side::guard));
  reported.guard(me.net->now(), 1, untouched, const_bytes(me.memory).last(side::guard));
}

/// Regions are opened and closed; each key is recorded.
void record_keys(history::recorder& reported, side& me) {
  std::vector<std::byte> memory(64);
  reported.key_issued(me.net->now(), me.region.key);
  for (int i = 0; i < 5; ++i) {
    registration held = me.net->register_memory(memory, rights::all, 0).value();
    reported.key_issued(me.net->now(), held.key);
    me.net->deregister(held);
  }
}

void serve(side& me, history::recorder& reported, side*& server, const bool& over) {
  record_keys(reported, me);
  server = &me;
  std::size_t looked = 0;
  while (!over) {
    me.turn();
    for (; looked < me.landed.size(); ++looked) {
      const std::uint64_t n = me.landed[looked].immediate;
      reported.notified(client_process, me.net->now(), n, me.home().subspan(n * 16, 16));
    }
    loopback::sleep_for(2us);
  }
  record_guards(reported, me);
  reported.finished(me.net->now());
}

/// A wait without an event, which must end at its deadline.
void wait_in_vain(side& me, history::recorder& reported) {
  const instant until = me.net->now() + 20ms;
  const std::uint64_t id = reported.posted(history::work::wait, 0, me.net->now(), until);
  while (me.net->now() < until && me.net->wait(until)) me.turn();
  reported.ended(id, me.net->now(), errc::deadline);
}

void notify_all(side& me, history::recorder& reported, side& server) {
  for (std::size_t n = 0; n < 40; ++n) {
    const auto text = pattern(16, static_cast<unsigned>(n));
    std::copy(text.begin(), text.end(), me.staging.begin() + static_cast<std::ptrdiff_t>(n * 16));
    const std::uint64_t id =
        reported.posted(history::work::put_notify, server_process, me.net->now(), instant{}, n, text);
    ASSERT_TRUE(me.insist([&] {
      return me.net->write_immediate<post_mode::delivered>(me.link, me.staged(n * 16, 16), server.spot(n * 16), n,
                                                           reinterpret_cast<void*>(id));
    }));
  }
  // Past the end on purpose: refused, unless the planted bug skips the check.
  (void)me.insist([&] {
    return me.net->write<post_mode::unsignalled>(me.link, me.staged(0, 16), server.spot(side::region_size - 8),
                                                 nullptr);
  });
  me.idle(10ms);
  for (const auto& each : me.ended)
    if (each.context != nullptr)
      reported.ended(reinterpret_cast<std::uint64_t>(each.context), me.net->now(), each.outcome.code);
}

history::verdict judged_run(planted_bug bug, std::uint64_t seed) {
  loopback::faults trouble;
  trouble.bug = bug;
  loopback::world w(seed, trouble);
  side* server = nullptr;
  bool over = false;
  history::recorder client_events(client_process);
  history::recorder server_events(server_process);
  const auto run = converse<provider_keys>(
      w, [&](side& me) { serve(me, server_events, server, over); },
      [&](side& me) {
        while (server == nullptr) loopback::sleep_for(1us);
        notify_all(me, client_events, *server);
        wait_in_vain(me, client_events);
        client_events.finished(me.net->now());
        over = true;
      },
      5h);
  EXPECT_TRUE(run) << run.sentence;
  history::checker judge;
  judge.add(client_events.records());
  judge.add(server_events.records());
  return judge.judge();
}

TEST(planted, a_run_without_a_bug_is_clean) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const history::verdict said = judged_run(planted_bug::none, seed);
    EXPECT_TRUE(said.clean()) << said.text();
    EXPECT_GT(said.checked, 120U);
  }
}

struct canary {
  planted_bug bug;
  property named;
};

class planted_bugs : public testing::TestWithParam<canary> {};

TEST_P(planted_bugs, each_is_caught_by_its_name_and_no_other) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const history::verdict said = judged_run(GetParam().bug, seed);
    EXPECT_TRUE(said.names(GetParam().named)) << said.text();
    for (const auto& each : said.violations) EXPECT_EQ(name_of(each.which), name_of(GetParam().named)) << said.text();
  }
}

INSTANTIATE_TEST_SUITE_P(six, planted_bugs,
                         testing::Values(canary{planted_bug::lost_completion, property::lost_completion},
                                         canary{planted_bug::notification_before_bytes,
                                                property::notification_before_bytes},
                                         canary{planted_bug::double_notification, property::double_notification},
                                         canary{planted_bug::forgotten_deadline, property::forgotten_deadline},
                                         canary{planted_bug::reused_key, property::reused_key},
                                         canary{planted_bug::skipped_bound_check, property::skipped_bound_check}),
                         [](const auto& each) { return std::string(name_of(each.param.named)); });

}  // namespace
}  // namespace weft::test
