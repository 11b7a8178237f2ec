// SPDX-License-Identifier: Apache-2.0
//
// The posts of a set: the calls of posting/posting_calls.hpp, each with one branch on the peer's fabric, then inlined
// as on that fabric alone. A peer_of<F> says its fabric by its type, so there is no branch. Hot path: all of it.
// Threads: the owner's.
#pragma once

#include "../states.hpp"
#include "members.hpp"
#include "set_batch.hpp"

#include <array>
#include <concepts>

namespace weft {

namespace detail {
template <class Transport, class... F>
class set_fabric_calls;
}  // namespace detail

/// A peer of a fabric_set that is reached by fabric F: posts to it have no branch. Made by transport::peer_on<F>().
template <complete_fabric F>
class peer_of : public peer {
 public:
  using fabric = F;
  constexpr peer_of() = default;

 private:
  template <class, class...>
  friend class detail::set_fabric_calls;
  explicit constexpr peer_of(peer p) noexcept : peer(p) {}
};

namespace detail {

template <class>
inline constexpr bool says_its_fabric = false;
template <class F>
inline constexpr bool says_its_fabric<peer_of<F>> = true;

/// Base of transport<fabric_set<F...>>.
template <class Transport, class... F>
class set_posting_calls : public refused_posts<set_posting_calls<Transport, F...>> {
  using refused = refused_posts<set_posting_calls>;
  using members = set_members<F...>;

 public:
  /// Up to this size, the source of a send or put_notify without a context is free when the call returns, on each
  /// fabric of the set.
  static constexpr std::uint32_t inject_bytes = std::min({transport<F>::inject_bytes...});
  /// The same for puts.
  static constexpr std::uint32_t put_inject_bytes = std::min({transport<F>::put_inject_bytes...});

  using refused::get, refused::put, refused::put_notify, refused::send;

  template <std::derived_from<peer> To>
  [[gnu::always_inline]] status send(const To& to, local_memory from, void* context) noexcept {
    return post(
        operation::send, to,
        from, [&](auto& net, local_memory here) __attribute__((always_inline)) { return net.send(to, here, context); });
  }
  template <std::derived_from<peer> To>
  [[gnu::always_inline]] status send(const To& to, local_memory from) noexcept {
    return post(
        operation::send, to,
        from, [&](auto& net, local_memory here) __attribute__((always_inline)) { return net.send(to, here); });
  }
  template <std::derived_from<peer> To>
  [[gnu::always_inline]] status put(const To& to, local_memory from, const remote_place& at, void* context) noexcept {
    return post(
        operation::put, to, from, [&](auto& net, local_memory here) __attribute__((always_inline)) {
          return net.put(to, here, at, context);
        });
  }
  template <std::derived_from<peer> To>
  [[gnu::always_inline]] status put(const To& to, local_memory from, const remote_place& at) noexcept {
    return post(
        operation::put, to,
        from, [&](auto& net, local_memory here) __attribute__((always_inline)) { return net.put(to, here, at); });
  }
  /// A put whose end means the state on each fabric. A state that one of them cannot report does not compile.
  template <std::derived_from<peer> To, write_state State>
  [[gnu::always_inline]] status put(const To& to, local_memory from, const remote_place& at,
                                    completes_when<State> wanted) noexcept {
    return post(
        operation::put, to, from, [&](auto& net, local_memory here) __attribute__((always_inline)) {
          return net.put(to, here, at, wanted);
        });
  }
  template <std::derived_from<peer> To>
  [[gnu::always_inline]] status put_notify(const To& to, local_memory from, const remote_place& at,
                                           std::uint32_t immediate, void* context) noexcept {
    return post(
        operation::put_notify, to, from, [&](auto& net, local_memory here) __attribute__((always_inline)) {
          return net.put_notify(to, here, at, immediate, context);
        });
  }
  template <std::derived_from<peer> To>
  [[gnu::always_inline]] status put_notify(const To& to, local_memory from, const remote_place& at,
                                           std::uint32_t immediate) noexcept {
    return post(
        operation::put_notify, to, from, [&](auto& net, local_memory here) __attribute__((always_inline)) {
          return net.put_notify(to, here, at, immediate);
        });
  }
  template <std::derived_from<peer> To, spilling_layout L>
  [[gnu::always_inline]] status put_notify(const To& to, local_memory from, const remote_place& at, const L& fields,
                                           void* context) noexcept {
    return post(
        operation::put_notify, to, from, [&](auto& net, local_memory here) __attribute__((always_inline)) {
          return net.put_notify(to, here, at, fields, context);
        });
  }
  template <std::derived_from<peer> To, spilling_layout L>
  [[gnu::always_inline]] status put_notify(const To& to, local_memory from, const remote_place& at,
                                           const L& fields) noexcept {
    return post(
        operation::put_notify, to, from, [&](auto& net, local_memory here) __attribute__((always_inline)) {
          return net.put_notify(to, here, at, fields);
        });
  }
  template <std::derived_from<peer> From>
  [[gnu::always_inline]] status get(const From& from, local_memory into, const remote_place& at,
                                    void* context) noexcept {
    return post(
        operation::get, from, into, [&](auto& net, local_memory here) __attribute__((always_inline)) {
          return net.get(from, here, at, context);
        });
  }

