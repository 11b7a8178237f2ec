// SPDX-License-Identifier: Apache-2.0
//
// Posts to one peer that the library may give to the card together: libfabric takes FI_MORE on all but the last post
// (fi_msg(3), fi_rma(3)). Only close() knows which member is the last, so a batch keeps one
// member back until the next comes. Hot path: yes. A member holds no slot and allocates nothing; it costs its copy in
// addition to its post. Threads: the owner's.
#pragma once

#include "../words.hpp"
#include "atomics.hpp"
#include "initiator.hpp"
#include "member_posts.hpp"
#include "more_hints.hpp"
#include "prepared_member.hpp"
#include "refused_arguments.hpp"

#include <cstdint>
#include <type_traits>
#include <utility>

namespace weft::detail {

/// The batch of ports whose posts carry a hint that more follows, and of ports without such a hint.
template <class Engine>
class [[nodiscard]] kept_back_batch : public refused_members {
 public:
  using refused_members::put;
  using refused_members::put_notify;
  using refused_members::send;
  using record = typename Engine::record;
  using initiator_type = initiator<Engine>;
  using posts_of = member_posts<Engine>;

  kept_back_batch(Engine& e, peer to) noexcept : e_(&e), to_(to) {}
  kept_back_batch(kept_back_batch&& other) noexcept
      : e_(std::exchange(other.e_, nullptr)),
        to_(other.to_),
        held_(other.held_),
        why_(other.why_),
        more_(std::move(other.more_)) {
    other.held_.drop();
  }
  kept_back_batch& operator=(kept_back_batch&& other) noexcept {
    if (this == &other) return *this;
    leave();
    e_ = std::exchange(other.e_, nullptr);
    to_ = other.to_;
    held_ = other.held_;
    why_ = other.why_;
    more_ = std::move(other.more_);
    other.held_.drop();
    return *this;
  }
  ~kept_back_batch() { leave(); }

  /// As transport::send, put and put_notify without a context. `again`: the batch did not take the member; make
  /// progress, then try once more.
  [[gnu::always_inline]] status send(local_memory from) noexcept {
    if (e_ == nullptr) [[unlikely]]
      return error(errc::invalid, "a closed batch");
    record* r = initiator_type::addressed(to_, "send");
    if (r != nullptr && !initiator_type::is_taken(*r, from.size)) [[unlikely]]
      return rare_posts<Engine>::too_long(*e_, from.size, *r);
    return add(r, operation::send, from, {}, 0);
  }
  [[gnu::always_inline]] status put(local_memory from, const remote_place& at) noexcept {
    if constexpr (prepares_writes) return after_same_kind<operation::put>(from, at, 0);
    else return write(operation::put, from, at, 0);
  }
  [[gnu::always_inline]] status put_notify(local_memory from, const remote_place& at,
                                           std::uint32_t immediate) noexcept {
    if constexpr (prepares_writes && initiator_type::notify_answer::rides_on_write)
      return after_same_kind<operation::put_notify>(from, at, immediate);
    else return write(operation::put_notify, from, at, immediate);
  }

  /// As transport::fetch_add of 64 bits. The handler gets its end, with the value before.
  template <class Place>
  status fetch_add(const Place& at, std::uint64_t operand, void* context) noexcept {
    constexpr atomicity who = executor_of<typename Engine::fabric, Place>;
    static_assert(executes<typename Engine::fabric, who>());
    if (e_ == nullptr) return error(errc::invalid, "a closed batch");
    if (!why_) return why_;
    if (held_.what != nothing) {  // without a hint: what follows may be refused
      if (const status s = posts_of::alone(*e_, to_, held_, nullptr, false); !s) return stopped(*this, s);
      more_.posted_alone(*e_);
      held_.drop();
    }
    const status s = atomic_posts<Engine>(*e_).template post<who, atomic_operation::add, std::uint64_t>(
        to_, atomic_place(at), operation::fetch_add, operand, 0, context);
    if (s) more_.posted_alone(*e_);
    return s;
  }

  /// Posts the last member. With a context, exactly one `completed` or `failed` reports its end. `again`: the batch is
  /// still open. `invalid`: a context for a batch without members, which has no end to report.
  status close(void* context) noexcept {
    if (e_ != nullptr && held_.what == nothing && why_) return error(errc::invalid, no_end_to_report(posted()));
    return finish(context, true);
  }
  [[gnu::always_inline]] status close() noexcept {
    if constexpr (prepares_writes) {
      if (more_.any_prepared()) [[likely]] {
        if (record* r = initiator_type::living(to_)) [[likely]]
          return close_with(*r);
      }
    }
    return close_otherwise(*this);
  }

