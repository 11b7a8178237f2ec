// SPDX-License-Identifier: Apache-2.0
//
// The state of one transport, and the few mechanics that its parts share: time in ticks, messages of weft's own, the
// end of an operation. The parts are small types over an engine: posting/initiator.hpp (posting), posting/atomics.hpp
// (posting atomics), receiving/cq_poller.hpp (what arrives), connecting/connection_manager.hpp (how peers meet and
// part), progress/timers.hpp (deadlines, liveness), receiving/target_executed.hpp (what this side executes for others).
// transport.hpp is what users see. Hot path: yes. Threads: the owner's.
#pragma once

#include "../../backends/process/watch.hpp"
#include "../../wire/hello.hpp"
#include "../fabric.hpp"
#include "../options.hpp"
#include "../region.hpp"
#include "../truncation.hpp"
#include "control_buffers.hpp"
#include "deferred.hpp"
#include "deferred_replies.hpp"
#include "key_source.hpp"
#include "operations.hpp"
#include "peers.hpp"
#include "poll_budget.hpp"
#include "transfer_plan.hpp"
#include "watched_ring.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

namespace weft::detail {

/// How a port's peers are watched as processes: its own way if it has one (a simulated host), else the system's.
template <class Port>
struct watch_of {
  using type = backends::process::watch;
};
template <class Port>
requires requires { typename Port::process_watch; }
struct watch_of<Port> {
  using type = typename Port::process_watch;
};

/// What a look reads the queue by, where the port has such.
struct no_reader {};
template <class Port>
struct reader_of {
  using type = no_reader;
  static type made(const Port&) noexcept { return {}; }
};
template <reads_apart Port>
struct reader_of<Port> {
  using type = typename Port::reader;
  static type made(const Port& p) noexcept { return p.queue_reader(); }
};
struct no_process {};
struct no_receives {};
struct no_ring {};
struct no_counts {};
struct no_groups {};
struct no_cells {};
struct none_ended {};
/// A peer's record with the parts that the fabric needs.
template <class Link, class Watch, std::size_t LibraryBytes, bool Process, bool Receives, bool Ring, bool Counts,
          bool Groups, bool Cells>
struct record_of {
  using type =
      peer_record<Link, std::conditional_t<Process, watched_process<Watch>, no_process>,
                  std::conditional_t<Receives, own_receives<LibraryBytes>, no_receives>,
                  std::conditional_t<Ring, ring_state, no_ring>, std::conditional_t<Counts, message_counts, no_counts>,
                  std::conditional_t<Groups, gathered_posts, no_groups>,
                  std::conditional_t<Cells, cell_state, no_cells>>;
};

/// A region of this side, as the target of others' operations.
struct region_entry {
  registration registered;
  rights granted{};
  atomicity executor{};
  std::uint64_t base = 0;  ///< What remote addresses of it count from.
  std::uint32_t number = 0;
  std::unique_ptr<std::byte[]> owned;
};

template <complete_fabric F>
struct engine {
  using fabric = F;
  using shape = shape_of<F>;
  using port_type = typename F::template port<shape>;
  static_assert(port<port_type>, "weft: this fabric's backend does not satisfy the port contract (core/port.hpp)");
  using link = typename port_type::link;
  using oob_exchange = typename port_type::oob_exchange;
  using watch = typename detail::watch_of<port_type>::type;
  static constexpr std::size_t library_bytes = F::facts.context_bytes;
  static constexpr bool coalesces = answer<F, coalesce_family>::gathers;
  using record = typename detail::record_of<link, watch, library_bytes, answer<F, liveness_family>::watches_process,
                                            port_type::link_has_receives, shape::remote_counter,
                                            !F::facts.order_send_after_send, coalesces, shape::watches_cells>::type;
  /// Some operation on some type of word takes compare-swaps.
  static constexpr bool swap_loops = shape::native_atomics && (F::atomics_by.has(atomic_lowering::loop) ||
                                                               F::atomics_by.has(atomic_lowering::wide_loop));
  using slot = operation_slot<record, library_bytes, swap_loops>;
  using receive = receive_slot<library_bytes>;

