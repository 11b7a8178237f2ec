// SPDX-License-Identifier: Apache-2.0
//
// The contender of the instruction count over mapped memory: loads, stores and a ring of lines by hand
// (bench/mapped/hand_ring.hpp), with what a careful author adds because a program needs it. weft has all of it too.
// Each is here in its cheapest form:
// - A peer's handle is a record and a number, so that a stale handle is recognised.
// - The bytes are inside the source. A region's key may be revoked by its owner, so the key's word is read in the
//   peer's
//   memory each time. The region was checked against what is mapped here, since a peer may send wrong numbers.
// - The region used last is known for each right separately, and grants the access.
// - A message fits the peer's receives. Its size is known at run time only and is checked; the largest do not fit a
//   line.
// - A sleeping peer is woken.
// - A signalled operation completes at the next poll, from a bounded table, with kind, peer and context, unless its
//   peer was closed meanwhile.
// - Messages are copied before the handler sees them, each into its own receive: a handler may leave one there. The
//   receive is posted again. The ring names the sender.
// - A handler may close the peer. A poll inside of a handler finds nothing. Every 32nd poll does the housekeeping.
// - Lines are prefetched, as in weft, because that is faster (bench/README.md). A notice names its bytes, and its
//   receiver prefetches them and the lines of its last answer. A receiver prefetches the line of the next answer. An
//   empty poll prefetches the lines of the last notice.
// Hot path: all of it. Threads: one owner.
#pragma once

#include "../breather.hpp"
#include "shared_pages.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace weft::bench {

class raw_mapped_careful {
 public:
  /// A region of the peer's, as its row said when it was checked; `row` is the word in the peer's memory that holds the
  /// key while the region is registered.
  struct known_region {
    std::uint64_t key = 0;
    const std::atomic<std::uint64_t>* row = nullptr;
    std::byte* start = nullptr;
    std::uint64_t shift = 0;  ///< From addresses here to offsets in the peer's memory.
    std::uint64_t length = 0;
  };
  /// The first and the last byte of what will probably be read next.
  struct lines_ahead {
    const std::byte *first = &nowhere, *last = &nowhere;
    static constexpr std::byte nowhere{};
  };
  static constexpr std::array<hand_ring::line, 2> nothing{};
  struct record {
    std::uint32_t live = 0;
    std::uint32_t takes = 0;  ///< Bytes of the peer's receives.
    bool sleeps = false;
    hand_sender out;
    hand_taker in;
    known_region written, read, counted;  ///< The regions used last.
    lines_ahead arriving{};
    const hand_ring::line* sent = nothing.data();  ///< Since the last receive.
  };
  struct handle {
    record* of = nullptr;
    std::uint32_t number = 0;
  };
  struct memory {
    std::byte* data = nullptr;
    std::size_t size = 0;
  };
  struct place {
    std::uint64_t address = 0, key = 0;
  };
  enum class kind : std::uint8_t { send, put_notify, get, fetch_add };
  static constexpr int unknown = -EACCES, outside = -EINVAL, gone = -ENOTCONN, full = -EAGAIN;

  raw_mapped_careful(const channel& to, bool first, std::size_t size) : pages_(to, first) {
    row_in(pages_.landing()).store(first_key, std::memory_order_release);
    const known_region all{first_key, &row_in(pages_.there()), pages_.there(),
                           0 - reinterpret_cast<std::uintptr_t>(pages_.there()), row_at};
    records_.push_back({first_number, each_message, false, pages_.out(), pages_.in(), all, all, all});
    for (std::size_t i = 0; i < receives; ++i) posted_[posted_count_++] = messages_.data() + i * each_message;
    first_ = records_.data();
    last_ = first_ + records_.size();
    other = {first_, first_number};
    source = {own_.data(), size};
    there = {0, first_key};
    to.swap(first, "ready", [] { usleep(200); });
  }
  raw_mapped_careful(const raw_mapped_careful&) = delete;
  raw_mapped_careful& operator=(const raw_mapped_careful&) = delete;
  ~raw_mapped_careful() = default;

