// SPDX-License-Identifier: Apache-2.0
//
// backends/verbs/address.hpp: an address that a peer gives. Only whole socket addresses reach the library.
#include "../../backends/verbs/address.hpp"
#include "../target.hpp"

namespace weft::fuzz::verbs_address {

using backends::verbs::socket_address;

void check(const_bytes input) {
  auto read = socket_address::parse(address_bytes(input.begin(), input.end()));
  if (!read) return;
  require(input.size() == sizeof(sockaddr_in) || input.size() == sizeof(sockaddr_in6), "the size fits the family");
  require(read->length() == input.size(), "no byte is added");
  require(same(read->bytes_of(), input), "an accepted address keeps its bytes");
  require(!read->printable().empty(), "an address has a text");
  (void)read->any();
  const std::uint16_t port = read->port();
  read->set_port(static_cast<std::uint16_t>(port + 1));
  require(read->port() == static_cast<std::uint16_t>(port + 1), "a port that was set is read");
}

}  // namespace weft::fuzz::verbs_address
WEFT_FUZZ_TARGET(verbs_address)
