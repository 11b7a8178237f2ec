// SPDX-License-Identifier: Apache-2.0
//
// Messages that a hostile peer sends: of each kind, with fields that are nearly right, or any bytes. The encoders are
// weft's own, so that a changed layout needs no change here. Hot path: no. Threads: values.
#pragma once

#include "../../wire/authentication.hpp"
#include "../../wire/cell.hpp"
#include "../../wire/control.hpp"
#include "../../wire/fused.hpp"
#include "../../wire/group.hpp"
#include "greeting.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace weft::fuzz {

/// Regions of the victim, as a peer knows them, and its own place.
struct targets {
  wire::region_record open;      ///< Grants everything.
  wire::region_record readable;  ///< Grants reads only. No byte of it may change.
};

template <std::size_t Most, class Encode>
std::vector<std::byte> encoded(Encode&& encode) {
  std::vector<std::byte> text(Most);
  text.resize(encode(bytes(text)));
  return text;
}

/// A place in a region or near it, and a key that is right or nearly right.
inline remote_memory some_place(choices& from, const targets& at) {
  const wire::region_record& r = from.below(3) == 0 ? at.readable : at.open;
  const std::uint64_t offsets[] = {0, 8, r.length - 8, r.length, r.length - 4, ~std::uint64_t{0} - 7, r.length + 64};
  const std::uint64_t offset = from.flag() ? offsets[from.below(7)] : from.number<std::uint16_t>();
  return {r.base + offset, from.below(6) == 0 ? r.key ^ (1ULL << from.below(64)) : r.key};
}
/// The token of an operation: a small index and a small generation, as transports number them.
inline std::uint64_t some_token(choices& from) { return std::uint64_t{from.below(8)} << 32 | from.below(64); }

