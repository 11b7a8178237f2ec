// SPDX-License-Identifier: Apache-2.0
//
// What only a job in etcd does: its JSON, programs that are no etcd, an etcd that goes and comes again. The promises
// that it shares with other stores are in stores.test.cpp; this unit brings the backend for them.
#include "../../job/etcd.hpp"

#include "etcd_server.hpp"
#include "ranks.hpp"

#include <atomic>
#include <thread>

namespace {

using namespace weft;
using namespace weft::job_tests;
using namespace weft::jobs::etcd;
using testing::HasSubstr;

TEST(etcd_json, keys_and_values_are_base64) {
  for (const auto& [text, written] : std::map<std::string, std::string>{
           {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xff\xfe\xfb", "//77"}}) {
    EXPECT_EQ(base64(text), written);
    EXPECT_EQ(from_base64(written), text);
  }
  for (const char* wrong : {"Zg=", "Z", "Zg==Zg==", "Z===", "====", "Zm9!"}) EXPECT_FALSE(from_base64(wrong)) << wrong;
}

TEST(etcd_json, numbers_are_texts_and_other_types_are_nothing) {
  EXPECT_EQ(number(json("18446744073709551615")), ~std::uint64_t{0});
  EXPECT_EQ(number(json(7U)), 7U);
  for (const json& wrong : {json("-1"), json("7 "), json(""), json(-7), json(true), json(nullptr), json::array()})
    EXPECT_EQ(number(wrong), 0U) << wrong;
  EXPECT_TRUE(entries_of(json::parse(R"({"kvs":[3,{"key":7}]})")).at(1).key.empty());
  EXPECT_TRUE(entries_of(json::parse(R"({"kvs":{"key":"YQ=="}})")).empty());
  EXPECT_FALSE(held_instead(json::parse(R"({"responses":[{"response_range":3}]})")));
}

TEST(etcd_json, a_line_of_a_watch_has_changes) {
  const auto line = watched_of(
      R"({"result":{"header":{"revision":"9"},"events":[{"kv":{"key":"YQ==","value":"dg==","create_revision":"8",)"
      R"("mod_revision":"8"}},{"type":"DELETE","kv":{"key":"YQ==","mod_revision":"9"}}]}})");
  ASSERT_TRUE(line.good);
  ASSERT_EQ(line.changes.size(), 2U);
  EXPECT_EQ(line.changes[0].of.value, "v");
  EXPECT_FALSE(line.changes[0].removed);
  EXPECT_TRUE(line.changes[1].removed);
  EXPECT_EQ(line.changes[1].revision, 9U);
  for (const char* over : {"", "{", "[]", R"({"error":{"message":"no"}})", R"({"result":{"canceled":true}})"})
    EXPECT_FALSE(watched_of(over).good) << over;
}

/// Answers each request at a port with the same bytes, until the test ends.
class other_program {
 public:
  explicit other_program(std::string answer) : answer_(std::move(answer)) {
    store_ = "etcd://" + in_words(jobs::address_of(listener_.get()));
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        if (jobs::wait_for(listener_.get(), POLLIN, std::chrono::steady_clock::now() + 20ms) != 0) continue;
        const jobs::owned_descriptor one(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        char some[4096];
        (void)!::recv(one.get(), some, sizeof some, 0);
        (void)!::send(one.get(), answer_.data(), answer_.size(), MSG_NOSIGNAL);
      }
    });
  }
  variables of(std::uint32_t rank) const {
    return {{"WEFT_RANK", std::to_string(rank)}, {"WEFT_SIZE", "2"}, {"WEFT_STORE", store_}, {"WEFT_JOB", "test"}};
  }

 private:
  jobs::owned_descriptor listener_ = jobs::listening_everywhere(0, true).value;
  std::string answer_, store_;
  std::jthread thread_;
};
std::string http(const std::string& body, const std::string& status = "200 OK") {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST(etcd_stores, refuse_what_is_no_etcd) {
  for (const auto& [answer, said] : std::map<std::string, std::string>{
           {"", "no etcd answers at "},
           {"SSH-2.0-OpenSSH\r\n", "no etcd answers at "},
           {http("Not Found\n", "404 Not Found"), "is no etcd, or one before 3.4 (HTTP 404)"},
           {http("<html>"), "is no etcd, or one before 3.4 (HTTP 200)"},
           {http("[]"), "is no etcd, or one before 3.4"},
           {http("{}"), "gives no lease"},
           {http(R"({"ID":{}})"), "gives no lease"},
           {http(R"({"error":"no\u001b[31m space","code":8})", "500 Error"), "refuses: no?[31m space"},
           {http(R"({"error":"etcdserver: no leader","code":14})", "503 Service Unavailable"),
            "refuses: etcdserver"}}) {
    const other_program stranger(answer);
    // Some answers end the call, and others are asked for again until the time is over. A busy machine needs more time.
    std::string heard;
    for (const duration patience : {duration(500ms), duration(4s), duration(20s)})
      if ((heard = sentence(join_job({.timeout = patience}, reader(stranger.of(1))))).find(said) != std::string::npos)
        break;
    EXPECT_THAT(heard, HasSubstr(said)) << answer;
  }
}

TEST(etcd_stores, need_the_include_in_one_unit) {
  const auto brought = std::exchange(jobs::join_in_etcd, nullptr);
  const auto one = join_job({}, reader({{"WEFT_RANK", "1"}, {"WEFT_SIZE", "2"}, {"WEFT_STORE", "etcd://n1:2379"}}));
  EXPECT_EQ(sentence(one), "WEFT_STORE is \"etcd://n1:2379/weft\", and this program was built without etcd: include " +
                               std::string("weft/job/etcd.hpp in it, and link weft::etcd"));
  jobs::join_in_etcd = brought;
}

TEST(etcd_stores, that_nobody_serves_are_named) {
  const auto one = join_job(
      {.timeout = 50ms},
      reader({{"WEFT_RANK", "1"}, {"WEFT_SIZE", "2"}, {"WEFT_JOB", "test"}, {"WEFT_STORE", "etcd://127.0.0.1:1"}}));
  EXPECT_THAT(sentence(one), HasSubstr("rank 1 of a job in etcd: no etcd answers at 127.0.0.1:1 (Connection refused)"));
  EXPECT_EQ(one.why().code, errc::unreachable);
}

class etcd_jobs : public testing::Test {
 protected:
  void SetUp() override {
    if (!shared_etcd().missing.empty()) GTEST_SKIP() << shared_etcd().missing;
  }
};

TEST_F(etcd_jobs, need_a_name_of_the_run_and_rank_0) {
  const meeting_place place(meeting::etcd);
  for (const char* wrong : {"", "a/b", "a b"}) {
    variables set = place.of(0, 1);
    set["WEFT_JOB"] = wrong;
    EXPECT_THAT(sentence(join_job({}, reader(set))), HasSubstr("a store in etcd needs a new name for each run"));
  }
  EXPECT_THAT(sentence(place.join(1, 2, 2s)), HasSubstr("rank 0 did not come to the job "));
}

TEST_F(etcd_jobs, leave_no_key) {
  const meeting_place place(meeting::etcd);
  place.run(3, [](job& one) {
    ASSERT_TRUE(one.put("key", "value"));
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(one.barrier());
  });
  auto net = gateway::open({{shared_etcd().at()}, "weft"}).value();
  const auto left =
      net.ask("kv/range", all_with("weft/jobs/" + place.name() + "/"), std::chrono::steady_clock::now() + 20s);
  ASSERT_TRUE(left) << sentence(left);
  EXPECT_TRUE(entries_of(*left).empty()) << left->dump();
}

TEST_F(etcd_jobs, forget_barriers_that_all_have_passed) {
  const meeting_place place(meeting::etcd);
  auto zero = place.join(0, 1);
  ASSERT_TRUE(zero) << sentence(zero);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(zero->barrier());
  auto net = gateway::open({{shared_etcd().at()}, "weft"}).value();
  const auto left =
      net.ask("kv/range", all_with("weft/jobs/" + place.name() + "/barrier/"), std::chrono::steady_clock::now() + 20s);
  ASSERT_TRUE(left) << sentence(left);
  EXPECT_EQ(entries_of(*left).size(), 2U);
}

TEST_F(etcd_jobs, take_the_next_host_and_survive_an_etcd_that_comes_again) {
  etcd_server own;
  ASSERT_EQ(own.missing, "");
  const variables set{{"WEFT_RANK", "0"},
                      {"WEFT_SIZE", "1"},
                      {"WEFT_JOB", "test"},
                      {"WEFT_STORE", "etcd://127.0.0.1:1," + in_words(own.at()) + "/own"}};
  auto zero = join_job({.timeout = 20s}, reader(set));
  ASSERT_TRUE(zero) << sentence(zero);
  EXPECT_EQ(zero->host(), "127.0.0.1");
  EXPECT_THAT(zero->reason(), HasSubstr("store at etcd://127.0.0.1:1,"));
  own.stop();
  EXPECT_EQ(zero->get(0, "key", 50ms).why().code, errc::unreachable);
  {
    const std::jthread asks([&] {
      const auto put = zero->put("key", "value");
      EXPECT_TRUE(put) << sentence(put);
    });
    own.start();
  }
  EXPECT_EQ(zero->get(0, "key").value(), "value");
}

}  // namespace
