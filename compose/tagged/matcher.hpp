// SPDX-License-Identifier: Apache-2.0
//
// The receiver's side of tagged messages: receives that wait for messages, messages that wait for receives, and the
// credits of both. A message that fits no receive is copied out of the transport's own receives, so that plain
// messages, notices and heartbeats still find some. Each peer may have `window` such messages; a message uses one
// credit of its sender until it finds a receive. Credits return in halves of the window. Hot path: arrived(),
// receive(). Threads: the owner's. In a set, the matchers of all members share one tag_matching
// (compose/sets/tagged.hpp).
#pragma once

#include "../../core/constant_text.hpp"
#include "../../wire/tagged.hpp"
#include "../engine/engine.hpp"
#include "matching.hpp"
#include "posts.hpp"
#include "staging.hpp"
#include "waiting_rooms.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace weft::detail {

/// What a transport knows of a peer's tagged messages. A part of the peer's record.
struct tagged_counts {
  std::uint32_t tagged_window = 0;  ///< Messages that the peer takes without a receive; 0: it matches no tags.
  std::uint32_t tagged_open = 0;    ///< Sent to the peer, without its credit.
  std::uint32_t tagged_taken = 0;   ///< Of the peer: found their receive since the last credit.
  std::uint32_t tagged_held = 0;    ///< Of the peer: wait for a receive.
  void reset() noexcept { tagged_open = tagged_taken = tagged_held = 0; }
};

/// The part of an engine that no_tagged stands for elsewhere; engine/no_tagged.hpp says what each call is for.
template <class Traits>
class tag_matcher final : message_holder {
 public:
  using engine_type = engine<typename Traits::fabric>;
  using record = typename Traits::record;
  using slot = typename Traits::slot;
  static constexpr bool matches = true;
  static constexpr std::uint32_t window = answer<typename Traits::fabric, tagged_family>::window;
  static constexpr bool gathers = Traits::fabric::facts.gather_limit >= 2;
  static_assert(window <= wire::largest_tagged_window);
  static constexpr auto introduced_text = [] {
    constant_text<wire::largest_shared + 1> text;
    text.add(Traits::fabric::shared).add(Traits::fabric::shared.empty() ? "" : " ");
    return text.add(wire::tagged_word).add(std::uint64_t{window});
  }();
  static constexpr std::string_view introduced = introduced_text.view();

  explicit tag_matcher(engine_type& e) noexcept : e_(e) {}
  tag_matcher(const tag_matcher&) = delete;
  tag_matcher& operator=(const tag_matcher&) = delete;
  /// The transport closes: receives end, and no handler hears of it.
  ~tag_matcher() override {
    end_receives([](const posted_receive& /*each*/) { return true; }, error(errc::closed, "receive_tagged"));
    while (!ends_.alone()) {
      first_end().stage_ = receive_stage::ended;
      ends_.after->leave();
    }
  }

  /// The transport is a member of a set: receives and messages of all members meet in one place. Call it before the
  /// first peer and the first receive.
  void match_in(tag_matching& of_the_set) noexcept { matching_ = &of_the_set; }
  /// The peer introduces itself. One that matches tags may send them, so its messages need room here.
  void adopt(record& r, const_bytes shared) noexcept {
    r.tagged_window = wire::tagged_window_in({reinterpret_cast<const char*>(shared.data()), shared.size()});
    if (r.tagged_window != 0) rooms_.furnish(e_.peers.index_of(r), *this);
  }

  // ---- memory
  void open() {
    rooms_.open(e_.options.peers, window, e_.options.max_message_bytes);
    if (!gathers) fill_staging(std::clamp(e_.options.operations / 4, 4U, 32U));
  }
  staging_buffers& staging() noexcept { return staging_; }
  [[gnu::always_inline]] bool takes_back(const slot& s) noexcept {
    if (gathers || s.stage != stage::staged) return false;
    staging_.give(s.buffer);
    return true;
  }
  void refill() {
    if (!gathers && staging_.empty()) fill_staging(4);
  }

