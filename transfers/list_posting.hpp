// SPDX-License-Identifier: Apache-2.0
//
// How an engine posts its lists: for each peer the first list of the highest class, up to the limit in flight; then,
// when the body of a list has ended, its flush where the row needs one, and its notice. Hot path: post_waiting,
// take_end. Threads: the engine's owner.
#pragma once

#include "../compose/transport.hpp"
#include "confirmation.hpp"
#include "list_records.hpp"
#include "refusal.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace weft::transfers {

namespace detail {

template <complete_fabric F>
class list_posting {
 protected:
  static constexpr confirms confirmation = confirmation_of<F>;

  list_posting(transport<F>& net, const engine_options& o)
      : net_(&net),
        options_(o),
        records_(o.lists),
        peers_(new (std::nothrow) peer_lists[o.peers]),
        tokens_(std::size_t{o.peers} * o.in_flight_per_peer) {}
  bool has_memory() const noexcept { return records_ && peers_ && tokens_; }

  // ---- starting
  started_list refuse(const refusal& r) noexcept {
    refused_ = r;
    return {transfers::status_of(r), {}};
  }
  started_list begin_checked(operation what, peer to, std::span<const transfer> all, const notice* n,
                             const list_options& o) noexcept {
    if (const refusal r = check_list(what, all); r.reason != refused_for::nothing) [[unlikely]]
      return refuse(r);
    return begin(what, to, all, n, o);
  }
  started_list begin(operation what, peer to, std::span<const transfer> all, const notice* n,
                     const list_options& o) noexcept {
    if (!to.alive()) [[unlikely]]
      return refuse({refused_for::nobody, what});
    peer_lists* const l = lists_to(to);
    if (l == nullptr) [[unlikely]]
      return refuse({refused_for::peers_in_use, what, no_transfer, 0, options_.peers});
    list_record* const taken = records_.take();
    if (taken == nullptr) [[unlikely]]
      return refuse({refused_for::lists_in_use, what, no_transfer, 0, options_.lists});
    list_record& r = *taken;
    r.all = all.data();
    r.to = l;
    r.count = static_cast<std::uint32_t>(all.size());
    r.body = r.count - std::uint32_t{n != nullptr};
    r.what = what;
    r.urgency = o.priority;
    r.notifies = n != nullptr;
    r.immediate = n != nullptr ? n->immediate : 0;
    r.at = r.body == 0 ? phase::noticing : phase::posting;
    r.ended = o.ended;
    r.context = o.context;
    r.due = o.timeout == duration::max() ? instant::max() : after(net_->now(), o.timeout);
    next_due_ = std::min(next_due_, r.due);
    l->to = to;
    ++l->lists;
    l->enter(r, static_cast<std::uint8_t>(1 + static_cast<std::size_t>(o.priority)));
    const list_handle h = records_.handle_of(r);
    if (!busy_) post_waiting(*l);
    return {{}, h};
  }

  // ---- posting
  [[gnu::always_inline]] void post_waiting() noexcept {
    if (busy_) return;
    const std::uint32_t used = peers_used_;
    if (used == 1) [[likely]]
      return peers_[0].lists > 0 ? post_waiting(peers_[0]) : void();
    first_peer_ = first_peer_ + 1 >= used ? 0 : first_peer_ + 1;  // no peer is always first at a full queue
    for (std::uint32_t i = 0; i < used; ++i) {
      peer_lists& l = peers_[(first_peer_ + i) % used];
      if (l.lists > 0) post_waiting(l);
    }
  }
  void post_waiting(peer_lists& l) noexcept {
    busy_ = true;
    if (!l.to.alive()) [[unlikely]]
      lose(l.to, error(errc::peer_lost, "list"));
    for (std::uint32_t room = options_.posts_at_once; room > 0 && l.in_flight < options_.in_flight_per_peer;) {
      list_record* const r = l.first();
      if (r == nullptr) break;
      const std::uint32_t before = l.in_flight;
      const status s = r->at != phase::posting     ? post_last(l, *r)
                       : r->what == operation::put ? post_body<operation::put>(l, *r, room)
                                                   : post_body<operation::get>(l, *r, room);
      room -= std::min(room, l.in_flight - before);
      l.full = s.is_again();
      if (l.full) {
        ++agains_;
        break;
      }
      if (!s) [[unlikely]]
        stop(*r, s, r->at == phase::posting ? r->next : r->at == phase::noticing ? r->count - 1 : no_transfer);
    }
    busy_ = false;
  }