  /// Members that the library took so far. The member kept back does not count.
  std::uint32_t posted() const noexcept { return more_.posted(); }
  bool is_open() const noexcept { return e_ != nullptr; }

 private:
  static constexpr operation nothing = detail::no_member;
  using member = typename detail::prepared_member<Engine>::type;
  static constexpr bool prepares_writes = detail::posts_prepared_writes<Engine>;

  /// Whether a member is a write that one call posts.
  static constexpr bool goes_prepared(operation what) noexcept {
    return what == operation::put || (what == operation::put_notify && initiator_type::notify_answer::rides_on_write);
  }

  /// A write that follows a write of the same kind. Each fits one call. A prepared member exists only while the batch
  /// is open and not broken, so one test replaces the others.
  template <operation What>
  [[gnu::always_inline]] status after_same_kind(local_memory from, const remote_place& at,
                                                std::uint32_t immediate) noexcept {
    record* r = initiator_type::addressed(to_, name_of(What));
    if (r != nullptr && writes_bytes(from.size, at, name_of(What))) [[likely]] {
      if (more_.is_prepared(What) && !initiator_type::parts_of::too_large(*e_, from.size)) [[likely]] {
        if (const status s = e_->port->template post_prepared<What == operation::put_notify>(r->link, held_.kept); !s)
            [[unlikely]]
          return stopped(*this, s);
        more_.spend_prepared(What);
      } else if (!begins(*this, What, *r, from.size)) [[unlikely]] {
        return other_write(*this, What, from.data, from.size, from.descriptor, at, immediate);
      }
      held_.kept.keep(from, {at.address, at.key},
                      What == operation::put_notify ? initiator_type::immediate_word(*r, immediate) : 0);
      return {};
    }
    return other_write(*this, What, from.data, from.size, from.descriptor, at, immediate);
  }
  /// Whether a write has bytes, bounds and rights; one comparison finds both bounds.
  [[gnu::always_inline]] static bool writes_bytes(std::size_t size, const remote_place& at,
                                                  const char* operation) noexcept {
    if (Engine::trusts_caller) return initiator_type::check(size, at, rights::remote_write, operation) && size != 0;
    return size - 1 < at.room && grants(at.granted, rights::remote_write);
  }
  // Cold, so that the posts of later members keep their registers.
  /// Keeps the first member and posts nothing. False: not the first, or larger than one call.
  [[gnu::noinline, gnu::cold]] static bool begins(kept_back_batch& self, operation what, record& r,
                                                  std::size_t size) noexcept {
    if (self.e_ == nullptr || !self.why_ || self.held_.what != nothing ||
        initiator_type::parts_of::too_large(*self.e_, size) || !self.more_.begin_prepared(*self.e_, what))
      return false;
    self.held_.what = what;
    self.e_->port->aim(r.link, self.held_.kept, static_cast<library_context<0>*>(&r));
    return true;
  }
  /// Takes the parts of `from` as scalars: passing the struct would spill it.
  [[gnu::noinline, gnu::cold]] static status other_write(kept_back_batch& self, operation what, std::byte* data,
                                                         std::size_t size, void* descriptor, const remote_place& at,
                                                         std::uint32_t immediate) noexcept {
    return self.write_apart(what, {data, size, descriptor}, at, immediate);
  }
  [[gnu::noinline]] status write_apart(operation what, const local_memory& from, const remote_place& at,
                                       std::uint32_t immediate) noexcept {
    return write(what, from, at, immediate);
  }

  [[gnu::always_inline]] status write(operation what, local_memory from, const remote_place& at,
                                      std::uint32_t immediate) noexcept {
    if (e_ == nullptr) [[unlikely]]
      return error(errc::invalid, "a closed batch");
    if (status s = initiator_type::check(from.size, at, rights::remote_write, name_of(what)); !s) [[unlikely]]
      return s;
    return add(initiator_type::addressed(to_, name_of(what)), what, from, at, immediate);
  }

