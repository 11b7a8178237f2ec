// SPDX-License-Identifier: Apache-2.0
//
// The state of one transport, and the mechanics that all rooms share: time in ticks, slots of operations, lists of
// deferred work. What a fabric decides at compile time is in engine_traits.hpp. Messages of weft's own are in
// control_messages.hpp. Each other part of a transport is a small type over an engine: see docs/map.md. Users see
// compose/transport.hpp. Hot path: yes. Threads: the owner's.
#pragma once

#include "../options.hpp"
#include "../region.hpp"
#include "../sleep_counts.hpp"
#include "../truncation.hpp"
#include "control_messages.hpp"
#include "deferred.hpp"
#include "deferred_replies.hpp"
#include "early_notices.hpp"
#include "engine_traits.hpp"
#include "loop_state.hpp"
#include "poll_budget.hpp"
#include "transfer_plan.hpp"

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

namespace weft::detail {

/// A region of this side, as the target of remote operations.
struct region_entry {
  registration registered;
  rights granted{};
  atomicity executor{};
  std::uint64_t base = 0;  ///< The remote address of the first byte.
  std::uint32_t number = 0;
  std::unique_ptr<std::byte[]> owned;
};

/// Whether a batch posts with the hint that more follows. All batches of a transport share its queue, so one hints at a
/// time. `stalled`: it answered `again`, and the library may hold earlier members. `polled`: one poll came since.
enum class batch_hints : std::uint8_t { none, in_use, stalled, polled };

template <complete_fabric F>
struct engine : engine_traits<F>, control_sender<engine<F>, engine_traits<F>> {
  using traits = engine_traits<F>;
  using record = typename traits::record;
  using slot = typename traits::slot;
  using receive = typename traits::receive;
  using port_type = typename traits::port_type;
  using traits::notice_is_message;
  using traits::slot_per_message;
  using traits::tracks_writes;
  using traits::watches_cells;

