// SPDX-License-Identifier: Apache-2.0
//
// Posting with coalesce::up_to. The initiator packs small unsignalled posts into one group for each peer. It sends that
// group before every other post to the peer, so that the peer sees the order of the calls. The coalescer keeps the
// groups' memory, and sends them when they are due. Only compose/coalescing.hpp includes this file. The row decides
// which posts may be members (posting/group_packing.hpp). Hot path: all of coalescing_initiator. Threads: the owner's.
#pragma once

#include "group_packing.hpp"
#include "initiator.hpp"

#include <algorithm>
#include <vector>

namespace weft::detail {

/// The group of coalesced posts to one peer. A part of the peer's record.
struct coalesced_posts {
  open_group coalesced;
  instant coalesced_since{};  ///< When a poll first found other work; before that the zero time.
  bool coalesced_listed = false;
};

/// The part of an engine that no_coalescer stands for elsewhere; engine/no_coalescer.hpp says what each call is for.
template <class Traits>
class coalescer {
 public:
  using engine_type = engine<typename Traits::fabric>;
  using record = typename Traits::record;
  using slot = typename Traits::slot;
  static constexpr bool posts_at_once = false;

  explicit coalescer(engine_type& e) noexcept : e_(e) {}

  // ---- memory of groups
  void open() {
    fill(std::clamp(e_.options.operations / 4, 4U, 64U));
    peers_.reserve(e_.options.peers);
  }
  auto& buffers(auto& /*controls*/) noexcept { return buffers_; }
  [[gnu::always_inline]] bool takes_back(const slot& s) noexcept {
    if (s.stage != stage::grouped) return false;
    buffers_.give(s.buffer);
    return true;
  }
  void refill() {
    if (buffers_.empty()) fill(4);
  }

  // ---- posts
  [[gnu::always_inline]] status before(record* r) noexcept {
    if (r == nullptr || r->coalesced.slot == no_index) [[likely]]
      return {};
    return post_before(*r);
  }
  [[gnu::always_inline]] status before(peer to) noexcept { return before(initiator<engine_type>::living(to)); }
  void post_due(bool found) noexcept {
    if (peers_.empty()) return;
    const instant now = found ? e_.port->now() : instant{};
    std::erase_if(peers_, [&](record* r) {
      if (r->coalesced.slot != no_index && is_due(*r, found, now)) {
        if (r->is_live()) (void)packing().post(r->coalesced);
        else drop(*r);
      }
      r->coalesced_listed = r->coalesced.slot != no_index;
      return !r->coalesced_listed;
    });
  }
  bool post_all() noexcept {
    post_due(false);
    return peers_.empty();
  }
  bool any_waits() const noexcept { return !peers_.empty(); }

  // ---- ends
  void opened(record& r, const open_group& g) {
    if (&g != &r.coalesced) return;  // a program opened it by hand
    r.coalesced_since = {};
    if (r.coalesced_listed) return;
    r.coalesced_listed = true;
    peers_.push_back(&r);
    e_.put_off();
  }
  static void slot_ends(record& r, const slot& s) noexcept {
    if (r.coalesced.slot == s.index) r.coalesced = {};
  }
  static void peer_ends(record& r) noexcept { r.coalesced = {}; }

 private:
  group_packing<engine_type> packing() noexcept { return group_packing<engine_type>(e_); }
  void fill(std::uint32_t count) {
    buffers_.fill(count, [this](bytes memory) { return e_.register_own(memory); });
  }

  [[gnu::noinline]] status post_before(record& r) noexcept {
    const status s = packing().post(r.coalesced);
    return s.is_again() ? s : status{};  // the post that follows meets any other error itself
  }
  bool is_due(record& r, bool found, instant now) noexcept {
    if (!found || !r.is_live()) return true;
    if (r.coalesced_since == instant{}) r.coalesced_since = now;
    return now - r.coalesced_since >= e_.options.coalesce_time;
  }
  void drop(record& r) noexcept {
    slot& o = *e_.operations.at(r.coalesced.slot);
    r.coalesced = {};
    e_.release(o);
  }

  engine_type& e_;
  buffer_pool<Traits::group_bytes + Traits::front + wire::group_end_bytes> buffers_;
  std::vector<record*> peers_;  ///< With coalesced posts, and some that had. Capacity reserved at open.
};

/// The initiator that packs small unsignalled posts.
template <class Engine>
class coalescing_initiator : public initiator<Engine> {
 public:
  using base = initiator<Engine>;
  using record = typename Engine::record;
  using packing = group_packing<Engine>;
  /// Largest post that is coalesced: several fit into one message, and each peer can take one.
  static constexpr std::size_t small = std::min<std::size_t>(Engine::group_bytes / 4, 512);

  explicit coalescing_initiator(Engine& e) noexcept : base(e), e_(e) {}

  [[gnu::always_inline]] status send(peer to, local_memory from, void* context, bool signalled) noexcept {
    record* r = base::addressed(to, "send");
    if (!signalled && from.size <= small) [[likely]] {
      if (r == nullptr) [[unlikely]]
        return base::dead(to, "send");
      return packing(e_).add(*r, r->coalesced, from);
    }
    if (const status s = e_.coalescer.before(r); !s) return s;
    return base::send(to, from, context, signalled);
  }

  status put(peer to, local_memory from, const remote_place& at, void* context, bool signalled) noexcept {
    record* r = base::addressed(to, "put");
    if (packing::packs_puts && !signalled && from.size <= small) return pack(to, r, wire::group_kind::put, from, at, 0);
    if (const status s = e_.coalescer.before(r); !s) return s;
    return base::put(to, from, at, context, signalled);
  }
  status put_notify(peer to, local_memory from, const remote_place& at, std::uint32_t immediate, void* context,
                    bool signalled) noexcept {
    record* r = base::addressed(to, "put_notify");
    if (packing::packs_notices && !signalled && from.size <= small)
      return pack(to, r, wire::group_kind::put_notify, from, at, immediate);
    if (const status s = e_.coalescer.before(r); !s) return s;
    return base::put_notify(to, from, at, immediate, context, signalled);
  }
  status get(peer from, local_memory into, const remote_place& at, void* context) noexcept {
    if (const status s = e_.coalescer.before(from); !s) return s;
    return base::get(from, into, at, context);
  }

 private:
  status pack(peer to, record* r, wire::group_kind kind, const local_memory& from, const remote_place& at,
              std::uint32_t immediate) noexcept {
    const char* const what = kind == wire::group_kind::put ? "put" : "put_notify";
    if (r == nullptr) return base::dead(to, what);
    if (const status s = base::check(from.size, at, rights::remote_write, what); !s) return s;
    return packing(e_).add(*r, r->coalesced, kind, from, at, immediate);
  }

  Engine& e_;
};

template <class Answer>
requires(Answer::gathers) struct coalescing_of<Answer> {
  using peer_part = coalesced_posts;
  template <class Traits>
  using type = coalescer<Traits>;
  template <class Engine>
  using initiator_type = coalescing_initiator<Engine>;
};

}  // namespace weft::detail
