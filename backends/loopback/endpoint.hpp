// SPDX-License-Identifier: Apache-2.0
//
// The state of one simulated port: links, receives, registered memory, completion queue.
// It is plain state. transmission.hpp moves packets, delivery.hpp executes them at the target, connections.hpp changes
// links.
// Hot path: yes; rings grow during warm-up only. Threads: one.
#pragma once

#include "behaviour.hpp"
#include "packet.hpp"
#include "ring.hpp"
#include "scheduler.hpp"

#include <memory>
#include <string>
#include <unordered_map>

namespace weft::backends::loopback {

struct posted_receive {
  local_memory into{};
  void* context = nullptr;
  std::size_t used = 0;  ///< Bytes used of a multi-receive buffer.
};

/// Receives that wait for messages, and messages that wait for receives.
struct receive_queue {
  ring<posted_receive> posted;
  ring<std::uint32_t> starved;  ///< Packets without a receive, in order of arrival.
  bool retry_due = false;
};

/// Memory that peers may access.
struct region {
  std::byte* base = nullptr;
  std::size_t size = 0;
  rights granted{};
  bool remote = false;  ///< False: registered for local use only.
  std::uint64_t key = 0;
};

enum class link_phase : std::uint8_t { unused, dialling, offered, accepted, open, lost };

struct link_state {
  link_phase phase = link_phase::unused;
  std::uint32_t generation = 0;
  std::uint32_t tag = no_tag;
  link_name peer{};
  address_bytes dialled;  ///< Addressed: the destination, where no peer was there at the time of the dial.
  bool warm = false;      ///< Lazy fabrics: the peer has answered.
  std::int64_t knocked_at = 0;
  std::int64_t last_departure = 0;
  std::int64_t last_message = 0;  ///< Times of arrival at the peer, for the orders that hold.
  std::int64_t last_write = 0;
  std::int64_t last_any = 0;
  std::uint32_t in_flight = 0;
  receive_queue receives;           ///< Connected fabrics without a pool only.
  std::uint32_t peer_tag = no_tag;  ///< The peer's tag, where it was sent.
};

struct link_event {
  link_change what{};
  link_name at{};  ///< The local link; for `arrived`: none yet.
  link_name dialler{};
};

/// A completion and its link. The link may end before the completion is read.
struct pending_completion {
  completion_entry entry{};
  link_name at{};
};

/// One simulated port.
struct endpoint {
  std::uint32_t id = 0;
  std::uint32_t node = 0;
  bool open = true;
  bool crashed = false;  ///< Its process was killed: it sends nothing more.
  port_options options;
  behaviour row{};
  address_bytes address;
  std::string host;
  std::string service;

  std::vector<std::unique_ptr<link_state>> links;
  std::vector<std::uint32_t> free_links;  ///< A heap, the smallest index first: ports have 100,000 links.
  std::uint32_t in_flight = 0;
  receive_queue receives;  ///< Addressed fabrics, and pools.
  ring<pending_completion> completions;
  ring<link_event> link_events;
  ring<std::uint32_t> incoming;                                     ///< Packets that wait for the owner to poll.
  std::unordered_map<const void*, std::unique_ptr<region>> memory;  ///< By descriptor. Nothing depends on its order.
  std::unordered_map<std::uint64_t, region*> regions;               ///< Those that peers may access, by key.
  std::uint64_t keys_made = 0;
  std::uint64_t counted_writes = 0;
  std::uint64_t receive_calls = 0;  ///< Calls that posted receives, one or several each.
  std::uint64_t starved_count = 0;  ///< Number of packets that found no receive.
  std::uint64_t refused_count = 0;  ///< Number of remote accesses that this port refused.
  std::uint64_t packets = 0;        ///< Number of packets from and to this port.
  std::uint64_t packet_bytes = 0;   ///< Their payloads.
  std::int64_t full_until = 0;
  std::uint32_t sleeper = no_index;  ///< The task in wait().
  std::uint64_t events = 0;          ///< Counts the events that wake a sleeper.
  std::uint64_t events_seen = 0;

  bool has_events() const noexcept {
    return !completions.empty() || !link_events.empty() || !incoming.empty() || events != events_seen;
  }
  link_state* find(const link_name& name) noexcept {
    if (name.port != id || name.index >= links.size()) return nullptr;
    link_state* held = links[name.index].get();
    return held->phase != link_phase::unused && held->generation == name.generation ? held : nullptr;
  }
  receive_queue* receives_of(const link_name& name) noexcept {
    if (!row.connected || row.pooled) return &receives;
    link_state* held = find(name);
    return held != nullptr ? &held->receives : nullptr;
  }
};

}  // namespace weft::backends::loopback
