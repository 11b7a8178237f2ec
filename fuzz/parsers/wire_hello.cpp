// SPDX-License-Identifier: Apache-2.0
//
// wire/hello.hpp: introductions. The mutator changes one field of a valid introduction, because counted fields and the
// magic number stop blind mutations. Fields are named, so that a further field of the layout needs no change here.
#include "../../wire/hello.hpp"
#include "../target.hpp"

#include <optional>
#include <random>
#include <vector>

namespace weft::fuzz::wire_hello {

void check(const_bytes input) {
  wire::introduction read;
  const wire::parse_verdict verdict = wire::parse(input, read);
  if (verdict == wire::parse_verdict::garbled) return;
  require(inside(read.address, input) && read.address.size() <= wire::largest_address, "the address is in the input");
  if (verdict == wire::parse_verdict::other_wire_version) {
    require(read.wire_version != wire::version, "another wire version is another number");
    return;
  }
  require(read.wire_version == wire::version, "a good introduction has this wire version");
  require(read.connection.value != 0 && read.connection.value < wire::connection_number::end,
          "a connection number has 28 bits and is not 0");
  require(inside(read.fabric, input) && inside(read.shared, input) && inside(read.private_data, input),
          "the texts are in the input");
  require(read.shared.size() <= wire::largest_shared && read.private_data.size() <= wire::largest_private_data,
          "the texts have their largest sizes");
  require(inside(read.authentication, input) && wire::is_authentication(read.authentication),
          "the authentication is in the input, and has one of its sizes");
  require(read.has_private_data || read.private_data.empty(), "without private data there are no bytes of it");
  strict(
      input,
      [](const_bytes from) {
        wire::introduction i;
        return wire::parse(from, i) == wire::parse_verdict::good ? std::optional(i) : std::nullopt;
      },
      [](const wire::introduction& i, bytes into) { return wire::encode(i, into); });
}

std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t room, unsigned seed) {
  std::minstd_rand draw(seed);
  if (draw() % 4 == 0) return LLVMFuzzerMutate(data, size, room);
  std::array<std::byte, wire::largest_handshake> text{};
  for (std::byte& each : text) each = static_cast<std::byte>(draw());
  const auto some = [&](std::size_t most) { return const_bytes(text).first(draw() % (most + 1)); };
  wire::introduction i;
  const auto* given = reinterpret_cast<const std::byte*>(data);
  const std::vector<std::byte> before(given, given + size);
  if (wire::parse(before, i) != wire::parse_verdict::good) i = {.connection = {1}};
  switch (draw() % 14) {
    case 0:
      i.wire_version = static_cast<std::uint16_t>(wire::version + draw() % 3 - 1);
      break;
    case 1:
      i.fingerprint = draw();
      break;
    case 2:
      i.nonce = draw();
      break;
    case 3:
      i.connection = {static_cast<std::uint32_t>(draw())};
      break;
    case 4:
      i.max_message_bytes = static_cast<std::uint32_t>(draw());
      break;
    case 5:
      i.process = draw();
      break;
    case 6:
      i.ring = {draw(), draw(), static_cast<std::uint32_t>(draw())};
      break;
    case 7:
      i.address = some(wire::largest_address);
      break;
    case 8:
      i.fabric = some(64);
      break;
    case 9:
      i.shared = some(wire::largest_shared);
      break;
    case 10:
      i.heartbeat_ms = static_cast<std::uint32_t>(draw());
      break;
    case 11:
      i.proof = static_cast<std::uint32_t>(draw());
      break;
    case 12:
      i.authentication = const_bytes(text).first(draw() % 2 == 0 ? wire::nonce_bytes : wire::largest_authentication);
      break;
    default:
      i.has_private_data = true;
      i.private_data = some(wire::largest_private_data);
  }
  std::array<std::byte, 2 * wire::largest_handshake> made{};
  const std::size_t length = wire::encode(i, made);
  if (length == 0 || length > room) return LLVMFuzzerMutate(data, size, room);
  std::memcpy(data, made.data(), length);
  return draw() % 8 == 0 ? LLVMFuzzerMutate(data, length, room) : length;
}

}  // namespace weft::fuzz::wire_hello
WEFT_FUZZ_TARGET_WITH_MUTATOR(wire_hello)
