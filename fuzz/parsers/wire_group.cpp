// SPDX-License-Identifier: Apache-2.0
//
// wire/group.hpp: several messages and puts in one. The mutator appends a valid member, because sizes and padding stop
// blind mutations.
#include "../../wire/group.hpp"
#include "../target.hpp"

#include <random>
#include <vector>

namespace weft::fuzz::wire_group {

void check(const_bytes input) {
  if (!wire::group_reader::possible(input)) return;
  // The reader loads whole words, so the bytes are aligned as in a receive.
  std::vector<std::uint64_t> words(input.size() / 8);
  std::memcpy(words.data(), input.data(), input.size());
  const const_bytes body(reinterpret_cast<const std::byte*>(words.data()), input.size());
  std::vector<std::byte> again(input.size());
  std::byte* at = again.data();
  wire::group_reader in(body);
  wire::group_member m;
  std::uint32_t members = 0;
  for (wire::group_verdict found = in.next(m); found != wire::group_verdict::end; found = in.next(m)) {
    if (found == wire::group_verdict::garbled) return;
    require(++members <= wire::largest_group, "a group has at most 64 members");
    require(inside(m.payload, body), "a payload is in the input");
    const auto room = static_cast<std::size_t>(again.data() + again.size() - at);
    require(wire::group_member_bytes(m.kind, m.payload.size()) <= room, "members take no more bytes than the input");
    at = wire::encode(m, at);
  }
  require(at == again.data() + again.size() && same(again, input), "an accepted group encodes to the same bytes");
}

std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t room, unsigned seed) {
  std::minstd_rand draw(seed);
  const std::size_t whole = size / 8 * 8;
  const std::size_t payload = draw() % 40;
  wire::group_member m;
  m.kind = static_cast<wire::group_kind>(draw() % wire::group_kinds);
  const bool numbered = m.kind == wire::group_kind::put_notify || m.kind == wire::group_kind::refusal;
  m.number = numbered ? static_cast<std::uint32_t>(draw()) : 0;
  m.address = draw();
  m.key = draw();
  const std::vector<std::byte> text(m.kind == wire::group_kind::refusal ? 0 : payload, std::byte{0x5a});
  m.payload = text;
  const std::size_t more = wire::group_member_bytes(m.kind, text.size());
  if (draw() % 3 == 0 || whole + more > room) return LLVMFuzzerMutate(data, size, room);
  std::vector<std::byte> made(more);
  wire::encode(m, made.data());
  std::memcpy(data + whole, made.data(), more);
  return whole + more;
}

}  // namespace weft::fuzz::wire_group
WEFT_FUZZ_TARGET_WITH_MUTATOR(wire_group)
