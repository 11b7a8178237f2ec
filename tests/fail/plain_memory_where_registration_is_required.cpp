// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: this fabric wants local buffers registered; use a slice of a region: region.slice(offset, size)
#include "made_fabric.hpp"

#include <array>

struct fabric : weft::fabrics::loopback {
  using policies =
      weft::policy_set<weft::endpoint::connected, weft::bootstrap::socket_address, weft::framing::immediate,
                       weft::region_address::offset, weft::region_key::application, weft::local_descriptor::required,
                       weft::region_binding::domain, weft::notify::immediate, weft::write_fault::reported,
                       weft::atomics::provider, weft::progress::polling, weft::wait::yield, weft::back_pressure::report,
                       weft::threading::one_owner, weft::completion::selective, weft::liveness::provider,
                       weft::receive_buffers::slots, weft::receive_pool::per_link, weft::flush::message_behind_writes,
                       weft::coalesce::none, weft::queues::one, weft::inject::as_the_row_permits>;
};

int main() {
  auto net = weft::open<fabric>({}).value();
#ifdef WEFT_FIXED
  const auto memory = net.allocate(64, weft::rights::none).value();
  return net.send(weft::peer(), memory.first(8)) ? 0 : 1;
#else
  std::array<std::byte, 8> plain{};
  return net.send(weft::peer(), net.memory(plain)) ? 0 : 1;
#endif
}
