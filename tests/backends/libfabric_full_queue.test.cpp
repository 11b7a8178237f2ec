// SPDX-License-Identifier: Apache-2.0
//
// Rows whose library overruns its queue by a write with an immediate: weft asks for the room before each such write.
// The endpoint is a table of calls of this test.
#include "libfabric_shapes.hpp"

#include <gtest/gtest.h>

namespace weft::testing {
namespace {

using namespace backends::libfabric;  // NOLINT(google-build-using-namespace): under test

struct overrunning_shape : plain_answers {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = software_facts("overrunning");
    f.full_queue = full_queue::overruns;
    return f;
  }();
};
struct refusing_shape : plain_answers {
  static constexpr fabric_facts facts = software_facts("refusing");
};

/// What the library of the test answers and saw.
ssize_t entries_left = 0;
int asked = 0, written = 0;

class library_of_test {
 public:
  library_of_test() {
    entries_left = asked = written = 0;
    calls_.tx_size_left = [](fid_ep*) {
      ++asked;
      return entries_left;
    };
    writes_.write = [](fid_ep*, const void*, size_t, void*, fi_addr_t, uint64_t, uint64_t, void*) { return take(); };
    writes_.writedata = [](fid_ep*, const void*, size_t, void*, uint64_t, fi_addr_t, uint64_t, uint64_t, void*) {
      return take();
    };
    writes_.injectdata = [](fid_ep*, const void*, size_t, uint64_t, fi_addr_t, uint64_t, uint64_t) { return take(); };
    writes_.writemsg = [](fid_ep*, const fi_msg_rma*, uint64_t) { return take(); };
    endpoint.ops = &calls_;
    endpoint.rma = &writes_;
  }
  fid_ep endpoint{};

 private:
  static ssize_t take() {
    ++written;
    return 0;
  }
  fi_ops_ep calls_{};
  fi_ops_rma writes_{};
};

/// Each way to write with an immediate; returns how many were `again`.
template <class Shape>
int refused_of_each_way(library_of_test& library) {
  post_calls<Shape> calls;
  const typename endpoints<Shape>::link to{&library.endpoint, 0, 0};
  std::byte source[8]{};
  const local_memory from{source, sizeof source, nullptr};
  const remote_memory at{0, 7};
  typename post_calls<Shape>::prepared_write prepared;
  prepared.keep(from, at, 1);
  calls.aim(to, prepared, nullptr);
  vector_of_pieces pieces(gather_list(&from, 1));
  const status all[]{
      calls.template write_immediate<post_mode::unsignalled>(to, from, at, 1, nullptr),
      calls.template write_immediate<post_mode::signalled>(to, from, at, 1, nullptr),
      calls.template write_immediate<post_mode::unsignalled, true>(to, from, at, 1, nullptr),
      calls.inject_write_immediate(to, source, at, 1),
      calls.template write_gather_immediate<post_mode::unsignalled>(to, pieces, at, 1, nullptr),
      calls.template post_prepared<true>(to, prepared),
      calls.post_last_prepared(to, prepared, true),
  };
  int again = 0;
  for (const status& s : all) again += s.is_again();
  return again;
}
constexpr int ways = 7;

TEST(libfabric_full_queue, writes_with_an_immediate_wait_for_room_where_they_overrun) {
  library_of_test library;
  EXPECT_EQ(refused_of_each_way<overrunning_shape>(library), ways);
  EXPECT_EQ(written, 0) << "the library got no write";
  entries_left = 1;
  EXPECT_EQ(refused_of_each_way<overrunning_shape>(library), 0);
  EXPECT_EQ(written, ways);
  entries_left = -FI_EOPBADSTATE;
  EXPECT_EQ(refused_of_each_way<overrunning_shape>(library), 0) << "the write itself reports the error";
}

TEST(libfabric_full_queue, other_writes_and_other_rows_ask_nothing) {
  library_of_test library;
  EXPECT_EQ(refused_of_each_way<refusing_shape>(library), 0);
  post_calls<overrunning_shape> calls;
  std::byte source[8]{};
  const local_memory from{source, sizeof source, nullptr};
  EXPECT_TRUE(calls.write<post_mode::unsignalled>({&library.endpoint, 0, 0}, from, {0, 7}, nullptr));
  EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace weft::testing
