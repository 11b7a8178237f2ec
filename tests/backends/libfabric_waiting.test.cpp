// SPDX-License-Identifier: Apache-2.0
//
// The sleep of the libfabric backend. Fabric fact: a library may hold an event that no descriptor shows, because it
// read the socket before; fi_trywait alone says so (fi_poll(3)). The library is a table of calls of this test. No limit
// of a sleep decides a test: a sleep that should not begin would end with the error `deadline`.
#include "../../backends/libfabric/waiting.hpp"
#include "../../core/describe.hpp"
#include "libfabric_shapes.hpp"

#include <gtest/gtest.h>

#include <sys/eventfd.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace weft::testing {
namespace {

using namespace std::chrono_literals;
using namespace backends::libfabric;  // NOLINT(google-build-using-namespace): under test

/// The library has threads, so one sleep lasts until the limit of the caller.
struct threaded_shape : plain_answers {
  static constexpr std::string_view name = "threaded";
  static constexpr fabric_facts facts = [] {
    fabric_facts f = software_facts("threaded");
    f.data_progress = data_progress::thread;
    return f;
  }();
};
/// Its timers run only inside of polls.
struct polled_shape : plain_answers {
  static constexpr std::string_view name = "polled";
  static constexpr fabric_facts facts = software_facts("polled");
};
struct two_queued_shape : threaded_shape {
  static constexpr bool two_queues = true;
};

/// State of the library of the test.
int answer = 0;                   ///< Of fi_trywait.
std::vector<fid*> armed;          ///< The objects of all calls of fi_trywait.
std::map<fid*, int> descriptors;  ///< Of each object.

class library_of_test {
 public:
  library_of_test() {
    answer = 0;
    armed.clear();
    objects_.size = sizeof objects_;
    objects_.control = [](fid* of, int command, void* descriptor) {
      if (command != FI_GETWAIT) return -FI_ENOSYS;
      *static_cast<int*>(descriptor) = descriptors.at(of);
      return 0;
    };
    calls_.size = sizeof calls_;
    calls_.trywait = [](fid_fabric*, fid** all, int count) {
      armed.insert(armed.end(), all, all + count);
      return answer;
    };
    fabric.ops = &calls_;
    for (fid* each : {&receive_cq.fid, &transmit_cq.fid, &events.fid}) {
      each->ops = &objects_;
      descriptors[each] = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    }
  }
  ~library_of_test() {
    for (const auto& [of, descriptor] : std::exchange(descriptors, {})) ::close(descriptor);
  }
  library_of_test(const library_of_test&) = delete;
  library_of_test& operator=(const library_of_test&) = delete;

  void show_an_event() { EXPECT_EQ(::eventfd_write(descriptors.at(&receive_cq.fid), 1), 0); }

  template <class Shape>
  waiting<Shape> open() {
    port_options options;
    options.sleeps = true;
    return waiting<Shape>::open(&fabric, {&receive_cq, &transmit_cq}, &events, options).value();
  }

  fid_fabric fabric{};
  fid_cq receive_cq{}, transmit_cq{};
  fid_eq events{};

 private:
  fi_ops objects_{};
  fi_ops_fabric calls_{};
};

instant in(duration span) { return std::chrono::steady_clock::now() + span; }

TEST(libfabric_waiting, a_queued_event_that_no_descriptor_shows_prevents_the_sleep) {
  library_of_test library;
  auto owner = library.open<threaded_shape>();
  answer = -FI_EAGAIN;
  EXPECT_TRUE(owner.wait(in(20s))) << "the owner slept until its limit, and an event was in the queue";
  EXPECT_EQ(armed.size(), 2U);
}

TEST(libfabric_waiting, each_sleep_arms_all_queues_before) {
  library_of_test library;
  library.show_an_event();
  auto one = library.open<threaded_shape>();
  EXPECT_TRUE(one.wait(in(20s)));
  EXPECT_EQ(armed, (std::vector<fid*>{&library.receive_cq.fid, &library.events.fid}));
  armed.clear();
  auto two = library.open<two_queued_shape>();
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(two.wait(in(20s)));
  EXPECT_EQ(armed.size(), 6U) << "three objects, before each of two sleeps";
  EXPECT_EQ(std::count(armed.begin(), armed.end(), &library.transmit_cq.fid), 2);
}

TEST(libfabric_waiting, an_event_of_a_descriptor_ends_the_sleep) {
  library_of_test library;
  auto owner = library.open<threaded_shape>();
  library.show_an_event();
  EXPECT_TRUE(owner.wait(in(20s))) << "the event did not end the sleep";
}

TEST(libfabric_waiting, a_library_that_cannot_be_armed_is_an_error) {
  library_of_test library;
  auto owner = library.open<threaded_shape>();
  answer = -FI_EINVAL;
  const status said = owner.wait(in(20s));
  EXPECT_FALSE(said);
  EXPECT_NE(said.code, errc::deadline) << describe(said);
}

TEST(libfabric_waiting, a_sleep_without_an_event_lasts_until_its_limit) {
  library_of_test library;
  auto owner = library.open<threaded_shape>();
  const instant end = in(30ms);
  EXPECT_EQ(owner.wait(end).code, errc::deadline);
  EXPECT_GE(std::chrono::steady_clock::now(), end) << "the sleep ended early";
}

TEST(libfabric_waiting, a_library_that_works_in_polls_alone_is_polled_again_before_a_late_limit) {
  library_of_test library;
  auto owner = library.open<polled_shape>();
  EXPECT_TRUE(owner.wait(in(20s))) << "the owner slept until its limit, and the library's timers did not run";
}

}  // namespace
}  // namespace weft::testing
