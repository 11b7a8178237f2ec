// SPDX-License-Identifier: Apache-2.0
//
// Batches and groups to a peer of a set: one of the peer's fabric, chosen when it is made. Slices of a set point to a
// descriptor for each fabric, and each post takes that of its own. Hot path: yes. Threads: the owner's.
#pragma once

#include "members.hpp"

#include <array>
#include <type_traits>
#include <utility>
#include <variant>

namespace weft::detail {

/// The slice as fabric I of the set takes it. A fabric that takes any memory needs no descriptor, so none is read.
template <class Members, std::size_t I>
[[gnu::always_inline]] inline local_memory local_source(local_memory from) noexcept {
  if constexpr (answer<typename Members::template fabric_at<I>, local_descriptor_family>::any_memory) {
    return {from.data, from.size, nullptr};
  } else {
    void* const* const each = static_cast<void* const*>(from.descriptor);
    return {from.data, from.size, each == nullptr ? nullptr : each[I]};
  }
}
/// The same for several pieces.
struct local_pieces {
  std::array<local_memory, gather_limit + 1> pieces{};
  std::size_t count = 0;
  operator gather_list() const noexcept { return {pieces.data(), count}; }  // NOLINT(google-explicit-constructor)
};
template <class Members, std::size_t I>
[[gnu::always_inline]] inline auto local_source(gather_list from) noexcept {
  if constexpr (!Members::engines::needs_descriptors) {
    return from;
  } else {
    local_pieces all;
    if (from.size() > gather_limit) {  // the call refuses the number of pieces
      all.count = gather_limit + 1;
      return all;
    }
    for (const local_memory& each : from) all.pieces[all.count++] = local_source<Members, I>(each);
    return all;
  }
}

/// Whichever of the members' batches (or groups) serves a peer.
template <template <class> class Of, class... F>
class one_of_fabrics : public refused_members {
  using members = set_members<F...>;

 public:
  using refused_members::put;
  using refused_members::put_notify;
  using refused_members::send;

  template <class Make>
  one_of_fabrics(members& all, peer to, Make&& make) noexcept : is_(all.at(peer_access::member(to), make)) {}

  status send(local_memory from) noexcept {
    return each(from, [](auto& one, local_memory here) { return one.send(here); });
  }
  status put(local_memory from, const remote_place& at) noexcept {
    return each(from, [&](auto& one, local_memory here) { return one.put(here, at); });
  }
  status put_notify(local_memory from, const remote_place& at, std::uint32_t immediate) noexcept {
    return each(from, [&](auto& one, local_memory here) { return one.put_notify(here, at, immediate); });
  }
  status close() noexcept {
    return each({}, [](auto& one, local_memory) { return one.close(); });
  }
  bool is_open() const noexcept {
    return std::visit([](const auto& one) { return one.is_open(); }, is_);
  }

 protected:
  using any = std::variant<Of<engine<F>>...>;

  template <class Body>
  status each(local_memory from, Body&& body) noexcept {
    return each_of(from, body, std::make_index_sequence<sizeof...(F)>());
  }
  const any& which() const noexcept { return is_; }

 private:
  template <class Body, std::size_t... I>
  status each_of(local_memory from, Body& body, std::index_sequence<I...>) noexcept {
    status answered;
    (void)((is_.index() == I ? (answered = body(*std::get_if<I>(&is_), local_source<members, I>(from)), true)
                             : false) ||
           ...);
    return answered;
  }

  any is_;
};

/// A batch to a peer of a set.
template <class... F>
class [[nodiscard]] set_batch : public one_of_fabrics<detail::batch, F...> {
  using base = one_of_fabrics<detail::batch, F...>;

 public:
  using base::close;
  set_batch(set_members<F...>& all, peer to) noexcept
      : base(all, to,
             [&](auto& net, auto index) { return typename base::any(std::in_place_index<index()>, net.batch(to)); }) {}
  template <class Place>
  status fetch_add(const Place& at, std::uint64_t operand, void* context) noexcept {
    constexpr atomicity who = executor_of<fabric_set<F...>, Place>;
    static_assert(executes<fabric_set<F...>, who>());
    return base::each(
        {}, [&](auto& one, local_memory) { return one.fetch_add(word_access::word<who>(at), operand, context); });
  }
  status close(void* context) noexcept {
    return base::each({}, [&](auto& one, local_memory) { return one.close(context); });
  }
  /// Members that the library took.
  std::uint32_t posted() const noexcept {
    return std::visit([](const auto& one) { return one.posted(); }, base::which());
  }
};

/// A group to a peer of a set.
template <class... F>
class [[nodiscard]] set_group : public one_of_fabrics<detail::group, F...> {
  using base = one_of_fabrics<detail::group, F...>;

 public:
  set_group(set_members<F...>& all, peer to) noexcept
      : base(all, to, [&](auto& net, auto index) {
          return typename base::any(std::in_place_index<index()>, net.coalesce(to));
        }) {}
};

}  // namespace weft::detail
