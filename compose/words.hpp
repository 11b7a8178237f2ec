// SPDX-License-Identifier: Apache-2.0
//
// Regions whose type says who executes the atomics on their words. A word has one executor, else sums are wrong without
// an error: a card's atomics are not atomic to a processor (fi_atomic(3), ibv_query_device(3): atomic_cap), nor to
// messages that the target's processor executes. Where the executor is the target's progress or the owner, the owner
// may use std::atomic_ref; where it is a card, word() does not compile. Choose `words` when the owner changes words
// too, or to get another executor than the fabric's usual one. Hot path: at() and word(). Threads: the transport's
// owner.
#pragma once

#include "fabric.hpp"
#include "region.hpp"

#include <atomic>

namespace weft {

template <atomicity Who>
class remote_words;
namespace detail {
struct word_access;
}  // namespace detail

/// A place in a peer's words. It converts to a plain place for put and get, which grants no atomics; never to a place
/// of another executor.
template <atomicity Who>
class remote_word {
 public:
  static constexpr atomicity executor = Who;
  constexpr remote_word() = default;
  template <atomicity Other>
  explicit constexpr remote_word(const remote_word<Other>&) noexcept {
    static_assert(Other == Who,
                  "weft: a word has one executor for all of its atomics: take the place from a region parsed with the "
                  "same atomicity [WEFT-C020]");
  }
  constexpr operator remote_place() const noexcept {  // NOLINT(google-explicit-constructor): bytes may be put and got
    remote_place plain = place_;
    plain.granted = without_atomics(plain.granted);
    return plain;
  }
  /// For posting atomics.
  constexpr const remote_place& place() const noexcept { return place_; }

 private:
  friend class remote_words<Who>;
  friend struct detail::word_access;
  explicit constexpr remote_word(const remote_place& p) noexcept : place_(p) {}
  remote_place place_;
};

namespace detail {
/// A set of fabrics names the executor of a plain place: on each of its fabrics it is the target.
struct word_access {
  template <atomicity Who>
  static constexpr remote_word<Who> word(const remote_place& at) noexcept {
    return remote_word<Who>(at);
  }
  template <atomicity Who>
  static constexpr const remote_word<Who>& word(const remote_word<Who>& at) noexcept {
    return at;
  }
};
}  // namespace detail

/// A peer's region of words, as parsed by transport::parse_words.
template <atomicity Who>
class remote_words {
 public:
  constexpr remote_words() = default;
  /// Requires: the region's executor is `Who`.
  explicit constexpr remote_words(const remote_region& of) noexcept : region_(of) {}
  constexpr std::uint64_t size() const noexcept { return region_.size(); }
  constexpr rights granted() const noexcept { return region_.granted(); }
  /// The place `offset` bytes into the region. Past the end the place has no room, so every transfer is refused.
  constexpr remote_word<Who> at(std::uint64_t offset) const noexcept { return remote_word<Who>(region_.at(offset)); }

 private:
  remote_region region_;
};

/// Registered memory of this side whose words have one executor.
template <atomicity Who>
class words : public region {
 public:
  static constexpr atomicity executor = Who;
  words() = default;
  words(const words&) = default;
  words& operator=(const words&) = default;
  explicit words(const region& r) noexcept : region(r) {}
  template <class View>
  words(owned<View>&& r) noexcept : region(std::move(r)) {}  // NOLINT(google-explicit-constructor): refuses

  /// The word `offset` bytes into the region, for atomics of the owner, at the same time as those of peers. Requires:
  /// aligned to its size, within the region.
  template <atomic_number T, atomicity W = Who>
  std::atomic_ref<T> word(std::size_t offset) const noexcept {
    static_assert(W != atomicity::provider,
                  "weft: a card or the library executes the atomics on these words, and std::atomic is no atomic to "
                  "it: post atomics to yourself, or "
                  "register the region with atomicity::target [WEFT-C021]");
    return std::atomic_ref<T>(*reinterpret_cast<T*>(data() + offset));
  }
};

/// What register_words() and allocate_words() return.
template <atomicity Who>
using owned_words = owned<words<Who>>;

/// Who executes atomics on a place: its type says so, else the fabric's usual executor.
template <class F, class Place>
inline constexpr atomicity executor_of = usual_atomicity<F>;
template <class F, atomicity Who>
inline constexpr atomicity executor_of<F, remote_word<Who>> = Who;

/// True where peers of fabric F can post atomics to words of this executor; else a compile error with a sentence.
template <class F, atomicity Who>
consteval bool executes() {
  static_assert(Who != atomicity::provider || usual_atomicity<F> == atomicity::provider,
                "weft: on this fabric neither card nor library executes atomics: register the region with "
                "atomicity::target [WEFT-C022]");
  static_assert(Who != atomicity::processor,
                "weft: atomics on these words are their owner's alone (atomicity::processor): register the region with "
                "atomicity::target or provider [WEFT-C023]");
  return true;
}

/// The plain place of an atomic's target, for every executor.
constexpr const remote_place& atomic_place(const remote_place& at) noexcept { return at; }
template <atomicity Who>
constexpr const remote_place& atomic_place(const remote_word<Who>& at) noexcept {
  return at.place();
}

}  // namespace weft
