// SPDX-License-Identifier: Apache-2.0
//
// What a transport knows about its fabric at compile time: its types, and which parts it has. Everything is derived
// from the fabric's answers, its facts and the optional members of its port (port_traits.hpp). A part that a fabric
// does not need is an empty type here. Hot path: all is decided at compile time. Threads: values.
#pragma once

#include "../../wire/group.hpp"
#include "../../wire/hello.hpp"
#include "../fabric.hpp"
#include "control_buffers.hpp"
#include "known_peers.hpp"
#include "no_authentication.hpp"
#include "no_coalescer.hpp"
#include "no_tagged.hpp"
#include "operations.hpp"
#include "peers.hpp"
#include "port_traits.hpp"
#include "watched_ring.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace weft::detail {

// Parts of a peer's record that a fabric does not need.
struct no_process {};
struct no_receives {};
struct no_ring {};
struct no_cells {};
struct no_counts {};

template <complete_fabric F>
struct engine_traits {
  using fabric = F;
  using shape = shape_of<F>;
  using port_type = typename F::template port<shape>;
  static_assert(port<port_type>,
                "weft: this fabric's backend does not satisfy the port contract (core/port.hpp) [WEFT-C039]");
  using link = typename port_type::link;
  using oob_exchange = typename port_type::oob_exchange;
  using processes = processes_of<port_type>;
  using watch = typename processes::watch;
  using queue = reader_of<port_type>;

  // ---- endpoints and receives
  static constexpr std::size_t library_bytes = F::facts.context_bytes;
  static constexpr bool connected = F::facts.endpoint_type == endpoint_type::connected;
  /// Each posted buffer takes many messages.
  static constexpr bool many_in_one = shape::multi_receive;
  static constexpr bool links_have_receives = port_type::link_has_receives;
  static_assert(links_have_receives == (connected && !shape::shared_receives),
                "weft: this backend's port does not post receives where its shape says [WEFT-C039]");
  /// Receives that one poll consumed are posted again by one call.
  static constexpr bool chains_receives = posts_receive_lists<port_type>;
  static constexpr std::uint32_t longest_chain = 16;
  /// Notices come with the record of their link, and carry no number.
  static constexpr bool notices_name_links = names_links<port_type>;
  static constexpr bool wide_immediate = F::facts.write_immediate_bytes >= 8;
  /// A write's immediate names the peer, and consumes no receive.
  static constexpr bool immediates_name_peers = wide_immediate && !shape::receive_reserve;

  // ---- posts
  /// Signalled posts may end when they return, and no entry reports that.
  static constexpr bool ends_at_return = can_end_at_return<port_type>;
  static constexpr bool injects_all = injects_everything<port_type>;
  static constexpr bool port_checks_places = checks_every_place<port_type>;
  static constexpr bool trusts_caller = answer<F, checks_family>::trusts_caller;
  static constexpr std::uint32_t inject_bytes = inject_bytes_of<F>;
  /// The library loses messages when its queue is full. So each message holds a slot until it ends, and the slots are
  /// fewer than the queue's entries.
  static constexpr bool slot_per_message = F::facts.full_queue == full_queue::loses;
  /// Inject limit of messages. An injected message has no end, so nothing says when it leaves the queue.
  static constexpr std::uint32_t message_inject_bytes = slot_per_message ? 0 : inject_bytes;
  static constexpr post_mode write_mode = answer<F, write_fault_family>::signalled_write;
  static constexpr bool tracks_writes = answer<F, flush_family>::tracks;
  /// Unsignalled puts are copied at the call where a refused write is silent anyway, and no operation waits for its
  /// end.
  static constexpr bool injects_puts = inject_bytes > 0 && !injects_all && !tracks_writes &&
                                       F::facts.refused_write != refusal::reported && injects_writes<port_type>;
  /// Unsignalled operations carry their peer's record as their context. A library that overwrites contexts needs a slot
  /// for each operation instead.
  static constexpr bool markers = library_bytes == 0;
  /// Some atomic operation is a loop of compare-swaps.
  static constexpr bool swap_loops = shape::native_atomics && (F::atomics_by.has(atomic_lowering::loop) ||
                                                               F::atomics_by.has(atomic_lowering::wide_loop));

