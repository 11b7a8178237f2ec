// SPDX-License-Identifier: Apache-2.0
//
// What users see: one transport of one fabric, the same source text on every fabric. Opening attests that the library
// answers what the generated header was made for; after that each call is the one library call that the fabric's
// answers name, inlined. Posting calls answer with a status and never wait; `again` means: call progress(), then try
// once more. Ends, messages and notices are told by progress(). Calls with a timeout make progress themselves and are
// for set-up; none may be made from inside a handler. Hot path: send, put, put_notify, get, fetch_add, compare_swap,
// progress. Threads: one owner at a time.
#pragma once

#include "built_for.hpp"
#include "connecting/host_and_service.hpp"
#include "connecting/opening.hpp"
#include "events.hpp"
#include "immediate_layout.hpp"
#include "memory/registration.hpp"
#include "posting/atomic_calls.hpp"
#include "posting/batch.hpp"
#include "posting/coalescing_initiator.hpp"
#include "posting/gather.hpp"
#include "posting/group.hpp"
#include "progress/blocking_calls.hpp"
#include "progress/completion_level.hpp"
#include "progress/orderly_close.hpp"
#include "progress/timers.hpp"
#include "progress_owner.hpp"
#include "receiving/cq_poller.hpp"

#include <memory>
#include <string_view>

namespace weft {

template <complete_fabric F>
class transport : public detail::atomic_calls<transport<F>, F> {
  static_assert(consistent_fabric<F>());
  using engine_type = detail::engine<F>;
  using record = typename engine_type::record;

 public:
  using fabric = F;

  /// Opens and attests. Errors: the library lacks the provider, or answers other than the row says: the sentence lists
  /// each cell.
  static result<transport> open(const transport_options& options) {
    carry_built_for<F>();
    auto e = detail::opening<engine_type>::open(options);
    if (!e) return std::move(e).error();
    return transport(std::move(e).value());
  }
  transport(transport&&) noexcept = default;
  transport& operator=(transport&&) noexcept = default;
  /// Says goodbye to every peer, then releases everything. Takes at most a quarter of a second.
  ~transport() {
    if (e_) detail::orderly_close<engine_type>(*e_).close_all(250ms);
  }

  // ---- meeting
  /// Where others connect to: "host:service" for connect() on their side. Requires options.listens or a service.
  std::string listen_address() const { return e_->listens_at; }

  /// Begins to connect and returns at once; `connected` or `lost` tells the end. `where` is host:service on every
  /// fabric.
  result<peer> start_connect(std::string_view where) {
    return detail::blocking_calls<engine_type>(*e_).start(where, {}, false);
  }
  result<peer> start_connect(std::string_view where, const_bytes private_data) {
    return detail::blocking_calls<engine_type>(*e_).start(where, private_data, true);
  }
  /// Connects, and returns when the other side has accepted. Other events meanwhile go to `on`; without one they are an
  /// error. Errors: unreachable, rejected, incompatible, deadline; the sentence says which and why.
  template <class Handler = detail::refuse_events>
  result<peer> connect(std::string_view where, duration timeout, Handler&& on = {}) {
    return detail::blocking_calls<engine_type>(*e_).connect(where, {}, false, timeout, on);
  }
  template <class Handler = detail::refuse_events>
  result<peer> connect(std::string_view where, const_bytes private_data, duration timeout, Handler&& on = {}) {
    return detail::blocking_calls<engine_type>(*e_).connect(where, private_data, true, timeout, on);
  }
  /// Waits for a request and accepts it.
  template <class Handler = detail::refuse_events>
  result<peer> accept_one(duration timeout, Handler&& on = {}) {
    return detail::blocking_calls<engine_type>(*e_).accept_one(timeout, on);
  }
  /// Answers a `requested` event. Private data of up to 64 bytes reaches the other side with `connected`.
  status accept(peer p) noexcept { return detail::blocking_calls<engine_type>(*e_).answer_request(p, {}, false); }
  status accept(peer p, const_bytes private_data) noexcept {
    return detail::blocking_calls<engine_type>(*e_).answer_request(p, private_data, true);
  }
  status reject(peer p, std::string_view reason) {
    return detail::blocking_calls<engine_type>(*e_).refuse_request(p, reason);
  }
  /// Waits for what is outstanding (bounded), says goodbye, releases the peer. No event follows for it. A peer that
  /// left before is fine.
  template <class Handler = detail::refuse_events>
  status close(peer p, duration timeout, Handler&& on = {}) {
    if constexpr (engine_type::coalesces) (void)detail::coalescing<engine_type>(*e_).before(initiator_().living(p));
    return detail::orderly_close<engine_type>(*e_).close(p, timeout, on);
  }
  /// The sentence of the last `lost` event, where one was given ("" else). Valid inside the handler and until the next.
  const std::string& reason() const noexcept { return e_->last_reason; }

