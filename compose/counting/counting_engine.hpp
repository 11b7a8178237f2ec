// SPDX-License-Identifier: Apache-2.0
//
// Which counter an operation or an event belongs to. The place of a peer has the index of the peer's record, so a count
// reads no table. A record is used again for another peer: then its counters go to the sum of the transport. Peers
// beyond the places, and events that name nobody, count in that sum alone. Hot path: all but take_place(). Threads: the
// owner's.
#pragma once

#include "../peer.hpp"
#include "counted_source.hpp"
#include "counter_page.hpp"
#include "event_trace.hpp"
#include "probes.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

namespace weft::detail {

/// The counters of one transport. `Source` is engine_source or set_source (counted_source.hpp).
template <class Source>
class counting_engine {
 public:
  static constexpr std::uint32_t most_places = 1024;  ///< 320 kB. The system gives the pages that are touched.

  explicit counting_engine(const Source& of) noexcept
      : source_(of), page_(counter_page::make(std::min(of.places(), most_places))) {}
  /// False: the system has no memory for counters.
  bool has_memory() const noexcept { return static_cast<bool>(page_); }

  // ---- what is counted
  /// A post. Returns its status.
  [[gnu::always_inline]] status posted(peer to, traffic kind, std::uint64_t bytes, status s,
                                       const void* context = nullptr) noexcept {
    peer_counters& c = of(to);
    if (s) [[likely]] {
      operation_counters& o = c.operations[static_cast<std::size_t>(kind)];
      count(o.posted);
      count(o.bytes, bytes);
    } else {
      count(s.is_again() ? c.again : c.refused);
    }
    probes::posted(source_.id(), peer_access::number(to), name_of(kind), bytes, s.code, context);
    if (trace) [[unlikely]]
      note(traced::posted, to, name_of(kind), context, bytes, s.code);
    return s;
  }
  [[gnu::always_inline]] void ended(const completed& e) noexcept {
    count(of(e.peer).operations[static_cast<std::size_t>(traffic_of(e.what))].completed);
    probes::completed(source_.id(), peer_access::number(e.peer), name_of(e.what), e.context);
    if (trace) [[unlikely]]
      note(traced::completed, e.peer, name_of(traffic_of(e.what)), e.context);
  }
  void ended(const failed& e) noexcept {
    count(of(e.peer).operations[static_cast<std::size_t>(traffic_of(e.what))].failed);
    probes::failed(source_.id(), peer_access::number(e.peer), name_of(e.what), e.context, e.why.code);
    if (trace) note(traced::failed, e.peer, name_of(traffic_of(e.what)), e.context, 0, e.why.code);
  }
  [[gnu::always_inline]] void message(peer from, std::uint64_t bytes) noexcept {
    peer_counters& c = of(from);
    count(c.messages);
    count(c.message_bytes, bytes);
    probes::received(source_.id(), peer_access::number(from), bytes);
    if (trace) [[unlikely]]
      note(traced::received, from, "", nullptr, bytes);
  }
  [[gnu::always_inline]] void notice(const notified& e) noexcept {
    count(of(e.peer).notices);
    probes::notified(source_.id(), peer_access::number(e.peer), e.immediate);
    if (trace) [[unlikely]]
      note(traced::notified, e.peer);
  }
  [[gnu::always_inline]] void polled(int found) noexcept {
    transport_counters& whole = page_.start().whole;
    count(whole.polls);
    if (found > 0) count(whole.polls_found);
    if (whole.polls % 1024 == 0) [[unlikely]]
      take_engine_counts();
  }

  // ---- peers
  /// This side asks for a connection. `where`: the address that it dialled.
  void dials(peer p, std::string_view where) noexcept {
    if (counter_place* const at = place_of(p)) put_text(at->address, where);
  }
  /// A connection is established. `where`: empty for a peer that dialled, or that dials() was told of.
  void met(peer p, std::string_view where = {}) noexcept {
    count(page_.start().whole.peers_met);
    if (counter_place* const at = place_of(p); at != nullptr && !where.empty()) put_text(at->address, where);
    probes::met(source_.id(), peer_access::number(p));
    if (trace) note(traced::met, p);
  }
  void lost(const weft::lost& e) noexcept {
    count(page_.start().whole.peers_lost);
    gone(e.peer);
    probes::lost(source_.id(), peer_access::number(e.peer), e.why.code);
    if (trace) note(traced::lost, e.peer, "", nullptr, 0, e.why.code);
  }
  void gone(peer p) noexcept {
    if (counter_place* const at = place_of(p)) count(at->gone, 1 - at->gone);
  }

  // ---- reading
  transport_counters whole() noexcept {
    take_engine_counts();
    transport_counters sum = page_.start().whole;
    for (std::uint32_t i = 0; i < page_.peers(); ++i) add_to(sum.traffic, page_.place(i).traffic);
    return sum;
  }
  /// Zeros for a peer whose record serves another one, and for peers beyond the places.
  peer_counters of_peer(peer p) const noexcept {
    const std::uint32_t index = source_.index_of(p);
    if (index >= page_.peers() || page_.place(index).connection != peer_access::number(p)) return {};
    return page_.place(index).traffic;
  }
  counter_page& page() noexcept { return page_; }
  std::unique_ptr<event_trace> trace;  ///< Null: no events are recorded.

  /// Copies the counts that the engine keeps.
  void take_engine_counts() noexcept {
    transport_counters& whole = page_.start().whole;
    const auto set = [](std::uint64_t& word, std::uint64_t value) { count(word, value - word); };
    const engine_counts now = source_.counts();
    set(whole.stale, now.stale);
    set(whole.garbled, now.garbled);
    set(whole.turned_away, now.turned_away);
    set(whole.sleeps, now.sleeps.sleeps);
    set(whole.timed_sleeps, now.sleeps.timed);
    set(whole.missed_wakes, now.sleeps.missed_wakes);
  }

 private:
  [[gnu::cold, gnu::noinline]] void note(traced what, peer p, const char* operation = "", const void* context = nullptr,
                                         std::uint64_t bytes = 0, errc code = errc::ok) noexcept {
    trace->add({source_.now(), operation, context, bytes, peer_access::number(p), what, code});
  }
  [[gnu::always_inline]] peer_counters& of(peer p) noexcept {
    counter_place* const at = place_of(p);
    return at != nullptr ? at->traffic : page_.start().whole.traffic;
  }
  /// Null: the peer has no place.
  [[gnu::always_inline]] counter_place* place_of(peer p) noexcept {
    const std::uint32_t index = source_.index_of(p);
    if (index >= page_.peers()) [[unlikely]]
      return nullptr;
    counter_place& at = page_.place(index);
    if (at.connection != peer_access::number(p)) [[unlikely]]
      return take_place(at, p);
    return &at;
  }
  /// The place served another peer, or nobody. A handle of an earlier peer gets no place.
  [[gnu::cold, gnu::noinline]] counter_place* take_place(counter_place& at, peer p) noexcept {
    if (peer_access::record(p)->number != peer_access::number(p)) return nullptr;
    add_to(page_.start().whole.traffic, at.traffic);
    at = counter_place{};
    at.connection = peer_access::number(p);
    return &at;
  }

  Source source_;
  counter_page page_;
};

}  // namespace weft::detail