  /// Ends an operation of a list. False: the context is not one of this engine.
  [[gnu::always_inline]] bool take_end(void* context, const status& how) noexcept {
    if (!tokens_.holds(context)) return false;
    token& t = *static_cast<token*>(context);
    list_record& r = *t.list;
    if (how) [[likely]] {
      r.done += std::uint32_t{t.index != no_transfer};
      r.bytes_done += t.bytes;
    } else {
      note(r, how, t.index);
    }
    tokens_.give(t);
    --r.to->in_flight;
    if (--r.outstanding == 0 && r.queue == list_record::no_queue) [[unlikely]]
      advance(r);
    return true;
  }

  // ---- ending
  static list_status status_of(const list_record& r) noexcept {
    const list_state now = r.at == phase::stopping ? list_state::stopping
                           : r.at != phase::ended  ? list_state::pending
                           : r.why                 ? list_state::done
                           : r.cancelled           ? list_state::cancelled
                                                   : list_state::failed;
    return {now, r.why, r.failed_transfer, r.count, r.done, r.bytes_done};
  }
  void cancel_record(list_record& r) noexcept {
    if (r.at == phase::ended || r.at == phase::stopping) return;
    r.cancelled = true;
    stop(r, error(errc::closed, "cancel"), no_transfer);
  }
  /// Posts nothing more of the list.
  [[gnu::cold, gnu::noinline]] void stop(list_record& r, const status& why, std::uint32_t transfer) noexcept {
    note(r, why, transfer);
    if (r.outstanding == 0) advance(r);
  }
  /// The peer is gone: its operations have failed before, and what was not posted fails now.
  [[gnu::cold, gnu::noinline]] void lose(peer gone, const status& why) noexcept {
    stop_where([&](const list_record& r) { return r.to->to == gone; }, why);
  }
  bool may_be_due(bool idle) noexcept {
    if (next_due_ == instant::max() || (!idle && --polls_to_clock_ != 0)) return false;
    polls_to_clock_ = polls_between_clocks;
    return true;
  }
  void expire(instant now) noexcept {
    if (now < next_due_) return;
    stop_where([&](const list_record& r) { return r.due <= now; }, error(errc::deadline, "list"));
    next_due_ = instant::max();
    for (std::uint32_t i = 0; i < records_.size(); ++i)
      if (const list_record& r = records_[i]; is_under_way(r)) next_due_ = std::min(next_due_, r.due);
  }
  /// Whether some post was answered `again`, or has not been tried: nothing need arrive before it succeeds. A list at
  /// its peer's limit waits for the end of an operation, which arrives.
  bool posts_wait() const noexcept {
    return std::any_of(&peers_[0], &peers_[0] + peers_used_, [this](const peer_lists& l) { return may_post(l); });
  }
  bool may_post(const peer_lists& l) const noexcept {
    return l.first() != nullptr && l.in_flight < options_.in_flight_per_peer;
  }
  std::uint32_t in_flight_of(peer to) const noexcept {
    for (std::uint32_t i = 0; i < peers_used_; ++i)
      if (peers_[i].to == to) return peers_[i].in_flight;
    return 0;
  }

  transport<F>* net_;
  engine_options options_;
  record_table records_;
  std::unique_ptr<peer_lists[]> peers_;
  token_pool tokens_;
  std::uint32_t peers_used_ = 0;  ///< Those from here on were never used.
  std::uint32_t first_peer_ = 0;
  std::uint32_t polls_to_clock_ = polls_between_clocks;
  bool busy_ = false;  ///< Inside progress() or a post: calls of the program's functions neither poll nor post.
  instant next_due_ = instant::max();
  std::uint64_t agains_ = 0;
  refusal refused_;

 private:
  static constexpr std::uint32_t polls_between_clocks = 64;

