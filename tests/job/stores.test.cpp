// SPDX-License-Identifier: Apache-2.0
#include "ranks.hpp"

#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <fstream>
#include <set>
#include <thread>

namespace {

using namespace weft;
using namespace weft::job_tests;
using testing::HasSubstr;

std::string name_of(meeting at) { return at == meeting::server ? "server" : at == meeting::folder ? "folder" : "etcd"; }
class job_stores : public testing::TestWithParam<meeting> {
 protected:
  void SetUp() override {
    if (GetParam() != meeting::etcd) return;
    if (jobs::join_in_etcd == nullptr) GTEST_SKIP() << "built without libcurl's header (Debian: libcurl4-openssl-dev)";
    if (!shared_etcd().missing.empty()) GTEST_SKIP() << shared_etcd().missing;
  }
  meeting_place place{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(each, job_stores, testing::Values(meeting::server, meeting::folder, meeting::etcd),
                         [](const auto& of) { return name_of(of.param); });

TEST_P(job_stores, exchange_values_and_keep_barriers) {
  std::atomic<int> before{0};
  place.run(5, [&](job& one) {
    const std::string bytes("\0\xff\n", 3);
    ASSERT_TRUE(one.put("address", std::to_string(one.rank()) + bytes));
    for (std::uint32_t rank = 0; rank < one.size(); ++rank) {
      const auto got = one.get(rank, "address");
      ASSERT_TRUE(got) << got.error().sentence;
      EXPECT_EQ(*got, std::to_string(rank) + bytes);
    }
    for (int round = 1; round <= 3; ++round) {
      ++before;
      ASSERT_TRUE(one.barrier());
      EXPECT_GE(before, 5 * round);
      ASSERT_TRUE(one.barrier());
    }
    EXPECT_TRUE(one.leave());
  });
}

TEST_P(job_stores, rank_0_leaves_last_so_that_late_gets_find_the_value) {
  place.run(2, [](job& one) {
    if (one.rank() == 0) {
      ASSERT_TRUE(one.put("late", "value"));
      return;
    }
    std::this_thread::sleep_for(100ms);
    EXPECT_EQ(one.get(0, "late").value(), "value");
  });
}

TEST_P(job_stores, limits_name_the_ranks_that_did_not_come) {
  auto zero = place.join(0, 4);
  ASSERT_TRUE(zero) << sentence(zero);
  auto two = place.join(2, 4);
  ASSERT_TRUE(two) << sentence(two);
  EXPECT_EQ(sentence(zero->barrier(50ms)), "ranks 1 and 3 never came: the barrier waited 50 ms");
  EXPECT_THAT(sentence(zero->get(3, "address", 50ms)), HasSubstr("rank 3 did not come in 50 ms"));
  EXPECT_THAT(sentence(zero->get(2, "address", 50ms)), HasSubstr("rank 2 put no such key in 50 ms"));
  EXPECT_EQ(zero->get(2, "address", 50ms).why().code, errc::deadline);
  auto one = place.join(1, 4);
  auto three = place.join(3, 4);
  ASSERT_TRUE(one && three);
  EXPECT_EQ(sentence(zero->barrier(50ms)), "ranks 1 to 3 did not reach the barrier in 50 ms");
}

TEST_P(job_stores, wait_without_a_limit) {
  auto zero = place.join(0, 2);
  auto one = place.join(1, 2);
  ASSERT_TRUE(zero && one);
  const std::jthread other([&] {
    std::this_thread::sleep_for(50ms);
    EXPECT_TRUE(one->put("late", "value"));
    EXPECT_TRUE(one->barrier());
  });
  const auto late = zero->get(1, "late", duration::max());
  EXPECT_TRUE(late) << sentence(late);
  const auto met = zero->barrier(duration::max());
  EXPECT_TRUE(met) << sentence(met);
}

TEST_P(job_stores, a_barrier_that_failed_can_be_entered_again) {
  auto zero = place.join(0, 2);
  auto one = place.join(1, 2);
  ASSERT_TRUE(zero && one);
  EXPECT_FALSE(zero->barrier(20ms));
  const std::jthread other([&] { EXPECT_TRUE(one->barrier()); });
  EXPECT_TRUE(zero->barrier());
}

TEST_P(job_stores, two_ranks_with_one_number_are_refused) {
  auto zero = place.join(0, 3);
  auto first = place.join(1, 3);
  ASSERT_TRUE(zero && first);
  const auto second = place.join(1, 3);
  EXPECT_THAT(sentence(second), HasSubstr("two processes have rank 1 of "));
  EXPECT_EQ(second.why().code, errc::invalid);
}

TEST_P(job_stores, ranks_of_jobs_of_other_sizes_are_refused) {
  auto zero = place.join(0, 3);
  ASSERT_TRUE(zero);
  EXPECT_THAT(sentence(place.join(2, 4)), HasSubstr("rank 2 was started for a job of 4 ranks, and rank 0 for one of"));
}

TEST_P(job_stores, values_are_put_once_and_bounded) {
  auto zero = place.join(0, 1);
  ASSERT_TRUE(zero) << sentence(zero);
  EXPECT_TRUE(zero->put("key", "value"));
  EXPECT_FALSE(zero->put("key", "value"));
  EXPECT_EQ(sentence(zero->put("", "value")), "a key of a job has 1 to 96 bytes; this one has 0");
  EXPECT_EQ(sentence(zero->put("other", std::string(64 * 1024 + 1, 'v'))),
            "a value of a job has at most 65536 bytes; this one has 65537");
  EXPECT_TRUE(zero->put(std::string(96, 'k'), std::string(64 * 1024, 'v')));
  EXPECT_EQ(zero->get(0, std::string(96, 'k'))->size(), 64U * 1024);
  EXPECT_EQ(sentence(zero->get(1, "key")), "rank 1 is not in a job of 1 ranks");
}

TEST_P(job_stores, refused_puts_take_none_of_a_ranks_bytes) {
  auto zero = place.join(0, 1);
  ASSERT_TRUE(zero) << sentence(zero);
  const std::string large(64 * 1024, 'v');
  for (char key = 'a'; key < 'a' + 15; ++key) ASSERT_TRUE(zero->put(std::string(1, key), large));
  EXPECT_FALSE(zero->put("a", "put before"));
  EXPECT_EQ(zero->put("large", large).why().code, errc::no_memory);
  const auto small = zero->put("small", std::string(32 * 1024, 'v'));
  EXPECT_TRUE(small) << sentence(small);
}

TEST(store_servers, end_waits_for_ranks_that_died) {
  const meeting_place place;
  auto zero = place.join(0, 3);
  auto one = place.join(1, 3);
  ASSERT_TRUE(zero && one);
  {
    auto dead = jobs::store_client::join({*jobs::endpoint_of(place.store())}, "test", 2, 3, 20s);
    ASSERT_TRUE(dead);
  }  // its connection ends without a goodbye
  EXPECT_EQ(sentence(zero->barrier()), "rank 2 ended before the barrier");
  EXPECT_THAT(sentence(one->get(2, "address")), HasSubstr("rank 2 ended before it put this key"));
  EXPECT_EQ(one->barrier().why().code, errc::peer_lost);
}

TEST(store_servers, that_end_are_reported) {
  const meeting_place place;
  auto listener = jobs::listening_everywhere(0, true);
  const auto at = jobs::address_of(listener.value.get());
  auto server = jobs::store_server::serve(std::move(listener.value), 2, "test").value();
  auto one = jobs::store_client::join({at}, "test", 1, 2, 20s);
  ASSERT_TRUE(one);
  server->stop();
  server.reset();
  EXPECT_THAT(sentence(one->put("key", "value", 20s)), HasSubstr("ended: rank 0, which serves it, is gone"));
  EXPECT_THAT(sentence(one->put("key", "value", 20s)), HasSubstr("is no longer connected"));
}

TEST(store_servers, rest_while_they_lack_descriptors) {
  auto listener = jobs::listening_everywhere(0, true);
  const auto at = jobs::address_of(listener.value.get());
  const auto server = jobs::store_server::serve(std::move(listener.value), 2, "test").value();
  jobs::owned_descriptor caller(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  const int next = ::dup(caller.get());
  ::close(next);
  const rlimit none{static_cast<rlim_t>(next), usual.rlim_max};  // not 0, because poll() heeds it too
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(at.port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int connected = ::connect(caller.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(2s);
  const double used = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  ::setrlimit(RLIMIT_NOFILE, &usual);
  ASSERT_EQ(connected, 0);
  EXPECT_LT(used, 0.05) << "seconds of a processor; the server looks 50 times a second";
  EXPECT_TRUE(jobs::store_client::join({at}, "test", 1, 2, 20s)) << "it serves as soon as it has descriptors";
}

TEST(store_servers, of_other_jobs_are_passed_over) {
  auto other = jobs::listening_everywhere(0, true);
  auto own = jobs::listening_everywhere(0, true);
  const std::vector<jobs::endpoint> stores{jobs::address_of(other.value.get()), jobs::address_of(own.value.get())};
  const auto first = jobs::store_server::serve(std::move(other.value), 2, "other job").value();
  EXPECT_THAT(sentence(jobs::store_client::join({stores[0]}, "this job", 1, 2, 50ms)),
              HasSubstr("another job has its store there"));
  const auto second = jobs::store_server::serve(std::move(own.value), 2, "this job").value();
  const auto one = jobs::store_client::join(stores, "this job", 1, 2, 20s);
  ASSERT_TRUE(one) << sentence(one);
  EXPECT_EQ(one->store(), stores[1]);
}

TEST(store_servers, that_nobody_serves_are_named) {
  std::string store;
  {
    const meeting_place gone;
    store = gone.store();
  }
  const auto one = join_job({.timeout = 50ms}, reader({{"WEFT_RANK", "1"}, {"WEFT_SIZE", "2"}, {"WEFT_STORE", store}}));
  EXPECT_EQ(sentence(one),
            "rank 1 waited 50 ms for the store of rank 0: no store answers at " + store + " (Connection refused)");
  EXPECT_EQ(one.why().code, errc::unreachable);
}

TEST(store_servers, need_a_free_port) {
  const meeting_place taken;
  variables set = taken.of(0, 2);
  set.erase("WEFT_STORE_FD");
  EXPECT_EQ(sentence(join_job({.timeout = 50ms}, reader(set))),
            "rank 0 cannot serve the store at " + taken.store() +
                " (Address already in use: another program, or another rank 0, listens there)");
}

TEST(limits, of_the_environment_stand_before_those_of_the_program) {
  const auto late = join_job(
      {}, reader({{"WEFT_RANK", "1"}, {"WEFT_SIZE", "2"}, {"WEFT_STORE", "127.0.0.1:1"}, {"WEFT_TIMEOUT", "1"}}));
  EXPECT_EQ(sentence(late),
            "rank 1 waited 1 s for the store of rank 0: no store answers at 127.0.0.1:1 (Connection refused)");
  for (const char* wrong : {"", "0", "-1", "1.5", "86401"})
    EXPECT_THAT(sentence(join_job({}, reader({{"WEFT_TIMEOUT", wrong}}))),
                HasSubstr("it is a number of seconds from 1 to 86400"));
}

TEST(folder_stores, of_an_earlier_run_disturb_no_run_with_another_name) {
  const meeting_place place(meeting::folder);
  { auto earlier = place.join(0, 2, 50ms); }  // rank 1 never comes, so the folder stays
  EXPECT_FALSE(std::filesystem::is_empty(place.folder()));
  EXPECT_THAT(sentence(place.join(0, 2)), HasSubstr("or an earlier run had the same WEFT_JOB"));
  variables set = place.of(0, 1);
  set["WEFT_JOB"] = "slurm-42.0";
  {
    auto next = join_job({}, reader(set));
    EXPECT_TRUE(next) << sentence(next);
  }
  EXPECT_FALSE(std::filesystem::exists(place.folder() + "/slurm-42.0")) << "the last rank removes the folder";
}

TEST(folder_stores, leave_what_is_not_of_the_job) {
  const meeting_place place(meeting::folder);
  const std::string folder = place.folder() + "/" + place.name();
  std::filesystem::create_directory(folder);
  const std::vector<std::string> theirs{"thesis.tex", "value-added", "rank-1-of-2", "left-over", "draft-2"};
  for (const std::string& each : theirs) std::ofstream(folder + "/" + each) << "mine";
  {
    auto zero = place.join(0, 1);
    ASSERT_TRUE(zero) << sentence(zero);
    EXPECT_TRUE(zero->put("key", "value"));
    EXPECT_TRUE(zero->barrier());
  }
  std::set<std::string> left;
  for (const auto& each : std::filesystem::directory_iterator(folder)) left.insert(each.path().filename());
  EXPECT_EQ(left, std::set<std::string>(theirs.begin(), theirs.end()));
}

TEST(folder_stores, follow_no_link) {
  const meeting_place place(meeting::folder), other(meeting::folder);
  std::filesystem::create_symlink(other.folder(), place.folder() + "/" + place.name());
  EXPECT_EQ(sentence(place.join(0, 1)), "the store's folder " + place.folder() + "/" + place.name() + " is no folder");
  EXPECT_TRUE(std::filesystem::is_empty(other.folder()));
}

TEST(folder_stores, say_why_a_disk_takes_only_a_part) {
  const meeting_place place(meeting::folder);
  auto zero = place.join(0, 1);
  ASSERT_TRUE(zero) << sentence(zero);
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
  const rlimit little{1000, usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  errno = EEXIST;  // of an earlier call
  const auto put = zero->put("key", std::string(4000, 'v'));
  ::setrlimit(RLIMIT_FSIZE, &usual);
  std::signal(SIGXFSZ, before);
  EXPECT_THAT(sentence(put), HasSubstr("File too large"));
  EXPECT_TRUE(zero->put("key", std::string(4000, 'v'))) << "the part is gone";
}

TEST(folder_stores, need_a_name_of_the_run_and_rank_0) {
  const meeting_place place(meeting::folder);
  for (const char* wrong : {"", "..", ".a", "a/b", "a b"}) {
    variables set = place.of(0, 1);
    set["WEFT_JOB"] = wrong;
    EXPECT_THAT(sentence(join_job({}, reader(set))), HasSubstr("a store in a folder needs a new name for each run"));
  }
  EXPECT_THAT(sentence(place.join(1, 2, 50ms)), HasSubstr("rank 0 did not come to "));
  variables set = place.of(0, 1);
  set["WEFT_STORE"] = "file:/nowhere/at/all";
  EXPECT_EQ(sentence(join_job({}, reader(set))),
            "the store's folder /nowhere/at/all/test cannot be made: No such file or directory");
}

TEST(jobs_alone, have_one_rank) {
  auto alone = join_job({}, reader({}));
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->rank(), 0U);
  EXPECT_EQ(alone->size(), 1U);
  EXPECT_EQ(alone->host(), "127.0.0.1");
  EXPECT_TRUE(alone->put("key", "value"));
  EXPECT_EQ(alone->get(0, "key").value(), "value");
  EXPECT_EQ(sentence(alone->get(0, "other")), "rank 0 is alone, and put no \"other\"");
  EXPECT_TRUE(alone->barrier());
  EXPECT_THAT(sentence(join_job({.least_size = 2}, reader({}))),
              HasSubstr("this program needs 2 ranks, and the job has 1 (no launcher"));
}

}  // namespace
