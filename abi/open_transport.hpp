// SPDX-License-Identifier: Apache-2.0
//
// What a weft_transport stands for: the transport of the set, tables of its handles, events that wait, and the last
// error. Hot path: on_event. Threads: the owner's.
#pragma once

#include "../core/describe.hpp"
#include "event_queue.hpp"
#include "handles.hpp"
#include "library_set.hpp"
#include "list_tables.hpp"
#include "staging.hpp"
#include "tagged_receives.hpp"

#include <memory>
#include <optional>
#include <string>

namespace weft::abi {

/// A region of one peer.
struct described_region {
  remote_region region;
  peer owner;
  weft_peer owner_handle = nullptr;
};

/// C's code of a status: the number of errc, negated. opening.cpp compares each with weft.h.
constexpr int code_of(errc code) noexcept { return -static_cast<int>(code); }

class open_transport {
 public:
  using set = library_set;
  explicit open_transport(transport<set> opened) : net(std::move(opened)) {}

  // ---- the last error
  int answer(const status& s) noexcept {
    if (!s) [[unlikely]]
      last_ = s, has_sentence_ = false;
    return code_of(s.code);
  }
  int answer(const failure& f) noexcept { return answer(f.why, f.sentence); }
  int answer(const status& s, std::string_view sentence) noexcept {
    last_ = s;
    has_sentence_ = if_memory([&] { sentence_ = sentence; });
    return code_of(s.code);
  }
  const char* last_sentence() {
    if (last_ && !has_sentence_) return "";
    if (!has_sentence_) sentence_ = describe(last_), has_sentence_ = true;
    return sentence_.c_str();
  }

  // ---- peers
  /// The handle of a peer; a new one where it has none. Throws std::bad_alloc.
  weft_peer handle_of(const peer& p) {
    if (!p) return nullptr;
    auto* const noted = static_cast<weft_peer>(p.user_data());
    if (const peer* const found = peers.find(noted); found != nullptr && *found == p) return noted;
    if (weft_peer const known = peers.first([&](const peer& each) { return each == p; })) return known;
    weft_peer const made = peers.add(p);
    (void)p.set_user_data(made);  // without memory for it, handles are searched
    return made;
  }
  void forget(weft_peer handle) noexcept {
    remotes.remove_all([&](const described_region& r) { return r.owner_handle == handle; });
    if (const peer* const gone = peers.find(handle); gone != nullptr && reads_end(*gone)) staged_.give_held(handle);
    peers.remove(handle);
  }

  // ---- events
  /// Passes events of waiting calls to `events`.
  auto keep_events() noexcept { return handler{{*this}}; }
  /// Makes one step of progress; what happened goes to `events`.
  void progress() {
    const int found = net.progress(keep_events());
    if (lists) [[unlikely]]
      lists->engine.post_more(found == 0);
  }
  /// Lists go on meanwhile, and end in time although the wait sleeps.
  template <class Done>
  status until(Done&& done, duration timeout) {
    const instant end = net.now() + timeout;
    for (;;) {
      if (lists) lists->engine.post_more();
      const duration left = end - net.now();
      const duration turn = lists ? std::min(left, lists->engine.longest_sleep()) : left;
      const status waited = net.until(
          [&] {
            if (lists) lists->engine.post_more(false);
            return done();
          },
          turn, keep_events());
      if (waited.code != errc::deadline || turn == left) return waited;
    }
  }
  void emit_end_of_list(const posted_list& run, const transfers::list_status& how) noexcept {
    emit([&](weft_event& out) {
      // WEFT_CLOSED is for cancelled lists alone: operations to a peer that says goodbye end with it too.
      status why = how.why;
      if (why.code == errc::closed && how.state != transfers::list_state::cancelled) why.code = errc::peer_lost;
      out.kind = WEFT_LIST_ENDED;
      out.context = run.context;
      out.peer = run.what->with;
      out.operation = run.what->list.what() == operation::put ? WEFT_OP_PUT : WEFT_OP_GET;
      out.status = code_of(why.code);
      out.immediate = how.failed_transfer;
      out.old = how.done;
      out.size = how.bytes_done;
      if (!why) out.text = events.copied(describe(why));
    });
  }

  /// Without memory an event is lost. The next poll answers so.
  bool lost_an_event = false;
  bool sleeps = false;
  bool armed = false;

 private:
  // First the memory, then the transport: some libraries read a source late, in the transport's own end.
  staging staged_;

 public:
  tagged_receives receives;  // before the transport, whose end ends them
  handle_table<handle_kind::region, weft_region_handle, owned_region> regions;
  transport<set> net;
  handle_table<handle_kind::peer, weft_peer_handle, peer> peers;
  handle_table<handle_kind::remote, weft_remote_handle, described_region> remotes;
  event_queue events;
  std::string open_fabrics, listens_at, explained;
  std::unique_ptr<list_tables> lists;  ///< Null until the first list.

  staging& staged() noexcept { return staged_; }

 private:
  struct plain_handler {
    open_transport& t;

