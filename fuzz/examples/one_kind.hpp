// SPDX-License-Identifier: Apache-2.0
//
// Properties of each message of the example: fields keep their ranges, and a message has one form.
// Hot path: the parsers under test. Threads: one.
#pragma once

#include "../target.hpp"

#include <invocation/messages.hpp>

namespace weft::fuzz {

/// Checks each field of a message that was accepted.
struct field_check {
  const_bytes input;
  template <class T>
  void operator()(const T& value) {
    if constexpr (std::is_same_v<T, std::string_view>)
      require(inside({reinterpret_cast<const std::byte*>(value.data()), value.size()}, input) &&
                  value.size() <= invocation::largest_names,
              "a text is in the input");
    else if constexpr (std::is_enum_v<T>) require(static_cast<std::uint8_t>(value) <= last_of(T{}), "an enum is known");
  }
};

template <class Message>
int accepted(const_bytes input) {
  auto read = invocation::unpack<Message>(input);
  if (!read) return 0;
  field_check each{input};
  read->fields(each);
  strict(
      input, [](const_bytes from) { return invocation::unpack<Message>(from); },
      [](const Message& m, bytes into) { return invocation::pack(m, into); });
  return 1;
}

template <class... Messages>
void one_kind_at_most(const_bytes input) {
  require((accepted<Messages>(input) + ... + 0) <= 1, "an input is a message of one kind at most");
}

}  // namespace weft::fuzz
