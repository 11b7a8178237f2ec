// SPDX-License-Identifier: Apache-2.0
//
// Memory of a set of fabrics. A region is registered with the first fabric at once, and with each other one when the
// first peer of that fabric comes. A handle's descriptor points to one descriptor per fabric. Two fabrics are two
// executors of atomics, so the target executes those on all of them (decision 0010). Hot path: no. Threads: the
// owner's.
#pragma once

#include "../../wire/fabric_directory.hpp"
#include "../memory/registration.hpp"
#include "members.hpp"

#include <array>
#include <map>
#include <string>
#include <utility>

namespace weft::detail {

/// One memory of this side, and its registration with each fabric that has had a peer.
template <std::size_t N>
struct set_registration {
  bytes memory;
  rights granted{};
  atomicity executor{};
  std::array<void*, N> descriptors{};  ///< What a slice points to, where some fabric needs descriptors.
  std::array<region, N> regions{};
  std::array<bool, N> is_registered{};
  std::size_t owner = N;  ///< The fabric that allocated the memory; N: the caller did.
};

/// `Engines` is set_engines<F...> (sets/members.hpp).
template <class Engines>
class set_memory {
  static constexpr std::size_t count = Engines::count;
  using entry = set_registration<count>;

 public:
  /// Registers memory of the caller. Errors: those of the fabrics in use.
  result<region> add(Engines& all, bytes memory, rights granted, atomicity executor) {
    entry fresh{memory, granted, executor};
    return keep(all, std::move(fresh));
  }
  /// Registers fresh memory, from the first fabric whose port prefers to allocate, or else from the first one.
  result<region> allocate(Engines& all, std::size_t size, rights granted, atomicity executor) {
    entry fresh{{}, granted, executor};
    all.each_open([&]<std::size_t I>(auto& /*engine*/) {
      if (fresh.owner == count || (makes_memory<I> && !made_by_port(fresh.owner))) fresh.owner = I;
    });
    result<region> made(error(errc::closed, "allocate"), "no fabric of this set is open");
    all.each_open([&]<std::size_t I>(auto& engine) {
      if (I == fresh.owner) made = registrar_of(engine).allocate(size, granted, executor);
    });
    if (!made) return made;
    fresh.memory = made->memory();
    note(fresh, fresh.owner, *made);
    return keep(all, std::move(fresh));
  }
  void release(Engines& all, std::uint32_t number) {
    const auto found = regions_.find(number);
    if (found == regions_.end()) return;
    leave(all, found->second);
    regions_.erase(found);
  }

  /// The first peer of fabric `member` comes: every region is registered there. Errors: those of the registration.
  result<void> use(Engines& all, std::size_t member) {
    if (used_[member]) return {};
    for (auto& [number, each] : regions_)
      if (auto made = provide(all, each, member); !made) return made;
    used_[member] = true;
    return {};
  }
  bool is_used(std::size_t member) const noexcept { return used_[member]; }

  /// The region of one fabric. Null: this set has no such region, or no peer of the fabric came yet.
  const region* on(const region& r, std::size_t member) const noexcept {
    const auto found = regions_.find(r.number());
    return found != regions_.end() && found->second.is_registered[member] ? &found->second.regions[member] : nullptr;
  }
  /// The same, registered now where it was not.
  const region* provided(Engines& all, const region& r, std::size_t member) {
    const auto found = regions_.find(r.number());
    if (found == regions_.end() || !provide(all, found->second, member)) return nullptr;
    return &found->second.regions[member];
  }

 private:
  template <std::size_t I>
  static constexpr bool makes_memory = requires(typename Engines::template engine_at<I>::port_type& p) {
    p.register_fresh(std::size_t{}, rights::all, std::uint64_t{});
  };
  static constexpr bool made_by_port(std::size_t member) noexcept {
    return []<std::size_t... I>(std::size_t m, std::index_sequence<I...>) {
      return ((m == I && makes_memory<I>) || ...);
    }
    (member, std::make_index_sequence<count>());
  }

  static void note(entry& e, std::size_t member, const region& made) noexcept {
    e.regions[member] = made;
    e.descriptors[member] = made.first(0).descriptor;
    e.is_registered[member] = true;
  }
  template <class Engine>
  static registrar<Engine> registrar_of(Engine& engine) noexcept {
    return registrar<Engine>(engine);
  }

  result<void> provide(Engines& all, entry& e, std::size_t member) {
    if (e.is_registered[member]) return {};
    result<void> outcome = failure{error(errc::closed, "register"), "a fabric of this set is not open"};
    all.each_open([&]<std::size_t I>(auto& engine) {
      if (I != member) return;
      auto made = registrar_of(engine).register_memory(e.memory, e.granted, nullptr, e.executor);
      if (made) note(e, member, *made), outcome = {};
      else
        outcome =
            failure{made.why(), "over fabric " + std::string(Engines::names[member]) + ": " + made.error().sentence};
    });
    return outcome;
  }

  /// Registers a new entry with the fabrics in use, at least with one.
  result<region> keep(Engines& all, entry fresh) {
    const std::uint32_t number = ++next_;
    entry& e = regions_.emplace(number, std::move(fresh)).first->second;
    bool any = false;
    result<void> outcome{};
    for (std::size_t i = 0; i < count && outcome; ++i) {
      any = any || e.is_registered[i];
      if (used_[i]) outcome = provide(all, e, i), any = true;
    }
    if (outcome && !any) outcome = provide(all, e, all.first_open());
    if (!outcome) {
      failure why = std::move(outcome).error();
      release(all, number);
      return why;
    }
    registration here;
    here.base = e.memory.data();
    here.size = e.memory.size();
    if (Engines::needs_descriptors) here.descriptor = e.descriptors.data();
    return region(here, number);
  }

  /// Deregisters everywhere; last on the fabric that owns the memory.
  void leave(Engines& all, entry& e) {
    for (const bool last : {false, true})
      all.each_open([&]<std::size_t I>(auto& engine) {
        if (e.is_registered[I] && (I == e.owner) == last) registrar_of(engine).release(e.regions[I].number());
      });
  }

  std::map<std::uint32_t, entry> regions_;  // a handle points into its entry
  std::array<bool, count> used_{};
  std::uint32_t next_ = 0;
};

}  // namespace weft::detail