  engine(const transport_options& o, std::unique_ptr<port_type> p)
      : port(std::move(p)),
        reader(traits::queue::made(*port)),
        options(o),
        peers(o.peers),
        opened(port->now()),
        known_secret(o.secret) {
    options.secret = {};
  }
  /// The port goes first: a library with threads may write into posted receives until its endpoint is closed.
  ~engine() {
    port.reset();
    if (home) home->engine = nullptr;
  }
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  std::unique_ptr<port_type> port;
  [[no_unique_address]] typename traits::queue::type reader;
  weft::detail::poll_budget poll_budget;
  transport_options options;
  typename traits::known_peers peers;
  /// The peer of receives whose link has ended. It is never established.
  [[no_unique_address]] std::conditional_t<traits::links_have_receives, record, no_receives> no_link;
  /// Messages of peers with a smaller index take the fast path. Where the link names the peer: messages with a smaller
  /// tag, and a forged `dead` is not smaller. 0 while messages wait in unexpected_messages, because those go first.
  std::uint32_t heard_at_once = most_heard();
  operation_pool<slot> operations;
  [[no_unique_address]] typename traits::ended_list ended;
  typename traits::control_buffers controls;
  [[no_unique_address]] typename traits::coalescer_type coalescer{*this};  ///< Posts that wait for others.
  [[no_unique_address]] typename traits::tagged_type tagged{*this};        ///< Receives and messages with a tag.
  std::uint64_t left_in_group = 0;  ///< Members of the current group that stay: see unexpected_message::left.
  /// Slots that only control messages may take. Otherwise operations could hold all slots while each waits for a
  /// message that needs one.
  std::uint32_t control_messages = 0;
  receive_block<receive> shared_receives;                        ///< One pool for all peers.
  std::vector<unexpected_message<receive>> unexpected_messages;  ///< Messages for later. Capacity reserved at open.
  std::vector<receive_block<receive>> retired_receives;       ///< Of ended links. Freed when the queue was seen empty.
  weft::detail::batch_hints batch_hints = batch_hints::none;  ///< See posting/more_hints.hpp.
  peer stalled_batch;                                         ///< The peer of the batch that `batch_hints` speaks of.
  bool draining = false, quiet = false;  ///< A link ended, and entries of it may still come. None ended since a poll.
  std::array<receive_request, traits::chains_receives ? traits::longest_chain : 0> refill;  ///< Consumed in this poll.
  std::uint32_t refills = 0, link_blocks = 0;  ///< link_blocks: of receives, also those of ended links.
  std::vector<receive*> unposted;              ///< Receives that the library had no room for.
  deferred_list<slot> deferred{operations};    ///< Operations that must still send a message or report an end.
  std::uint32_t flushes = 0;                   ///< So far, where writes are tracked.
  std::uint32_t waiting_flushes = 0;           ///< Flushes that wait for tracked writes; at least.
  plan_table plans;                            ///< Transfers in several calls.
  weft::detail::deferred_replies deferred_replies;
  weft::detail::deferred_replies deferred_fused_replies;  ///< Answers to fused notices (posting/fused.hpp).
  std::vector<region_entry> regions;
  std::shared_ptr<region_home> home;  ///< Of owned regions; made with the first one.
  std::vector<registration> own_memory;
  std::unique_ptr<typename traits::oob_exchange> side_channel;
  std::unique_ptr<std::byte[]> ring_memory;  ///< Rings of notices by remote counter.
  registration ring_registration;
  std::uint64_t ring_seen = 0;  ///< The counter of writes at the last poll of the rings.
  bool rings_are_due = false;   ///< Poll the rings although the counter did not change.
  [[no_unique_address]] typename traits::ring_cells cells;
  address_bytes own_address;      ///< As peers dial it.
  std::string listens_at;         ///< host:service, for peers.
  std::string last_reason;        ///< Reason of the last lost peer, if it gave one.
  set_signals* in_set = nullptr;  ///< Where a set of fabrics has this engine.
  instant opened;
  std::uint32_t tick = 0;  ///< Milliseconds since the transport was opened.
  std::uint32_t next_region = 1;
  std::uint32_t swept = 0;          ///< Tick of the last sweep for deadlines.
  std::uint32_t links_moved = 0;    ///< Tick at which a link last changed, or was dialled.
  bool came_late = false;           ///< The last run of the timers was late by a good part of the silence limit.
  bool handshake_unsent = false;    ///< The library did not take a handshake: see handshake::resend_handshakes().
  std::uint64_t stale = 0;          ///< Messages and notices of ended connections: dropped, counted.
  std::uint64_t garbled = 0;        ///< Messages that no transport of this build sends: dropped, counted.
  std::uint64_t receive_bytes = 0;  ///< receive_buffers::multi_receive: bytes of all buffers posted so far.
  truncation refused_message;  ///< The last message that this side did not send: its peer has no receive of that size.
  truncation overrun;          ///< The last message of a peer that was larger than its receive.
  std::uint32_t half_open = 0;
  early_notices overtaking_notices;
  loop_state loop;        ///< For a foreign event loop.
  bool retrying = false;  ///< Messages in unexpected_messages are offered again.
  sleep_counts sleeps;
  bool timer_ended_sleep = false;    ///< The next poll counts a missed wake-up if an entry is there.
  std::uint64_t turned_away = 0;     ///< Callers without a place, and silent ones that lost theirs.
  std::vector<std::uint64_t> hosts;  ///< Of the records, with transport_options::peers_per_host.
  /// transport_options::secret, which `options` of an engine has no more.
  [[no_unique_address]] typename traits::authentication_answer::kept_secret known_secret;

  // ---- poll budget
  /// A handler is running: blocking calls are refused, and progress() does nothing.
  bool handling() const noexcept { return poll_budget.handling(); }
  /// Some work was deferred: each progress() tries it again until it is done.
  void put_off() noexcept { poll_budget.put_off(); }
  /// Call after each change of `unexpected_messages`.
  void note_unexpected() noexcept { heard_at_once = unexpected_messages.empty() ? most_heard() : 0; }
  std::uint32_t most_heard() const noexcept {
    return traits::links_have_receives || traits::notices_name_links ? wire::connection_number::end : peers.capacity();
  }
  /// Returns to quick polls if no work is deferred any more.
  void settle_poll_budget() noexcept {
    const bool any = draining || !unexpected_messages.empty() || !unposted.empty() || !deferred.empty() ||
                     (answer<F, atomics_family>::executed_by_target && !deferred_replies.empty()) ||
                     ((notice_is_message || watches_cells) && !deferred_fused_replies.empty()) ||
                     batch_hints > batch_hints::in_use || (tracks_writes && waiting_flushes != 0) ||
                     coalescer.any_waits() || !tagged.settled();
    if (!any) poll_budget.settle();
  }

