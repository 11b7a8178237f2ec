// SPDX-License-Identifier: Apache-2.0
//
// job/message.hpp: requests to the store of a job, and its replies. The store reads them from a stream of any program.
#include "../../job/message.hpp"
#include "../target.hpp"

namespace weft::fuzz::job_message {

void check(const_bytes input) {
  const std::string_view stream(reinterpret_cast<const char*>(input.data()), input.size());
  const jobs::parsed first = jobs::parse(stream);
  if (first.is != jobs::parsed::state::whole) return require(first.used == 0, "only a whole message uses bytes");
  require(first.used <= stream.size() && first.used <= jobs::longest_message, "a message lies in the stream");
  require(first.content.name.size() <= jobs::longest_key && first.content.value.size() <= jobs::longest_value,
          "a name and a value keep their limits");
  require(jobs::encode(first.content) == stream.substr(0, first.used), "an accepted input encodes to the same bytes");
  require(jobs::parse(stream.substr(0, first.used - 1)).is == jobs::parsed::state::incomplete,
          "a parser waits for the last byte");
}

}  // namespace weft::fuzz::job_message
WEFT_FUZZ_TARGET(job_message)