  static constexpr bool framed = shape::framed;
  /// Bytes of weft's own in front of each message.
  static constexpr std::size_t front = framed ? wire::header_bytes : 0;
  static constexpr bool connected = F::facts.endpoint_type == endpoint_type::connected;
  static constexpr bool many_in_one = shape::multi_receive;
  static constexpr bool links_have_receives = port_type::link_has_receives;
  static_assert(links_have_receives == (connected && !shape::shared_receives),
                "weft: this backend's port does not post receives where its shape says");
  static constexpr bool wide_immediate = F::facts.write_immediate_bytes >= 8;
  /// Notices say by which link they came (core/port.hpp, belongs_to), and carry no number.
  static constexpr bool notices_name_links = requires(port_type p, link l, void* whose) { {p.belongs_to(l, whose)}; };
  /// Signalled posts have ended when they return: nobody else tells of them.
  static constexpr bool ends_at_return = requires { requires port_type::ends_at_return; };
  /// Any post of the port has read its source when it returns; and refuses by itself a place without the room or the
  /// right.
  static constexpr bool injects_all = requires { requires port_type::injects_all; };
  static constexpr bool port_checks_places = requires { requires port_type::checks_places; };
  static constexpr std::uint32_t inject_bytes = inject_bytes_of<F>;
  /// Inject limit of a user's message: the port's limit minus the header.
  static constexpr std::uint32_t copied_bytes = inject_bytes > front ? inject_bytes - static_cast<std::uint32_t>(front)
                                                                     : 0;
  static constexpr bool uses_ring = shape::remote_counter;
  static constexpr bool watches_cells = shape::watches_cells;
  static constexpr post_mode write_mode = answer<F, write_fault_family>::signalled_write;
  static constexpr bool tracks_writes = answer<F, flush_family>::tracks;
  /// Unsignalled puts are copied at the call, as messages and notices are: where a refused write is silent in any case,
  /// and nobody waits for its end.
  static constexpr bool injects_puts = inject_bytes > 0 && !injects_all && !tracks_writes &&
                                       F::facts.refused_write == refusal::silent &&
                                       requires(port_type p, link l, const_bytes from, remote_memory to) {
    {p.inject_write(l, from, to)};
  };
  /// A row whose library overwrites contexts needs a slot for each operation; elsewhere unsignalled ones carry their
  /// peer's record.
  static constexpr bool markers = library_bytes == 0;
  static constexpr std::uint32_t ring_entries = 64;
  /// Nothing keeps messages in order: a goodbye may overtake those before it, so that both sides count them.
  static constexpr bool goodbye_overtakes = !F::facts.order_send_after_send;
  /// Notices are messages: then small payloads may travel in them, up to this size.
  static constexpr bool notice_is_message = answer<F, notify_family>::notice_is_message;
  /// Each waits for its delivery: those that were told of together go in one message.
  static constexpr bool batches_notices = std::same_as<answer<F, notify_family>, notify::message_after_delivery>;
  /// Of a group: its members, and its bytes without a front.
  static constexpr std::uint32_t group_members = answer<F, coalesce_family>::messages;
  static constexpr std::size_t group_bytes = answer<F, coalesce_family>::bytes;
  static constexpr std::size_t fused_bytes = notice_is_message ? F::facts.fused_bytes : 0;

