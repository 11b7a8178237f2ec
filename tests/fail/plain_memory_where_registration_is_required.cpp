// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: this fabric wants local buffers registered; use a slice of a region: region.slice(offset, size)
// EXPECT: [WEFT-C007]
#include "made_fabric.hpp"

#include <array>

struct fabric : weft::fabrics::loopback {
  using policies = weft::policy_set<
      weft::answers::endpoint::connected, weft::answers::bootstrap::socket_address, weft::answers::framing::immediate,
      weft::answers::region_address::offset, weft::answers::region_key::application,
      weft::answers::local_descriptor::required, weft::answers::region_binding::domain,
      weft::answers::notify::immediate, weft::answers::write_fault::reported, weft::answers::atomics::provider,
      weft::answers::progress::polling, weft::answers::wait::yield, weft::answers::threading::one_owner,
      weft::answers::completion::selective, weft::answers::liveness::provider, weft::answers::receive_buffers::slots,
      weft::answers::receive_pool::per_link, weft::answers::flush::message_behind_writes, weft::answers::coalesce::none,
      weft::answers::queues::one, weft::answers::inject::as_the_row_permits, weft::answers::checks::verified,
      weft::answers::authentication::none, weft::answers::tagged::none>;
};

int main() {
  auto& net = mistake::opened<fabric>();
#ifdef WEFT_FIXED
  const auto memory = net.allocate(64, weft::rights::none).value();
  return net.send(weft::peer(), memory.first(8)) ? 0 : 1;
#else
  std::array<std::byte, 8> plain{};
  return net.send(weft::peer(), net.memory(plain)) ? 0 : 1;
#endif
}
