// SPDX-License-Identifier: Apache-2.0
//
// backends/verbs/credit.hpp: the private data of connection requests and answers. Connection managers pad it, so bytes
// may follow.
#include "../../backends/verbs/credit.hpp"
#include "../target.hpp"

namespace weft::fuzz::verbs_private_data {

using backends::verbs::credit_introduction;

void check(const_bytes input) {
  const auto read = credit_introduction::parse(input);
  if (!read) return;
  require(input.size() >= credit_introduction::size, "an introduction is whole");
  require(read->address % alignof(std::uint32_t) == 0, "the card writes an aligned word");
  require(same(read->bytes_of(), input.first(credit_introduction::size)),
          "an accepted input encodes to the same bytes");
  require(!credit_introduction::parse(input.first(credit_introduction::size - 1)), "a shorter input is refused");
}

}  // namespace weft::fuzz::verbs_private_data
WEFT_FUZZ_TARGET(verbs_private_data)