  // ---- memory
  /// Registers memory of the caller, who keeps it until release_region().
  result<region> register_region(bytes memory, rights granted) {
    return detail::registrar<engine_type>(*e_).register_memory(memory, granted, nullptr);
  }
  /// Registers memory of a device, which the caller keeps. Requires options.device_memory. Post from it with a context.
  /// Errors: unsupported or native, with the sentence of what lacks: the library, the provider, the driver.
  result<region> register_region(const dmabuf_memory& m, rights granted) {
    return detail::registrar<engine_type>(*e_).register_memory(device_memory::of(m), granted);
  }
  template <bool Here = built_with_cuda>
  result<region> register_region(const cuda_memory& m, rights granted) {
    static_assert(Here,
                  "weft: this program is built without CUDA: its driver header (cuda.h) was not found; without it, "
                  "register a dmabuf_memory");
    return detail::registrar<engine_type>(*e_).register_memory(device_memory::of(m), granted);
  }
  /// Registers fresh, zeroed memory, aligned to a page, that the transport keeps.
  result<region> allocate(std::size_t size, rights granted) {
    return detail::registrar<engine_type>(*e_).allocate(size, granted);
  }
  /// The same for words whose atomics have this executor (words.hpp). Errors: also a region that its executor cannot
  /// serve.
  template <atomicity Who>
  result<words<Who>> register_words(bytes memory, rights granted) {
    return as_words<Who>(
        detail::registrar<engine_type>(*e_).register_memory(memory, granted, nullptr, executor_asked<Who>()));
  }
  template <atomicity Who>
  result<words<Who>> allocate_words(std::size_t size, rights granted) {
    return as_words<Who>(detail::registrar<engine_type>(*e_).allocate(size, granted, executor_asked<Who>()));
  }
  void release_region(const region& r) { detail::registrar<engine_type>(*e_).release(r); }
  /// What a peer needs to use the region. On rows whose bytes land only while somebody polls, say who does.
  region_bytes export_region(const region& r, progress_owner) const noexcept {
    return wire::encode(detail::registrar<engine_type>(*e_).describe(r));
  }
  template <class G = F>
  region_bytes export_region(const region& r) const noexcept {
    static_assert(!answer<G, progress_family>::needs_owner,
                  "weft: on this fabric bytes land only while the target polls; name the progress owner: "
                  "export_region(region, weft::owner_polls)");
    return wire::encode(detail::registrar<engine_type>(*e_).describe(r));
  }
  /// Sends a region's description as a message; the other side takes it with receive_region(), or parses the message
  /// itself.
  status send_region(peer to, const region& r, progress_owner) noexcept {
    return behind(
        to, [&] { return detail::blocking_calls<engine_type>(*e_).send_region(to, export_region(r, owner_polls)); });
  }
  /// Waits for a region's description from this peer. Other events meanwhile go to `on`; without one they are an error.
  template <class Handler = detail::refuse_events>
  result<remote_region> receive_region(peer from, duration timeout, Handler&& on = {}) {
    return detail::blocking_calls<engine_type>(*e_).receive_region(from, timeout, on);
  }
  result<remote_region> parse_region(const_bytes from) const {
    return remote_region::parse(from, F::fingerprint, usual_atomicity<F>);
  }
  /// The same for a region of words with this executor. Errors: also words of another one.
  template <atomicity Who>
  result<remote_words<Who>> parse_words(const_bytes from) const {
    auto parsed = remote_region::parse(from, F::fingerprint, executor_asked<Who>());
    if (!parsed) return std::move(parsed).error();
    return remote_words<Who>(*parsed);
  }

