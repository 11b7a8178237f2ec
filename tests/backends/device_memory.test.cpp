// SPDX-License-Identifier: Apache-2.0
//
// The request for device memory to the library, without any device: only the attributes of the registration.
#include "../../backends/libfabric/device_memory.hpp"

#include <gtest/gtest.h>

namespace weft::backends::libfabric {
namespace {

std::byte anywhere[64];

TEST(device_memory, cuda_memory_is_described_by_interface_and_ordinal) {
  device_request r;
  EXPECT_EQ(describe(device_memory::of(cuda_memory{anywhere, 64, 3}), FI_REMOTE_WRITE, 17, r), "");
  EXPECT_EQ(r.attr.iface, FI_HMEM_CUDA);
  EXPECT_EQ(r.attr.device.cuda, 3);
  EXPECT_EQ(r.attr.iov_count, 1U);
  ASSERT_EQ(r.attr.mr_iov, &r.place);
  EXPECT_EQ(r.place.iov_base, anywhere);
  EXPECT_EQ(r.place.iov_len, 64U);
  EXPECT_EQ(r.attr.access, FI_REMOTE_WRITE);
  EXPECT_EQ(r.attr.requested_key, 17U);
  EXPECT_EQ(r.flags, 0U);
}

TEST(device_memory, dmabuf_memory_names_its_descriptor_or_the_releases_that_support_it) {
  device_request r;
  const std::string why = describe(device_memory::of(dmabuf_memory{7, 4096, anywhere, 64, -1}), FI_REMOTE_READ, 5, r);
#if defined(FI_MR_DMABUF)
  if (running_with() >= library_version{1, 20}) {
    EXPECT_EQ(why, "");
    EXPECT_EQ(r.flags, FI_MR_DMABUF);
    ASSERT_EQ(r.attr.dmabuf, &r.dmabuf);
    EXPECT_EQ(r.dmabuf.fd, 7);
    EXPECT_EQ(r.dmabuf.offset, 4096U);
    EXPECT_EQ(r.dmabuf.len, 64U);
    EXPECT_EQ(r.dmabuf.base_addr, anywhere);
    EXPECT_EQ(r.attr.iface, FI_HMEM_SYSTEM);
    return;
  }
#endif
  EXPECT_NE(why.find("registers no dmabuf; 1.20 and later do"), std::string::npos) << why;
  EXPECT_EQ(r.attr.mr_iov, nullptr) << "an older library would read the descriptor as a list of buffers";
  EXPECT_EQ(r.flags, 0U);
}

}  // namespace
}  // namespace weft::backends::libfabric
