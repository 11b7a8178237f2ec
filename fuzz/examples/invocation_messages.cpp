// SPDX-License-Identifier: Apache-2.0
//
// examples/invocation/messages.hpp: every message between client, manager and workers. Each input is one kind at most.
#include "../target.hpp"

#include <invocation/messages.hpp>

namespace weft::fuzz::invocation_messages {

using namespace weft::invocation;

const_bytes as_view(std::string_view text) { return {reinterpret_cast<const std::byte*>(text.data()), text.size()}; }

/// Checks each field of a message that was accepted.
struct field_check {
  const_bytes input;
  template <class T>
  void operator()(const T& value) {
    if constexpr (std::is_same_v<T, std::string_view>)
      require(inside(as_view(value), input) && value.size() <= largest_names, "a text is in the input");
    else if constexpr (std::is_enum_v<T>) require(static_cast<std::uint8_t>(value) <= last_of(T{}), "an enum is known");
  }
};

template <class Message>
int accepted(const_bytes input) {
  auto read = unpack<Message>(input);
  if (!read) return 0;
  field_check each{input};
  read->fields(each);
  strict(
      input, [](const_bytes from) { return unpack<Message>(from); },
      [](const Message& m, bytes into) { return pack(m, into); });
  return 1;
}

template <class... Messages>
int all_accepted(const_bytes input) {
  return (accepted<Messages>(input) + ... + 0);
}

void check(const_bytes input) {
  if (input.size() > 2 * largest_message) return;
  const int kinds =
      all_accepted<allocate_message, release_message, allocated_message, refused_message, executor_lost_message,
                   released_message, account_message, finish_message, totals_message, welcome_message, cancel_message,
                   ready_message, unable_message, cancelled_message>(input);
  require(kinds <= 1, "an input is a message of one kind at most");
}

}  // namespace weft::fuzz::invocation_messages
WEFT_FUZZ_TARGET(invocation_messages)