  // ---- receives
  /// `quiet`: the end makes no event.
  status receive(tagged_receive& r, const tag_match& what, const local_memory& into, bool quiet = false) noexcept {
    if (r.stage_ == receive_stage::posted || r.stage_ == receive_stage::ending)
      return error(errc::invalid, "receive_tagged: the receive has not ended");
    if (what.from && !what.from.alive()) return error(errc::peer_lost, "receive_tagged");
    posted_receive& place = r;
    place.tag = what.tag;
    place.ignore = what.ignore;
    place.wanted = what.from ? peer_access::record(what.from) : nullptr;
    r.into_ = into.data;
    r.room_ = into.size;
    r.from_ = {};
    r.size_ = 0;
    r.came_ = 0;
    r.why_ = {};
    r.quiet_ = quiet;
    r.stage_ = receive_stage::posted;
    if (waiting_message* const m = matching_->message_for(place)) m->holder->take(r, *m);
    else matching_->post(place);
    return {};
  }
  /// False: it had ended, or was not posted.
  bool cancel(tagged_receive& r) noexcept {
    if (r.stage_ != receive_stage::posted) return false;
    r.leave();
    end_later(r, error(errc::closed, "cancel_tagged"));
    return true;
  }

  // ---- messages
  /// False: the message must wait, because earlier ones do.
  template <class Handler>
  bool arrived(record& from, const_bytes body, bool others_wait, Handler& on) {
    if (const auto credit = wire::parse_tagged_credit(body)) return credited(from, *credit);
    if (others_wait) return false;
    const auto message = wire::parse_tagged(body);
    if (!message) return garbled();
    if (!ends_.alone() && !reported_before(from, on)) [[unlikely]]
      return true;
    posted_receive* const first = matching_->receive_for(&from, message->tag);
    if (first == nullptr) [[unlikely]]
      return keep(from, *message);
    tagged_receive& r = whole(*first);
    fill(r, e_.handle(from), message->tag, message->payload);
    taken(from);
    r.stage_ = receive_stage::ended;
    if (!r.quiet_) report(r, on);
    return true;
  }

  // ---- ends
  template <class Handler>
  void settle(const Handler& on) {
    report_ends(on);
    if (!credits_are_due_) return;
    credits_are_due_ = false;
    for (record& r : e_.peers)
      if (r.tagged_taken >= window / 2) return_credit(r);
  }
  bool settled() const noexcept { return ends_.alone() && !credits_are_due_; }
  template <class Handler>
  void report_ends(const Handler& on) {
    while (!ends_.alone()) {
      tagged_receive& r = first_end();
      r.leave();
      r.stage_ = receive_stage::ended;
      report(r, on);
    }
  }
  void receives_end(record& r, errc why) noexcept {
    end_receives([&r](const posted_receive& each) { return each.wanted == &r; }, error(why, "receive_tagged"));
  }
  void peer_ends(record& r, status why) noexcept {
    receives_end(r, why.code == errc::closed ? errc::closed : errc::peer_lost);
    if (r.tagged_held != 0) drop_messages(r);
    r.tagged_counts::reset();
  }