    void operator()(const completed& e) const {
      t.emit(
          [&](weft_event& out) {
            out.old = e.old;
            t.ended(out, WEFT_COMPLETED, e.what, e.peer, e.context);
          },
          is_shown(e.context));
    }
    void operator()(const failed& e) const {
      t.emit([&](weft_event& out) {
        out.status = code_of(e.why.code);
        out.text = t.events.copied(describe(e.why));
        t.ended(out, WEFT_FAILED, e.what, e.peer, e.context);
      });
    }
    bool operator()(const received& e) const {
      if (!t.events.takes_messages()) return false;
      return t.emit([&](weft_event& out) {
        out.kind = WEFT_RECEIVED;
        out.peer = t.handle_of(e.peer);
        out.data = t.events.copied(e.message.data(), e.message.size());
        out.size = e.message.size();
      });
    }
    void operator()(const notified& e) const {
      t.emit([&](weft_event& out) {
        out.kind = WEFT_NOTIFIED;
        out.peer = t.handle_of(e.peer);
        out.immediate = e.immediate;
      });
    }
    void operator()(const requested& e) const { t.met(WEFT_REQUESTED, e); }
    void operator()(const connected& e) const { t.met(WEFT_CONNECTED, e); }
    void operator()(const lost& e) const {
      t.emit([&](weft_event& out) {
        out.kind = WEFT_LOST;
        out.peer = t.handle_of(e.peer);
        out.status = code_of(e.why.code);
        out.text = t.events.copied(t.net.reason().empty() ? describe(e.why) : t.net.reason());
      });
      t.forget(t.peers.first([&](const peer& each) { return each == e.peer; }));
    }

   private:
    /// The good end of a quiet copied send concerns nobody.
    bool is_shown(void* context) const noexcept {
      staged_send* const copied = t.staged_.find(context);
      if (copied == nullptr || !copied->quiet) return true;
      t.staged_.give(*copied);
      return false;
    }
  };

  /// Ends of lists' own operations concern nobody else.
  struct handler : plain_handler {
    using plain_handler::operator();
    void operator()(const completed& e) const { pass(e); }
    void operator()(const failed& e) const { pass(e); }
    void operator()(const lost& e) const { pass(e); }

   private:
    template <class Event>
    [[gnu::always_inline]] void pass(const Event& e) const {
      const plain_handler& rest = *this;
      if (t.lists) [[unlikely]]
        t.lists->engine.handler(rest)(e);
      else rest(e);
    }
  };

  /// False: no memory. What `fill` writes into the event stands or falls as a whole.
  template <class Fill>
  bool emit(Fill&& fill, bool shown = true) noexcept {
    if (!shown) return true;
    weft_event made{};
    const bool whole = if_memory([&] { fill(made), events.next() = made; });
    lost_an_event = lost_an_event || !whole;
    return whole;
  }
  void ended(weft_event& out, weft_event_kind kind, operation what, const peer& with, void* context) {
    out.kind = kind;
    if (what == operation::receive_tagged) [[unlikely]]
      return received_tagged(out, with, context);
    out.operation = is_atomic(what)                 ? WEFT_OP_ATOMIC
                    : what == operation::send       ? WEFT_OP_SEND
                    : what == operation::put        ? WEFT_OP_PUT
                    : what == operation::put_notify ? WEFT_OP_PUT_NOTIFY
                    : what == operation::get        ? WEFT_OP_GET
                                                    : WEFT_OP_FLUSH;
    out.context = reinterpret_cast<std::uint64_t>(context);
    out.peer = handle_of(with);
    if (staged_send* const copied = staged_.find(context)) {
      out.context = copied->context;
      may_be_read_later(out, with) ? staged_.hold(*copied, out.peer) : staged_.give(*copied);
    }
  }
  /// Whether the fabric may still read the source of a send that failed so.
  static bool may_be_read_later(const weft_event& failed, const peer& with) noexcept {
    if (failed.status == code_of(errc::deadline)) return true;
    return (failed.status == code_of(errc::peer_lost) || failed.status == code_of(errc::closed)) && !reads_end(with);
  }
  static bool reads_end(const peer& with) noexcept {
    return with && end_ends_reads<set>[weft::detail::peer_access::member(with)];
  }
  void received_tagged(weft_event& out, const peer& from, void* context) {
    receive_record& r = tagged_receives::of(context);
    out.peer = handle_of(from);
    out.operation = WEFT_OP_RECEIVE_TAGGED;
    out.context = r.context;
    out.old = r.tag();
    out.size = r.size();
    if (r.why().code == errc::truncated) out.text = events.copied("receive_tagged: " + weft::detail::why_no_message(r));
    receives.give(r);
  }
  template <class Event>
  void met(weft_event_kind kind, const Event& e) {
    emit([&](weft_event& out) {
      out.kind = kind;
      out.peer = handle_of(e.peer);
      if (e.has_private_data) out.data = events.copied(e.private_data.data(), e.private_data.size());
      out.size = e.private_data.size();
    });
  }

  status last_;
  std::string sentence_;
  bool has_sentence_ = false;
};

}  // namespace weft::abi