inline std::vector<std::byte> some_group(choices& from, const targets& at) {
  std::vector<std::byte> all;
  for (std::uint32_t members = from.below(6); members > 0; --members) {
    wire::group_member m;
    m.kind = static_cast<wire::group_kind>(from.below(wire::group_kinds));
    const remote_memory place = some_place(from, at);
    m.address = place.address;
    m.key = place.key;
    if (m.kind == wire::group_kind::put_notify || m.kind == wire::group_kind::refusal)
      m.number = from.number<std::uint32_t>() & (from.flag() ? 0xffffU : ~0U);
    const const_bytes text = from.take(m.kind == wire::group_kind::refusal ? 0 : from.below(48));
    m.payload = text;
    std::vector<std::byte> one(wire::group_member_bytes(m.kind, text.size()));
    wire::encode(m, one.data());
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

/// An introduction with some wrong fields, from an address of the sender. A hello's nonce is the sender's own word; an
/// answer has `nonce`. `challenge`: the last one of the victim, which a hello may answer with a guess.
template <class F>
std::vector<std::byte> some_introduction(wire::message_kind kind, choices& from, const address_bytes& own,
                                         std::uint64_t nonce,
                                         const std::optional<wire::challenge_nonce>& challenge = {}) {
  const kept_introduction& honest = greeting_of<F>();
  wire::introduction i = honest.pointing();
  i.connection = wire::connection_number::of(from.below(4), 1 + from.below(2));
  i.proof = 1 + from.below(3);
  i.nonce = kind == wire::message_kind::hello ? i.own_word().value : nonce;
  if (!i.address.empty()) i.address = const_bytes(own);
  switch (from.below(16)) {
    case 0:
      i.wire_version = static_cast<std::uint16_t>(wire::version + from.below(3) - 1);
      break;
    case 1:
      i.fingerprint ^= 1ULL << from.below(64);
      break;
    case 2:
      i.connection = {from.number<std::uint32_t>()};
      break;
    case 3:
      i.max_message_bytes = from.number<std::uint32_t>();
      break;
    case 4:
      i.heartbeat_ms = from.number<std::uint32_t>();
      break;
    case 5:
      i.ring.entries = from.number<std::uint32_t>();
      break;
    case 6:
      i.address = from.take(from.below(32));
      break;
    case 7:
      i.shared = from.take(from.below(64));
      break;
    case 8:
      i.fabric = from.take(from.below(16));
      break;
    case 9:
      i.has_private_data = true;
      i.private_data = from.take(from.below(64));
      break;
    case 10:
      i.process = from.number<std::uint64_t>();
      break;
    case 11:
      i.nonce = from.number<std::uint64_t>();
      break;
    case 12:
      i.proof = from.number<std::uint32_t>();
      break;
    case 13:
      i.authentication = from.take(wire::nonce_bytes);
      break;
    default:
      break;
  }
  std::byte guess[wire::largest_authentication];
  if (challenge && from.flag()) {
    wire::hello_authentication said;
    if (const auto own_words = wire::parse_hello_authentication(i.authentication)) said = *own_words;
    said.answers = true;
    said.listeners = *challenge;
    std::ranges::copy(from.take(said.code.size()), said.code.begin());
    i.authentication = {guess, wire::encode(said, guess)};
  }
  return encoded<2 * wire::largest_handshake>([&](bytes into) { return wire::encode(i, into); });
}

/// The body of a message of this kind.
template <class F>
std::vector<std::byte> some_body(wire::message_kind kind, choices& from, const targets& at, const address_bytes& own,
                                 std::uint64_t nonce) {
  const auto raw = [&] {
    const const_bytes some = from.take(from.number<std::uint16_t>() % 1200);
    return std::vector<std::byte>(some.begin(), some.end());
  };
  if (from.below(8) == 0) return raw();
  using enum wire::message_kind;
  switch (kind) {
    case hello:
    case accept:
      return some_introduction<F>(kind, from, own, nonce);
    case reject:
      return encoded<256>([&](bytes into) {
        const auto code = static_cast<std::uint8_t>(from.below(8) == 0 ? wire::challenge_code : from.below(24));
        return wire::encode(wire::refusal_notice{code, nonce, from.take(from.below(80))}, into);
      });
    case notify: {
      std::vector<std::byte> all;
      for (std::uint32_t count = 1 + from.below(4); count > 0; --count) {
        const auto one = encoded<4>([&](bytes into) { return wire::encode(from.number<std::uint32_t>(), into); });
        all.insert(all.end(), one.begin(), one.end());
      }
      return all;
    }
    case goodbye:
    case ring_credit:
      return encoded<4>([&](bytes into) { return wire::encode(from.below(64), into); });
    case atomic_request: {
      const remote_memory place = some_place(from, at);
      wire::atomic_request asked{some_token(from),
                                 place.address,
                                 place.key,
                                 from.number<std::uint64_t>(),
                                 0,
                                 static_cast<atomic_operation>(1 + from.below(atomic_operations)),
                                 static_cast<number_type>(1 + from.below(number_types))};
      if (from.flag()) asked.expected = from.number<std::uint64_t>();
      return encoded<wire::atomic_request_bytes>([&](bytes into) { return wire::encode(asked, into); });
    }
    case atomic_reply:
      return encoded<wire::atomic_reply_bytes>([&](bytes into) {
        return wire::encode(wire::atomic_reply{some_token(from), from.number<std::uint64_t>(),
                                               static_cast<std::uint8_t>(from.below(24))},
                            into);
      });
    case fused: {
      const remote_memory place = some_place(from, at);
      auto text = encoded<wire::fused_head_bytes>([&](bytes into) {
        return wire::encode(wire::fused_head{from.flag() ? some_token(from) : 0, place.address, place.key, 7}, into);
      });
      const const_bytes payload = from.take(from.number<std::uint16_t>() % 700);
      text.insert(text.end(), payload.begin(), payload.end());
      return text;
    }
    case fused_reply:
      return encoded<wire::fused_reply_bytes>([&](bytes into) {
        return wire::encode(wire::fused_reply{from.flag() ? some_token(from) : from.below(40),
                                              static_cast<std::uint8_t>(from.below(24))},
                            into);
      });
    case flush:
    case flushed:
      return encoded<wire::token_bytes>([&](bytes into) { return wire::encode_token(some_token(from), into); });
    case group:
      return some_group(from, at);
    case region: {
      wire::region_record r = from.flag() ? at.open : at.readable;
      if (from.flag()) r.length ^= 1ULL << from.below(64);
      const auto made = wire::encode(r);
      return {made.begin(), made.end()};
    }
    default:
      return raw();
  }
}

/// A watched cell's last bytes and its payload, for the place of cell `number` in a ring.
inline std::vector<std::byte> some_cell(choices& from, const targets& at, std::uint32_t sender, std::uint32_t number) {
  const remote_memory place = some_place(from, at);
  wire::cell_tail tail;
  tail.credit = wire::credit_word(from.below(40), from.below(4));
  tail.address = place.address;
  tail.key = place.key;
  tail.immediate = from.number<std::uint32_t>();
  tail.sender = from.below(8) == 0 ? from.number<std::uint32_t>() : sender;
  tail.length = from.below(8) == 0 ? from.number<std::uint16_t>() : static_cast<std::uint16_t>(from.below(64));
  tail.flags = static_cast<std::uint16_t>(from.below(8));
  tail.sequence = from.below(8) == 0 ? from.number<std::uint32_t>() : number + 1;
  std::vector<std::byte> cell(64 + wire::cell_tail_bytes);
  const const_bytes text = from.take(from.below(64));
  std::copy(text.begin(), text.end(), cell.begin());
  std::memcpy(cell.data() + 64, &tail, sizeof tail);
  return cell;
}

}  // namespace weft::fuzz
