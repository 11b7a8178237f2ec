// SPDX-License-Identifier: Apache-2.0
//
// A group that arrived (posting/group_packing.hpp, wire/group.hpp). Each member that is a message goes to the handler
// alone, without a copy. Bytes of puts are copied into their regions, after the checks that a card would make. A
// refused put is answered by a message. All bytes come from a peer, and each is checked. Members that the handler does
// not take are offered again, and the group keeps its receive until all are taken. Hot path: yes, where peers coalesce.
// Threads: the owner's.
#pragma once

#include "../events.hpp"
#include "../memory/write_target.hpp"
#include "../posting/group_packing.hpp"

#include <cstring>
#include <utility>

namespace weft::detail {

template <class Engine, class Handler>
class group_unpacking {
 public:
  using record = typename Engine::record;

  group_unpacking(Engine& e, Handler on) noexcept : e_(e), on_(on) {}

  /// False: members stay, one bit for each in the engine's left_in_group. `blocked`: earlier messages wait.
  bool take(record& r, const_bytes body, bool blocked) {
    const std::uint64_t before = std::exchange(e_.left_in_group, 0);
    if (!wire::group_reader::possible(body)) return garbled();
    const std::uint32_t number = r.number;
    wire::group_reader in(body);
    wire::group_member m;
    std::uint64_t left = 0;
    const bool alone = !blocked && e_.retrying;  // offer each member that stayed, also after a refusal
    for (std::uint64_t bit = 1;; bit <<= 1) {
      const wire::group_verdict found = in.next(m);
      if (found == wire::group_verdict::end) break;
      if (found == wire::group_verdict::garbled) [[unlikely]] {
        garbled();
        break;
      }
      if (before != 0 && (before & bit) == 0) continue;
      const bool done = m.kind == wire::group_kind::message ? !blocked && offer(on_, received{e_.handle(r), m.payload})
                                                            : take_put(r, m);
      if (r.number != number || (r.state != peer_state::established && r.state != peer_state::leaving))
          [[unlikely]] {  // a handler closed the peer
        ++e_.stale;
        return true;
      }
      if (done) [[likely]]
        continue;
      left |= bit;
      blocked = !alone;
    }
    e_.left_in_group = left;
    return left == 0;
  }

 private:
  bool garbled() noexcept {
    ++e_.garbled;
    return true;
  }

  /// False: the answer found no room, and nothing was done.
  [[gnu::noinline]] bool take_put(record& r, const wire::group_member& m) {
    if (m.kind == wire::group_kind::refusal) return refused(r, m.number);
    auto code = errc::denied;
    std::byte* const place = write_target(e_, m.key, m.address, m.payload.size(), code);
    if (place == nullptr) return !refuse(r, m.kind, code).is_again();
    if (!m.payload.empty()) std::memcpy(place, m.payload.data(), m.payload.size());
    if (m.kind == wire::group_kind::put_notify) on_(notified{e_.handle(r), m.number});
    return true;
  }

  status refuse(record& to, wire::group_kind kind, errc code) noexcept {
    const operation what = kind == wire::group_kind::put ? operation::put : operation::put_notify;
    std::byte answer[wire::group_head_bytes];
    wire::encode(
        {wire::group_kind::refusal, static_cast<std::uint32_t>(what) | static_cast<std::uint32_t>(code) << 8, 0, 0, {}},
        answer);
    return e_.tell(to, wire::message_kind::group, answer);
  }
  /// The initiator's side: the target refused one of its puts.
  bool refused(record& from, std::uint32_t number) {
    const auto what = static_cast<operation>(number & 0xff);
    const auto code = static_cast<errc>(number >> 8 & 0xff);
    if (!group_packing<Engine>::packs_notices || number >> 16 != 0 ||
        (what != operation::put && what != operation::put_notify) ||
        (code != errc::denied && code != errc::out_of_range))
      return garbled();
    on_(failed{what, e_.handle(from), nullptr, error(code, name_of(what))});
    return true;
  }

  Engine& e_;
  Handler on_;
};

}  // namespace weft::detail
