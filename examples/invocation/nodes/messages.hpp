// SPDX-License-Identifier: Apache-2.0
//
// The messages between a manager and the daemons of its nodes. They have a transport of their own, so that no client
// can send one. Fields are written and read as those of ../messages.hpp.
// Hot path: no. Threads: values.
#pragma once

#include "../messages.hpp"
#include "../spawning.hpp"

#include <array>
#include <atomic>
#include <optional>
#include <string_view>

namespace weft::invocation::nodes {

enum class message_kind : std::uint8_t {
  entered = 101,
  start,
  kill,
  dismissed,  // manager to node
  enter,
  started,
  not_started,
  journal,
  ended,
  state,
  wind_up,
  left,
  orphan,  // node to manager
  noted,   // manager to node
};

inline constexpr std::uint8_t nodes_version = 2;
inline constexpr std::size_t longest_name = 64;           ///< Of a node.
inline constexpr std::uint16_t journals_per_letter = 32;  ///< Workers in one journal_message.

/// The private data of a daemon's connection: it proves that the daemon belongs to the manager.
struct greeting {
  token secret{};
};
inline constexpr std::size_t greeting_bytes = 18;
constexpr std::array<std::byte, greeting_bytes> encode(const greeting& g) noexcept {
  std::array<std::byte, greeting_bytes> into{};
  wire::writer w(into);
  w.number(nodes_version);
  w.number(static_cast<std::uint8_t>('N'));
  for (const std::byte b : g.secret) w.number(std::to_integer<std::uint8_t>(b));
  return into;
}
constexpr std::optional<greeting> parse_greeting(const_bytes from) noexcept {
  wire::reader in(from);
  const auto version = in.number<std::uint8_t>();
  const auto what = in.number<std::uint8_t>();
  greeting g;
  for (std::byte& b : g.secret) b = std::byte{in.number<std::uint8_t>()};
  if (!in.done() || version != nodes_version || what != static_cast<std::uint8_t>('N')) return std::nullopt;
  return g;
}

/// First message of a daemon.
struct enter_message {
  static constexpr auto kind = message_kind::enter;
  std::uint16_t workers = 0;  ///< Most at a time.
  std::string_view name;
  constexpr void fields(auto& f) { f(workers), f(name); }
};
struct entered_message {
  static constexpr auto kind = message_kind::entered;
  constexpr void fields(auto&) {}
};
/// An order for an executor, and the end of its allocation.
struct start_message : executor_fields {
  static constexpr auto kind = message_kind::start;
  std::uint64_t number = 0;
  std::uint64_t lease_ms = 0;  ///< From the start on.
  std::uint64_t start_limit_ns = 0;
  std::uint64_t silence_ns = 0;
  token allocation{};
  token client_secret{};
  std::string_view manager;
  std::string_view client;
  constexpr void fields(auto& f) {
    f(number), f(lease_ms), executor_fields::fields(f), f(start_limit_ns), f(silence_ns), f(allocation),
        f(client_secret), f(manager), f(client);
  }
};
struct kill_message {
  static constexpr auto kind = message_kind::kill;
  std::uint64_t number = 0;
  constexpr void fields(auto& f) { f(number); }
};
/// The manager ends in order.
struct dismissed_message {
  static constexpr auto kind = message_kind::dismissed;
  constexpr void fields(auto&) {}
};
struct started_message {
  static constexpr auto kind = message_kind::started;
  std::uint64_t number = 0;
  std::uint64_t process = 0;
  constexpr void fields(auto& f) { f(number), f(process); }
};
struct not_started_message {
  static constexpr auto kind = message_kind::not_started;
  std::uint64_t number = 0;
  std::string_view sentence;
  constexpr void fields(auto& f) { f(number), f(sentence); }
};
/// Journals of some workers of an executor that ended, before its ended_message.
struct journal_message {
  static constexpr auto kind = message_kind::journal;
  std::uint64_t number = 0;
  std::uint16_t first = 0;
  std::string_view words;
  constexpr void fields(auto& f) { f(number), f(first), f(words); }
};
struct ended_message {
  static constexpr auto kind = message_kind::ended;
  std::uint64_t number = 0;
  bool in_order = false;
  std::string_view sentence;
  constexpr void fields(auto& f) { f(number), f(in_order), f(sentence); }
};
struct state_message {
  static constexpr auto kind = message_kind::state;
  std::uint16_t free = 0;  ///< Workers that the node can still start.
  bool draining = false;   ///< It takes no new executor.
  constexpr void fields(auto& f) { f(free), f(draining); }
};
/// The executor is to end: its running calls may finish within the limit, after that the node kills it.
struct wind_up_message {
  static constexpr auto kind = message_kind::wind_up;
  std::uint64_t number = 0;
  std::uint64_t limit_ms = 0;
  std::string_view sentence;
  constexpr void fields(auto& f) { f(number), f(limit_ms), f(sentence); }
};
/// The manager has the end and the journals of an executor. Until then its node keeps them for the next manager.
struct noted_message {
  static constexpr auto kind = message_kind::noted;
  std::uint64_t number = 0;
  constexpr void fields(auto& f) { f(number); }
};
/// Journals of some workers of an executor that ended after its manager. They come in order.
struct orphan_message {
  static constexpr auto kind = message_kind::orphan;
  token client_secret{};  ///< Of its allocation: the client shows it for the bill.
  std::uint16_t workers = 0;
  std::uint16_t first = 0;
  std::string_view words;
  constexpr void fields(auto& f) { f(client_secret), f(workers), f(first), f(words); }
};
/// Last message of a daemon: no executor is left.
struct left_message {
  static constexpr auto kind = message_kind::left;
  constexpr void fields(auto&) {}
};

/// The words of one journal, in the order in which they travel.
inline constexpr std::size_t journal_words = 3 * accounts + 1;
inline constexpr std::size_t journal_bytes = journal_words * sizeof(std::uint64_t);

inline void for_each_word(worker_journal& j, auto&& use) {
  for (std::size_t i = 0; i < accounts; ++i) use(j.earned[i]), use(j.posted[i]), use(j.acknowledged[i]);
  use(j.invocations);
}
inline std::string packed(std::span<worker_journal> journals) {
  std::string all;
  for (worker_journal& j : journals)
    for_each_word(j, [&](const std::atomic<std::uint64_t>& word) {
      const std::uint64_t value = word.load(std::memory_order_acquire);
      for (unsigned shift = 0; shift < 64; shift += 8) all += static_cast<char>((value >> shift) & 0xffU);
    });
  return all;
}
/// Whether the words are whole journals, and fit.
inline bool unpacked(std::string_view words, std::span<worker_journal> into) {
  if (words.size() % journal_bytes != 0 || words.size() / journal_bytes > into.size()) return false;
  std::size_t at = 0;
  for (worker_journal& j : into.first(words.size() / journal_bytes))
    for_each_word(j, [&](std::atomic<std::uint64_t>& word) {
      std::uint64_t value = 0;
      for (unsigned shift = 0; shift < 64; shift += 8)
        value |= std::uint64_t{static_cast<unsigned char>(words[at++])} << shift;
      word.store(value, std::memory_order_release);
    });
  return true;
}

/// The message's texts point into the order.
inline start_message message_of(const executor_order& order, std::uint64_t number, std::uint64_t lease_ms) {
  const worker_settings& c = order.common;
  start_message m;
  static_cast<executor_fields&>(m) = fields_of(order);
  m.number = number;
  m.lease_ms = lease_ms;
  m.start_limit_ns = static_cast<std::uint64_t>(c.start_limit.count());
  m.silence_ns = static_cast<std::uint64_t>(c.silence.count());
  m.allocation = c.allocation;
  m.client_secret = c.client_secret;
  m.manager = c.manager;
  m.client = c.client;
  return m;
}
inline executor_order order_of(const start_message& m) {
  const auto time = [](std::uint64_t ns) { return duration(static_cast<std::int64_t>(ns)); };
  executor_order order = order_with(m);
  worker_settings& c = order.common;
  c.start_limit = time(m.start_limit_ns);
  c.silence = time(m.silence_ns);
  c.allocation = m.allocation;
  c.client_secret = m.client_secret;
  c.manager = std::string(m.manager);
  c.client = std::string(m.client);
  return order;
}

}  // namespace weft::invocation::nodes
