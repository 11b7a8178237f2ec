// SPDX-License-Identifier: Apache-2.0
//
// The contract of a backend. A *port* is one owner's part of a fabric: domain, queues, endpoints.
// A backend makes the library's call that compose selects, and reports the result. The policies decide which call that
// is. The `Shape` parameter (port_shape.hpp) selects each call at compile time. Hot path: post_receive, send, inject,
// write, read, atomics, poll: noexcept, no allocation, no lock, no indirect call of weft. Everything else is set-up.
// Threads: one owner.
#pragma once

#include "atomics.hpp"
#include "completion_entry.hpp"
#include "error.hpp"
#include "facts.hpp"
#include "memory.hpp"
#include "port_options.hpp"
#include "port_shape.hpp"
#include "time.hpp"

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

namespace weft {

/// The operations of a port. Most are templates, so the concept below checks only a part of this list. "Optional"
/// members exist only on ports that have the feature.
///
/// Types and constants
/// - `link`: a trivially copyable handle of a link. Value-initialised: no link.
/// - `oob_exchange`: the side channel for opaque addresses; see oob_exchange_channel.
/// - `link_has_receives`: true: receives are posted per link. False: one set for all links, on addressed fabrics
///   and with Shape::shared_receives.
/// - `link_polls_are_system_calls` (optional): poll_links is expensive, so compose calls it rarely while links are
///   quiet.
///
/// Set-up. It may allocate; each blocking call has a bound.
/// - `static result<std::unique_ptr<P>> open(const port_options&)`: attests the library. Its error lists each cell
///   that differs: asked, returned, baked.
/// - `const port_limits& limits() const`
/// - `std::vector<device_verdict> devices() const` (optional): which device was taken, and why not the others. May ask
///   the library.
/// - `address_bytes address() const`: the port's own address, for a peer's dial.
/// - `std::string printable(const address_bytes&) const`
/// - `result<address_bytes> resolve(std::string_view node, std::string_view service)`: where
///   facts.address_resolution is `socket`.
///
/// Links
/// - `result<link> dial(const address_bytes&, std::uint32_t tag)`: begins a link. The caller posts receives before
///   it or directly after it. On addressed fabrics the link is established at once; poll_links reports that.
/// - `void hang_up(link&)`: ends and releases a link. On connected fabrics, poll may report completions of the link
///   until it returned 0 once, and none after that. On addressed fabrics it may report them at any time.
/// - `void poll_links(On&&)`: calls `std::uint32_t on(link_change, std::uint32_t tag, link)` for each event. The
///   result counts for `arrived` only: the link's tag, or no_tag to refuse. A port with port_options::links links may
///   offer one more: on() may hang up another link for it. If on() does not, the port refuses the new link.
/// - `std::uint32_t peer_tag(link) const`: the tag that the peer's handler returned when this link arrived there.
///   Valid from `established` on; no_tag where the peer did not send it. Ports with Shape::shared_receives send
///   their tag with the acceptance: a message from a pool names its link by the receiver's tag.
/// - `std::uint64_t host_of(link) const` (connected), `std::uint64_t host_of(const address_bytes&) const` (addressed)
///   (optional): a number for the remote host of a link that arrived, or of an address; 0: unknown. Compose limits the
///   peers of one host by it.
/// - `void belongs_to(link, void*)` (optional, connected): sets the transport's object of a link before any report
///   about it. poll then calls on() with that object after each entry of a message or notice, and notices carry no
///   connection number.
///
/// Memory
/// - `result<registration> register_memory(bytes, rights, std::uint64_t wanted_key)`: uses wanted_key where the
///   application makes the keys.
/// - `result<registration> register_local(bytes)`: for buffers that only local operations use.
/// - `result<registration> register_device(const device_memory&, rights, std::uint64_t wanted_key)` (optional)
/// - `result<registration> register_fresh(std::size_t, rights, std::uint64_t wanted_key)` (optional): on ports
///   whose peers best reach memory that the port allocated. Zeroed and aligned to a page; the port owns it until
///   deregister.
/// - `void deregister(registration&)`
///
/// Receives. All posts return `again(waits_for::queue)` when a queue is full, and `again(waits_for::connection)`
/// while a lazy fabric connects.
/// - `status post_receive(link, local_memory, void* context)`: ignores the link unless link_has_receives.
///   Shape::multi_receive: the buffer takes messages until an entry has `last` or kind `released`.
///   Shape::shared_receives: receives outlive links. A receive that ends with its link fails, and can be posted
///   again.
/// - `void post_receive(link, local_memory, void* context, refused)` (optional): the same; calls refused(context)
///   in place of an error status.
/// - `bool post_again(link, void* context)` (optional): posts the last reported receive again, with its memory.
///   False: `context` is another receive's, and nothing was posted.
/// - `status post_single_receive(link, local_memory, void* context)` (optional, with Shape::multi_receive): takes
///   one message, where post_receive says no_memory. Its entry has `at`, and neither `last` nor `released`.
/// - `std::uint32_t post_receives(link, const receive_request*, std::uint32_t count)` (optional): posts at most 16
///   receives in one call. Returns how many the library took.
/// - `static link link_of(const completion_entry&)` (optional, with link_has_receives): the link that brought a
///   message.
///
/// Messages. `immediate` has facts.send_immediate_bytes bytes; a port of rows with 4 may take std::uint32_t.
/// - `template <post_mode M> status send(link, local_memory, std::uint64_t immediate, void* context)`
/// - `status inject(link, const_bytes, std::uint64_t immediate)`: at most limits().inject_bytes; the source is free
///   on return.
/// - `template <post_mode M> status send_framed(link, local_memory header, local_memory, void* context)`:
///   Shape::framed only. Both pieces stay valid until the completion; each has its own descriptor.
/// - `template <post_mode M> status send_gather(link, gather_list, std::uint64_t immediate, void* context)`: at
///   most facts.gather_limit pieces. With Shape::framed the first piece is the header.
///
/// Writes and reads
/// - `template <post_mode M> status write(link, local_memory, remote_memory, void* context)`
/// - `template <post_mode M> status write_immediate(link, local_memory, remote_memory, std::uint64_t immediate,
///   void* context)`
/// - `status inject_write_immediate(link, const_bytes, remote_memory, std::uint64_t immediate)`
/// - `status inject_write(link, const_bytes, remote_memory)` (optional): on rows with bytes_visible_in_order.
/// - `status read(link, local_memory, remote_memory, void* context)`
/// - `write_gather`, `write_gather_immediate`, `read_scatter`: the same with a gather_list of at most
///   facts.rma_gather_limit pieces.
/// - `piece_vector` (optional): a gather list in the library's types, which the four gather calls take too.
///   `take<Most>(gather_list)` checks and converts a list in one pass; `bytes` is its sum.
/// - `std::uint64_t counted_writes()`: Shape::remote_counter: the writes that arrived so far.
///
/// Atomics, with Shape::native_atomics
/// - `template <atomic_operation O, atomic_number T> status fetch_atomic(link, T operand, T expected,
///   std::uint64_t* old, void* descriptor, remote_memory, void* context)`: the operations of the row's
///   atomic_operations. The first bytes of `old`, which the caller zeroed, get the old value. `old` has 24 bytes:
///   `old[1]` and `old[2]` belong to the port, for libraries that read operands after the call.
/// - `fetch_add`, `compare_swap`: the same for std::uint64_t.
///
/// Properties of posts (optional, static constexpr bool)
/// - `injects_all`: inject and inject_write_immediate take any size. Posts of up to facts.inject_bytes, and all writes,
///   have read their source when they return.
/// - `checks_places`: the status of a post refuses a place without the room or the right, and an unaligned word of
///   an atomic. Callers need no check.
/// - `lends_sources`: memory from register_fresh is the best source of a message, also without rights: a receiver may
///   read it until the message's end. send_gather copies. `bool lends_to(link) const`: the peer has not copied all that
///   was lent to it. hang_up frees the sources: what was not copied arrives never.
/// - `ends_at_return`: posts take post_mode::at_return; read and fetch_atomic take a mode too. With checks_places
///   also `bool reach_word<T>(link, remote_memory, std::byte*& word)`: the word needs no further check; and
///   `change_reached<O, T>(word, operand, expected, old)`, which changes it.
///
/// Completions
/// - `int poll(On&&)`: calls `on(const completion_entry&)` for at most 16 entries. Returns their number.
/// - `entries`, `reader`, `reader queue_reader() const` (optional; reads_apart): poll in two calls. A positive
///   result of reader.read(entries&) goes to report_entries, after a call of reader.found(). If
///   reader.failed(result), report_error has an entry. Otherwise nothing was there.
/// - `int report_entries(const entries&, int, On&&)`, `int report_error(On&&)`: return as poll does.
/// - `reads_quickly` (optional, static constexpr bool): poll does more than read the queue (entries stored by a
///   sleep, ended links). Most polls may skip that; the first poll after a sleep, and some others, call poll.
/// - `makes_entries` (optional, static constexpr bool): no library has a queue; the port makes the entries itself.
///
/// Batches: posts that follow each other closely. A port has at most one of two kinds.
/// - `hints_more` (optional, static constexpr bool): send, write and write_immediate take `template <post_mode M,
///   bool More>`. More: the caller posts to the same link again at once.
/// - `prepared_write`, `void aim(link, prepared_write&, void* context)`, `template <bool Immediate> status
///   post_prepared(link, const prepared_write&)`, `status post_last_prepared(link, const prepared_write&, bool
///   immediate)` (optional, with hints_more): a write that is prepared before it is posted
///   (backends/libfabric/prepared_write.hpp).
///
/// Lists (optional): a batch to one link, built in the array that is posted.
/// - `request_list`: default-constructed: not open. `bool has_room()`. The port closes a list when it posts it.
///   `posted` counts the members that were taken; `why` says why not all.
/// - `status open_list(link, request_list&)`: posts another open list first. `again(waits_for::queue)`: no room.
/// - `list_send`, `list_write`, `list_write_immediate`, `list_fetch_add`: add a member. Require has_room().
///   Unsignalled, except list_fetch_add. They may return `again(waits_for::receive_slot)`; then the list was
///   posted.
/// - `bool signal_last(const request_list&, void* context)`: signals the last member. False: it was posted already.
/// - `status post_list(request_list&, const void* mine)`: one call, if the list is open. Refused members with a
///   reported end complete as failed, except `mine`; for the others only the status reports it.
/// - `std::uint32_t listed(const request_list&) const`: members that are not posted yet.
/// - `void move_list(const request_list& from, request_list& to)`: after a copy, `to` is the open list.
/// - `status post_marker(link, void* context)`: one completion after everything that was posted to the link before.
///
/// Waiting
/// - `instant now() const`: the port's clock.
/// - `status wait(instant until)`: requires port_options::sleeps. Arms, polls once more, then sleeps. Returns ok to
///   poll again, or deadline; may return early. Without a descriptor it yields, then sleeps in short steps.
/// - `bool arm(sleep_descriptors&)`, `void disarm(bool came)` (optional): wait() in two halves, for a thread that
///   sleeps for several ports. arm() adds its descriptors; false: something is there, or the port has no descriptor
///   now, and disarm() must not be called. disarm() follows the sleep.
/// - `int descriptor() const`: the file descriptor of the completion queue, or -1.
template <class P>
concept port = requires(P p, const P c, typename P::link l, const port_options& o, const address_bytes& a,
                        std::uint32_t tag, bytes m, const_bytes cm, local_memory lm, gather_list pieces,
                        remote_memory rm, std::uint64_t u, void* context, instant at, registration& r) {
  requires std::is_trivially_copyable_v<typename P::link>;
  typename P::oob_exchange;
  { P::link_has_receives } -> std::convertible_to<bool>;
  { P::open(o) } -> std::same_as<result<std::unique_ptr<P>>>;
  { c.limits() } -> std::same_as<const port_limits&>;
  { c.address() } -> std::same_as<address_bytes>;
  { c.printable(a) } -> std::same_as<std::string>;
  { p.resolve(std::string_view{}, std::string_view{}) } -> std::same_as<result<address_bytes>>;
  { p.dial(a, tag) } -> std::same_as<result<typename P::link>>;
  {p.hang_up(l)};
  { p.register_memory(m, rights::all, u) } -> std::same_as<result<registration>>;
  { p.register_local(m) } -> std::same_as<result<registration>>;
  {p.deregister(r)};
  { p.post_receive(l, lm, context) }
  noexcept->std::same_as<status>;
  { p.template send<post_mode::signalled>(l, lm, tag, context) }
  noexcept->std::same_as<status>;
  { p.inject(l, cm, tag) }
  noexcept->std::same_as<status>;
  { p.template write<post_mode::signalled>(l, lm, rm, context) }
  noexcept->std::same_as<status>;
  { p.template write_immediate<post_mode::signalled>(l, lm, rm, u, context) }
  noexcept->std::same_as<status>;
  { p.inject_write_immediate(l, cm, rm, u) }
  noexcept->std::same_as<status>;
  { p.read(l, lm, rm, context) }
  noexcept->std::same_as<status>;
  { p.template send_gather<post_mode::signalled>(l, pieces, tag, context) }
  noexcept->std::same_as<status>;
  { p.template write_gather<post_mode::signalled>(l, pieces, rm, context) }
  noexcept->std::same_as<status>;
  { p.template write_gather_immediate<post_mode::signalled>(l, pieces, rm, u, context) }
  noexcept->std::same_as<status>;
  { p.read_scatter(l, pieces, rm, context) }
  noexcept->std::same_as<status>;
  { c.now() } -> std::same_as<instant>;
  { p.wait(at) } -> std::same_as<status>;
  { c.descriptor() } -> std::same_as<int>;
};

/// Ports that read the queue and report its entries in two calls.
template <class P>
concept reads_apart = requires(const P p, typename P::entries& all, typename P::reader r) {
  { p.queue_reader() } -> std::same_as<typename P::reader>;
  { r.read(all) } -> std::signed_integral;
  { r.found() } -> std::same_as<void>;
};

/// Ports whose poll() also does maintenance, which most polls may skip.
template <class P>
concept reads_quickly = reads_apart<P> && P::reads_quickly;

/// Ports that make their entries themselves, and report each where it is made, so that it is never in memory.
template <class P>
concept makes_entries = reads_apart<P> && P::makes_entries;

/// The side channel of fabrics without resolvable addresses: a listener serves its opaque address at host:service.
template <class R>
concept oob_exchange_channel = requires(R r, std::string_view node, std::string_view service, const address_bytes& a,
                                        duration limit, R* own) {
  { R::serve(node, service, a) } -> std::same_as<result<std::unique_ptr<R>>>;
  // The port number that is in use.
  { r.service() } -> std::same_as<std::string>;
  // Answers clients without blocking.
  {r.progress()};
  // `own` answers its clients meanwhile; it may be null.
  { R::fetch(node, service, limit, own) } -> std::same_as<result<address_bytes>>;
};

}  // namespace weft