  /// Posts the member kept back, and keeps this one.
  [[gnu::always_inline]] status add(record* r, operation what, local_memory from, const remote_place& at,
                                    std::uint32_t immediate) noexcept {
    if (!why_) [[unlikely]]
      return why_;
    if (r == nullptr) [[unlikely]]
      return initiator_type(*e_).dead(to_, name_of(what));
    if (const status s = e_->coalescer.before(r); !s) return s.is_again() ? stopped(*this, s) : s;
    if (held_.what != nothing)
      if (const status s = post_held(*r); !s) [[unlikely]]
        return stopped(*this, s);
    held_.keep(what, from, at, prepares_writes ? initiator_type::immediate_word(*r, immediate) : immediate);
    if constexpr (prepares_writes) {
      e_->port->aim(r->link, held_.kept, static_cast<library_context<0>*>(r));
      if (goes_prepared(what) && from.size != 0 && !initiator_type::parts_of::too_large(*e_, from.size) &&
          more_.allowed(*e_))
        more_.prepare(what);
    }
    return {};
  }

  static constexpr const char* no_end_to_report(std::uint32_t members) noexcept {
    return members == 0 ? "close a batch of no members" : "close with a context after a fetch_add, which has its own";
  }
  [[gnu::cold, gnu::noinline]] static status stopped(kept_back_batch& self, status s) noexcept {
    self.more_.end();
    if (s.is_again()) {
      self.more_.stall(*self.e_, self.to_);
    } else {
      self.why_ = s;
      self.held_.drop();
    }
    return s;
  }

  /// Posts with the hint where the port takes it. add() has made the checks.
  [[gnu::always_inline]] status post_held(record& r) noexcept {
    if constexpr (hints) {
      if constexpr (prepares_writes) more_.unprepare();
      if (!initiator_type::parts_of::too_large(*e_, held_.from().size) && more_.allowed(*e_)) [[likely]] {
        const status s = posts_of::hinted(*e_, to_, r, held_);
        if (s) more_.spend();
        return s;
      }
    }
    const status s = posts_of::alone(*e_, to_, held_, nullptr, false);
    if (s) more_.posted_alone(*e_);
    return s;
  }
  /// Posts the last member from the prepared write. A short notice is injected, as a single one is.
  [[gnu::always_inline]] status close_with(record& r) noexcept {
    const bool notifies = more_.is_prepared(operation::put_notify);
    const local_memory from = held_.from();
    const status s =
        notifies && from.size <= Engine::inject_bytes
            ? e_->port->inject_write_immediate(r.link, {from.data, from.size}, held_.kept.to(), held_.kept.immediate())
            : e_->port->post_last_prepared(r.link, held_.kept, notifies);
    if (s.is_again()) [[unlikely]]
      return stopped(*this, s);
    more_.close(*e_, static_cast<bool>(s));
    held_.drop();
    e_ = nullptr;
    return s;
  }
  [[gnu::noinline]] static status close_otherwise(kept_back_batch& self) noexcept {
    return self.finish(nullptr, false);
  }

  status finish(void* context, bool signalled) noexcept {
    if (e_ == nullptr) return error(errc::invalid, "close a closed batch");
    status s = why_;
    if (initiator_type::ended_meanwhile(to_)) s = initiator_type(*e_).dead(to_, "close a batch");
    if (s && held_.what != nothing) {
      s = posts_of::alone(*e_, to_, held_, context, signalled);
      if (s) more_.posted_alone(*e_);
    }
    if (s.is_again()) return stopped(*this, s);
    held_.drop();
    more_.release(*e_);
    e_ = nullptr;
    return s;
  }

  void leave() noexcept {
    if (e_ == nullptr) return;
    Engine& e = *e_;
    const member kept = held_;
    const status s = finish(nullptr, false);
    if (!s) [[unlikely]]
      leave_last_to_progress(e, kept, s);
  }
  [[gnu::cold]] void leave_last_to_progress(Engine& e, const member& kept, status why) noexcept {
    more_.release(e);
    e_ = nullptr;
    record* r = initiator_type(e).living(to_);
    if (r == nullptr) return;  // the loss of the peer ended its operations
    const operation what = kept.what == nothing ? operation::put : kept.what;
    if (kept.what == nothing) return typename initiator_type::parts_of(e).leave(*r, what, {}, {}, 0, why);
    typename initiator_type::parts_of(e).leave(*r, what, kept.from(), {kept.at().address, kept.at().key},
                                               kept.immediate(), why);
  }

  static constexpr bool hints = posts_of::hints;

  Engine* e_;
  peer to_;
  member held_{};
  status why_{};
  std::conditional_t<hints, more_hints<Engine>, no_hints<Engine>> more_;
};

}  // namespace weft::detail
