// SPDX-License-Identifier: Apache-2.0
//
// Ranks of a job as threads of one test: each has variables of its own, and the store is at a free port or in a folder.
// Hot path: no. Threads: one per rank.
#pragma once

#include "../../job/job.hpp"
#include "etcd_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <thread>

namespace weft::job_tests {

using namespace std::chrono_literals;
using variables = std::map<std::string, std::string>;

inline jobs::environment reader(variables set) {
  return [set = std::move(set)](const char* name) {
    const auto each = set.find(name);
    return each == set.end() ? nullptr : each->second.c_str();
  };
}

enum class meeting : std::uint8_t { server, folder, etcd };

/// Where the ranks of one test meet.
class meeting_place {
 public:
  /// Requires of etcd: shared_etcd() answers.
  explicit meeting_place(meeting at = meeting::server) {
    if (at == meeting::etcd) {
      static int count = 0;
      store_ = shared_etcd().store();
      name_ = "test" + std::to_string(++count);  // the server is the same for all tests
      return;
    }
    if (at == meeting::server) {
      listener_ = jobs::listening_everywhere(0, true).value;
      store_ = in_words(jobs::address_of(listener_.get()));
      return;
    }
    char name[] = "/tmp/weft-job-XXXXXX";
    folder_ = ::mkdtemp(name);
    store_ = "file:" + folder_;
  }
  meeting_place(const meeting_place&) = delete;
  meeting_place& operator=(const meeting_place&) = delete;
  ~meeting_place() {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  const std::string& folder() const { return folder_; }
  const std::string& store() const { return store_; }
  const std::string& name() const { return name_; }

  variables of(std::uint32_t rank, std::uint32_t size) const {
    variables set{{"WEFT_RANK", std::to_string(rank)},
                  {"WEFT_SIZE", std::to_string(size)},
                  {"WEFT_STORE", store_},
                  {"WEFT_JOB", name_}};
    if (listener_ && rank == 0) set["WEFT_STORE_FD"] = std::to_string(listener_.get());
    return set;
  }
  /// Joins as `rank`. Waits at most `timeout` in each call. At its end rank 0 waits for ranks that never come.
  result<job> join(std::uint32_t rank, std::uint32_t size, duration timeout = 20s, duration leave = 50ms) const {
    return join_job({.timeout = timeout, .leave_timeout = leave}, reader(of(rank, size)));
  }
  /// Runs `body(job)` for each rank of a job.
  void run(std::uint32_t size, const std::function<void(job&)>& body) const {
    std::vector<std::jthread> ranks;
    for (std::uint32_t rank = 0; rank < size; ++rank)
      ranks.emplace_back([this, rank, size, &body] {
        auto one = join(rank, size, 20s, 20s);
        if (!one) ADD_FAILURE() << one.error().sentence;
        else body(*one);
      });
  }

 private:
  jobs::owned_descriptor listener_;
  std::string folder_;
  std::string store_;
  std::string name_ = "test";
};

template <class Result>
std::string sentence(const Result& of) {
  return of ? "no error" : of.error().sentence;
}

}  // namespace weft::job_tests
