// SPDX-License-Identifier: Apache-2.0
//
// A transfer engine: lists of thousands of puts or gets as one request, with a handle, one notice, a limit in flight
// and priorities. It is a handler of progress() over one transport, of one fabric or of a set.
//
// The notice comes after all bytes, on every fabric. The engine posts it when every other transfer of the list has
// ended. Where an end does not mean that the target has the bytes, the peer must first say that it sees them (fi_cq(3),
// FI_DELIVERY_COMPLETE; policies/flush.hpp). A list that fails sends no notice. Hot path: put_list,
// get_list, post, progress: no allocation, lock or exception after make(). Threads: the transport's owner.
#pragma once

#include "../compose/ordering.hpp"
#include "../compose/transport.hpp"
#include "list_posting.hpp"
#include "prepared_list.hpp"
#include "refusal.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace weft::transfers {

template <complete_fabric F>
class engine : private detail::list_posting<F> {
  using posting = detail::list_posting<F>;
  using posting::net_, posting::records_;

 public:
  /// Requires: the transport outlives the engine's lists, does not move, and makes progress through the engine alone,
  /// or through handler(). Its own progress() would give ends of lists to another handler. Errors: invalid (an option
  /// is 0), no_memory.
  static result<engine> make(transport<F>& net, const engine_options& o = {}) {
    for (const auto& [value, name] :
         {std::pair(o.lists, "lists"), std::pair(o.peers, "peers"),
          std::pair(o.in_flight_per_peer, "in_flight_per_peer"), std::pair(o.posts_at_once, "posts_at_once")})
      if (value == 0)
        return {error(errc::invalid, "engine"), std::string("engine_options::") + name + " is 0; it is at least 1"};
    engine made(net, o);
    if (!made.has_memory()) return {error(errc::no_memory, "engine"), "no memory for a transfer engine"};
    return made;
  }
  engine(engine&&) noexcept = default;
  engine& operator=(engine&&) noexcept = default;

  transport<F>& net() noexcept { return *net_; }

  // ---- lists
  /// Writes each transfer's memory here to its place in the peer's regions. Bounds and rights of all are checked first,
  /// so that a wrong list moves nothing. The list, its memory and its regions must stay until it has ended. It ends
  /// when each put has ended (states_and_flush.md).
  started_list put_list(peer to, std::span<const transfer> all, const list_options& o = {}) noexcept {
    return this->begin_checked(operation::put, to, all, nullptr, o);
  }
  /// The same, and the peer's handler gets one `notified` when all bytes are visible there.
  template <class G = F>
  started_list put_list(peer to, std::span<const transfer> all, notice n, const list_options& o = {}) noexcept {
    notices_are_possible<G>();
    return this->begin_checked(operation::put, to, all, &n, o);
  }
  /// Reads each place in the peer's regions into the memory here. Ends when all bytes are here.
  started_list get_list(peer from, std::span<const transfer> all, const list_options& o = {}) noexcept {
    return this->begin_checked(operation::get, from, all, nullptr, o);
  }

  /// Checks a list once, for post(). Allocates. Errors: those of put_list, with a sentence; no_memory.
  result<prepared_list> prepare_put(peer to, std::span<const transfer> all) { return prepare(operation::put, to, all); }
  result<prepared_list> prepare_get(peer from, std::span<const transfer> all) {
    return prepare(operation::get, from, all);
  }
  /// Posts a prepared list, also while it is in flight already.
  started_list post(const prepared_list& l, const list_options& o = {}) noexcept {
    return this->begin(l.what(), l.peer(), l.transfers(), nullptr, o);
  }
  template <class G = F>
  started_list post(const prepared_list& l, notice n, const list_options& o = {}) noexcept {
    notices_are_possible<G>();
    if (l.what() == operation::get) return this->refuse({refused_for::notice_of_gets, l.what()});
    return this->begin(l.what(), l.peer(), l.transfers(), &n, o);
  }

  // ---- handles
  list_status state(list_handle h) noexcept {
    const detail::list_record* const r = records_.at(h);
    return r == nullptr ? list_status{} : posting::status_of(*r);
  }
  /// Posts nothing more of the list. What is in flight ends, and then the list is `cancelled`. A list whose notice is
  /// posted already ends as if not cancelled. Errors: invalid (a stale handle).
  status cancel(list_handle h) noexcept {
    detail::list_record* const r = records_.at(h);
    if (r == nullptr) return this->refuse({refused_for::stale_handle}).why;
    if (!(r->at == detail::phase::noticing && r->queue == detail::list_record::no_queue)) this->cancel_record(*r);
    return {};
  }
  /// Gives the list's place back; the handle is stale then. Errors: invalid (a stale handle, or a list that has not
  /// ended).
  status release(list_handle h) noexcept {
    detail::list_record* const r = records_.at(h);
    if (r == nullptr) return this->refuse({refused_for::stale_handle}).why;
    if (r->at != detail::phase::ended) return this->refuse({refused_for::not_ended}).why;
    records_.give(*r);
    return {};
  }
  /// The last list or handle that was refused; describe() makes a sentence.
  const refusal& refused() const noexcept { return posting::refused_; }
  /// Posts that the transport answered with `again`, and that the engine repeated.
  std::uint64_t agains() const noexcept { return posting::agains_; }
  /// Operations of lists to this peer that have not ended.
  std::uint32_t in_flight(peer to) const noexcept { return this->in_flight_of(to); }

