// SPDX-License-Identifier: Apache-2.0
//
// The contender's operations that the target carries out: a notice with its bytes, a question whether earlier writes
// are visible, an addition of floats. Each is one message. If the operation has a completion, one answer names the
// operation, so that a late answer does not end the slot's next operation. Hot path: the posts. Threads: one owner.
#pragma once

#include "raw_composed.hpp"

namespace weft::bench {

template <class F, bool Atomics, class Use = tuned_use>
class raw_asked : public raw_composed<F, Atomics, Use> {
  using base = raw_composed<F, Atomics, Use>;
  using base::give, base::living, base::posted, base::take;

 public:
  using typename base::handle, typename base::memory, typename base::place, typename base::record, typename base::slot;
  enum class message_kind : std::uint32_t { user, fused, flush, add, reply };
  /// The head of each message.
  struct head {
    message_kind kind{};
    std::uint32_t immediate = 0;
    std::uint64_t token = 0;
  };
  struct fused_head : head {
    std::uint64_t address = 0, key = 0;
  };
  struct add_head : fused_head {
    std::uint64_t operand = 0;
  };
  static constexpr std::size_t injected = F::facts.inject_bytes;
  static constexpr std::size_t fused_most =
      injected - std::min(injected, sizeof(fused_head));  ///< Most bytes of a whole payload in a notice.

  raw_asked(const channel& to, bool first, std::size_t size) : base(to, first, size) {
    for (std::size_t i = 0; i < base::slots_.size(); ++i)
      base::slots_[i].operand = i;  // a name: the index, and a generation in higher bits
  }

  /// A user's message.
  int say(const handle& to, std::size_t size) noexcept {
    std::byte message[injected]{};
    return static_cast<int>(
        fi_injectdata(to.of->ep, message, std::max(size, sizeof(head)), to.of->theirs, base::address_of(*to.of)));
  }
  /// The bytes in the notice: a head with their place, then the bytes.
  [[gnu::always_inline]] int fused(const handle& to, const memory& from, std::size_t size, const place& at,
                                   std::uint32_t immediate) noexcept {
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return base::gone;
    if (const int wrong = base::check(from, size, at)) [[unlikely]]
      return wrong;
    if (size > fused_most) [[unlikely]]  // no peer's receives are shorter than the inject limit
      return base::outside;
    return fused(*r, from, size, at, immediate, 0);
  }
  /// Completes with the target's answer.
  [[gnu::always_inline]] int fused(const handle& to, const memory& from, std::size_t size, const place& at,
                                   std::uint32_t immediate, void* context) noexcept {
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return base::gone;
    if (const int wrong = base::check(from, size, at)) [[unlikely]]
      return wrong;
    if (size > fused_most) [[unlikely]]  // no peer's receives are shorter than the inject limit
      return base::outside;
    slot* s = take(*r, base::kind::put_notify, context);
    if (s == nullptr) [[unlikely]]
      return base::full;
    return posted(*s, fused(*r, from, size, at, immediate, name(*s)));
  }
  /// Completes when the peer has answered: a message does not overtake writes.
  [[gnu::always_inline]] int flush(const handle& to, void* context) noexcept {
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return base::gone;
    slot* s = take(*r, base::kind::send, context);
    if (s == nullptr) [[unlikely]]
      return base::full;
    head message;
    message.kind = message_kind::flush;
    message.token = name(*s);
    return posted(*s, fi_injectdata(r->ep, &message, sizeof message, r->theirs, base::address_of(*r)));
  }
  [[gnu::always_inline]] int fetch_add(const handle& to, const place& at, float operand, void* context) noexcept {
    if constexpr (Atomics) return base::template fetch_add<float>(to, at, operand, context);
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return base::gone;
    if (at.room < sizeof operand || at.address % sizeof operand != 0) [[unlikely]]
      return base::outside;
    if (!at.atomic) [[unlikely]]
      return base::denied;
    slot* s = take(*r, base::kind::fetch_add, context);
    if (s == nullptr) [[unlikely]]
      return base::full;
    add_head message;
    message.kind = message_kind::add;
    message.token = name(*s);
    message.address = at.address;
    message.key = at.key;
    std::memcpy(&message.operand, &operand, sizeof operand);
    return posted(*s, fi_injectdata(r->ep, &message, sizeof message, r->theirs, base::address_of(*r)));
  }

  /// As the poll of raw_careful, and takes the messages above: it answers each, or completes its operation. Calls
  /// `landed(peer, immediate)` for notices of either kind.
  template <class Ended, class Landed, class Heard>
  [[gnu::always_inline]] int poll_once(Ended&& ended, Landed&& landed, Heard&& heard) {
    return base::poll_once(
        ended, landed, [&](handle from, const std::byte* data, std::size_t size) __attribute__((always_inline)) {
          message_kind what;
          std::memcpy(&what, data, sizeof what);
          if (what == message_kind::user) [[likely]]
            return void(heard(from, data, size));
          asked(from, what, data, size, ended, landed);
        });
  }

 private:
  static std::uint64_t name(slot& s) noexcept { return s.operand += std::uint64_t{1} << 32; }

  [[gnu::always_inline]] int fused(const record& r, const memory& from, std::size_t size, const place& at,
                                   std::uint32_t immediate, std::uint64_t token) noexcept {
    std::byte message[injected];
    fused_head h;
    h.kind = message_kind::fused;
    h.immediate = immediate;
    h.token = token;
    h.address = at.address;
    h.key = at.key;
    std::memcpy(message, &h, sizeof h);
    if (size != 0) [[likely]]  // without bytes there may be no address
      std::memcpy(message + sizeof h, from.data, size);
    return static_cast<int>(fi_injectdata(r.ep, message, sizeof h + size, r.theirs, base::address_of(r)));
  }

  template <class Ended, class Landed>
  [[gnu::noinline]] void asked(handle from, message_kind what, const std::byte* data, std::size_t size, Ended& ended,
                               Landed& landed) {
    head h;
    std::memcpy(&h, data, sizeof h);
    if (what == message_kind::reply) {
      slot& s = base::slots_[static_cast<std::uint32_t>(h.token)];
      if (s.operand != h.token) return;
      name(s);  // a second answer finds another name
      const auto [was, user, old] = std::tuple(s.what, s.user, s.old);
      give(s);
      return void(ended(was, from, user, old));
    }
    fused_head f;
    if (what != message_kind::flush) {
      std::memcpy(&f, data, sizeof f);
      if (f.key != fi_mr_key(base::mr_)) return;
      const std::uint64_t offset =
          f.address - (F::facts.virtual_addressing ? reinterpret_cast<std::uint64_t>(base::memory_.data()) : 0);
      if (offset > base::there.room ||
          base::there.room - offset < (what == message_kind::add ? sizeof(float) : size - sizeof f))
        return;
      std::byte* const target = base::memory_.data() + offset;
      if (what == message_kind::add) {
        float now = 0, more = 0;
        std::memcpy(&now, target, sizeof now);
        std::memcpy(&more, data + sizeof f, sizeof more);
        now += more;
        std::memcpy(target, &now, sizeof now);
      } else {
        std::memcpy(target, data + sizeof f, size - sizeof f);
        landed(from, h.immediate);
      }
    }
    if (h.token == 0) return;
    h.kind = message_kind::reply;
    if (fi_injectdata(from.of->ep, &h, sizeof h, from.of->theirs, from.of->at) != 0)
      base::refuse("an answer", FI_EAGAIN);
  }
};

}  // namespace weft::bench