  // ---- posting
  // With a context: exactly one `completed` or `failed` tells the end. Without: only failures are told, with a null
  // context, and the source must stay untouched until the peer's answer implies that it was read. Up to inject_bytes it
  // is free at once: of messages, and of notices that ride on writes. The row's, less what travels around a message's
  // bytes where immediates do not (policies/framing.hpp).
  static constexpr std::uint32_t inject_bytes = engine_type::copied_bytes;
  /// And of puts, where a refused write says nothing in any case (write_fault): from 1 to so many bytes.
  static constexpr std::uint32_t put_inject_bytes = engine_type::injects_puts ? engine_type::inject_bytes : 0;

  [[gnu::always_inline]] status send(peer to, local_memory from, void* context) noexcept {
    return initiator_().send(to, from, context, true);
  }
  [[gnu::always_inline]] status send(peer to, local_memory from) noexcept {
    return initiator_().send(to, from, nullptr, false);
  }
  [[gnu::always_inline]] status put(peer to, local_memory from, const remote_place& at, void* context) noexcept {
    return initiator_().put(to, from, at, context, true);
  }
  [[gnu::always_inline]] status put(peer to, local_memory from, const remote_place& at) noexcept {
    return initiator_().put(to, from, at, nullptr, false);
  }
  [[gnu::always_inline]] status put_notify(peer to, local_memory from, const remote_place& at, std::uint32_t immediate,
                                           void* context) noexcept {
    return initiator_().put_notify(to, from, at, immediate, context, true);
  }
  [[gnu::always_inline]] status put_notify(peer to, local_memory from, const remote_place& at,
                                           std::uint32_t immediate) noexcept {
    return initiator_().put_notify(to, from, at, immediate, nullptr, false);
  }
  /// Fields of which some spill (compose/immediate_layout.hpp): the call writes them into the first header_bytes of
  /// `from`, which it must be allowed to change. Errors: invalid, when `from` is shorter. A layout that fits is given
  /// where an immediate is.
  template <spilling_layout L>
  [[gnu::always_inline]] status put_notify(peer to, local_memory from, const remote_place& at, const L& fields,
                                           void* context) noexcept {
    if (!place_header(fields, from)) return error(errc::invalid, "put_notify");
    return initiator_().put_notify(to, from, at, fields.immediate(), context, true);
  }
  template <spilling_layout L>
  [[gnu::always_inline]] status put_notify(peer to, local_memory from, const remote_place& at,
                                           const L& fields) noexcept {
    if (!place_header(fields, from)) return error(errc::invalid, "put_notify");
    return initiator_().put_notify(to, from, at, fields.immediate(), nullptr, false);
  }
  [[gnu::always_inline]] status get(peer from, local_memory into, const remote_place& at, void* context) noexcept {
    return initiator_().get(from, into, at, context);
  }
  /// A put that ends when the state is reached that the caller names: posted, source_reusable, delivered or visible
  /// (compose/states.hpp), as in `put(peer, from, at, weft::until<weft::visible>(context))`. What put(…, context)
  /// without a state waits for is the row's write_fault answer.
  template <write_state State>
  [[gnu::always_inline]] status put(peer to, local_memory from, const remote_place& at,
                                    weft::until<State> wanted) noexcept {
    return behind(
        to, [&]() __attribute__((always_inline)) {
          return detail::completion_level<engine_type>(*e_).put(to, from, at, wanted);
        });
  }
  template <write_state State>
  [[gnu::always_inline]] status put(peer to, gather_list from, const remote_place& at,
                                    weft::until<State> wanted) noexcept {
    return behind(
        to, [&]() __attribute__((always_inline)) {
          return detail::completion_level<engine_type>(*e_).put(to, from, at, wanted);
        });
  }
  /// Ends when all writes to this peer that were posted before are visible there, or have ended badly, which was told
  /// by then: one `completed` or `failed` with this context. By the row's flush answer; where that sends a message, the
  /// peer must make progress, and where it is refused this does not compile. Not waited for where writes are tracked: a
  /// put_notify without a context of at most inject_bytes, or that travels in its notice (fused_bytes). `again` also
  /// while an earlier transfer in parts is not posted whole.
  template <class G = F>
  [[gnu::always_inline]] status flush(peer to, void* context) noexcept {
    flush_is_possible<G>();
    return detail::completion_level<engine_type>(*e_).flush(to, context);
  }
  /// The same, and waits. Other events meanwhile go to `on`.
  template <event_handler Handler, class G = F>
  status flush(peer to, duration timeout, Handler&& on) {
    flush_is_possible<G>();
    return detail::completion_level<engine_type>(*e_).flush_and_wait(to, timeout, on);
  }

