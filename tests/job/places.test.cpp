// SPDX-License-Identifier: Apache-2.0
#include "../../job/place.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace {

using namespace weft;
using namespace weft::jobs;
using testing::HasSubstr;

using variables = std::map<std::string, std::string>;

result<place> found(const variables& set, bool has_pmix = true) {
  return find_place(
      [&set](const char* name) {
        const auto each = set.find(name);
        return each == set.end() ? nullptr : each->second.c_str();
      },
      has_pmix);
}
std::string sentence(const variables& set, bool has_pmix = true) {
  const auto place = found(set, has_pmix);
  return place ? "found: " + place->reason : place.error().sentence;
}
variables with(variables all, const std::string& name, const std::string& value) {
  all[name] = value;
  return all;
}

const variables weft_set{{"WEFT_RANK", "1"}, {"WEFT_SIZE", "4"}, {"WEFT_STORE", "n1:7470"}, {"WEFT_JOB", "run7"}};
const variables pmix_set{{"PMIX_NAMESPACE", "12"}, {"PMIX_RANK", "0"}};
const variables slurm_set{{"SLURM_PROCID", "3"},
                          {"SLURM_STEP_ID", "0"},
                          {"SLURM_STEP_NUM_TASKS", "8"},
                          {"SLURM_JOB_ID", "42"},
                          {"SLURM_STEP_NODELIST", "n[03-05,9],m1"}};
const variables torchrun_set{{"RANK", "2"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "n1"}, {"MASTER_PORT", "29500"}};
const variables pod_set{{"JOB_COMPLETION_INDEX", "2"}, {"WEFT_SIZE", "3"}, {"WEFT_STORE", "app-0.app:7470"}};

TEST(places, without_a_launcher_a_process_is_alone) {
  const auto place = found({});
  ASSERT_TRUE(place);
  EXPECT_EQ(place->by, way::alone);
  EXPECT_EQ(place->size, 1U);
  EXPECT_THAT(place->reason, HasSubstr("no launcher"));
}

TEST(places, each_launcher_is_found_by_its_variables) {
  const auto weft = found(weft_set);
  ASSERT_TRUE(weft) << weft.error().sentence;
  EXPECT_EQ(weft->rank, 1U);
  EXPECT_EQ(weft->size, 4U);
  EXPECT_EQ(weft->job, "run7");
  EXPECT_EQ(weft->stores, (std::vector<endpoint>{{"n1", 7470}}));
  EXPECT_EQ(found(pmix_set)->by, way::pmix);

  const auto slurm = found(slurm_set);
  ASSERT_TRUE(slurm) << slurm.error().sentence;
  EXPECT_EQ(slurm->rank, 3U);
  EXPECT_EQ(slurm->size, 8U);
  EXPECT_EQ(slurm->job, "slurm-42.0");
  EXPECT_EQ(slurm->stores.size(), 16U);
  EXPECT_EQ(slurm->stores.front().host, "n03");

  const auto torchrun = found(torchrun_set);
  ASSERT_TRUE(torchrun) << torchrun.error().sentence;
  EXPECT_EQ(torchrun->rank, 2U);
  EXPECT_EQ(torchrun->stores.front(), (endpoint{"n1", 29501})) << "MASTER_PORT belongs to torchrun";

  const auto pod = found(pod_set);
  ASSERT_TRUE(pod) << pod.error().sentence;
  EXPECT_EQ(pod->rank, 2U);
  EXPECT_EQ(pod->size, 3U);
  EXPECT_EQ(pod->stores.front().host, "app-0.app");
}

