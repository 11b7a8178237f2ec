// SPDX-License-Identifier: Apache-2.0
//
// Members that come, leave, hang and come again, over a real etcd. Every wait ends when the thing happens.
#include "../../job/membership.hpp"

#include "etcd_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace weft;
using namespace weft::job_tests;
using namespace std::chrono_literals;
template <class... Each>
struct overloaded : Each... {
  using Each::operator()...;
};
template <class... Each>
overloaded(Each...) -> overloaded<Each...>;
using testing::HasSubstr;

constexpr duration generous = 30s;

class memberships : public testing::Test {
 protected:
  void SetUp() override {
    if (!shared_etcd().missing.empty()) GTEST_SKIP() << shared_etcd().missing;
    static int count = 0;
    options.store = shared_etcd().store() + "/members" + std::to_string(++count);
    options.timeout = generous;
  }
  membership joined(const std::string& name, const std::string& value = "") const {
    auto made = membership::join(options, name, value);
    EXPECT_TRUE(made) << made.error().sentence;
    return std::move(made).value();
  }
  /// Polls all until the condition holds.
  template <class Condition>
  static bool until(std::vector<membership*> all, Condition&& holds) {
    const instant end = std::chrono::steady_clock::now() + generous;
    while (!holds()) {
      if (std::chrono::steady_clock::now() >= end) return false;
      for (membership* each : all) each->poll(10ms, [](const auto&) {});
    }
    return true;
  }
  membership_options options;
};

std::vector<std::string> names(const membership& of) {
  std::vector<std::string> all;
  for (const auto& [name, each] : of.members()) all.push_back(name);
  return all;
}
using list = std::vector<std::string>;

TEST_F(memberships, see_who_comes_and_leaves) {
  membership a = joined("a", "first");
  EXPECT_TRUE(a.is_member());
  EXPECT_EQ(names(a), list{"a"});
  std::vector<std::string> seen;
  const auto note = overloaded{[&](const member_joined& e) { seen.push_back("+" + e.who.name + e.who.value); },
                               [&](const member_left& e) { seen.push_back("-" + e.who.name); }};
  {
    membership b = joined("b", " at n2");
    EXPECT_EQ(names(b), (list{"a", "b"}));
    EXPECT_GT(b.members().at("b").since, b.members().at("a").since);
    const instant end = std::chrono::steady_clock::now() + generous;
    while (seen.empty() && std::chrono::steady_clock::now() < end) a.poll(1s, note);
    EXPECT_TRUE(b.leave());
    while (seen.size() < 2 && std::chrono::steady_clock::now() < end) a.poll(1s, note);
  }
  EXPECT_EQ(seen, (list{"+b at n2", "-b"}));
  EXPECT_EQ(names(a), list{"a"});
}

TEST_F(memberships, stay_while_they_poll_and_end_when_they_hang) {
  membership a = joined("a");
  const std::uint64_t since = a.members().at("a").since;
  membership hangs = joined("hangs");
  EXPECT_GE(a.ttl(), 2s) << "etcd's least lease, with its default --election-timeout";
  ASSERT_TRUE(until({&a, &hangs}, [&] { return names(a) == list{"a", "hangs"}; }));
  EXPECT_TRUE(until({&a}, [&] { return names(a) == list{"a"}; }));
  EXPECT_TRUE(a.is_member());
  EXPECT_FALSE(hangs.is_member());
  EXPECT_TRUE(until({&a, &hangs}, [&] {
    return hangs.is_member() && names(a) == list{"a", "hangs"};
  })) << "it joins again when it polls again";
  EXPECT_EQ(a.members().at("a").since, since) << "its lease never ended";
}

TEST_F(memberships, have_one_member_of_a_name) {
  membership a = joined("a");
  options.timeout = 300ms;
  const auto second = membership::join(options, "a", "");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.why().code, errc::invalid);
  EXPECT_THAT(second.error().sentence, HasSubstr("another member has the name \"a\" at "));
}

TEST_F(memberships, can_be_observed_and_members_expelled) {
  membership a = joined("a");
  auto observer = membership::observe(options);
  ASSERT_TRUE(observer) << observer.error().sentence;
  EXPECT_EQ(names(*observer), list{"a"});
  EXPECT_FALSE(observer->is_member());
  member another_a = observer->members().at("a");
  another_a.since += 1;
  EXPECT_TRUE(observer->expel(another_a)) << "it joined again: nothing happens";
  EXPECT_EQ(names(*membership::observe(options)), list{"a"});
  EXPECT_TRUE(observer->expel(observer->members().at("a")));
  EXPECT_TRUE(until({&*observer}, [&] { return observer->members().empty(); }));
  EXPECT_TRUE(until({&a, &*observer}, [&] { return a.is_member() && names(*observer) == list{"a"}; }))
      << "it lives, so it joins again";
}

TEST_F(memberships, keep_the_list_while_etcd_is_away) {
  etcd_server own;
  ASSERT_EQ(own.missing, "");
  options.store = own.store();
  membership a = joined("a");
  membership b = joined("b");
  ASSERT_TRUE(until({&a, &b}, [&] { return a.members().contains("b"); }));
  own.stop();
  EXPECT_TRUE(until({&a, &b}, [&] { return !a.trouble().empty() && !a.is_member(); }));
  EXPECT_THAT(a.trouble(), HasSubstr("no etcd answers at "));
  EXPECT_TRUE(a.members().contains("b"));
  own.start();
  ASSERT_TRUE(until({&a, &b}, [&] { return a.is_member() && b.is_member() && a.members().size() == 2; }));
  EXPECT_EQ(a.trouble(), "");
}

TEST_F(memberships, are_observed_by_one_that_notices_an_etcd_without_a_word) {
  etcd_server own;
  ASSERT_EQ(own.missing, "");
  options.store = own.store();
  auto observer = membership::observe(options);
  ASSERT_TRUE(observer) << observer.error().sentence;
  EXPECT_TRUE(until({&*observer}, [&, end = std::chrono::steady_clock::now() + 3s] {
    return std::chrono::steady_clock::now() >= end;
  }));
  EXPECT_EQ(observer->trouble(), "") << "etcd answers";
  own.pause();  // its sockets stand
  EXPECT_TRUE(until({&*observer}, [&] { return !observer->trouble().empty(); }));
  own.resume();
  const membership a = joined("a");
  EXPECT_TRUE(until({&*observer}, [&] { return names(*observer) == list{"a"} && observer->trouble().empty(); }));
}

TEST(membership_options, wrong_ones_give_a_sentence) {
  const auto sentence = [](const membership_options& o, const std::string& name) {
    const auto made = membership::join(o, name, "");
    return made ? "no error" : made.error().sentence;
  };
  EXPECT_EQ(sentence({.store = "n1:2379"}, "a"),
            "\"n1:2379\" is no place of members: it must be etcd://host:port[,host:port][/prefix]");
  EXPECT_THAT(sentence({.store = "etcd://127.0.0.1:1"}, ""), HasSubstr("a member has a name of 1 to 96 bytes"));
  EXPECT_EQ(sentence({.store = "etcd://127.0.0.1:1", .timeout = 50ms}, "a"),
            "no etcd answers at 127.0.0.1:1 (Connection refused): weft asked for 50 ms");
}

}  // namespace