  std::uint64_t waiting() const noexcept { return waiting_; }
  std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  bool garbled() noexcept {
    ++e_.garbled;
    return true;
  }
  void fill_staging(std::uint32_t count) {
    staging_.fill(count, Traits::front + rooms_.each(), [this](bytes memory) { return e_.register_own(memory); });
  }
  static tagged_receive& whole(posted_receive& r) noexcept {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast): nothing else derives from it
    return static_cast<tagged_receive&>(r);
  }
  tagged_receive& first_end() noexcept { return whole(tag_matching::receive_at(*ends_.after)); }

  static void fill(tagged_receive& r, peer from, std::uint64_t tag, const_bytes payload) noexcept {
    r.from_ = from;
    r.came_ = tag;
    r.size_ = payload.size();
    const std::size_t size = std::min(payload.size(), r.room_);
    if (size != 0) std::memcpy(r.into_, payload.data(), size);
    if (size != payload.size()) [[unlikely]]
      r.why_ = {errc::truncated, origin::weft, static_cast<std::int32_t>(r.room_), "receive_tagged"};
  }
  /// Reports the ends of earlier messages, so that events keep the order of arrivals. False: a handler ended the peer.
  template <class Handler>
  [[gnu::noinline]] bool reported_before(record& from, const Handler& on) {
    const std::uint32_t number = from.number;
    report_ends(on);
    const bool lives =
        from.number == number && (from.state == peer_state::established || from.state == peer_state::leaving);
    e_.stale += lives ? 0U : 1U;
    return lives;
  }
  template <class Handler>
  static void report(tagged_receive& r, Handler& on) {
    if (const status why = r.why_) on(completed{operation::receive_tagged, r.from_, &r, {}});
    else on(failed{operation::receive_tagged, r.from_, &r, why});
  }
  /// The next poll reports the end, because no handler may run now.
  void end_later(tagged_receive& r, status why) noexcept {
    r.why_ = why;
    if (r.quiet_) {
      r.stage_ = receive_stage::ended;
      return;
    }
    r.stage_ = receive_stage::ending;
    r.join(ends_);
    e_.put_off();
  }
  template <class Which>
  void end_receives(Which&& which, status why) noexcept {
    matching_->take_out_receives(which, [&](posted_receive& each) {
      tagged_receive& r = whole(each);
      r.from_ = each.wanted == nullptr ? peer() : peer_access::make(each.wanted, each.wanted->number);
      end_later(r, why);
    });
  }

  // ---- messages that wait
  [[gnu::noinline]] bool keep(record& from, const wire::tagged_message& message) noexcept {
    if (from.tagged_held == window || message.payload.size() > rooms_.each()) return garbled();  // no build sends it
    waiting_message* const room = rooms_.take();
    if (room == nullptr) return false;
    waiting_message& m = *room;
    m.sender = &from;
    m.tag = message.tag;
    m.length = static_cast<std::uint32_t>(message.payload.size());
    if (m.length != 0) std::memcpy(m.bytes, message.payload.data(), m.length);
    matching_->keep(m);
    ++from.tagged_held;
    ++waiting_;
    return true;
  }
  /// A receive was posted for a message that waits.
  void take(tagged_receive& r, waiting_message& m) noexcept override {
    record& from = sender_of(m);
    fill(r, e_.handle(from), m.tag, {m.bytes, m.length});
    free(m);
    taken(from);
    end_later(r, r.why_);
  }
  void free(waiting_message& m) noexcept {
    rooms_.give(m);
    --sender_of(m).tagged_held;
    --waiting_;
  }
  [[gnu::cold, gnu::noinline]] void drop_messages(record& r) noexcept {
    rooms_.each_waiting([&](waiting_message& m) {
      if (m.sender != &r) return;
      tag_matching::take_out(m);
      free(m);
      ++dropped_;
    });
  }
  static record& sender_of(const waiting_message& m) noexcept { return *static_cast<record*>(m.sender); }

  // ---- credits
  bool credited(record& from, std::uint32_t count) noexcept {
    if (count == 0 || count > from.tagged_open) return garbled();
    from.tagged_open -= count;
    return true;
  }
  void taken(record& from) noexcept {
    if (++from.tagged_taken >= window / 2) [[unlikely]]
      return_credit(from);
  }
  [[gnu::noinline]] void return_credit(record& to) noexcept {
    if (!to.is_live()) return;
    std::byte body[wire::tagged_credit_bytes];
    wire::encode_tagged_credit(body, to.tagged_taken);
    const status s = e_.tell(to, wire::message_kind::group, body);
    if (s) to.tagged_taken = 0;
    if (!s.is_again()) return;
    credits_are_due_ = true;
    e_.put_off();
  }

  engine_type& e_;
  tag_matching own_;  ///< Of a transport that is no member of a set.
  tag_matching* matching_ = &own_;
  tag_link ends_;        ///< Receives whose end the next poll reports.
  waiting_rooms rooms_;  ///< By the places of records.
  std::uint64_t waiting_ = 0;
  std::uint64_t dropped_ = 0;
  bool credits_are_due_ = false;
  staging_buffers staging_;
};

}  // namespace weft::detail