  /// A message came from this peer. The timers note the time. Other rows note heartbeats only: messages cost nothing.
  static void hear([[maybe_unused]] record& r) noexcept {
    if constexpr (answer<F, liveness_family>::speaks) r.heard = true;
  }
  /// Silence of a peer that counts as its death, in ticks. 0: none.
  std::uint32_t silence_ticks() const noexcept { return ticks(options.silence_limit); }

  // ---- time, random numbers, processes
  static constexpr std::uint32_t most_ticks = ~std::uint32_t{0} / 2;  ///< Of a limit: ticks wrap after 49.7 days.
  std::uint32_t tick_now() const noexcept {
    return static_cast<std::uint32_t>(std::max(duration::zero(), rough_now(*port) - opened) / 1ms);
  }
  static constexpr std::uint32_t ticks(duration d) noexcept {
    return static_cast<std::uint32_t>(std::min<std::int64_t>(d / 1ms, most_ticks));
  }
  std::uint64_t entropy() noexcept { return random_of(*port); }
  /// The name of this process for peers on the same host, and a watch over a peer's process.
  std::uint64_t own_process() const noexcept { return traits::processes::own(*port); }
  typename traits::watch watch_over(std::uint64_t process) const noexcept {
    return traits::processes::watch_over(*port, process);
  }

  // ---- operations
  [[gnu::always_inline]] void claim(slot& s, slot_use use, operation what, record* r, void* user,
                                    stage at = stage::single) noexcept {
    constexpr operation_state fresh = under_way(slot_use::user);
    s.use = use;  // four members together: one store
    s.stage = at;
    s.pending = fresh.pending;
    s.fault = fresh.fault;
    s.what = what;
    s.record = r;
    s.user = user;
    s.posted = tick;  // here, not in the timers: an owner may poll for the first time after the deadline
    if (tracks_writes) s.stamp = flushes;
  }
  void release(slot& s) noexcept {
    if (s.buffer != no_index) {
      if (!coalescer.takes_back(s) && !tagged.takes_back(s)) controls.give(s.buffer);
      s.buffer = no_index;
    }
    s.parent = nullptr;
    s.fault = errc::ok;
    operations.give(s);
  }
  /// More slots than at open (cold). Where the library loses messages, they do not let more operations into its queue.
  void add_slots() {
    operations.fill(16, [this](bytes memory) { return register_own(memory); });
    if constexpr (slot_per_message) operations.withhold(16);
  }
  /// The operation's end was reported, but the library still holds the slot. A late completion must not end another
  /// operation, so the pool gets a new slot instead (cold).
  void abandon(slot& s) {
    s.use = slot_use::abandoned;
    s.parent = nullptr;
    const auto register_it = [this](bytes memory) { return register_own(memory); };
    if (operations.left() <= control_messages) add_slots();
    if (controls.empty()) controls.fill(16, register_it);
    coalescer.refill(), tagged.refill();
  }

  /// The next poll continues the operation, or reports its end. Requires: on no list.
  void defer(slot& s) noexcept {
    deferred.add(s);
    put_off();
  }
  /// The library holds nothing of the operation any more. The next poll reports its end, as no handler may run now.
  static void only_end_is_deferred(slot& s, status outcome) noexcept {
    if (!outcome && s.fault == errc::ok) s.fault = outcome.code;
    s.stage = stage::ending;
    s.pending = 0;
  }

  // ---- memory and peers
  /// Registers memory that only local operations use. Returns null where the fabric wants no descriptor.
  void* register_own(bytes memory) {
    if (!traits::shape::local_descriptor) return nullptr;
    auto r = port->register_local(memory);
    if (!r) return nullptr;
    own_memory.push_back(*r);
    return own_memory.back().descriptor;
  }

  peer handle(record& r) noexcept { return peer_access::make(&r, r.number); }
};

}  // namespace weft::detail