  static bool is_under_way(const list_record& r) noexcept {
    return r.at != phase::unused && r.at != phase::ended && r.at != phase::stopping;
  }
  /// Null: all are in use for other peers.
  peer_lists* lists_to(peer to) noexcept {
    peer_lists* unused = nullptr;
    for (std::uint32_t i = 0; i < peers_used_; ++i) {
      if (peers_[i].lists == 0) unused = unused == nullptr ? &peers_[i] : unused;
      else if (peers_[i].to == to) return &peers_[i];
    }
    return unused != nullptr || peers_used_ == options_.peers ? unused : &peers_[peers_used_++];
  }

  template <operation What>
  status post_body(peer_lists& l, list_record& r, std::uint32_t room) noexcept {
    const std::uint32_t most = std::min({room, options_.in_flight_per_peer - l.in_flight, r.body - r.next});
    const transfer* t = r.all + r.next;
    std::uint32_t posted = 0;
    status s;
    for (; posted < most; ++posted, ++t) {
      token& k = token_for(r, r.next + posted, t->here.size);
      if constexpr (What == operation::get) s = net_->get(l.to, t->here, t->there, &k);
      else if constexpr (confirmation == confirms::state)
        s = net_->put(l.to, t->here, t->there, completes_when<states::visible>(&k));
      else s = net_->put(l.to, t->here, t->there, static_cast<void*>(&k));
      if (!s) [[unlikely]] {
        tokens_.give(k);
        break;
      }
    }
    r.next += posted;
    r.outstanding += posted;
    l.in_flight += posted;
    if (r.next == r.body) [[unlikely]] {
      l.leave(r);
      r.at = phase::draining;  // its ends come with the next polls
    }
    return s;
  }
  /// The flush, or the transfer that carries the notice.
  status post_last(peer_lists& l, list_record& r) noexcept {
    const transfer& t = r.all[r.count - 1];
    status s;
    if (r.at == phase::flushing) {
      if constexpr (confirmation == confirms::flush) {
        token& k = token_for(r, no_transfer, 0);
        s = net_->flush(l.to, &k);
        if (!s) tokens_.give(k);
      }
    } else {
      token& k = token_for(r, r.count - 1, t.here.size);
      s = net_->put_notify(l.to, t.here, t.there, r.immediate, static_cast<void*>(&k));
      if (!s) tokens_.give(k);
    }
    if (!s) return s;
    l.leave(r);
    ++r.outstanding;
    ++l.in_flight;
    return s;
  }
  [[gnu::always_inline]] token& token_for(list_record& r, std::uint32_t index, std::size_t bytes) noexcept {
    token& k = tokens_.take();
    k.list = &r;
    k.bytes = bytes;
    k.index = index;
    return k;
  }

  /// The first failure of a list; nothing more of it is posted.
  [[gnu::cold, gnu::noinline]] void note(list_record& r, const status& why, std::uint32_t transfer) noexcept {
    r.to->leave(r);
    r.at = phase::stopping;
    if (!r.why) return;
    r.why = why;
    r.failed_transfer = transfer;
  }
  /// Nothing of the list is in flight, and nothing is in a queue: the next step, or the end.
  [[gnu::noinline]] void advance(list_record& r) noexcept {
    if (r.notifies && r.at == phase::draining) {
      r.at = confirmation == confirms::flush ? phase::flushing : phase::noticing;
      return r.to->enter(r, peer_lists::closing);
    }
    if (r.at == phase::flushing) {
      r.at = phase::noticing;
      return r.to->enter(r, peer_lists::closing);
    }
    r.at = phase::ended;
    if (--r.to->lists == 0) r.to->to = peer();
    r.to = nullptr;
    if (r.ended == nullptr) return;
    const bool before = std::exchange(busy_, true);
    r.ended(r.context, records_.handle_of(r), status_of(r));
    busy_ = before;
  }
  /// An ended_function may start lists meanwhile: those that begin later are left alone.
  template <class Which>
  void stop_where(Which&& which, const status& why) noexcept {
    for (std::uint32_t i = 0; i < records_.size(); ++i)
      if (list_record& r = records_[i]; is_under_way(r) && which(r)) stop(r, why, no_transfer);
  }
};

}  // namespace detail
}  // namespace weft::transfers