  // ---- progress
  /// The transport's progress(); ends of lists are taken, other events go to `on`. Then posts what there is room for.
  template <event_handler Handler>
  [[gnu::always_inline]] int progress(Handler&& on) {
    if (posting::busy_) return 0;
    posting::busy_ = true;
    const int found = net_->progress(handler(on));
    posting::busy_ = false;
    post_more(found == 0);
    return found;
  }
  /// `on` with the ends of lists taken out, for a loop that calls the transport's progress() itself, and post_more()
  /// after it. Refers to `on` and to the engine.
  template <class Handler>
  auto handler(Handler& on) noexcept {
    return routed<Handler>{this, &on};
  }
  /// Posts what there is room for, and ends lists whose time is over. `idle`: reads the clock.
  [[gnu::always_inline]] void post_more(bool idle = true) {
    this->post_waiting();
    if (this->may_be_due(idle)) [[unlikely]]
      this->expire(net_->now());
  }
  /// How long a loop of its own may sleep while nothing arrives, after post_more(). 0: a list waits to be posted.
  duration longest_sleep() const noexcept {
    constexpr duration until_room = 1ms;  // a full queue need not tell when it has room
    duration most =
        this->next_due_ == instant::max() ? duration::max() : std::max(duration(0), this->next_due_ - net_->now());
    for (std::uint32_t i = 0; i < this->peers_used_; ++i) {
      const detail::peer_lists& l = this->peers_[i];
      if (this->may_post(l)) most = std::min(most, l.full ? until_room : duration(0));
    }
    return most;
  }
  /// Makes progress until `done()` is true. Errors: deadline; invalid inside a handler or an ended_function.
  template <class Done, event_handler Handler>
  status until(Done&& done, duration timeout, Handler&& on) {
    if (posting::busy_) return error(errc::invalid, "waiting inside a handler");
    const instant end = after(net_->now(), timeout);
    for (std::uint32_t idle = 0; !done();) {
      idle = progress(on) > 0 ? 0 : idle + 1;
      if (done()) break;
      if (idle % 16 == 15 && net_->now() >= end) return error(errc::deadline, "until");
      if (idle % 32 == 31) std::this_thread::yield();  // the peer may need this processor
      if (idle > 2000 && !this->posts_wait())
        (void)net_->wait(std::max(duration(0), std::min(end, posting::next_due_) - net_->now()));
    }
    return {};
  }
  /// Waits for the end of a list. Errors: deadline; invalid (a stale handle); the list's own. Where an ended_function
  /// releases the list, its error goes there alone.
  template <event_handler Handler>
  status wait(list_handle h, duration timeout, Handler&& on) {
    if (records_.at(h) == nullptr) return this->refuse({refused_for::stale_handle}).why;
    list_status last;
    const auto ended = [&] {
      if (const list_status now = state(h); now.state != list_state::released) last = now;
      return has_ended(state(h).state);
    };
    const status waited = until(ended, timeout, on);
    return waited ? last.why : waited;
  }

 private:
  engine(transport<F>& net, const engine_options& o) : posting(net, o) {}

  template <class Handler>
  struct routed {
    engine* lists;
    Handler* on;
    [[gnu::always_inline]] void operator()(const completed& e) const {
      if (!lists->take_end(e.context, {})) (*on)(e);
    }
    void operator()(const failed& e) const {
      if (!lists->take_end(e.context, e.why)) (*on)(e);
    }
    bool operator()(const received& e) const { return offer(*on, e); }
    void operator()(const lost& e) const {
      lists->lose(e.peer, e.why);
      (*on)(e);
    }
    void operator()(const auto& e) const { (*on)(e); }
  };

  template <class G>
  static consteval void notices_are_possible() {
    static_assert(posting::confirmation != detail::confirms::nothing,
                  "weft: this fabric cannot tell when the writes of a list are visible, so no notice may follow them: "
                  "take ordered<F, order::write_after_write>, or count a notice for each put [WEFT-C042]");
  }
  result<prepared_list> prepare(operation what, peer to, std::span<const transfer> all) {
    refusal r = to.alive() ? check_list(what, all) : refusal{refused_for::nobody, what};
    if (r.reason != refused_for::nothing) return {this->refuse(r).why, describe(r)};
    std::vector<transfer> kept;
    if (!if_memory([&] { kept.assign(all.begin(), all.end()); }))
      return {error(errc::no_memory, "prepare"),
              "no memory for a prepared list of " + std::to_string(all.size()) + " transfers"};
    return prepared_list(to, what, std::move(kept));
  }
};

/// `auto lists = weft::transfers::make_engine(net);`
template <complete_fabric F>
result<engine<F>> make_engine(transport<F>& net, const engine_options& o = {}) {
  return engine<F>::make(net, o);
}

}  // namespace weft::transfers
