// SPDX-License-Identifier: Apache-2.0
//
// The cheapest notice: a plain write whose last word is a number that the target watches. Where bytes do not become
// visible in order (a processor's large copy may store its first bytes last), a second write carries that word. No
// completion entry at either end. By hand against libfabric, and by a put of weft whose target watches its own memory.
// Both keep the library moving where the row needs that. Hot path: post, poll. Threads: one owner.
#pragma once

#include "../../compose/ordering.hpp"
#include "../../core/poll_spacing.hpp"
#include "../transport/weft_end.hpp"
#include "ladder.hpp"

#include <atomic>
#include <cstring>

namespace weft::bench {

/// The word after `size` bytes at `at`.
inline std::uint64_t word_behind(const std::byte* at, std::size_t size) noexcept {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(at) + size))
      .load(std::memory_order_acquire);
}
inline void put_word_behind(std::byte* at, std::size_t size, std::uint64_t value) noexcept {
  std::memcpy(at + size, &value, sizeof value);
}

/// A put of weft; sizes are multiples of eight.
template <class F>
class weft_watching_end {
 public:
  static constexpr bool tells_immediate = false;

  explicit weft_watching_end(weft_pair<F>& pair) : pair_(pair), place_(pair.there.at(0)) {}
  std::byte* outgoing() noexcept { return pair_.source.data(); }
  const std::byte* incoming() const noexcept { return pair_.landing.data(); }
  static std::uint64_t ended() noexcept { return 0; }
  static std::uint32_t immediate() noexcept { return 0; }
  void expect(std::size_t size) noexcept {
    size_ = size;
    behind_ = pair_.there.at(size);
  }

  template <ending>
  bool post(std::size_t size, std::uint32_t) {
    put_word_behind(outgoing(), size, sent_ + 1);
    if constexpr (F::facts.bytes_visible_in_order) {
      if (!stream(size + 8)) return false;
    } else {
      static_assert(ordering<F>::write_after_write);
      if (!stream(size) || !put(pair_.source.slice(size, 8), behind_)) return false;  // the same bytes twice do no harm
    }
    ++sent_;
    return true;
  }
  /// A put without notice.
  bool stream(std::size_t size) { return put(pair_.source.first(size), place_); }
  int poll() {
    polls_.before_poll();
    if (came() == 0) poll_once();
    const int arrived = came();
    if (arrived > 0) polls_.found();
    seen_ += static_cast<std::uint64_t>(arrived);
    return arrived;
  }

 private:
  bool put(local_memory from, const remote_place& at) {
    const status s = pair_.net.put(pair_.other, from, at);
    if (s) return true;
    if (!s.is_again()) throw std::runtime_error("weft, put: error " + std::to_string(static_cast<int>(s.code)));
    make_progress();  // makes room, also where polls rarely make progress
    return false;
  }
  /// A transport that must poll leaves room by itself.
  using looks = std::conditional_t<F::facts.same_host && F::facts.data_progress == data_progress::hardware,
                                   poll_spacing<>, close_polls>;
  /// Where bytes arrive without polls, the transport is polled only now and then, to detect failures.
  void poll_once() {
    if constexpr (F::facts.data_progress == data_progress::hardware)
      if (++fruitless_ % 1024 != 0) return;
    make_progress();
  }
  void make_progress() {
    pair_.net.progress(overloaded{[](const failed&) { throw std::runtime_error("weft: a put failed"); },
                                  [](const lost&) { throw std::runtime_error("weft: the peer is lost"); },
                                  [](auto&&) {}});
  }
  /// How many arrived since: a later number overwrites the earlier ones. Earlier bytes of another size are none of the
  /// next few numbers.
  int came() const noexcept {
    const std::uint64_t ahead = word_behind(incoming(), size_) - seen_;
    return ahead <= 2 * window ? static_cast<int>(ahead) : 0;
  }

  weft_pair<F>& pair_;
  remote_place place_;
  std::size_t size_ = 8;
  remote_place behind_ = pair_.there.at(size_);
  std::uint64_t sent_ = 0;
  std::uint64_t seen_ = 0;
  std::uint32_t fruitless_ = 0;
  [[no_unique_address]] looks polls_;
};

}  // namespace weft::bench