  // ---- messages
  static constexpr bool framed = shape::framed;
  /// Bytes of weft's own in front of each message.
  static constexpr std::size_t front = framed ? wire::header_bytes : 0;
  /// Messages come without a link of their own, and have room for the receiver's proof. Without room, only the number
  /// of the connection says who sent a message (docs/limitations.md).
  static constexpr bool proves_sender =
      !links_have_receives && !notices_name_links && (framed || F::facts.send_immediate_bytes >= 8);
  using tag_word = std::conditional_t<proves_sender, std::uint64_t, std::uint32_t>;
  /// Inject limit of a user's message: the port's limit minus the header.
  static constexpr std::uint32_t copied_bytes = message_inject_bytes > front
                                                    ? message_inject_bytes - static_cast<std::uint32_t>(front)
                                                    : 0;
  /// The fabric keeps messages in no order. A goodbye may overtake them, so both sides count them.
  static constexpr bool goodbye_overtakes = !F::facts.order_send_after_send;

  // ---- notices
  static constexpr bool uses_ring = shape::remote_counter;
  static constexpr std::uint32_t ring_entries = 64;
  static constexpr bool watches_cells = shape::watches_cells;
  /// Notices are messages. Small payloads may travel inside of them, up to fused_bytes.
  static constexpr bool notice_is_message = answer<F, notify_family>::notice_is_message;
  static constexpr std::size_t fused_bytes = notice_is_message ? F::facts.fused_bytes : 0;
  /// Each notice waits for the delivery of its write. Notices whose writes end in one poll share a message.
  static constexpr bool batches_notices = std::same_as<answer<F, notify_family>, notify::message_after_delivery>;

  // ---- coalescing
  using coalescing = coalescing_of<answer<F, coalesce_family>>;
  /// Limits of a group: members, and bytes without the header.
  static constexpr std::uint32_t group_members = answer<F, coalesce_family>::messages;
  static constexpr std::size_t group_bytes = answer<F, coalesce_family>::bytes;

  // ---- tagged messages
  using tagged_answer = tagged_of<answer<F, tagged_family>>;

  // ---- authentication
  using authentication_answer = authentication_of<answer<F, authentication_family>>;
  template <class Engine>
  using authentication = typename authentication_answer::template type<Engine>;

  // ---- parts
  using record =
      peer_record<link,
                  std::conditional_t<answer<F, liveness_family>::watches_process, watched_process<watch>, no_process>,
                  std::conditional_t<links_have_receives, own_receives<library_bytes>, no_receives>,
                  std::conditional_t<uses_ring, ring_state, no_ring>,
                  std::conditional_t<goodbye_overtakes, message_counts, no_counts>, typename coalescing::peer_part,
                  std::conditional_t<watches_cells, cell_state, no_cells>, typename authentication_answer::peer_part,
                  typename tagged_answer::peer_part>;
  using known_peers = weft::detail::known_peers<record, connected>;
  using slot = operation_slot<record, library_bytes, swap_loops>;
  using receive = receive_slot<library_bytes>;
  using control_buffers = buffer_pool<wire::largest_handshake + wire::header_bytes + wire::group_end_bytes>;
  using coalescer_type = typename coalescing::template type<engine_traits>;
  using tagged_type = typename tagged_answer::template type<engine_traits>;
  using ended_list = std::conditional_t<ends_at_return, ended_operations<slot>, none_ended<slot>>;
  using ring_cells = std::conditional_t<watches_cells, cell_memory, no_cells>;
};

}  // namespace weft::detail
