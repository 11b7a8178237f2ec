// SPDX-License-Identifier: Apache-2.0
//
// The bytes between a rank and the store of its job. One form for every request and reply, little-endian:
// length of the rest (32 bits), kind (8), rank (32), number (32), length and bytes of a name, length and bytes of a
// value. A client has one request at a time. The parser checks each length before it takes memory for it.
// Hot path: no. Threads: values.
#pragma once

#include "backend.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::jobs {

enum class kind : std::uint8_t {
  hello = 1,  ///< rank; number: the size of the job; name: the job; value: protocol_name.
  put,        ///< name, value.
  get,        ///< rank, name; number: the limit in milliseconds.
  barrier,    ///< number: the limit in milliseconds.
  goodbye,    ///< The rank leaves in order.
  done,       ///< Reply; value: what a get found.
  refused,    ///< Reply; number: an errc; value: a sentence.
};
inline constexpr std::string_view protocol_name = "weft job 1";

struct message {
  kind what = kind::done;
  std::uint32_t rank = 0;
  std::uint32_t number = 0;
  std::string name{};   ///< At most longest_key bytes.
  std::string value{};  ///< At most longest_value bytes.
  friend bool operator==(const message&, const message&) = default;
};

inline constexpr std::size_t length_bytes = 4;
inline constexpr std::size_t fixed_bytes = 1 + 4 + 4 + 4 + 4;  ///< Of the rest, without name and value.
inline constexpr std::size_t longest_message = length_bytes + fixed_bytes + longest_key + longest_value;

/// The bytes of a message. Requires: name and value keep their limits.
inline std::string encode(const message& from) {
  std::string made;
  const auto number = [&made](std::size_t value) {
    for (unsigned i = 0; i < 4; ++i) made += static_cast<char>(value >> (8 * i));
  };
  number(fixed_bytes + from.name.size() + from.value.size());
  made += static_cast<char>(from.what);
  number(from.rank);
  number(from.number);
  number(from.name.size());
  made += from.name;
  number(from.value.size());
  made += from.value;
  return made;
}

/// What the first bytes of a stream are.
struct parsed {
  enum class state : std::uint8_t { incomplete, wrong, whole } is = state::incomplete;
  std::size_t used = 0;  ///< Bytes of a whole message.
  message content{};
};

/// Reads the first message of a stream. `wrong`: no message of this protocol begins so; close the connection.
inline parsed parse(std::string_view bytes) {
  const auto number = [bytes](std::size_t at) {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < 4; ++i)
      value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
    return value;
  };
  const parsed wrong{parsed::state::wrong, 0, {}};
  if (bytes.size() < length_bytes) return {};
  const std::size_t rest = number(0);
  if (rest < fixed_bytes || rest > longest_message - length_bytes) return wrong;
  if (bytes.size() < length_bytes + rest) return {};
  const auto what = static_cast<std::uint8_t>(bytes[length_bytes]);
  const std::size_t name = number(length_bytes + 9);
  if (what < static_cast<std::uint8_t>(kind::hello) || what > static_cast<std::uint8_t>(kind::refused)) return wrong;
  if (name > longest_key || name > rest - fixed_bytes) return wrong;
  const std::size_t value = number(length_bytes + 13 + name);
  if (value > longest_value || fixed_bytes + name + value != rest) return wrong;
  return {parsed::state::whole,
          length_bytes + rest,
          {static_cast<kind>(what), number(length_bytes + 1), number(length_bytes + 5),
           std::string(bytes.substr(length_bytes + 13, name)),
           std::string(bytes.substr(length_bytes + fixed_bytes + name, value))}};
}

}  // namespace weft::jobs