  // The same from several pieces of memory, or into several, in the order of their bytes: gather_limit (8) at most, on
  // every fabric. Rows that carry fewer in one call get several, which end as one operation; a message of more pieces
  // than the row gathers is packed if it is short (some 700 bytes), else `unsupported`. Unsignalled ones are never free
  // at once.
  [[gnu::always_inline]] status send(peer to, gather_list from, void* context) noexcept {
    return behind(
        to, [&]() __attribute__((always_inline)) { return gathering_().send(to, from, context, true); });
  }
  [[gnu::always_inline]] status send(peer to, gather_list from) noexcept {
    return behind(
        to, [&]() __attribute__((always_inline)) { return gathering_().send(to, from, nullptr, false); });
  }
  [[gnu::always_inline]] status put(peer to, gather_list from, const remote_place& at, void* context) noexcept {
    return behind(
        to, [&]() __attribute__((always_inline)) { return gathering_().put(to, from, at, context, true); });
  }
  [[gnu::always_inline]] status put(peer to, gather_list from, const remote_place& at) noexcept {
    return behind(
        to, [&]() __attribute__((always_inline)) { return gathering_().put(to, from, at, nullptr, false); });
  }
  [[gnu::always_inline]] status put_notify(peer to, gather_list from, const remote_place& at, std::uint32_t immediate,
                                           void* context) noexcept {
    return behind(
        to, [&]() __attribute__((always_inline)) {
          return gathering_().put_notify(to, from, at, immediate, context, true);
        });
  }
  [[gnu::always_inline]] status put_notify(peer to, gather_list from, const remote_place& at,
                                           std::uint32_t immediate) noexcept {
    return behind(
        to, [&]() __attribute__((always_inline)) {
          return gathering_().put_notify(to, from, at, immediate, nullptr, false);
        });
  }
  [[gnu::always_inline]] status get(peer from, gather_list into, const remote_place& at, void* context) noexcept {
    return behind(
        from, [&]() __attribute__((always_inline)) { return gathering_().get(from, into, at, context); });
  }
  /// Posts that go out together: `auto b = net.batch(peer); b.put(…); b.put_notify(…); b.close(context);`
  /// (compose/posting/batch.hpp). It closes itself when it goes out of scope; the transport must outlive it.
  weft::detail::batch<engine_type> batch(peer to) noexcept { return {*e_, to}; }
  /// Small posts that travel in one message: `auto g = net.coalesce(peer); g.send(…); g.put(…); g.close();`
  /// (compose/posting/group.hpp). It closes itself when it goes out of scope; the transport must outlive it.
  weft::detail::group<engine_type> coalesce(peer to) noexcept { return {*e_, to}; }
  /// Any memory of the caller as a source or destination, on rows without local descriptors. Elsewhere use
  /// region::slice().
  template <class G = F>
  static local_memory memory(const_bytes any) noexcept {
    static_assert(
        answer<G, local_descriptor_family>::any_memory,
        "weft: this fabric wants local buffers registered; use a slice of a region: region.slice(offset, size)");
    return {const_cast<std::byte*>(any.data()), any.size(),
            nullptr};  // NOLINT(cppcoreguidelines-pro-type-const-cast): sources are only read
  }

