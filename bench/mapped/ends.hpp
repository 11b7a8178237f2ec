// SPDX-License-Identifier: Apache-2.0
//
// The ends of bench-flag: weft's, and for each the same by plain loads and stores, in the same lines of the same
// memory. The hand-written end has no keys, no bounds, no peers and no completions: it is the floor. Hot path: all of
// it. Threads: one per process.
#pragma once

#include "../breather.hpp"
#include "../transport/weft_end.hpp"
#include "hand_ring.hpp"
#include "same_memory.hpp"

#include <atomic>

namespace weft::bench {

inline constexpr std::size_t megabyte = std::size_t{1} << 20;
inline constexpr std::size_t block_at = 4096;  ///< Target layout: the word comes first, in its own page.

inline std::atomic_ref<std::uint64_t> word_at(std::byte* place) noexcept {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(place));
}

/// A transport, its peer, and the peer's memory as mapped here.
template <class F>
struct mapped_pair {
  weft_pair<F> weft;
  owned_region ring_memory = sure(weft.net.allocate(sizeof(hand_ring), rights::all));
  std::byte* landing = weft.landing.data();
  std::byte* there;
  hand_sender out;
  hand_taker in{*reinterpret_cast<hand_ring*>(ring_memory.data())};

  mapped_pair(const channel& to, bool first)
      : weft(to, first, block_at + megabyte, false, 4096),
        there(same_memory::at(swap(to, first, landing))),
        out(*reinterpret_cast<hand_ring*>(same_memory::at(swap(to, first, ring_memory.data())))) {}

 private:
  std::string swap(const channel& to, bool first, const std::byte* mine) {
    return to.swap(first, same_memory::of(mine), [this] { weft.net.progress([](auto&&) {}); });
  }
};

/// The floor of a put: a store, and a load until it is seen. Polls follow at once or with weft's spacing.
template <class F, bool WithRoom>
struct by_flag {
  mapped_pair<F>& pair;
  breather<WithRoom ? room_at_line : no_room> breath{};
  void post(std::uint64_t value) noexcept { word_at(pair.there).store(value, std::memory_order_release); }
  bool seen(std::uint64_t value) noexcept {
    breath.before_poll();
    if (word_at(pair.landing).load(std::memory_order_acquire) != value) return false;
    breath.found();
    return true;
  }
};

/// A copy, then a flag.
template <class F>
struct by_copy {
  mapped_pair<F>& pair;
  std::size_t size;
  by_flag<F, true> word{pair};
  void post(std::uint64_t value) noexcept {
    std::memcpy(pair.there + block_at, pair.weft.source.data(), size);
    word.post(value);
  }
  bool seen(std::uint64_t value) noexcept { return word.seen(value); }
};

/// The target reads the bytes after their notice.
inline void expect(std::uint64_t wanted, std::uint64_t came) {
  if (wanted != came) throw std::runtime_error("bench: the bytes that came are not those that were sent");
}

/// A line of a ring: a message, or a notice after a store.
template <class F, carrier C>
struct by_ring {
  mapped_pair<F>& pair;
  std::uint64_t kept[8] = {};
  breather<room_at_line> breath{};
  void post(std::uint64_t value) noexcept {
    if constexpr (C == carrier::put_notify) word_at(pair.there).store(value, std::memory_order_relaxed);
    while (!pair.out.send(reinterpret_cast<const std::byte*>(&value), C == carrier::send ? 8 : 0, value)) {
    }
  }
  bool seen(std::uint64_t value) {
    std::size_t size = 0;
    std::uint64_t immediate = 0;
    breath.before_poll();
    if (!pair.in.take(reinterpret_cast<std::byte*>(kept), size, immediate)) return false;
    breath.found();
    expect(value, C == carrier::send ? kept[0] : word_at(pair.landing).load(std::memory_order_relaxed));
    return true;
  }
};

/// A put without a notice: the target watches the word.
template <class F>
class by_put {
 public:
  explicit by_put(mapped_pair<F>& of) : pair(of) {}
  void post(std::uint64_t value) {
    weft_pair<F>& p = pair.weft;
    std::memcpy(p.source.data(), &value, sizeof value);
    while (!p.net.put(p.other, p.source.first(sizeof value), there)) make_room();
  }
  bool seen(std::uint64_t value) noexcept { return word.seen(value); }

 private:
  /// A function of its own, so that the post is inlined at its call, as a store is.
  [[gnu::cold, gnu::noinline]] void make_room() {
    pair.weft.net.progress([](auto&&) {});
  }

  mapped_pair<F>& pair;
  by_flag<F, true> word{pair};
  remote_place there = pair.weft.there.at(0);
};

/// A larger put, and one of the word after it.
template <class F>
struct by_large_put {
  mapped_pair<F>& pair;
  std::size_t size;
  remote_place block = pair.weft.there.at(block_at);
  by_put<F> word{pair};
  void post(std::uint64_t value) {
    while (!pair.weft.net.put(pair.weft.other, pair.weft.source.first(size), block))
      pair.weft.net.progress([](auto&&) {});
    word.post(value);
  }
  bool seen(std::uint64_t value) noexcept { return word.seen(value); }
};

/// A put with a notice, or a message: the target makes progress.
template <class F, carrier C>
struct by_event {
  mapped_pair<F>& pair;
  remote_place there = pair.weft.there.at(0);
  std::uint64_t arrived = 0, taken = 0, came = 0;
  void post(std::uint64_t value) {
    weft_pair<F>& p = pair.weft;
    std::memcpy(p.source.data(), &value, sizeof value);
    const auto call = [&] {
      if constexpr (C == carrier::send) return p.net.send(p.other, p.source.first(8));
      else return p.net.put_notify(p.other, p.source.first(8), there, static_cast<std::uint32_t>(value));
    };
    while (!call()) p.net.progress([](auto&&) {});
  }
  bool seen(std::uint64_t value) {
    pair.weft.net.progress(overloaded{[this](const notified&) {
                                        ++arrived;
                                        came = word_at(pair.landing).load(std::memory_order_relaxed);
                                      },
                                      [this](const received& r) {
                                        ++arrived;
                                        if (r.message.size() == sizeof came)
                                          std::memcpy(&came, r.message.data(), sizeof came);
                                      },
                                      [](const lost&) { throw std::runtime_error("the other process is gone"); },
                                      [](auto&&) {}});
    if (arrived == taken) return false;
    ++taken;
    expect(value, came);
    return true;
  }
};

}  // namespace weft::bench