  // Of several pieces.
  template <std::derived_from<peer> To>
  [[gnu::always_inline]] status send(const To& to, gather_list from, void* context) noexcept {
    return post(
        operation::send, to,
        from, [&](auto& net, gather_list here) __attribute__((always_inline)) { return net.send(to, here, context); });
  }
  template <std::derived_from<peer> To>
  [[gnu::always_inline]] status send(const To& to, gather_list from) noexcept {
    return post(
        operation::send, to,
        from, [&](auto& net, gather_list here) __attribute__((always_inline)) { return net.send(to, here); });
  }
  template <std::derived_from<peer> To>
  [[gnu::always_inline]] status put(const To& to, gather_list from, const remote_place& at, void* context) noexcept {
    return post(
        operation::put, to, from, [&](auto& net, gather_list here) __attribute__((always_inline)) {
          return net.put(to, here, at, context);
        });
  }
  template <std::derived_from<peer> To>
  [[gnu::always_inline]] status put(const To& to, gather_list from, const remote_place& at) noexcept {
    return post(
        operation::put, to,
        from, [&](auto& net, gather_list here) __attribute__((always_inline)) { return net.put(to, here, at); });
  }
  template <std::derived_from<peer> To, write_state State>
  [[gnu::always_inline]] status put(const To& to, gather_list from, const remote_place& at,
                                    completes_when<State> wanted) noexcept {
    return post(
        operation::put, to, from, [&](auto& net, gather_list here) __attribute__((always_inline)) {
          return net.put(to, here, at, wanted);
        });
  }
  template <std::derived_from<peer> To>
  [[gnu::always_inline]] status put_notify(const To& to, gather_list from, const remote_place& at,
                                           std::uint32_t immediate, void* context) noexcept {
    return post(
        operation::put_notify, to, from, [&](auto& net, gather_list here) __attribute__((always_inline)) {
          return net.put_notify(to, here, at, immediate, context);
        });
  }
  template <std::derived_from<peer> To>
  [[gnu::always_inline]] status put_notify(const To& to, gather_list from, const remote_place& at,
                                           std::uint32_t immediate) noexcept {
    return post(
        operation::put_notify, to, from, [&](auto& net, gather_list here) __attribute__((always_inline)) {
          return net.put_notify(to, here, at, immediate);
        });
  }
  template <std::derived_from<peer> From>
  [[gnu::always_inline]] status get(const From& from, gather_list into, const remote_place& at,
                                    void* context) noexcept {
    return post(
        operation::get, from, into, [&](auto& net, gather_list here) __attribute__((always_inline)) {
          return net.get(from, here, at, context);
        });
  }

  /// Ends when each earlier write to this peer is visible there (completion_calls::flush).
  template <std::derived_from<peer> To>
  [[gnu::always_inline]] status flush(const To& to, void* context) noexcept {
    if (!to.alive()) [[unlikely]]
      return self().dead(to, name_of(operation::flush));
    return self().to_living(
        to, [&](auto& net, auto) __attribute__((always_inline)) { return net.flush(to, context); });
  }
  /// Posts that go out together (posting/batch.hpp).
  set_batch<F...> batch(peer to) noexcept { return {members_(), to}; }
  /// Small posts that travel in one message (posting/group.hpp).
  set_group<F...> coalesce(peer to) noexcept { return {members_(), to}; }

 private:
  Transport& self() noexcept { return *static_cast<Transport*>(this); }
  members& members_() noexcept { return self().members_; }

  template <class To, class Source, class Body>
  [[gnu::always_inline]] status post(operation what, const To& to, const Source& from, Body&& body) noexcept {
    // The fabric's own call asks the same, and the compiler asks once. Nobody's handle has no fabric.
    if (!to.alive()) [[unlikely]]
      return self().dead(to, name_of(what));
    return self().to_living(
        to, [&](auto& net, auto index)
                __attribute__((always_inline)) { return body(net, local_source<members, index()>(from)); });
  }
};

}  // namespace detail
}  // namespace weft