  engine(const transport_options& o, std::unique_ptr<port_type> p)
      : port(std::move(p)), reader(reader_of::made(*port)), options(o), peers(o.peers), opened(port->now()) {}
  /// The port first: libraries with threads of their own may write into posted receives until their endpoint is closed.
  ~engine() {
    port.reset();
    if (home) home->engine = nullptr;
  }
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  std::unique_ptr<port_type> port;
  using reader_of = detail::reader_of<port_type>;
  [[no_unique_address]] typename reader_of::type reader;
  weft::detail::poll_budget poll_budget;
  transport_options options;
  peer_table<record> peers;
  /// Of peers with an index below this a message is taken at once: all, or none while messages are unexpected_messages,
  /// which go first. One comparison answers both.
  std::uint32_t heard_at_once = peers.capacity();
  operation_pool<slot> operations;
  [[no_unique_address]] std::conditional_t<ends_at_return, ended_operations<slot>, detail::none_ended> ended;
  using control_buffers = buffer_pool<wire::largest_handshake + wire::header_bytes>;
  control_buffers controls;
  [[no_unique_address]] std::conditional_t<coalesces, buffer_pool<group_bytes + front>, detail::no_groups>
      groups;  ///< Of gathered posts.
  std::vector<record*>
      gathering;  ///< Whoever has gathered posts, and perhaps some that had. Capacity reserved at open.
  std::uint64_t left_in_group = 0;  ///< Of the group that is looked at: see unexpected_message::left.
  /// Slots that only messages of our own may take: an operation may end by one, and would wait for its own slot for
  /// ever.
  std::uint32_t control_messages = 0;
  receive_block<receive> shared_receives;  ///< One pool for all peers.
  std::vector<unexpected_message<receive>>
      unexpected_messages;  ///< Messages that cannot be handled yet; capacity reserved at open.
  std::vector<receive_block<receive>>
      retired_receives;      ///< Receives of links that ended; freed when the queue was seen empty.
  bool batch_hints = false;  ///< A batch posts with the hint that more follows (posting/more_hints.hpp).
  bool draining = false;     ///< A link ended: entries of it may still be in the queue.
  static constexpr bool chains_receives =
      requires(port_type p, link l, const receive_request* all, std::uint32_t count) {
    {p.post_receives(l, all, count)};
  };
  static constexpr std::uint32_t longest_chain = 16;
  std::array<receive_request, chains_receives ? longest_chain : 0>
      refill;  ///< Consumed during this look at the queue, posted at its end.
  std::uint32_t refills = 0;
  std::vector<receive*> unposted;            ///< Receives that the library had no room for.
  deferred_list<slot> deferred{operations};  ///< Operations that still have to send or to tell something.
  std::uint32_t flushes = 0;                 ///< So far, where writes are tracked.
  std::uint32_t waiting_flushes = 0;         ///< That wait for tracked writes; at least.
  plan_table plans;                          ///< Of transfers in several calls.
  weft::detail::deferred_replies deferred_replies;
  weft::detail::deferred_replies deferred_fused_replies;  ///< Answers to fused notices (posting/fused.hpp).
  std::vector<region_entry> regions;
  std::shared_ptr<region_home> home;  ///< Of owned regions; made with the first one.
  std::unique_ptr<oob_exchange> side_channel;
  std::unique_ptr<std::byte[]> ring_memory;
  registration ring_registration;
  std::uint64_t ring_seen = 0;
  bool rings_are_due = false;  ///< To be looked at although nothing has landed since the last look.
  [[no_unique_address]] std::conditional_t<watches_cells, cell_memory, detail::no_cells> cells;
  address_bytes own_address;  ///< As others dial it.
  std::string listens_at;     ///< host:service, for peers.
  std::string last_reason;    ///< Of the last peer lost, where one was given.
  instant opened;
  std::uint32_t tick = 0;
  std::uint32_t next_region = 1;
  std::uint32_t swept = 0;          ///< Tick of the last sweep for deadlines.
  std::uint32_t links_moved = 0;    ///< Tick at which a link last changed, or was dialled.
  bool came_late = false;           ///< The last timers was a good part of the silence limit after the one before.
  bool handshake_unsent = false;    ///< The library did not take a handshake: see handshake::resend_handshakes().
  std::uint64_t stale = 0;          ///< Messages and notices of connections that exist no more: dropped, counted.
  std::uint64_t garbled = 0;        ///< Messages that no transport of this build sends: dropped, counted.
  std::uint64_t receive_bytes = 0;  ///< receive_buffers::multi_receive: of all buffers posted so far.
  truncation refused_message;       ///< The last that this side did not send, as its peer has no receive of that size.
  truncation overrun;               ///< The last that a peer sent all the same.
  std::uint32_t half_open = 0;
  bool retrying = false;  ///< Parked messages are being offered again.

  // ---- attention
  /// A handler is running: blocking calls are refused, and steps do nothing.
  bool handling() const noexcept { return poll_budget.handling(); }
  /// Something was put off (a list below is not empty any more): every step looks after it until all is done.
  void put_off() noexcept { poll_budget.put_off(); }
  /// After each change of `unexpected_messages`.
  void note_unexpected() noexcept { heard_at_once = unexpected_messages.empty() ? peers.capacity() : 0; }
  /// Forgets that something was put off if nothing is.
  void settle_poll_budget() noexcept {
    bool any = draining || !unexpected_messages.empty() || !unposted.empty() || !deferred.empty();
    if constexpr (answer<F, atomics_family>::executed_by_target) any = any || !deferred_replies.empty();
    if constexpr (notice_is_message || watches_cells) any = any || !deferred_fused_replies.empty();
    if constexpr (tracks_writes) any = any || waiting_flushes != 0;
    if constexpr (coalesces) any = any || !gathering.empty();
    if (!any) poll_budget.settle();
  }

