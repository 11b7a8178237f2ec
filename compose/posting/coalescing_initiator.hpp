// SPDX-License-Identifier: Apache-2.0
//
// The initiator of a transport with coalesce::up_to. It gathers small unsignalled posts, and sends them before every
// other post, so that the peer sees the order of the calls. Hot path: all of it. Threads: the owner's.
#pragma once

#include "coalescing.hpp"
#include "initiator.hpp"

namespace weft::detail {

template <class Engine>
class coalescing_initiator : public initiator<Engine> {
 public:
  using base = initiator<Engine>;
  using record = typename Engine::record;
  using packing = coalescing<Engine>;

  explicit coalescing_initiator(Engine& e) noexcept : base(e), e_(e) {}

  [[gnu::always_inline]] status send(peer to, local_memory from, void* context, bool signalled) noexcept {
    record* r = base::living(to);
    if (!signalled && from.size <= packing::small) [[likely]] {
      if (r == nullptr) [[unlikely]]
        return base::dead(to, "send");
      return packing(e_).add(*r, r->gathered, from);
    }
    if (const status s = packing(e_).before(r); !s) return s;
    return base::send(to, from, context, signalled);
  }

  status put(peer to, local_memory from, const remote_place& at, void* context, bool signalled) noexcept {
    record* r = base::living(to);
    if constexpr (packing::packs_puts)
      if (!signalled && from.size <= packing::small) return pack(to, r, wire::group_kind::put, from, at, 0);
    if (const status s = packing(e_).before(r); !s) return s;
    return base::put(to, from, at, context, signalled);
  }
  status put_notify(peer to, local_memory from, const remote_place& at, std::uint32_t immediate, void* context,
                    bool signalled) noexcept {
    record* r = base::living(to);
    if constexpr (packing::packs_notices)
      if (!signalled && from.size <= packing::small)
        return pack(to, r, wire::group_kind::put_notify, from, at, immediate);
    if (const status s = packing(e_).before(r); !s) return s;
    return base::put_notify(to, from, at, immediate, context, signalled);
  }
  status get(peer from, local_memory into, const remote_place& at, void* context) noexcept {
    if (const status s = packing(e_).before(base::living(from)); !s) return s;
    return base::get(from, into, at, context);
  }

 private:
  status pack(peer to, record* r, wire::group_kind kind, const local_memory& from, const remote_place& at,
              std::uint32_t immediate) noexcept {
    const char* const what = kind == wire::group_kind::put ? "put" : "put_notify";
    if (r == nullptr) return base::dead(to, what);
    if (const status s = base::check(from.size, at, rights::remote_write, what); !s) return s;
    return packing(e_).add(*r, r->gathered, kind, from, at, immediate);
  }

  Engine& e_;
};

}  // namespace weft::detail
