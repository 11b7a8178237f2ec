// SPDX-License-Identifier: Apache-2.0
//
// The contract between a backend and the rest: a *port* is one owner's share of a fabric (domain, queues, endpoints).
// Backends only act: they make the call that they are told to make and report what came of it. Which call is made is
// decided by the policies, through compose. A port never compares a provider's name and never looks a capability up at
// run time: what it must know at compile time comes from its `Shape` parameter (a type with static constexpr members,
// below). Hot path: send, inject, write, read, atomics, post_receive, poll: noexcept, no allocation, no lock, no
// indirect call of ours. Threads: one owner. Everything else is set-up.
#pragma once

#include "atomics.hpp"
#include "error.hpp"
#include "facts.hpp"
#include "memory.hpp"
#include "time.hpp"

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace weft {

/// How many threads a library is told to reckon with. A port has one owner whatever it is told.
enum class thread_level : std::uint8_t {
  one_owner,            ///< One thread at a time calls anything of the port.
  one_owner_per_queue,  ///< One thread at a time calls what shares a completion queue.
  any,                  ///< Any thread calls anything: the library locks.
};

/// What a backend may know at compile time about the fabric that it serves. compose derives it from the fabric's
/// answers. `facts` is the row; the others are the answers in the words of the backend.
template <class S>
concept port_shape = requires {
  { S::name } -> std::convertible_to<std::string_view>;  // the fabric's name, for sentences only
  { S::facts } -> std::convertible_to<const fabric_facts&>;
  { S::virtual_address } -> std::convertible_to<bool>;   // region_address::virtual_address
  { S::provider_key } -> std::convertible_to<bool>;      // region_key::provider
  { S::local_descriptor } -> std::convertible_to<bool>;  // local_descriptor::required
  { S::bind_regions } -> std::convertible_to<bool>;      // region_binding::endpoint
  { S::native_atomics } -> std::convertible_to<bool>;    // atomics::provider
  { S::write_immediate } -> std::convertible_to<bool>;   // notify::immediate*
  { S::receive_reserve } -> std::convertible_to<bool>;   // notify::immediate_consumes_receive
  { S::remote_counter } -> std::convertible_to<bool>;    // notify::remote_counter
  {
    S::ordered_send_after_write
    } -> std::convertible_to<bool>;  // the answers rely on that order: ask for it and attest it
  { S::ordered_write_after_write } -> std::convertible_to<bool>;
  {
    S::delivery_complete
    } -> std::convertible_to<bool>;  // writes are posted in mode `delivered`, by some answer or because a caller asks
  { S::selective_completion } -> std::convertible_to<bool>;  // completion::selective
  { S::framed } -> std::convertible_to<bool>;                // framing::header: sends carry no immediate
  {
    S::multi_receive
    } -> std::convertible_to<bool>;  // receive_buffers::multi_receive: each posted buffer takes many messages
  {
    S::shared_receives
    } -> std::convertible_to<bool>;  // receive_pool::shared on a connected fabric: one pool for all links
  {
    S::two_queues
    } -> std::convertible_to<bool>;  // queues::two: posted operations and arrivals end in queues of their own
  { S::threads } -> std::convertible_to<thread_level>;  // threading: what the library is asked to lock
};

/// How a posted operation ends.
enum class post_mode : std::uint8_t {
  signalled,    ///< One completion when the source may be reused.
  delivered,    ///< One completion when the target has the bytes (where facts.delivery_complete).
  unsignalled,  ///< No completion on success; one on error, with the context given.
  at_return,    ///< Where a port has it: ok says that it has ended well, and nothing more is told of it; unless the
                ///< answer is told_later().
};
/// Of a post in mode at_return: it was taken, and how it ended a completion will tell.
constexpr status told_later(const char* operation) noexcept { return {errc::ok, origin::weft, 1, operation}; }
constexpr bool has_ended(const status& posted) noexcept { return posted.native_code == 0; }

/// What a completion tells about.
enum class completion_kind : std::uint8_t {
  ended,                 ///< An operation posted here ended, well or badly: `context` is the one given with it.
  received,              ///< A message arrived (or a posted receive failed): `context` is the receive's.
  write_with_immediate,  ///< A write with an immediate arrived. `context` is the receive that it consumed, or null
                         ///< where it consumes none.
  released,  ///< Shape::multi_receive: the library let a buffer go, without a message: `context` is the buffer's.
};

/// One completion, in the words of no library (the family `completion` keeps the short name). `length` is right for
/// `received`; for `landed` no fabric promises it.
struct completion_entry {
  completion_kind kind{};
  void* context = nullptr;
  std::uint64_t immediate = 0;
  std::size_t length = 0;
  status outcome{};
  std::byte* at = nullptr;  ///< Shape::multi_receive, `received`: where the message lies in its buffer.
  bool last = false;        ///< Shape::multi_receive, `received`: the library let the buffer go with this message.
  void* link = nullptr;     ///< `received`, of a port that has link_of(): what that reads.
};

/// A receive to be posted together with others.
struct receive_request {
  local_memory into{};
  void* context = nullptr;
};

/// An address as the library wants it: opaque, of any length.
using address_bytes = std::vector<std::byte>;

/// What happens to links, told by poll_links. `tag` is what the transport gave the link.
enum class link_change : std::uint8_t {
  arrived,      ///< connected fabrics: somebody dialled. The link takes receives already: the handler posts them, then
                ///< returns the tag.
  established,  ///< The link carries messages.
  lost,         ///< It does not any more: the peer closed, died, or the library gave up.
  refused,      ///< It never did: nobody there, or refused.
};

/// What opening does where the library returns other values than the header was generated for. Whatever is chosen, a
/// difference that an answer of the fabric rests on refuses: no transport opens that would do the wrong thing.
enum class on_difference : std::uint8_t {
  refuse,   ///< Every difference refuses.
  degrade,  ///< Those that no answer rests on are accepted: port_limits has what was returned (a shallower queue), and
            ///< lists them.
  warn,     ///< As degrade, and they are said on standard error.
};

/// What a port is opened with.
struct port_options {
  std::string node{};              ///< Local address to use ("127.0.0.1", "::1"); empty: the library's choice.
  std::string service{};           ///< Port to be found at; empty: any. Ignored where addresses are opaque.
  bool listens = false;            ///< Others will dial this port.
  bool sleeps = false;             ///< wait() will be used: ask for a wait object where the row has one.
  std::uint32_t operations = 256;  ///< Operations in flight, at most; sizes the queues.
  std::uint32_t receives =
      64;                    ///< Receives posted at once per link (connected) or in all (addressed), reserve included.
  std::uint32_t links = 64;  ///< Expected links, at most; sizes completion queues and address vectors.
  std::size_t least_room =
      0;  ///< Shape::multi_receive: a buffer with less room than this is let go: the largest message.
  bool device_memory = false;  ///< Memory of devices will be registered (register_device).
  weft::on_difference on_difference = weft::on_difference::refuse;
};

/// Values that only the opened device knows; each is at least the row's bound.
struct port_limits {
  std::size_t inject_bytes = 0;
  std::size_t queue_depth = 0;
  std::uint64_t largest_message = 0;
  std::uint64_t largest_write = 0;
  std::string library;      ///< "libfabric 1.17", as it runs.
  std::string differences;  ///< What differs from the row and was accepted (on_difference); "" where nothing does.
};

/// The operations that every backend offers. In prose, because most are templates:
///
///   using link = ...;                                   // trivially copyable; empty-initialised = no link
///   static constexpr bool link_has_receives;            // receives are posted per link (connected) or once for all
///   (addressed, or
///                                                       // connected with Shape::shared_receives: see peer_tag)
///   using oob_exchange = ...;                             // side channel for opaque addresses: see below
///
/// set-up (may allocate; each blocking call is bounded):
///   static result<std::unique_ptr<P>> open(const port_options&);      attests: lists each cell that differs (asked,
///   returned, baked) const port_limits& limits() const; address_bytes address() const; own address, for a peer's dial
///   std::string printable(const address_bytes&) const;
///   result<address_bytes> resolve(string_view node, string_view service);   where facts.address_resolution is socket
///   result<link> dial(const address_bytes&, std::uint32_t tag);       begins a link; receives must be posted by the
///   caller before or
///                                                                     right after. Addressed: established at once
///                                                                     (poll_links tells).
///   void hang_up(link&);                                              ends it and releases it. On connected fabrics
///   completions of it may
///                                                                     still be told until poll() has returned 0 once,
///                                                                     none after; on addressed ones at any time.
///   template <class On> void poll_links(On&&);                        std::uint32_t on(link_change, std::uint32_t tag,
///   link); the return
///                                                                     value is used for `arrived` only: the tag, or
///                                                                     no_tag to refuse.
///   static constexpr bool link_polls_are_system_calls;                optional: poll_links is dear, and is made seldom
///   while links rest std::uint32_t peer_tag(link) const;                               the tag that the other side's
///   handler returned when this link arrived
///                                                                     there, known from `established` on; no_tag where
///                                                                     it was not sent. Ports with
///                                                                     Shape::shared_receives send theirs with the
///                                                                     acceptance: a message from a pool names its link
///                                                                     by the receiver's tag.
///   result<registration> register_memory(bytes, rights, std::uint64_t wanted_key);   registers memory; wanted_key is
///   used where keys are ours void deregister(registration&); result<registration> register_device(const
///   device_memory&, rights, std::uint64_t wanted_key);   optional: ports that have it result<registration>
///   register_fresh(size, rights, std::uint64_t wanted_key);   optional: ports whose peers reach memory best that the
///   port made.
///                                                                     Zeroed, aligned to a page, the port's until it
///                                                                     is withdrawn
///   result<registration> register_local(bytes);                         for buffers that only local operations use
///
/// hot path (status again(waits_for::queue) when full; waits_for::connection while a lazy fabric connects):
///   status post_receive(link, local_memory, void* context);           link ignored where !link_has_receives.
///   Shape::multi_receive: the
///                                                                     buffer takes messages until an entry says `last`
///                                                                     or `released`. Shape::shared_receives: receives
///                                                                     outlive links; one that a link took with it when
///                                                                     it ended is told as failed, and can be posted
///                                                                     again.
///   void post_receive(link, local_memory, void* context, refused);    optional: the same, and refused(context) where
///   the status would have said so bool post_again(link, void* context);                             optional: as
///   post_receive, if the receive that was told last has this context: with
///                                                                     the memory that it had. False: it is another
///                                                                     one, and nothing was posted
///   status post_single_receive(link, local_memory, void* context);    optional, with Shape::multi_receive, where
///   post_receive says no_memory: takes one message,
///                                                                     which is told with `at` and neither `last` nor
///                                                                     `released`
///   static link link_of(const completion_entry&);                     optional, where link_has_receives: the link that
///   brought a message std::uint32_t post_receives(link, const receive_request*, std::uint32_t count);   only where
///   several receives are one call: as post_receive
///                                                                     for each, at most 16; returns how many the
///                                                                     library took
///   template <post_mode M> status send(link, local_memory, std::uint32_t immediate, void* context);
///   status inject(link, const_bytes, std::uint32_t immediate);        at most limits().inject_bytes; buffer free on
///   return template <post_mode M> status send_framed(link, local_memory header, local_memory, void* context);
///   Shape::framed only; both stay valid
///                                                                     until the completion, each with a descriptor of
///                                                                     its own
///   template <post_mode M> status write(link, local_memory, remote_memory, void* context);
///   template <post_mode M> status write_immediate(link, local_memory, remote_memory, std::uint64_t immediate, void*
///   context); status inject_write_immediate(link, const_bytes, remote_memory, std::uint64_t immediate); status
///   inject_write(link, const_bytes, remote_memory);            optional: ports of rows with bytes_visible_in_order
///   status read(link, local_memory, remote_memory, void* context);
///   template <post_mode M> status send_gather(link, gather_list, std::uint32_t immediate, void* context);
///   facts.gather_limit pieces at most; where
///                                                                     Shape::framed the first one is the header
///   template <post_mode M> status write_gather(link, gather_list, remote_memory, void* context);
///   facts.rma_gather_limit pieces at most, as in template <post_mode M> status write_gather_immediate(link,
///   gather_list, remote_memory, std::uint64_t immediate, void* context); status read_scatter(link, gather_list,
///   remote_memory, void* context); using piece_vector = ...;                                         optional: the
///   pieces of one call in the library's words; these four take one, too.
///                                                                     `take<Most>(gather_list)` looks at a list and
///                                                                     writes it in one pass, `bytes` sums it
///   template <atomic_operation O, atomic_number T> status fetch_atomic(link, T operand, T expected, std::uint64_t*
///   old, void* descriptor,
///                                                                      remote_memory, void* context);
///                                                                      Shape::native_atomics
///        what the row's atomic_operations lists; the value before lies in the first bytes of `old`, which the caller
///        zeroed
///   status fetch_add(link, std::uint64_t operand, std::uint64_t* old, void* descriptor, remote_memory, void* context);
///   the same, by its name status compare_swap(link, std::uint64_t expected, std::uint64_t desired, std::uint64_t* old,
///   void* descriptor, remote_memory, void* context);
///        operand scratch: where the library reads operands later than the call, `old[1]` and `old[2]` are the port's
///        to use (24 bytes in all)
///   template <class On> int poll(On&&);                               on(const completion_entry&) for each, at most
///   16; returns how many using entries = ..., reader = ...; reader queue_reader() const;   optional, poll() in two
///   calls: what reader.read(entries&) answers is above 0 when template <class On> int tell_entries(const entries&,
///   int, On&&);  tell_entries is to be given it, which answers as poll() does; else nothing was template <class On>
///   int tell_error(On&&);                         there, or reader.failed(it), and tell_error has something to tell;
///                                                                     reader.found() is said before what was read is
///                                                                     told
///   static constexpr bool reads_quickly;                              besides: poll() sees to more than the queue
///   (what a sleep kept, links that ended),
///                                                                     which may wait some looks: those that follow a
///                                                                     sleep, and some others, call it
///   static constexpr bool makes_entries;                              besides: no library has a queue, and entries are
///   made up while they are told void belongs_to(link, void*);                                     optional, connected:
///   said of each link before anything of it is told. on() is given it
///                                                                     behind each entry of a message or a notice, and
///                                                                     notices carry no number
///   static constexpr bool ends_at_return;                             optional: post_mode::at_return can be asked for
///   where a post takes a mode, and read
///                                                                     and fetch_atomic take one. With checks_places
///                                                                     also bool reach_word<T>(link, remote_memory,
///                                                                     std::byte*& word): it lies where nothing more is
///                                                                     to be looked at, and change_reached<O, T>(word,
///                                                                     operand, expected, old) changes it
///   static constexpr bool injects_all;                                optional: every post has read its source when it
///   returns. inject() and
///                                                                     inject_write_immediate() then take any size
///   static constexpr bool checks_places;                              optional: posts refuse a place without the room
///   or the right, or an atomic's word that
///                                                                     is not aligned, by their status: nobody looks
///                                                                     before
///   std::uint64_t counted_writes();                                    Shape::remote_counter: writes that landed so
///   far
///
/// batches, where posts that follow each other closely can be told apart from others. Either of:
///   static constexpr bool hints_more;                                 send, write and write_immediate take `template
///   <post_mode M, bool More>`: the
///                                                                     caller posts to the same link again at once
///     using prepared_write = ...; void aim(link, prepared_write&, void* context); template <bool Immediate> status
///     post_prepared(link, const prepared_write&);   optional status post_last_prepared(link, const prepared_write&,
///     bool immediate);
///                                                                     besides: a write made up before it is posted
///                                                                     (backends/libfabric/prepared_write.hpp)
///   void begin_batch(); void end_batch();                             posts between them go to the card together
/// and besides, where requests can be built where they are posted from:
///   using request_list = ...;                                         a batch to one link; default-made: not open.
///   `bool has_room()`; when the port posts
///                                                                     it, it is closed, `posted` counts the members
///                                                                     that were taken, `why` tells a refusal
///   status open_list(link, request_list&);                            again(queue) when there is no room; whatever
///   list was open is posted status list_send(request_list&, local_memory, std::uint32_t immediate, void* context);
///   these require has_room(); unsignalled; they may answer void list_write(request_list&, local_memory, remote_memory,
///   void* context);             again(receive_slot), and then the list was posted status
///   list_write_immediate(request_list&, local_memory, remote_memory, std::uint64_t immediate, void* context); void
///   list_fetch_add(request_list&, std::uint64_t operand, std::uint64_t* old, void* descriptor, remote_memory, void*
///   context);   told bool tell_last(const request_list&, void* context);               the last one is signalled after
///   all; false: it was posted already status post_list(request_list&, const void* mine);                one call, if
///   it is open. Members whose end is told and that were refused end as failed,
///                                                                     but for `mine`; the others are told by the
///                                                                     status only
///   std::uint32_t listed(const request_list&) const;                  members that are not posted yet
///   void move_list(const request_list& from, request_list& to);       after a copy: the open list is `to`
///   status post_marker(link, void* context);                          one completion when all that was posted to the
///   link before has ended
///
/// waiting:
///   instant now() const;
///   status wait(instant until);      Requires port_options::sleeps. Arms, re-polls, then sleeps: ok = look again,
///   deadline = nothing came.
///                                    May return early. Where the row has no descriptor: yields, then sleeps in short
///                                    steps.
///   int descriptor() const;          file descriptor of the completion queue, or -1
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

/// Ports whose queue is read by one call, and told of by another.
template <class P>
concept reads_apart = requires(const P p, typename P::entries& all, typename P::reader r) {
  { p.queue_reader() } -> std::same_as<typename P::reader>;
  { r.read(all) } -> std::signed_integral;
  { r.found() } -> std::same_as<void>;
};

/// Whose poll() sees to more than that, now and then.
template <class P>
concept reads_quickly = reads_apart<P> && P::reads_quickly;

/// Which makes its entries up itself: what is told of one is told where it is made, so that it never lies in memory.
template <class P>
concept makes_entries = reads_apart<P> && P::makes_entries;

/// Returned by a poll_links handler that refuses the link that arrived.
inline constexpr std::uint32_t no_tag = ~std::uint32_t{0};

/// The side channel of fabrics whose addresses a resolver cannot make: a listener serves its opaque address at
/// host:service.
template <class R>
concept oob_exchange_channel = requires(R r, std::string_view node, std::string_view service, const address_bytes& a,
                                        duration limit) {
  { R::serve(node, service, a) } -> std::same_as<result<std::unique_ptr<R>>>;
  { r.service() } -> std::same_as<std::string>;  // the port really used
  {r.progress()};                                // answers whoever asks, without blocking
  { R::fetch(node, service, limit) } -> std::same_as<result<address_bytes>>;
};

}  // namespace weft
