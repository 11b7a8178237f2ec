// SPDX-License-Identifier: Apache-2.0
//
// The batch of ports that build work requests in place (core/port.hpp, request_list), on rows where each member is one
// request without a slot. A member costs what it costs a program that links requests by hand; one call posts the list.
// "The list has no room" covers all rare cases: the list is full, the batch was moved from, closed or broken, or
// another post posted the list. The batch keeps a member back that needs several calls (larger than a write of the
// row), so that close(context) can ask for its end. Hot path: yes. Threads: the owner's.
#pragma once

#include "../words.hpp"
#include "atomics.hpp"
#include "initiator.hpp"
#include "refused_arguments.hpp"

#include <cstdint>
#include <utility>

namespace weft::detail {

/// Whether a port of this engine takes all kinds of members into its lists.
template <class Engine>
concept lists_members = requires {
  typename Engine::port_type::request_list;
}
&&!Engine::framed && Engine::markers && !Engine::tracks_writes && initiator<Engine>::notify_answer::rides_on_write &&
    Engine::write_mode == post_mode::signalled;

/// What posting/batch.hpp promises.
template <class Engine>
class [[nodiscard]] work_request_chain : public refused_members {
 public:
  using refused_members::put;
  using refused_members::put_notify;
  using refused_members::send;
  using record = typename Engine::record;
  using initiator_type = initiator<Engine>;
  using list = typename Engine::port_type::request_list;

  work_request_chain(Engine& e, peer to) noexcept : e_(&e), to_(to) {}
  work_request_chain(work_request_chain&& other) noexcept { take(other); }
  work_request_chain& operator=(work_request_chain&& other) noexcept {
    if (this == &other) return *this;
    leave();
    take(other);
    return *this;
  }
  ~work_request_chain() { leave(); }

  [[gnu::always_inline]] status send(local_memory from) noexcept {
    record* r = nullptr;
    if (const status s = room(r, operation::send); !s) [[unlikely]]
      return s;
    if (!initiator_type::is_taken(*r, from.size)) [[unlikely]]
      return rare_posts<Engine>::too_long(*e_, from.size, *r);
    if (const status s = e_->port->list_send(list_, from, Engine::user_immediate(*r), r); !s) [[unlikely]]
      return s;
    return taken(operation::send);
  }
  [[gnu::always_inline]] status put(local_memory from, const remote_place& at) noexcept {
    record* r = nullptr;
    if (const status s = checked(r, operation::put, from, at); !s) [[unlikely]]
      return s;
    if (initiator_type::parts_of::too_large(*e_, from.size)) [[unlikely]]
      return keep_back({operation::put, from, at, 0});
    e_->port->list_write(list_, from, {at.address, at.key}, r);
    return taken(operation::put);
  }
  [[gnu::always_inline]] status put_notify(local_memory from, const remote_place& at,
                                           std::uint32_t immediate) noexcept {
    record* r = nullptr;
    if (const status s = checked(r, operation::put_notify, from, at); !s) [[unlikely]]
      return s;
    if (initiator_type::parts_of::too_large(*e_, from.size)) [[unlikely]]
      return keep_back({operation::put_notify, from, at, immediate});
    const std::uint64_t word = initiator_type::immediate_word(*r, immediate);
    if (const status s = e_->port->list_write_immediate(list_, from, {at.address, at.key}, word, r); !s) [[unlikely]]
      return s;
    return taken(operation::put_notify);
  }
  template <class Place>
  [[gnu::always_inline]] status fetch_add(const Place& at, std::uint64_t operand, void* context) noexcept {
    constexpr atomicity who = executor_of<typename Engine::fabric, Place>;
    static_assert(executes<typename Engine::fabric, who>());
    const remote_place& word = atomic_place(at);
    if constexpr (who == atomicity::target ||
                  Engine::fabric::atomics_by.of(atomic_operation::add, number_type::uint64) !=
                      atomic_lowering::native) {
      if (const status s = post_list_first(); !s) return s;
      const status s = atomic_posts<Engine>(*e_).template post<who, atomic_operation::add, std::uint64_t>(
          to_, word, operation::fetch_add, operand, 0, context);
      if (!s) return s;
      ++list_.posted;
      return taken(operation::fetch_add);
    } else {
      record* r = nullptr;
      if (const status s = room(r, operation::fetch_add); !s) [[unlikely]]
        return s;
      if (const status s = initiator_type::check(sizeof operand, word, rights::remote_atomic, "fetch_add"); !s)
          [[unlikely]]
        return s;
      if (const status s = initiator_type::word_is_aligned(word.address, sizeof operand, "fetch_add"); !s) [[unlikely]]
        return s;
      auto* o = initiator_type(*e_).claim(r, operation::fetch_add, context);
      if (o == nullptr) [[unlikely]]
        return no_slot("fetch_add");
      o->type = number_type::uint64;
      e_->port->list_fetch_add(list_, operand, o->scratch, o->descriptor, {word.address, word.key}, o);
      return taken(operation::fetch_add);
    }
  }

  status close(void* context) noexcept {
    if (e_ != nullptr && !broken() && (last_ == nothing || last_ == operation::fetch_add))
      return error(errc::invalid, last_ == nothing ? "close a batch of no members"
                                                   : "close with a context after a fetch_add, which has its own");
    return finish(context, true);
  }
  status close() noexcept { return finish(nullptr, false); }

  std::uint32_t posted() const noexcept {
    const std::uint32_t listed = e_ == nullptr ? 0 : e_->port->listed(list_);
    return list_.posted + (listed == 0 ? 0 : listed - 1);
  }
  bool is_open() const noexcept { return e_ != nullptr; }

