// SPDX-License-Identifier: Apache-2.0
//
// job/etcd/json.hpp: replies of etcd's gateway, lines of a watch, and the keys and values in them. Another program may
// answer at that port, and any program that reaches etcd may write there. What a manager finds as its members is read
// too (examples/invocation/membership): names and values must be addresses.
#include "../../job/etcd/json.hpp"
#include "../target.hpp"

#include <invocation/membership/member_address.hpp>
#include <invocation/membership/sharing.hpp>

namespace weft::fuzz::etcd_json {

namespace etcd = jobs::etcd;

void check_text(std::string_view text) {
  const auto decoded = etcd::from_base64(text);
  if (decoded) {
    require(decoded->size() <= text.size() / 4 * 3, "four digits are three bytes at most");
    require(etcd::from_base64(etcd::base64(*decoded)) == decoded, "what was read encodes and reads the same");
  }
  require(etcd::from_base64(etcd::base64(text)) == std::string(text), "any bytes encode and read the same");
}

/// One list of all managers, as a client reads it from a manager that read it from etcd.
void check_member(const etcd::entry& each) {
  if (!invocation::is_address(each.key)) return;
  const auto lines = invocation::addresses_in(each.key + "\n" + each.key + "\n");
  require(lines == std::vector<std::string>{each.key, each.key}, "an address is one line of a list");
  const std::string refusal = std::string(invocation::redirection) + each.key + " [WEFT-O007]";
  require(invocation::redirected_to(refusal) == each.key, "an address is one word of a refusal");
}

void check(const_bytes input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  check_text(text);
  for (const etcd::change& each : etcd::watched_of(text).changes) check_member(each.of);
  const etcd::json reply = etcd::json::parse(text, nullptr, false);
  for (const etcd::entry& each : etcd::entries_of(reply)) check_member(each);
  if (const auto held = etcd::held_instead(reply)) check_member(*held);
  const std::uint64_t revision = etcd::revision_of(reply);
  const etcd::json& said = etcd::field(etcd::field(reply, "header"), "revision");
  require(
      revision == 0 || said == etcd::json(revision) || said == etcd::json(std::to_string(revision)) || said.is_string(),
      "a revision is a number, or the text of one");
  require(etcd::number(etcd::field(reply, "no such field")) == 0 || reply.contains("no such field"),
          "a field that is absent is zero");
}

}  // namespace weft::fuzz::etcd_json
WEFT_FUZZ_TARGET(etcd_json)