  // ---- time
  /// A port whose looks cost less than a look at the clock has a rougher one, which may lag behind by some
  /// milliseconds.
  void read_clock() noexcept {
    duration since{};
    if constexpr (requires { port->now_roughly(); }) since = std::max(duration::zero(), port->now_roughly() - opened);
    else since = port->now() - opened;
    tick = static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
  }
  static constexpr std::uint32_t ticks(duration d) noexcept {
    return static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(d).count());
  }
  std::uint64_t entropy() noexcept {
    if constexpr (requires { port->random(); }) return port->random();
    else return unguessable();
  }
  std::optional<std::uint64_t> draw_key() {
    const auto random = [this] { return entropy(); };
    if constexpr (requires { port->keys_of_process(); })
      return key_source::draw(F::facts.key_bytes, random, port->keys_of_process());
    else return key_source::draw(F::facts.key_bytes, random);
  }

  /// This process, as peers on the same host are told, and a watch over one of theirs.
  std::uint64_t own_process() const noexcept {
    if constexpr (requires { port->process(); }) return port->process();
    else return watch::self();
  }
  watch watch_over(std::uint64_t process) const noexcept {
    if constexpr (requires { port->watch_process(process); }) return port->watch_process(process);
    else return watch::of(process);
  }

  // ---- messages of our own
  static constexpr std::uint32_t immediate_of(wire::message_tag tag) noexcept { return framed ? 0 : tag.word; }
  static void put_front([[maybe_unused]] bytes into, [[maybe_unused]] wire::message_tag tag) noexcept {
    if constexpr (framed) {
      wire::writer w(into);
      w.number(tag.word);
      w.number(std::uint32_t{0});
    }
  }

  /// What a message's post answered; counts it as sent where a goodbye may overtake it. Each kind that its target
  /// counts (receiving/receive_path.hpp, `is_counted`) goes through here, once.
  [[gnu::always_inline]] static status counted(record& to, status s) noexcept {
    if constexpr (goodbye_overtakes)
      if (s) ++to.messages_sent;
    return s;
  }
  static constexpr bool is_counted(wire::message_kind kind) noexcept {
    return goodbye_overtakes && (kind == wire::message_kind::user || kind == wire::message_kind::notify ||
                                 kind == wire::message_kind::fused || kind == wire::message_kind::group ||
                                 kind == wire::message_kind::region);
  }

  /// Says that this side leaves. Nothing may follow to this peer.
  status say_goodbye(record& to) noexcept {
    if constexpr (goodbye_overtakes) {
      std::byte body[4];
      wire::encode(to.messages_sent, body);
      return tell(to, wire::message_kind::goodbye, body);
    } else {
      return tell(to, wire::message_kind::goodbye, {});
    }
  }

  /// As tell(), uncounted.
  [[gnu::always_inline]] status told(record& to, wire::message_kind kind, const_bytes body, slot* parent) noexcept {
    const auto tag = wire::message_tag::of(kind, to.theirs);  // a hello: none, or what came with the link
    // The link ends right behind a goodbye: where that cuts off what is on its way, only a completion says that it got
    // out.
    const bool injected = parent == nullptr && !(connected && kind == wire::message_kind::goodbye);
    if (injected && body.size() + front <= inject_bytes && body.size() <= 64) {
      std::byte message[64 + wire::header_bytes];
      message[0] = std::byte{0};  // a message of no bytes has an address too
      put_front({message, sizeof message}, tag);
      if (!body.empty()) std::memcpy(message + front, body.data(), body.size());
      return port->inject(to.link, {message, front + body.size()}, immediate_of(tag));
    }
    const std::uint32_t buffer = controls.take();
    if (buffer == no_index) return again(waits_for::operation_slot, "control message");
    slot* s = operations.take();
    if (s == nullptr) {
      controls.give(buffer);
      return again(waits_for::operation_slot, "control message");
    }
    const local_memory memory = controls.memory(buffer);
    put_front({memory.data, memory.size}, tag);
    if (!body.empty()) std::memcpy(memory.data + front, body.data(), body.size());
    claim(*s, slot_use::control, operation::send, &to, nullptr);
    s->buffer = buffer;
    s->parent = parent;
    const status sent = port->template send<post_mode::signalled>(
        to.link, {memory.data, front + body.size(), memory.descriptor}, immediate_of(tag), s);
    if (!sent) release(*s);
    return sent;
  }

