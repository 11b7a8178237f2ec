// SPDX-License-Identifier: Apache-2.0
//
// Counters: include this to open a transport with counters of itself and of each peer, as in
// `weft::open<weft::counted<weft::selected>>({…})`. No other header of weft includes this one, so other transports
// compile nothing of it. The transport below is the same code, byte for byte, with counters and without: its calls and
// events are counted around it. Fabric fact: the counters of a library or a card know neither peers nor weft's
// operations. Hot path: posts and progress(), of such transports. Threads: the owner's; `weft top` reads from another
// process.
#pragma once

#include "../../core/if_memory.hpp"
#include "../sets/members.hpp"
#include "counted_atomics.hpp"
#include "counted_fabric.hpp"
#include "counted_members.hpp"
#include "counted_posts.hpp"
#include "counting_handler.hpp"
#include "counting_switch.hpp"
#include "exposed_file.hpp"

#include <cerrno>
#include <ctime>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace weft {

/// A transport of F with counters. All calls are those of transport<F>.
template <complete_fabric F, counting When>
class transport<counted<F, When>> : public transport<F>,
                                    public detail::counted_posts<transport<counted<F, When>>, transport<F>>,
                                    public detail::counted_atomics<transport<counted<F, When>>, transport<F>> {
  using plain = transport<F>;
  using source = detail::source_of_counts<F>;
  using counters_type = detail::counting_engine<typename source::type>;
  static constexpr bool always = When == weft::counting::at_open;
  using kept_counts =
      std::conditional_t<always, detail::counting_always<counters_type>, detail::counting_switch<counters_type>>;
  using counts_type = typename kept_counts::counting;
  using posts = detail::counted_posts<transport, plain>;
  using atomics = detail::counted_atomics<transport, plain>;
  template <class Handler>
  using through = detail::counting_handler<counts_type, std::remove_reference_t<Handler>>;

 public:
  using fabric = counted<F, When>;
  using atomics::add, atomics::bit_and, atomics::bit_or, atomics::bit_xor, atomics::compare_swap, atomics::fetch_add;
  using atomics::fetch_and, atomics::fetch_max, atomics::fetch_min, atomics::fetch_or, atomics::fetch_xor;
  using atomics::load, atomics::max, atomics::min, atomics::store, atomics::swap;
  using posts::get;
  using posts::put;
  using posts::put_notify;
  using posts::send;

  /// As transport<F>::open. Errors: also no_memory, for the counters.
  static result<transport> open(const transport_options& options) {
    auto below = plain::open(options);
    if (!below) return std::move(below).error();
    transport made(std::move(*below));
    if (always && !made.start_counting())
      return failure{error(errc::no_memory, "open"), "no memory for the counters of a transport"};
    return made;
  }
  transport(transport&&) noexcept = default;
  transport& operator=(transport&&) noexcept = default;
  ~transport() = default;

  // ---- counters
  /// Begins to count. With counting::at_open, or when it counts already, it does nothing. Errors: no_memory.
  status start_counting() noexcept {
    if (counts_here() != nullptr) return {};
    std::unique_ptr<counters_type> counts;
    if (!if_memory([&] { counts = std::make_unique<counters_type>(source::of(*this)); }) || !counts->has_memory())
      return error(errc::no_memory, "start_counting");
    counting_.begin(std::move(counts));
    return {};
  }
  /// The counters of the whole transport, summed now. Zeros before it counts.
  transport_counters counters() const noexcept {
    return counts_here() == nullptr ? transport_counters{} : counts_here()->whole();
  }
  /// The counters of one peer. Also of a lost or closed one, until its record serves another peer; zeros then. The
  /// first 1,024 records have counters of their own; others count in the transport's sum.
  peer_counters counters(peer p) const noexcept {
    return counts_here() == nullptr ? peer_counters{} : counts_here()->of_peer(p);
  }
  /// Puts the counters into a file that other processes of this user may read, and returns its path: `weft top` shows
  /// them while this transport runs. Each count stays as cheap. The file ends with the transport. Calling it again
  /// returns the same path. Errors: denied (the folder is open to others), no_memory (its file system is full), native.
  result<std::string> expose_counters() {
    if (file_) return file_.path();
    if (const status s = start_counting(); !s) return failure{s, "expose_counters() has no memory for counters"};
    std::optional<result<std::string>> done;
    if (if_memory([&] { done.emplace(expose()); })) return *std::move(done);
    return failure{error(errc::no_memory, "expose_counters"), "no memory for the name of the file of counters"};
  }

  // ---- a trace in time
  /// Keeps the last `most` events from here on: posts, ends, messages, notices, peers. Takes 48 bytes for each, once. A
  /// second call begins anew. 0 ends the recording. While it records, an event costs a reading of the clock. Errors:
  /// no_memory.
  status record_events(std::uint32_t most) noexcept {
    if (const status s = start_counting(); !s) return s;
    counts_here()->trace.reset();
    if (most == 0) return {};
    if (!if_memory([&] { counts_here()->trace = std::make_unique<detail::event_trace>(most); }))
      return error(errc::no_memory, "record_events");
    return {};
  }
  /// Writes the events as a Chrome trace, which ui.perfetto.dev and chrome://tracing show: an operation with a context
  /// is a span, everything else a point. Contexts must differ while operations are under way. Errors: invalid (nothing
  /// is recorded), native (the file; status::native() is errno).
  status write_trace(const std::string& path) const noexcept {
    const counters_type* const counts = counts_here();
    return counts != nullptr && counts->trace ? counts->trace->write(path) : error(errc::invalid, "write_trace");
  }

  // ---- several posts as one
  auto batch(peer to) noexcept {
    using members = decltype(plain::batch(to));
    return detail::counted_members<counts_type, members>(counts_(), to, plain::batch(to));
  }
  auto coalesce(peer to) noexcept {
    using members = decltype(plain::coalesce(to));
    return detail::counted_members<counts_type, members>(counts_(), to, plain::coalesce(to));
  }

  // ---- progress
  template <event_handler Handler>
  [[gnu::always_inline]] int progress(Handler&& on) {
    const int found = plain::progress(through<Handler>{counts_(), on});
    counts_().polled(found);
    return found;
  }
  template <class Handler>
  requires(!event_handler<Handler>) int progress(Handler&&) { return detail::takes_every_event<Handler>(), 0; }
  template <class G = F>
  requires(!is_fabric_set<G>) int progress() { return plain::template progress<G>(); }
  template <class Done, event_handler Handler>
  status until(Done&& done, duration timeout, Handler&& on) {
    counts_().take_engine_counts();
    return plain::until(done, timeout, through<Handler>{counts_(), on});
  }
  template <class Post, event_handler Handler>
  status retry(Post&& post, duration timeout, Handler&& on) {
    return plain::retry(post, timeout, through<Handler>{counts_(), on});
  }
  status wait(duration at_most) noexcept {
    counts_().take_engine_counts();
    return plain::wait(at_most);
  }
  std::optional<duration> arm() noexcept {
    counts_().take_engine_counts();
    return plain::arm();
  }

  [[gnu::always_inline]] status flush(peer to, void* context) noexcept {
    return counts_().posted(to, traffic::flush, 0, plain::flush(to, context), context);
  }
  template <event_handler Handler>
  status flush(peer to, duration timeout, Handler&& on) {
    through<Handler> counted_on{counts_(), on};
    const status s = plain::flush(to, timeout, counted_on);
    if (counts_().posted(to, traffic::flush, 0, s)) counts_().ended(completed{operation::flush, to});
    return s;
  }

  // ---- peers
  template <class Handler = detail::refuse_events>
  result<peer> connect(std::string_view where, duration timeout, Handler&& on = {}) {
    auto&& to = counting_events(on);
    return met(where, plain::connect(where, timeout, to));
  }
  template <class Handler = detail::refuse_events>
  result<peer> connect(std::string_view where, const_bytes private_data, duration timeout, Handler&& on = {}) {
    auto&& to = counting_events(on);
    return met(where, plain::connect(where, private_data, timeout, to));
  }
  result<peer> start_connect(std::string_view where) { return dials(where, plain::start_connect(where)); }
  result<peer> start_connect(std::string_view where, const_bytes private_data) {
    return dials(where, plain::start_connect(where, private_data));
  }
  template <class Handler = detail::refuse_events>
  result<peer> accept_one(duration timeout, Handler&& on = {}) {
    auto&& to = counting_events(on);
    return met({}, plain::accept_one(timeout, to));
  }
  status accept(peer p) { return met(p, plain::accept(p)); }
  status accept(peer p, const_bytes private_data) { return met(p, plain::accept(p, private_data)); }
  template <class Handler = detail::refuse_events>
  status close(peer p, duration timeout, Handler&& on = {}) {
    counts_().gone(p);
    auto&& to = counting_events(on);
    return plain::close(p, timeout, to);
  }
  template <class Handler = detail::refuse_events>
  result<remote_region> receive_region(peer from, duration timeout, Handler&& on = {}) {
    auto&& to = counting_events(on);
    return plain::receive_region(from, timeout, to);
  }

  // ---- tagged messages, where the fabric has them
  template <class... Context>
  [[gnu::always_inline]] status send_tagged(peer to, local_memory from, std::uint64_t tag, Context... context) noexcept
      requires(sizeof...(Context) <= 1) {
    return counts_().posted(to, traffic::send, from.size, plain::send_tagged(to, from, tag, context...), context...);
  }
  status receive_tagged(tagged_receive& r, const tag_match& what, local_memory into) noexcept {
    return plain::receive_tagged(r, what, into);
  }
  template <event_handler Handler>
  result<tagged_message> receive_tagged(const tag_match& what, local_memory into, duration timeout, Handler&& on) {
    auto took = plain::receive_tagged(what, into, timeout, through<Handler>{counts_(), on});
    if (took) counts_().message(took->from, took->size);
    return took;
  }

 private:
  friend posts;
  friend atomics;
  explicit transport(plain below) noexcept : plain(std::move(below)) {}
  /// Null: it does not count yet.
  counters_type* counts_here() const noexcept { return counting_.on(); }

  /// A handler that counts. refuse_events stays itself, because its type has a meaning.
  template <class Handler>
  through<Handler> counting_events(Handler& on) noexcept {
    return {counts_(), on};
  }
  static detail::refuse_events& counting_events(detail::refuse_events& on) noexcept { return on; }
  result<peer> met(std::string_view where, result<peer> p) {
    if (p) counts_().met(*p, where);
    return p;
  }
  result<peer> dials(std::string_view where, result<peer> p) {
    if (p) counts_().dials(*p, where);
    return p;
  }
  status met(peer p, status s) noexcept {
    if (s) counts_().met(p);
    return s;
  }
  result<std::string> expose() {
    auto made = detail::exposed_file::make(counts_here()->page().peers());
    if (!made) return std::move(made).error();
    auto& [file, page] = *made;
    page.copy_from(counts_here()->page());
    detail::counter_page_head& head = page.start().head;
    timespec now{};
    (void)::clock_gettime(CLOCK_REALTIME, &now);
    head.exposed_at = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
    head.process = static_cast<std::uint64_t>(::getpid());
    detail::put_text(head.fabric, F::name);
    detail::put_text(head.program, program_invocation_short_name);
    detail::put_text(head.listens_at, this->listen_address());
    if (const status s = file.show(); !s) return failure{s, "expose_counters() cannot name the file " + file.path()};
    counts_here()->page() = std::move(page);
    file_ = std::move(file);
    return file_.path();
  }
  counts_type& counts_() noexcept { return counting_.here(); }

  kept_counts counting_;
  detail::exposed_file file_;
};

}  // namespace weft