  /// What a program would keep, and pass to each call.
  handle other;
  memory source;
  place there;

  [[gnu::always_inline]] int send(const handle& to, const memory& from, std::size_t size) noexcept {
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return gone;
    if (size > from.size || size > r->takes) [[unlikely]]
      return outside;
    if (!r->out.has_room()) [[unlikely]]
      return full;
    hand_ring::line& l = r->out.next();
    l.size = static_cast<std::uint32_t>(size);
    l.immediate = message;
    if (size > hand_ring::line::room) [[unlikely]]
      broken();  // it would go into an area after the lines: no message here does
    copy(l.inside.data(), from.data, size);
    return sent(*r, l);
  }
  [[gnu::always_inline]] int send(const handle& to, const memory& from, std::size_t size, void* context) noexcept {
    return has_room_for_end() ? ended(to, kind::send, context, 0, send(to, from, size)) : full;
  }
  [[gnu::always_inline]] int put(const handle& to, const memory& from, std::size_t size, const place& at) noexcept {
    const record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return gone;
    return store(r->written, from, size, at) != nullptr ? 0 : unknown;
  }
  [[gnu::always_inline]] int put_notify(const handle& to, const memory& from, std::size_t size, const place& at,
                                        std::uint32_t immediate) noexcept {
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return gone;
    if (!r->out.has_room()) [[unlikely]]
      return full;
    const std::byte* const stored = store(r->written, from, size, at);
    if (stored == nullptr) [[unlikely]]
      return unknown;
    hand_ring::line& l = r->out.next();
    l.size = 0;
    l.immediate = immediate;
    const std::uint64_t first = reinterpret_cast<std::uintptr_t>(stored) + r->written.shift;
    const place_range reported{first, first + size - 1};
    std::memcpy(l.inside.data(), &reported, sizeof reported);
    return sent(*r, l);
  }
  template <bool Delivered>
  [[gnu::always_inline]] int put_notify(const handle& to, const memory& from, std::size_t size, const place& at,
                                        std::uint32_t immediate, void* context) noexcept {
    return has_room_for_end() ? ended(to, kind::put_notify, context, 0, put_notify(to, from, size, at, immediate))
                              : full;
  }
  [[gnu::always_inline]] int get(const handle& from, const memory& into, std::size_t size, const place& at,
                                 void* context) noexcept {
    const record* r = living(from);
    if (r == nullptr) [[unlikely]]
      return gone;
    if (size > into.size || size == 0) [[unlikely]]
      return outside;
    const std::byte* const here = reach(r->read, at, size);
    if (here == nullptr) [[unlikely]]
      return unknown;
    if (!has_room_for_end()) [[unlikely]]
      return full;
    if (size == 8 && reinterpret_cast<std::uintptr_t>(here) % 8 == 0) {
      const std::uint64_t word =
          word_at(const_cast<std::byte*>(here)).load(std::memory_order_relaxed);  // NOLINT: an atomic_ref wants it
      std::memcpy(into.data, &word, sizeof word);
    } else {
      std::memcpy(into.data, here, size);
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    return ended(from, kind::get, context, 0, 0);
  }
  [[gnu::always_inline]] int fetch_add(const handle& to, const place& at, std::uint64_t operand,
                                       void* context) noexcept {
    const record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return gone;
    std::byte* const word = reach(r->counted, at, sizeof operand);
    if (word == nullptr || reinterpret_cast<std::uintptr_t>(word) % sizeof operand != 0) [[unlikely]]
      return unknown;
    if (!has_room_for_end()) [[unlikely]]
      return full;
    return ended(to, kind::fetch_add, context, word_at(word).fetch_add(operand, std::memory_order_acq_rel), 0);
  }

  /// `ended(kind, peer, user, old)` for own operations, `landed(peer, immediate)` for writes of the peer, `heard(peer,
  /// data, size)` for its messages. Returns their number.
  template <class Ended, class Landed, class Heard>
  [[gnu::always_inline]] int poll_once(Ended&& ended, Landed&& landed, Heard&& heard) {
    if (static_cast<std::int32_t>(--quick_polls_) < 0) [[unlikely]]
      if (!is_owner_polling()) return 0;
    breath_.before_poll();
    if (first_end_ != next_end_) [[unlikely]]
      return report_ends(*this, ended);
    for (record* r = first_; r != last_; ++r) {
      if (const hand_ring::line* l = r->in.front(); l != nullptr) [[unlikely]]
        return found(*this, *r, l, landed, heard);
      __builtin_prefetch(r->arriving.first);
      __builtin_prefetch(r->arriving.last);
    }
    return 0;
  }

 private:
  struct end_of {
    handle of;
    kind what{};
    void* user = nullptr;
    std::uint64_t old = 0;
  };
  static record* living(const handle& h) noexcept { return h.of->live == h.number ? h.of : nullptr; }
  [[gnu::always_inline]] static std::byte* reach(const known_region& k, const place& at, std::size_t size) noexcept {
    if (at.key != k.key || k.row->load(std::memory_order_acquire) != at.key) [[unlikely]]
      return nullptr;
    if (size > k.length || at.address > k.length - size) [[unlikely]]
      return nullptr;
    return k.start + at.address;
  }
  /// After the earlier writes; an aligned word is seen whole.
  [[gnu::always_inline]] static std::byte* store(const known_region& k, const memory& from, std::size_t size,
                                                 const place& at) noexcept {
    if (size > from.size) [[unlikely]]
      return nullptr;
    std::byte* const to = reach(k, at, size);
    if (to == nullptr) [[unlikely]]
      return nullptr;
    std::atomic_thread_fence(std::memory_order_release);
    if (size == 8 && reinterpret_cast<std::uintptr_t>(to) % 8 == 0) {
      std::uint64_t word = 0;
      std::memcpy(&word, from.data, sizeof word);
      word_at(to).store(word, std::memory_order_relaxed);
    } else {
      std::memcpy(to, from.data, size);
    }
    return to;
  }
  /// Most are a word or two: copied by moves that may overlap.
  [[gnu::always_inline]] static void copy(std::byte* to, const std::byte* from, std::size_t size) noexcept {
    if (size >= 8 && size <= 16) [[likely]] {
      std::uint64_t first = 0, last = 0;
      std::memcpy(&first, from, sizeof first);
      std::memcpy(&last, from + size - sizeof last, sizeof last);
      std::memcpy(to, &first, sizeof first);
      std::memcpy(to + size - sizeof last, &last, sizeof last);
    } else if (size != 0) {
      std::memcpy(to, from, size);
    }
  }
  [[gnu::always_inline]] static int sent(record& r, hand_ring::line& l) noexcept {
    r.out.commit(l);
    r.sent = &l;
    if (r.sleeps) [[unlikely]]
      broken();  // it would be woken: no peer sleeps here
    return 0;
  }
  bool has_room_for_end() const noexcept { return next_end_ - first_end_ < most_ends; }
  [[gnu::always_inline]] int ended(const handle& of, kind what, void* user, std::uint64_t old, int posted) noexcept {
    if (posted == 0) [[likely]]
      ends_[next_end_++ % most_ends] = {of, what, user, old};
    return posted;
  }

  // Functions of their own: a poll that finds nothing keeps nothing in registers.
  template <class Ended>
  [[gnu::noinline]] static int report_ends(raw_mapped_careful& here, Ended& ended) {
    here.quick_polls_ |= handling;
    here.breath_.found();
    int reported = 0;
    do {
      const end_of e = here.ends_[here.first_end_++ % most_ends];
      if (e.of.of->live == e.of.number) [[likely]]
        ended(e.what, e.of, e.user, e.old);
    } while (++reported < most_reported && here.first_end_ != here.next_end_);
    here.quick_polls_ &= ~handling;
    return reported;
  }
  /// The first peer with a line, and those after it. Requires: `l` is its front line.
  template <class Landed, class Heard>
  [[gnu::noinline]] static int found(raw_mapped_careful& here, record& r, const hand_ring::line* l, Landed& landed,
                                     Heard& heard) {
    here.quick_polls_ |= handling;
    here.breath_.found();
    int reported = lines_of(here, r, l, landed, heard);
    for (record* next = &r + 1; next != here.last_; ++next)
      if (l = next->in.front(); l != nullptr) reported += lines_of(here, *next, l, landed, heard);
    here.quick_polls_ &= ~handling;
    return reported;
  }
  template <class Landed, class Heard>
  [[gnu::always_inline]] static int lines_of(raw_mapped_careful& here, record& r, const hand_ring::line* l,
                                             Landed& landed, Heard& heard) {
    int reported = 0;
    const handle from{&r, r.live};
    do {
      const std::uint64_t immediate = l->immediate;
      if ((immediate & message) == 0) {
        place_range where;
        std::memcpy(&where, l->inside.data(), sizeof where);
        r.arriving = {here.shared_ + where.first, here.shared_ + where.last};
        __builtin_prefetch(r.arriving.first);
        __builtin_prefetch(r.arriving.last);
        r.in.pop();
        landed(from, static_cast<std::uint32_t>(immediate));
      } else {
        if (here.posted_count_ == 0) [[unlikely]]
          break;  // the message waits for a receive
        prefetch_to_write(reinterpret_cast<const std::byte*>(r.sent + 1));
        r.sent = nothing.data();
        here.take(r, *l, from, heard);
      }
      l = r.in.front();
    } while (++reported < most_reported && l != nullptr && r.live == from.number);
    return reported;
  }
  template <class Heard>
  [[gnu::always_inline]] void take(record& r, const hand_ring::line& l, const handle& from, Heard& heard) {
    const std::uint32_t size = l.size;
    if (size > hand_ring::line::room) [[unlikely]]
      broken();
    std::byte* const into = posted_[--posted_count_];
    std::memcpy(into, l.inside.data(), hand_ring::line::room);
    r.in.pop();
    heard(from, into, size);
    posted_[posted_count_++] = into;
  }
  static void prefetch_to_write(const std::byte* line) noexcept {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*line));  // NOLINT(hicpp-no-assembler)
#else
    __builtin_prefetch(line, 1);
#endif
  }
  /// Nothing may fail here.
  [[noreturn, gnu::cold, gnu::noinline]] static void broken() noexcept { std::abort(); }
  /// False: a handler is running. Every 32nd poll does the housekeeping.
  [[gnu::cold, gnu::noinline]] bool is_owner_polling() noexcept {
    if (static_cast<std::int32_t>(++quick_polls_) < 0) return false;
    quick_polls_ = 31;
    return true;
  }

  static std::atomic_ref<std::uint64_t> word_at(std::byte* place) noexcept {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(place));
  }
  static std::atomic<std::uint64_t>& row_in(std::byte* landing) noexcept {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(landing + row_at);
  }
  static constexpr std::size_t row_at = 2048;  ///< In the target's memory: the region is the part before it.
  /// In a notice's line: the first and the last byte that the notice covers, as offsets of their owner.
  struct place_range {
    std::uint64_t first = 0, last = 0;
  };
  static constexpr std::size_t receives = 64, each_message = 4096;
  static constexpr std::uint64_t first_key = 1, message = std::uint64_t{1} << 63;
  static constexpr std::uint32_t first_number = 1, most_ends = 256, handling = 0xc0000000U;
  static constexpr int most_reported = 16;

  shared_pages pages_;
  alignas(8) std::array<std::byte, 64> own_{};
  std::vector<record> records_;
  record *first_ = nullptr, *last_ = nullptr;
  std::array<end_of, most_ends> ends_;
  std::uint32_t first_end_ = 0, next_end_ = 0;
  const std::byte* shared_ = pages_.landing();  ///< Base of the offsets.
  std::vector<std::byte> messages_ = std::vector<std::byte>(each_message * receives);
  std::array<std::byte*, receives> posted_{};
  std::uint32_t posted_count_ = 0;
  breather<room_at_line> breath_;
  std::uint32_t quick_polls_ = 32;  ///< Below 0: a handler is running, and polls inside of it find nothing.
};

}  // namespace weft::bench