  /// Sends a short message; `again` when nothing is free, and then nothing was sent. `parent`: the operation that ends
  /// with it.
  status tell(record& to, wire::message_kind kind, const_bytes body, slot* parent = nullptr) noexcept {
    const status said = told(to, kind, body, parent);
    return is_counted(kind) ? counted(to, said) : said;
  }

  /// The same of `Size` bytes that `make(bytes)` writes: where they can be injected, into the message itself.
  template <std::size_t Size, class Make>
  [[gnu::always_inline]] status tell_of(record& to, wire::message_kind kind, Make&& make) noexcept {
    if constexpr (front + Size <= inject_bytes) {
      const auto tag = wire::message_tag::of(kind, to.theirs);
      std::byte message[front + Size];
      put_front({message, sizeof message}, tag);
      make(bytes(message + front, Size));
      const status said = port->inject(to.link, {message, sizeof message}, immediate_of(tag));
      return is_counted(kind) ? counted(to, said) : said;
    } else {
      std::byte body[Size];
      make(bytes(body));
      return tell(to, kind, body);
    }
  }

  // ---- operations
  [[gnu::always_inline]] void claim(slot& s, slot_use use, operation what, record* r, void* user) noexcept {
    constexpr operation_state fresh = under_way(slot_use::user);  // member by member: one store
    s.use = use;
    s.stage = fresh.stage;
    s.pending = fresh.pending;
    s.fault = fresh.fault;
    s.what = what;
    s.record = r;
    s.user = user;
    s.posted = tick;
    if constexpr (tracks_writes) s.stamp = flushes;
  }
  void release(slot& s) noexcept {
    if (s.buffer != no_index) {
      if (coalesces && s.stage == stage::grouped) give_group(s.buffer);
      else controls.give(s.buffer);
      s.buffer = no_index;
    }
    s.parent = nullptr;
    s.fault = errc::ok;
    operations.give(s);
  }
  /// The caller has been told that it ended; the library has not. The slot must not be given to another operation,
  /// since a late completion would be taken for that one's: the pool gets a new slot instead (cold).
  void abandon(slot& s) {
    s.use = slot_use::abandoned;
    s.parent = nullptr;
    const auto register_it = [this](bytes memory) { return register_own(memory); };
    if (operations.left() <= control_messages) operations.fill(16, register_it);
    if (controls.empty()) controls.fill(16, register_it);
    if constexpr (coalesces)
      if (groups.empty()) groups.fill(4, register_it);
  }
  /// Memory of a group: of the pool for gathered posts where there is one, else a control buffer.
  std::uint32_t take_group() noexcept {
    if constexpr (coalesces) return groups.take();
    else return controls.take();
  }
  void give_group(std::uint32_t buffer) noexcept {
    if constexpr (coalesces) groups.give(buffer);
    else controls.give(buffer);
  }
  local_memory group_memory(std::uint32_t buffer) const noexcept {
    if constexpr (coalesces) return groups.memory(buffer);
    else return controls.memory(buffer);
  }

  /// The operation goes on, or is told of, at the next look. Requires: on no list.
  void defer(slot& s) noexcept {
    deferred.add(s);
    put_off();
  }
  /// Nothing of it is at the library any more, and its end is told when its turn comes on the list of what is deferred:
  /// not now, where no handler may run, or where one may close the peers of others that end with it.
  static void only_end_is_deferred(slot& s, status outcome) noexcept {
    if (!outcome && s.fault == errc::ok) s.fault = outcome.code;
    s.stage = stage::ending;
    s.pending = 0;
  }

  /// Registers memory that only this side's operations use; null where the row does not ask for it.
  void* register_own(bytes memory) {
    if constexpr (shape::local_descriptor) {
      auto r = port->register_local(memory);
      if (!r) return nullptr;
      own_memory.push_back(*r);
      return own_memory.back().descriptor;
    } else {
      return nullptr;
    }
  }
  std::vector<registration> own_memory;

  peer handle(record& r) noexcept { return peer_access::make(&r, r.number); }
};

}  // namespace weft::detail
