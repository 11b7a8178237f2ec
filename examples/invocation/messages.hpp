// SPDX-License-Identifier: Apache-2.0
//
// The messages between client, manager and workers. Each request has an answer; a negative answer gives the reason. One
// list of fields per message serves writing and reading. Bytes that are short, long or out of range are refused as a
// whole. Texts and addresses are length-prefixed; parsed ones point into the received bytes, so copy them to keep them.
// Hot path: no. Threads: values.
#pragma once

#include "polling.hpp"
#include "protocol.hpp"

#include <weft/compose/region.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>

namespace weft::invocation {

inline constexpr std::size_t largest_message = 4096;
inline constexpr std::size_t largest_text = 1024;
inline constexpr std::size_t largest_names = 3400;  ///< All function names of an executor, a line each.
using digest = std::array<std::byte, 32>;           ///< SHA-256.

enum class message_kind : std::uint8_t {
  allocate = 1,
  release,  // client to manager
  allocated,
  refused,
  executor_lost,
  released,  // manager to client
  account,
  finish,  // manager to worker
  totals,  // worker to manager
  welcome,
  cancel,  // client to worker
  ready,
  unable,
  cancelled,  // worker to client
  managers,   // manager to client
  alive,      // client to manager, and back
  claim,      // client to manager
  inherited,  // manager to client
};
enum class function_source : std::uint8_t { built_in, object };
constexpr std::uint8_t last_of(function_source) noexcept { return 1; }
constexpr std::uint8_t last_of(polling_mode) noexcept { return 2; }
enum class refusal_code : std::uint8_t {
  malformed,
  too_many_workers,
  too_large,
  too_long,
  busy,
  spawn_failed,
  untrusted,
  shutting_down
};
constexpr std::uint8_t last_of(refusal_code) noexcept { return 7; }

/// What a client wants its executor to be. It travels to the manager, and from there to a node (nodes/messages.hpp).
struct executor_fields {
  std::uint16_t workers = 1;
  std::uint16_t slots = 4;
  std::uint32_t input_bytes = 0;
  std::uint32_t output_bytes = 0;
  polling_mode polling = polling_mode::hot;
  std::uint32_t hot_ms = 0;
  std::uint64_t function_limit_ns = 0;
  function_source source = function_source::built_in;
  digest object{};
  std::uint32_t object_bytes = 0;
  constexpr void fields(auto& f) {
    f(workers), f(slots), f(input_bytes), f(output_bytes), f(polling), f(hot_ms), f(function_limit_ns), f(source),
        f(object), f(object_bytes);
  }
};
struct allocate_message : executor_fields {
  static constexpr auto kind = message_kind::allocate;
  token secret{};
  std::string_view where;
  constexpr void fields(auto& f) { executor_fields::fields(f), f(secret), f(where); }
};
struct release_message {
  static constexpr auto kind = message_kind::release;
  std::uint64_t allocation = 0;
  constexpr void fields(auto& f) { f(allocation); }
};
struct allocated_message {
  static constexpr auto kind = message_kind::allocated;
  std::uint64_t allocation = 0;
  std::uint64_t process = 0;
  constexpr void fields(auto& f) { f(allocation), f(process); }
};
struct refused_message {
  static constexpr auto kind = message_kind::refused;
  refusal_code code{};
  std::string_view sentence;
  constexpr void fields(auto& f) { f(code), f(sentence); }
};
/// The bill and the workers' own totals; `exact` where these agree to the nanosecond.
struct bill_fields {
  std::uint64_t allocation = 0;
  bool exact = false;
  std::uint64_t hot_ns = 0;
  std::uint64_t execution_ns = 0;
  std::uint64_t worker_hot_ns = 0;
  std::uint64_t worker_execution_ns = 0;
  std::uint64_t invocations = 0;
  constexpr void fields(auto& f) {
    f(allocation), f(exact), f(hot_ns), f(execution_ns), f(worker_hot_ns), f(worker_execution_ns), f(invocations);
  }
};
struct executor_lost_message {
  static constexpr auto kind = message_kind::executor_lost;
  bill_fields bill;
  std::string_view sentence;
  constexpr void fields(auto& f) { bill.fields(f), f(sentence); }
};
struct released_message {
  static constexpr auto kind = message_kind::released;
  bill_fields bill;
  constexpr void fields(auto& f) { bill.fields(f); }
};
struct account_message {
  static constexpr auto kind = message_kind::account;
  region_bytes words{};  ///< Of all workers of the allocation: two words each.
  constexpr void fields(auto& f) { f(words); }
};
struct finish_message {
  static constexpr auto kind = message_kind::finish;
  constexpr void fields(auto&) {}
};
struct totals_message {
  static constexpr auto kind = message_kind::totals;
  std::uint64_t hot_ns = 0;
  std::uint64_t execution_ns = 0;
  std::uint64_t invocations = 0;
  constexpr void fields(auto& f) { f(hot_ns), f(execution_ns), f(invocations); }
};
struct welcome_message {
  static constexpr auto kind = message_kind::welcome;
  region_bytes output{};
  bool ships = false;  ///< `object` may be read.
  region_bytes object{};
  constexpr void fields(auto& f) { f(output), f(ships), f(object); }
};
struct cancel_message {
  static constexpr auto kind = message_kind::cancel;
  std::uint32_t word = 0;  ///< A call_word: the call is not executed after the answer.
  constexpr void fields(auto& f) { f(word); }
};
struct cancelled_message {
  static constexpr auto kind = message_kind::cancelled;
  std::uint32_t word = 0;
  constexpr void fields(auto& f) { f(word); }
};
struct ready_message {
  static constexpr auto kind = message_kind::ready;
  region_bytes input{};
  std::string_view names;  ///< A line each; the position is the function's index.
  constexpr void fields(auto& f) { f(input), f(names); }
};
struct unable_message {
  static constexpr auto kind = message_kind::unable;
  refusal_code code{};
  std::string_view sentence;
  constexpr void fields(auto& f) { f(code), f(sentence); }
};

/// Those that share clients, a line each: one of them serves the client when this manager is gone.
struct managers_message {
  static constexpr auto kind = message_kind::managers;
  std::string_view addresses;
  constexpr void fields(auto& f) { f(addresses); }
};

/// A client asks whether its manager is there, and the manager answers with the same.
struct alive_message {
  static constexpr auto kind = message_kind::alive;
  constexpr void fields(auto&) {}
};

/// A client whose manager is gone asks the next one for the bill of its last allocation.
struct claim_message {
  static constexpr auto kind = message_kind::claim;
  token secret{};  ///< allocate_message::secret of that allocation.
  constexpr void fields(auto& f) { f(secret); }
};
/// That bill, from the journals of its workers alone (nodes/inherited.hpp).
struct inherited_message {
  static constexpr auto kind = message_kind::inherited;
  token secret{};
  bill_fields bill;
  constexpr void fields(auto& f) { f(secret), bill.fields(f); }
};

namespace detail {
struct packer {
  wire::writer w;
  template <class T>
  constexpr void operator()(const T& value) {
    if constexpr (std::is_same_v<T, bool>) w.number(static_cast<std::uint8_t>(value));
    else if constexpr (std::is_enum_v<T>) w.number(static_cast<std::uint8_t>(value));
    else if constexpr (std::unsigned_integral<T>) w.number(value);
    else if constexpr (std::is_same_v<T, std::string_view>)
      w.counted({reinterpret_cast<const std::byte*>(value.data()), value.size()});
    else
      for (const std::byte b : value) w.number(std::to_integer<std::uint8_t>(b));
  }
};
struct unpacker {
  wire::reader in;
  bool in_range = true;
  template <class T>
  constexpr void operator()(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      const auto number = in.number<std::uint8_t>();
      in_range = in_range && number <= 1;
      value = number == 1;
    } else if constexpr (std::is_enum_v<T>) {
      const auto number = in.number<std::uint8_t>();
      in_range = in_range && number <= last_of(T{});
      value = static_cast<T>(number);
    } else if constexpr (std::unsigned_integral<T>) {
      value = in.number<T>();
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      const const_bytes text = in.counted(largest_names);
      value = {reinterpret_cast<const char*>(text.data()), text.size()};
    } else {
      for (std::byte& b : value) b = std::byte{in.number<std::uint8_t>()};
    }
  }
};
}  // namespace detail

/// Writes a message. Returns its size, or 0 where it does not fit.
template <class Message>
std::size_t pack(Message message, bytes into) {
  detail::packer p{wire::writer(into)};
  p(Message::kind);
  message.fields(p);
  return p.w.good() ? p.w.size() : 0;
}
/// Reads a message that is exactly of this kind, with no byte missing or left over.
template <class Message>
std::optional<Message> unpack(const_bytes from) {
  detail::unpacker u{wire::reader(from)};
  if (u.in.number<std::uint8_t>() != static_cast<std::uint8_t>(Message::kind)) return std::nullopt;
  Message message;
  message.fields(u);
  if (!u.in.done() || !u.in_range) return std::nullopt;
  return message;
}

}  // namespace weft::invocation
