// SPDX-License-Identifier: Apache-2.0
//
// backends/libfabric/address.hpp: an address that a peer gives. fi_av_insert takes no length, so a short address would
// be read past its end.
#include "../../backends/libfabric/address.hpp"
#include "../target.hpp"

namespace weft::fuzz::libfabric_address {

namespace libfabric = backends::libfabric;

void check(const_bytes input) {
  const address_bytes address(input.begin(), input.end());
  const auto family = libfabric::socket_family(address);
  if (family)
    require((*family == AF_INET && address.size() == sizeof(sockaddr_in)) ||
                (*family == AF_INET6 && address.size() == sizeof(sockaddr_in6)),
            "the size fits the family");
  for (const bool sockets : {false, true})
    for (const char c : libfabric::printable_address(address, sockets))
      require(c >= 32 && c < 127, "a printed address has no control character");
  require(libfabric::hexadecimal(address).size() == 2 * address.size(), "each byte has two digits");
}

}  // namespace weft::fuzz::libfabric_address
WEFT_FUZZ_TARGET(libfabric_address)
