// SPDX-License-Identifier: Apache-2.0
//
// The fabrics of a set, one by one: which of them are open, the transport of one, and opening one that waits
// (sets/set_opening.hpp). Hot path: no. Threads: the owner's.
#pragma once

#include "../../core/if_memory.hpp"
#include "set_opening.hpp"
#include "set_posting.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace weft::detail {

/// Base of transport<fabric_set<F...>>.
template <class Transport, class... F>
class set_fabric_calls {
  using members = set_members<F...>;

 public:
  /// The transport of one fabric, for what only this fabric offers. A fabric that waits is opened, which may load its
  /// library. Null: it cannot be opened here.
  template <complete_fabric G>
  transport<G>* on() noexcept {
    static_assert(members::template has<G>, "weft: the set does not have this fabric [WEFT-C034]");
    constexpr std::size_t index = members::template index_of<G>;
    return open_late(index) ? &self().members_.template net<index>() : nullptr;
  }
  /// Whether a fabric is open. A fabric that waits is not.
  template <complete_fabric G>
  bool is_open() const noexcept {
    static_assert(members::template has<G>, "weft: the set does not have this fabric [WEFT-C034]");
    return self().members_.template is_open<members::template index_of<G>>();
  }
  /// The names of the fabrics that are open or wait: "mapped,tcp".
  std::string usable_fabrics() const {
    std::string all;
    std::size_t i = 0;
    for (const own_fabric& each : self().state_->own) {
      const std::string_view name = set_state<F...>::profiles[i++].name;
      if (each.open || each.waits) (all += all.empty() ? "" : ",") += name;
    }
    return all;
  }
  /// The peer as one of fabric G, so that posts have no branch. Nothing: another fabric reaches the peer.
  template <complete_fabric G>
  std::optional<peer_of<G>> peer_on(peer p) const noexcept {
    static_assert(members::template has<G>, "weft: the set does not have this fabric [WEFT-C034]");
    if (!p || peer_access::member(p) != members::template index_of<G>) return std::nullopt;
    return peer_of<G>(p);
  }

 protected:
  /// Whether the fabric of this number is open, after opening it if it waits.
  bool open_late(std::size_t member) noexcept {
    own_fabric& mine = self().state_->own[member];
    if (!mine.waits) return mine.open;
    if (!if_memory([&] { set_opening<F...>(*self().state_, self().members_).open_late(member); }))
      mine.why = "no memory";
    self().open_ |= std::uint32_t{mine.open} << member;
    return mine.open;
  }
  void open_all() noexcept {
    for (std::size_t i = 0; i < sizeof...(F); ++i) (void)open_late(i);
  }

 private:
  Transport& self() noexcept { return static_cast<Transport&>(*this); }
  const Transport& self() const noexcept { return static_cast<const Transport&>(*this); }
};

}  // namespace weft::detail