  // ---- progress
  /// Moves everything one step and tells what happened. Never waits. Returns how many entries the library had.
  template <event_handler Handler>
  [[gnu::always_inline]] int progress(Handler&& on) {
    return detail::blocking_calls<engine_type>(*e_).step(on);
  }
  /// Makes progress until `done()` holds. Errors: deadline; invalid from inside a handler.
  template <class Done, event_handler Handler>
  status until(Done&& done, duration timeout, Handler&& on) {
    return detail::blocking_calls<engine_type>(*e_).until(done, timeout, on);
  }
  /// Sleeps until something may have arrived, or the time is over, or timers is due: always followed by progress().
  /// Without options.sleeps it returns at once. Returns ok either way; a lost wake-up is impossible: arm, look again,
  /// sleep.
  status wait(duration at_most) noexcept { return detail::blocking_calls<engine_type>(*e_).sleep(at_most); }
  /// File descriptor to watch in a foreign event loop, or -1.
  int descriptor() const noexcept { return e_->port->descriptor(); }
  instant now() const noexcept { return e_->port->now(); }

  // ---- looking
  const port_limits& limits() const noexcept { return e_->port->limits(); }
  /// The caller's operations that have not ended: neither messages of weft's own, nor what the library still holds
  /// though its end was told.
  std::uint32_t in_flight() const noexcept {
    return e_->operations.count(
        [](const auto& s) { return s.use == detail::slot_use::user || s.use == detail::slot_use::silent; });
  }
  /// Messages and notices that belonged to no present connection, and messages that no transport of this build sends.
  /// Dropped, counted.
  std::uint64_t stale() const noexcept { return e_->stale; }
  std::uint64_t garbled() const noexcept { return e_->garbled; }
  /// The last message that send() answered with errc::truncated, and the last that a peer sent although it does not fit
  /// (such a peer is no transport of this build): both sizes, and how often. describe() makes a sentence of it.
  const truncation& refused_message() const noexcept { return e_->refused_message; }
  const truncation& overrun() const noexcept { return e_->overrun; }
  /// Bytes of all buffers that were posted for messages so far, on fabrics with receive_buffers::multi_receive: how
  /// well they are used is the bytes of messages by this.
  std::uint64_t receive_bytes_posted() const noexcept requires(answer<F, receive_buffers_family>::many_in_one) {
    return e_->receive_bytes;
  }
  /// The largest message that this peer takes, in bytes.
  std::uint32_t largest_message(peer p) const noexcept {
    return p.alive() ? static_cast<record*>(p.record())->their_max_message_bytes : 0;
  }

 private:
  friend class detail::atomic_calls<transport, F>;
  template <atomicity Who>
  static consteval atomicity executor_asked() {
    static_assert(
        Who != atomicity::provider || usual_atomicity<F> == atomicity::provider,
        "weft: on this fabric neither card nor library executes atomics: register the region with atomicity::target");
    return Who;
  }
  template <atomicity Who>
  static result<words<Who>> as_words(result<region> made) {
    if (!made) return std::move(made).error();
    return words<Who>(*made);
  }
  detail::atomic_posts<engine_type> atomic_posts_() const noexcept { return detail::atomic_posts<engine_type>(*e_); }
  explicit transport(std::unique_ptr<engine_type> e) : e_(std::move(e)) {}
  using initiator_type = std::conditional_t<engine_type::coalesces, detail::coalescing_initiator<engine_type>,
                                            detail::initiator<engine_type>>;
  initiator_type initiator_() const noexcept { return initiator_type(*e_); }
  /// Makes a post that no group holds: behind what was gathered for that peer.
  template <class Post>
  [[gnu::always_inline]] status behind(peer to, Post&& post) const noexcept {
    if constexpr (engine_type::coalesces)
      if (const status s = detail::coalescing<engine_type>(*e_).before(initiator_type(*e_).living(to)); !s) return s;
    return post();
  }
  template <class G>
  static consteval void flush_is_possible() {
    static_assert(!std::same_as<answer<G, flush_family>, weft::flush::refused>,
                  "weft: this fabric cannot tell when earlier writes are visible: no message is kept behind them, and "
                  "no end of a write means delivered; "
                  "`weft explain FABRIC flush` names the facts");
  }
  detail::gather<engine_type> gathering_() const noexcept { return detail::gather<engine_type>(*e_); }

  std::unique_ptr<engine_type> e_;
};

/// Opens a transport of fabric F: `auto net = weft::open<weft::selected>({.service = "7471"}).value();`
template <complete_fabric F>
result<transport<F>> open(const transport_options& options) {
  return transport<F>::open(options);
}

}  // namespace weft
