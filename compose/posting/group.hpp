// SPDX-License-Identifier: Apache-2.0
//
// Posts to one peer that travel in one message. The program opens and closes the group: `auto g = net.coalesce(peer);
// g.send(a); g.send(b); g.close();`. A group closes itself on every path. Every fabric has groups; coalesce::up_to also
// gathers posts without one. Hot path: send(). Threads: the owner's.
#pragma once

#include "group_packing.hpp"
#include "initiator.hpp"
#include "refused_arguments.hpp"

#include <utility>

namespace weft::detail {

/// A group to one peer. Members are copied, so their sources are free at once. They are unsignalled: the handler gets
/// only failures, each with a null context. If a message cannot be sent, each of its members fails. A full message is
/// sent and another one begun, so a group has any number of members. Limits of one message: those of coalesce::up_to,
/// else 64 members and 768 bytes. A member too large for a message goes alone, in its order. So do puts where they may
/// not be members (compose/posting/group_packing.hpp); elsewhere the target copies them when it polls. `again`: the
/// group did not take the post; make progress, then try once more. Other posts to that peer may overtake members of an
/// open group. If a group goes out of scope while the queue is full, progress() sends it. The transport must outlive
/// it; moved-from groups are closed.
template <class Engine>
class [[nodiscard]] group : public refused_members {
 public:
  using refused_members::put;
  using refused_members::put_notify;
  using refused_members::send;
  using record = typename Engine::record;
  using initiator_type = initiator<Engine>;
  using packing = group_packing<Engine>;

  group(Engine& e, peer to) noexcept : e_(&e), to_(to) {}
  group(group&& other) noexcept
      : e_(std::exchange(other.e_, nullptr)), to_(other.to_), open_(std::exchange(other.open_, {})) {}
  group& operator=(group&& other) noexcept {
    if (this == &other) return *this;
    leave();
    e_ = std::exchange(other.e_, nullptr);
    to_ = other.to_;
    open_ = std::exchange(other.open_, {});
    return *this;
  }
  ~group() { leave(); }

  status send(local_memory from) noexcept {
    record* r = nullptr;
    if (const status s = ready(r, "send"); !s) [[unlikely]]
      return s;
    // The bytes of a member wrap for the size of an invalid slice.
    if (const std::size_t most = packing::capacity(*r);
        from.size > most || wire::group_member_bytes(wire::group_kind::message, from.size) > most) [[unlikely]]
      return alone([&] { return initiator_type(*e_).send(to_, from, nullptr, false); });
    return packing(*e_).add(*r, open_, from);
  }
  /// As transport::put without a context.
  status put(local_memory from, const remote_place& at) noexcept {
    return write<packing::packs_puts>(wire::group_kind::put, "put", from, at, 0,
                                      [&] { return initiator_type(*e_).put(to_, from, at, nullptr, false); });
  }
  status put_notify(local_memory from, const remote_place& at, std::uint32_t immediate) noexcept {
    return write<packing::packs_notices>(wire::group_kind::put_notify, "put_notify", from, at, immediate, [&] {
      return initiator_type(*e_).put_notify(to_, from, at, immediate, nullptr, false);
    });
  }

  /// Sends what was packed. `again`: the group is still open. Other errors: it is closed, and its members fail at
  /// the next poll. deadline: they have failed, because the group was open for options.operation_timeout.
  status close() noexcept {
    if (e_ == nullptr) return error(errc::invalid, "close a closed group");
    record* r = initiator_type(*e_).living(to_);
    status s{};
    if (r == nullptr) s = initiator_type(*e_).dead(to_, "close a group");  // its members ended with the peer
    else if (holds()) s = packing(*e_).post(open_);
    else if (open_.slot != no_index) s = error(errc::deadline, "close a group");  // its members were reported
    if (s.is_again() && r != nullptr) return s;
    open_ = {};
    e_ = nullptr;
    return s;
  }
  bool is_open() const noexcept { return e_ != nullptr; }

 private:
  bool holds() const noexcept { return packing(*e_).owns_slot(open_); }

  /// Checks the peer, drops a message that has ended, and sends what was gathered before.
  [[gnu::always_inline]] status ready(record*& r, const char* what) noexcept {
    if (e_ == nullptr) [[unlikely]]
      return error(errc::invalid, "a closed group");
    r = initiator_type::addressed(to_, what);
    if (r == nullptr) [[unlikely]]
      return initiator_type(*e_).dead(to_, what);
    if (open_.slot != no_index && !holds()) [[unlikely]]
      open_ = {};
    return open_.slot == no_index ? e_->coalescer.before(r) : status{};
  }

  template <bool Packs, class Plain>
  status write(wire::group_kind kind, const char* what, const local_memory& from, const remote_place& at,
               std::uint32_t immediate, Plain&& plain) noexcept {
    record* r = nullptr;
    if (const status s = ready(r, what); !s) return s;
    if constexpr (Packs)
      if (from.size <= packing::capacity(*r) && wire::group_member_bytes(kind, from.size) <= packing::capacity(*r)) {
        if (const status s = initiator_type::check(from.size, at, rights::remote_write, what); !s) return s;
        return packing(*e_).add(*r, open_, kind, from, at, immediate);
      }
    return alone(plain);
  }

  /// Sends what was packed so far, then makes this post alone.
  template <class Plain>
  [[gnu::noinline]] status alone(Plain&& plain) noexcept {
    if (open_.slot != no_index)
      if (const status s = packing(*e_).post(open_); !s) return s;
    return plain();
  }

  void leave() noexcept {
    if (e_ == nullptr) return;
    record* r = initiator_type(*e_).living(to_);
    if (r != nullptr && holds() && packing(*e_).post(open_).is_again()) packing(*e_).leave(open_);
    open_ = {};
    e_ = nullptr;
  }

  Engine* e_;
  peer to_;
  open_group open_{};
};

}  // namespace weft::detail