TEST(places, a_pod_of_a_stateful_set_takes_its_number_from_its_name) {
  const auto pod = found({{"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
                          {"HOSTNAME", "app-worker-1"},
                          {"WEFT_SIZE", "3"},
                          {"WEFT_STORE", "app-worker-0.app:7470"}});
  ASSERT_TRUE(pod) << pod.error().sentence;
  EXPECT_EQ(pod->rank, 1U);
}

TEST(places, the_first_launcher_of_the_order_wins) {
  variables all = pod_set;
  all.insert(torchrun_set.begin(), torchrun_set.end());
  EXPECT_THAT(found(all)->reason, HasSubstr("torchrun"));
  all.insert(slurm_set.begin(), slurm_set.end());
  EXPECT_THAT(found(all)->reason, HasSubstr("Slurm"));
  all.insert(pmix_set.begin(), pmix_set.end());
  EXPECT_EQ(found(all)->by, way::pmix);
  EXPECT_THAT(found(all, false)->reason, HasSubstr("Slurm")) << "built without PMIx";
  all.insert(weft_set.begin(), weft_set.end());
  EXPECT_THAT(found(all)->reason, HasSubstr("WEFT_RANK"));
}

TEST(places, a_store_of_the_user_stands_before_the_launchers_own) {
  EXPECT_EQ(found(with(slurm_set, "WEFT_STORE", "n9:7470"))->stores, (std::vector<endpoint>{{"n9", 7470}}));
  const auto folder = found(with(torchrun_set, "WEFT_STORE", "file:/shared/weft"));
  ASSERT_TRUE(folder);
  EXPECT_EQ(folder->by, way::folder);
  EXPECT_EQ(folder->folder, "/shared/weft");
}

TEST(places, an_etcd_has_hosts_and_a_prefix) {
  const auto etcd = found(with(slurm_set, "WEFT_STORE", "etcd://n1:2379,[::1]:2380/jobs/mine"));
  ASSERT_TRUE(etcd) << etcd.error().sentence;
  EXPECT_EQ(etcd->by, way::etcd);
  EXPECT_EQ(etcd->etcd.hosts, (std::vector<endpoint>{{"n1", 2379}, {"::1", 2380}}));
  EXPECT_EQ(etcd->etcd.prefix, "jobs/mine");
  EXPECT_EQ(in_words(etcd->etcd), "etcd://n1:2379,[::1]:2380/jobs/mine");
  EXPECT_EQ(in_words(found(with(weft_set, "WEFT_STORE", "etcd://n1:2379"))->etcd), "etcd://n1:2379/weft");
}

TEST(places, a_batch_script_of_slurm_is_no_step) { EXPECT_EQ(found({{"SLURM_PROCID", "0"}})->by, way::alone); }

TEST(places, wrong_variables_give_a_sentence) {
  EXPECT_EQ(sentence(with(weft_set, "WEFT_SIZE", "0")),
            "WEFT_SIZE is \"0\": the size of a job is a number from 1 to 65536");
  EXPECT_EQ(sentence(with(weft_set, "WEFT_SIZE", "many")),
            "WEFT_SIZE is \"many\": the size of a job is a number from 1 to 65536");
  EXPECT_EQ(sentence(with(weft_set, "WEFT_RANK", "4")),
            "WEFT_RANK is \"4\": a rank of a job of 4 is a number from 0 to 3");
  EXPECT_EQ(sentence(with(weft_set, "WEFT_RANK", "-1")),
            "WEFT_RANK is \"-1\": a rank of a job of 4 is a number from 0 to 3");
  const std::string forms = "it must be host:port, file:FOLDER or etcd://host:port/prefix";
  EXPECT_EQ(sentence(with(weft_set, "WEFT_STORE", "n1")), "WEFT_STORE is \"n1\": " + forms);
  EXPECT_EQ(sentence(with(weft_set, "WEFT_STORE", "n1:0")), "WEFT_STORE is \"n1:0\": " + forms);
  for (const std::string wrong : {"etcd://", "etcd://n1", "etcd://n1:2379/", "etcd://n1:2379,/weft", "etcd://n1:1/a b",
                                  "etcd://n1:2379/weft/", "etcd://n1:2379//weft"})
    EXPECT_EQ(sentence(with(weft_set, "WEFT_STORE", wrong)),
              "WEFT_STORE is \"" + wrong + "\": it must be etcd://host:port[,host:port][/prefix]");
  EXPECT_EQ(sentence(with(weft_set, "WEFT_STORE", "file:")),
            "WEFT_STORE is \"file:\": it needs a folder, as in file:/shared/weft");
  EXPECT_EQ(sentence({{"WEFT_RANK", "0"}, {"WEFT_SIZE", "2"}}),
            "WEFT_RANK and WEFT_SIZE are set, and WEFT_STORE is not: " + forms);
  EXPECT_EQ(sentence({{"WEFT_SIZE", "2"}}), "WEFT_SIZE is set, and WEFT_RANK is not: each process needs its rank");
  EXPECT_EQ(sentence(with(with(weft_set, "WEFT_RANK", "0"), "WEFT_STORE_FD", "0x1")),
            "WEFT_STORE_FD is \"0x1\": that is no listening socket");
  EXPECT_EQ(sentence(with(torchrun_set, "MASTER_PORT", "port")),
            "MASTER_ADDR is \"n1\" and MASTER_PORT is \"port\": they must be a host and a port from 1024 to 65535");
  EXPECT_THAT(sentence(with(slurm_set, "SLURM_STEP_NODELIST", "n[1")), HasSubstr("set WEFT_STORE to host:port"));
  EXPECT_THAT(sentence({{"JOB_COMPLETION_INDEX", "0"}, {"WEFT_SIZE", "2"}}), HasSubstr("WEFT_STORE is not set"));
  EXPECT_THAT(sentence(pmix_set, false), HasSubstr("built without it: install libpmix-dev"));
}

TEST(places, slurms_lists_of_nodes_begin_with_a_host) {
  EXPECT_EQ(jobs::detail::first_host("n1"), "n1");
  EXPECT_EQ(jobs::detail::first_host("n1,n2"), "n1");
  EXPECT_EQ(jobs::detail::first_host("n[1-2]"), "n1");
  EXPECT_EQ(jobs::detail::first_host("rack[07,9-12]-ib,m1"), "rack07-ib");
  EXPECT_EQ(jobs::detail::first_host("n["), "");
}

TEST(places, ports_after_the_last_one_begin_again) {
  const auto place = found(with(torchrun_set, "MASTER_PORT", "65534"));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->stores[0].port, 65535);
  EXPECT_EQ(place->stores[1].port, 1024);
}

TEST(places, endpoints_have_a_host_and_a_port) {
  EXPECT_EQ(endpoint_of("[::1]:7470"), (endpoint{"::1", 7470}));
  EXPECT_EQ(in_words(endpoint{"::1", 7470}), "[::1]:7470");
  for (const char* wrong : {"", ":7470", "n1:", "n1:65536", "n1:74 70", "::1:7470", "[]:7470", "n1:+7"})
    EXPECT_FALSE(endpoint_of(wrong)) << wrong;
}

}  // namespace