 private:
  static constexpr operation nothing = static_cast<operation>(0xff);
  struct member {
    operation what;
    local_memory from;
    remote_place at;
    std::uint32_t immediate;
  };

  [[gnu::always_inline]] status room(record*& r, operation what) noexcept {
    if (!list_.has_room()) [[unlikely]]
      if (const status s = make_room(what); !s) return s;
    r = initiator_type::addressed(to_, name_of(what));
    if (r == nullptr) [[unlikely]]
      return initiator_type(*e_).dead(to_, name_of(what));
    return {};
  }
  [[gnu::always_inline]] status checked(record*& r, operation what, const local_memory& from,
                                        const remote_place& at) noexcept {
    if (const status s = room(r, what); !s) [[unlikely]]
      return s;
    return initiator_type::check(from.size, at, rights::remote_write, name_of(what));
  }
  [[gnu::always_inline]] status taken(operation what) noexcept {
    last_ = what;
    return {};
  }

  /// Finds out why the list has no room. Then a list is open, or the call has its answer.
  [[gnu::noinline]] status make_room(operation what) noexcept {
    if (e_ == nullptr) return error(errc::invalid, "a closed batch");
    record* r = initiator_type(*e_).living(to_);
    if (r == nullptr) return broken() ? list_.why : initiator_type(*e_).dead(to_, name_of(what));
    if (broken()) return list_.why;
    if (keeps_) [[unlikely]]
      if (const status s = post_prepared(nullptr, false); !s) return s;
    if (const status s = e_->coalescer.before(r); !s) return s;
    return e_->port->open_list(r->link, list_);  // posts the list that was open
  }
  /// Posts what was added so far.
  status post_list_first() noexcept {
    if (e_ == nullptr) return error(errc::invalid, "a closed batch");
    if (const status s = e_->port->post_list(list_); !s) return s;
    return !keeps_ ? status{} : post_prepared(nullptr, false);
  }
  [[gnu::cold, gnu::noinline]] status no_slot(const char* operation) noexcept {
    (void)e_->port->post_list(list_);  // completions free slots
    return again(waits_for::operation_slot, operation);
  }

  [[gnu::cold, gnu::noinline]] status keep_back(member m) noexcept {
    if (const status s = e_->port->post_list(list_); !s) return s;
    kept_ = m;
    keeps_ = true;
    return taken(m.what);
  }
  [[gnu::cold, gnu::noinline]] status post_prepared(void* context, bool signalled) noexcept {
    initiator_type l(*e_);
    const status s = initiator_type::ended_meanwhile(to_) ? l.dead(to_, name_of(kept_.what))
                     : kept_.what == operation::put
                         ? l.put(to_, kept_.from, kept_.at, context, signalled)
                         : l.put_notify(to_, kept_.from, kept_.at, kept_.immediate, context, signalled);
    if (s.is_again()) return s;
    keeps_ = false;
    list_.posted += std::uint32_t{static_cast<bool>(s)};
    list_.why = s;
    return s;
  }

  bool broken() const noexcept { return !list_.why; }

  status finish(void* context, bool signalled) noexcept {
    if (e_ == nullptr) return error(errc::invalid, "close a closed batch");
    status s;
    if (keeps_) [[unlikely]]
      s = broken() ? list_.why : post_prepared(context, signalled);
    else if (signalled) s = end_reported(context);
    else s = e_->port->post_list(list_);
    if (!s.is_again()) e_ = nullptr;
    return s;
  }
  /// Asks for the end of the last member: by that member, or if it is posted already, by a write without bytes after
  /// it.
  status end_reported(void* context) noexcept {
    if (broken()) return list_.why;
    initiator_type l(*e_);
    record* r = l.living(to_);
    if (r == nullptr) {
      (void)e_->port->post_list(list_);
      return l.dead(to_, name_of(last_));
    }
    auto* o = l.claim(r, last_, context);
    if (o == nullptr) return no_slot(name_of(last_));
    if (e_->port->signal_last(list_, o)) return l.posted(*o, e_->port->post_list(list_, o));
    if (const status s = e_->port->post_list(list_); !s) return l.posted(*o, s);
    return l.posted(*o, e_->port->post_marker(r->link, o));
  }

  void take(work_request_chain& other) noexcept {
    e_ = std::exchange(other.e_, nullptr);
    to_ = other.to_;
    keeps_ = other.keeps_;
    if (keeps_) kept_ = other.kept_;
    list_ = other.list_;
    last_ = other.last_;
    if (e_ != nullptr) e_->port->move_list(other.list_, list_);
    other.list_.next = nullptr;
  }

  void leave() noexcept {
    if (e_ == nullptr) return;
    Engine& e = *e_;
    const status s = finish(nullptr, false);
    if (!s) [[unlikely]]
      leave_last_to_progress(e, s);
  }
  [[gnu::cold]] void leave_last_to_progress(Engine& e, status why) noexcept {
    e_ = nullptr;
    record* r = initiator_type(e).living(to_);
    if (r == nullptr) return;  // the loss of the peer ended its operations
    const member m = keeps_ ? kept_ : member{operation::put, {}, {}, 0};
    typename initiator_type::parts_of(e).leave(*r, m.what, m.from, {m.at.address, m.at.key}, m.immediate, why);
  }

  Engine* e_ = nullptr;
  peer to_;
  list list_;
  operation last_ = nothing;
  bool keeps_ = false;
  union {
    member kept_;  ///< Valid if keeps_; other batches pay nothing for it.
  };
};

}  // namespace weft::detail
