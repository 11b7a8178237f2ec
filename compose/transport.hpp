// SPDX-License-Identifier: Apache-2.0
//
// What users see: one transport of one fabric, with the same source text on every fabric. Opening checks that the
// library behaves as the fabric's row says. After that each call is the one library call that the fabric's answers
// name, inlined. Posting calls return a status and never wait; `again` means: call progress(), then try once more.
// Ends, messages and notices reach the handler of progress(). Calls with a timeout make progress themselves and belong
// to set-up; none may run inside a handler. Hot path: send, put, put_notify, get, atomics, progress. Threads: one owner
// at a time.
//
// The calls are in base classes, one for each noun: memory/memory_calls.hpp, posting/posting_calls.hpp (send, put,
// put_notify, get), posting/atomic_calls.hpp, progress/completion_calls.hpp (named states, flush),
// progress/peer_calls.hpp (connect, accept, close, send_region, receive_region), progress/loop_calls.hpp (foreign event
// loops). Progress and waiting are here.
#pragma once

#include "../core/if_memory.hpp"
#include "engine/rare_calls.hpp"
#include "events.hpp"
#include "fabric_rules.hpp"
#include "immediate_layout.hpp"
#include "memory/memory_calls.hpp"
#include "posting/atomic_calls.hpp"
#include "posting/batch.hpp"
#include "posting/group.hpp"
#include "posting/posting_calls.hpp"
#include "progress/blocking_calls.hpp"
#include "progress/completion_calls.hpp"
#include "progress/loop_calls.hpp"
#include "progress/peer_calls.hpp"
#include "progress_owner.hpp"
#include "receiving/cq_poller.hpp"

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft {

namespace detail {
struct transport_parts;

template <class Post>
concept post = std::same_as<std::remove_cvref_t<std::invoke_result_t<Post&>>, status>;

/// Names F after all checks of a transport's fabric. The first base names it, so a refused fabric is refused before the
/// compiler reads an engine, in few lines.
template <class F>
struct checked {
  static_assert(consistent_fabric<F>());
  static_assert(sizeof(coalescing_of<answer<F, coalesce_family>>) != 0);
  static_assert(sizeof(authentication_of<answer<F, authentication_family>>) != 0);
  static_assert(sizeof(tagged_of<answer<F, tagged_family>>) != 0);
  using type = F;
};
}  // namespace detail

/// A transport of fabric F: endpoint, queue, memory and peers. Open it with weft::open<F>().
template <complete_fabric F>
class transport : public detail::memory_calls<transport<F>, typename detail::checked<F>::type>,
                  public detail::peer_calls<transport<F>, F>,
                  public detail::posting_calls<transport<F>, F>,
                  public detail::completion_calls<transport<F>, F>,
                  public detail::atomic_calls<transport<F>, F>,
                  public detail::loop_calls<transport<F>, F>,
                  public detail::engine_traits<F>::tagged_answer::template calls<transport<F>, F> {
  using engine_type = detail::engine<F>;
  using waiting = detail::blocking_calls<engine_type>;

 public:
  using fabric = F;
  using detail::posting_calls<transport, F>::put;
  using detail::completion_calls<transport, F>::put;

  /// Opens and attests. Errors: invalid (an option), native, no_memory, and incompatible where the library lacks the
  /// provider or differs from the row; the sentence lists each cell.
  static result<transport> open(const transport_options& options) {
    auto e = detail::rare_calls<engine_type>::open(options);
    if (!e) return std::move(e).error();
    return transport(std::move(e).value());
  }
  transport(transport&&) noexcept = default;
  /// The transport that was here ends as its destructor ends it.
  transport& operator=(transport&& other) noexcept {
    transport taken(std::move(other));
    std::swap(e_, taken.e_);
    return *this;
  }
  /// Says goodbye to each peer, then releases everything, owned regions included. Takes at most 250 ms.
  ~transport() {
    // Without memory for the goodbyes the port still closes, and peers see that.
    if (e_) (void)if_memory([&] { detail::rare_calls<engine_type>::close_all(*e_); });
  }

  // ---- several posts as one
  /// Posts that go out together: `auto b = net.batch(peer); b.put(…); b.put_notify(…); b.close(context);`
  /// (posting/batch.hpp). A batch closes itself at the end of its scope; the transport must outlive it.
  detail::batch<engine_type> batch(peer to) noexcept { return {*e_, to}; }
  /// Small posts that travel in one message: `auto g = net.coalesce(peer); g.send(…); g.put(…); g.close();`
  /// (posting/group.hpp). A group closes itself at the end of its scope; the transport must outlive it.
  detail::group<engine_type> coalesce(peer to) noexcept { return {*e_, to}; }

  // ---- progress
  /// Makes one step of progress and hands each event to the handler. Never waits. Returns the number of entries that
  /// the library had.
  template <event_handler Handler>
  [[gnu::always_inline]] int progress(Handler&& on) {
    return waiting(*e_).step(on);
  }
  template <class Handler>
  requires(!event_handler<Handler>) int progress(Handler&&) { return detail::takes_every_event<Handler>(), 0; }
  template <class G = F>
  int progress() {
    static_assert(detail::never<G>,
                  "weft: progress() needs a handler for every kind of event: net.progress(weft::overloaded{"
                  "[](const weft::failed& f) {…}, [](const weft::lost& l) {…}, [](auto&&) {}}) [WEFT-C012]");
    return 0;
  }
  /// Makes progress until `done()` is true. Errors: deadline; invalid inside a handler.
  template <class Done, event_handler Handler>
  status until(Done&& done, duration timeout, Handler&& on) {
    static_assert(!std::same_as<std::remove_cvref_t<std::invoke_result_t<Done&>>, status>,
                  "weft: until() would repeat a post that can never succeed: use net.retry(post, timeout, handler), "
                  "which repeats only `again` [WEFT-C013]");
    return waiting(*e_).until(done, timeout, on);
  }
  /// Makes a post again while it returns `again`, with progress between, and returns its first other status:
  /// `net.retry([&] { return net.put(peer, from, at, &context); }, 10s, on)`. Choose it for set-up and tests; on the
  /// hot path handle `again` yourself. Errors: those of the post, at once; deadline, where nothing was posted and
  /// status::waits_for() says what stayed full; invalid where a handler would wait.
  template <detail::post Post, event_handler Handler>
  status retry(Post&& post, duration timeout, Handler&& on) {
    return waiting(*e_).retry(post, timeout, on);
  }
  template <class Post, event_handler Handler>
  requires(!detail::post<Post>) status retry(Post&&, duration, Handler&&) {
    static_assert(detail::never<Post>,
                  "weft: retry() takes a post that returns weft::status; for a condition use net.until() [WEFT-C014]");
    return {};
  }
  /// Sleeps until something may have arrived, the time is over, or a timer is due; call progress() next. Returns at
  /// once without options.sleeps. Returns ok in each case. No wake-up is lost: the order is arm, poll, sleep.
  status wait(duration at_most) noexcept { return waiting(*e_).sleep(at_most); }
  /// The completion queue's own descriptor, or -1. For a foreign event loop take loop_descriptor() and arm().
  int descriptor() const noexcept { return e_->port->descriptor(); }
  instant now() const noexcept { return e_->port->now(); }

  // ---- limits and counters
  const port_limits& limits() const noexcept { return e_->port->limits(); }
  /// Which device the transport uses, and why not the others: one line for each, in the library's order. Empty where
  /// the fabric has none. transport_options::device_near chooses. Allocates, and may ask the library.
  std::vector<device_verdict> explain() const { return detail::devices_of(*e_->port); }
  /// The caller's operations that have not ended. Not counted: messages of weft, and operations that ended early but
  /// that the library still holds.
  std::uint32_t in_flight() const noexcept {
    return e_->operations.count(
        [](const auto& s) { return s.use == detail::slot_use::user || s.use == detail::slot_use::silent; });
  }
  /// How the sleeps of this side ended, and which wake-ups were missed.
  const sleep_counts& sleeps() const noexcept { return e_->sleeps; }
  /// Messages and notices of connections that no longer exist, or of strangers who cannot prove that they are the peer:
  /// dropped, counted.
  std::uint64_t stale() const noexcept { return e_->stale; }
  /// Messages that no transport of this build sends: dropped, counted.
  std::uint64_t garbled() const noexcept { return e_->garbled; }
  /// Callers that got no place, and those that lost it: silent past options.handshake_limit, or while others came.
  std::uint64_t turned_away() const noexcept { return e_->turned_away; }
  /// The last message that send() refused with errc::truncated: both sizes, and how often. describe() makes a sentence.
  const truncation& refused_message() const noexcept { return e_->refused_message; }
  /// The last message that arrived and did not fit a receive. A transport of this build sends no such message.
  const truncation& overrun() const noexcept { return e_->overrun; }
  /// Bytes of all buffers that were posted for messages so far, with receive_buffers::multi_receive. Divide the bytes
  /// of messages by this for the use of the buffers.
  std::uint64_t receive_bytes_posted() const noexcept requires(answer<F, receive_buffers_family>::many_in_one) {
    return e_->receive_bytes;
  }

 private:
  friend class detail::memory_calls<transport, F>;
  friend class detail::peer_calls<transport, F>;
  friend class detail::posting_calls<transport, F>;
  friend class detail::completion_calls<transport, F>;
  friend class detail::atomic_calls<transport, F>;
  friend class detail::loop_calls<transport, F>;
  friend typename detail::engine_traits<F>::tagged_answer::template calls<transport, F>;
  friend struct detail::transport_parts;
  explicit transport(detail::held_engine<engine_type> e) : e_(std::move(e)) {}
  detail::atomic_posts<engine_type> atomic_posts_() const noexcept { return detail::atomic_posts<engine_type>(*e_); }
  template <class Post>
  [[gnu::always_inline]] status after_waiting(peer to, Post&& post) const noexcept {
    return this->after_waiting_posts(to, post);
  }

  detail::held_engine<engine_type> e_;
};

/// Opens a transport of fabric F: `auto net = weft::open<weft::selected>({.service = "7471"});`
template <complete_fabric F>
result<transport<F>> open(const transport_options& options) {
  return transport<F>::open(options);
}

}  // namespace weft

#if WEFT_HAS_RARE_WORK
#include "progress/once_per_fabric.hpp"
#endif
