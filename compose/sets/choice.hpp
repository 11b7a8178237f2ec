// SPDX-License-Identifier: Apache-2.0
//
// Which fabric of a set serves a pair of processes, and why not the others. Three tiers: fabrics of one host, then
// those whose hardware moves bytes, then the others. Within a tier the lowest half round trip is best where each was
// measured, else the first in the program. A fabric that both sides have but that cannot be used is never passed over
// in silence. Hot path: no. Threads: values.
#pragma once

#include "../../wire/fabric_directory.hpp"
#include "../fabric.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/// What transport::explain() says about one fabric of the set, for one peer.
struct fabric_verdict {
  enum class kind : std::uint8_t {
    taken,      ///< The peer is reached by it.
    next,       ///< It would serve the pair too; a better one was taken.
    unusable,   ///< Both sides have it, and it cannot be used. A connection passes it over only with fallback::allowed.
    not_legal,  ///< It cannot serve this pair: other host, other user, or one side does not have it.
    left_out,   ///< transport_options::fabrics or WEFT_FABRICS leaves it out.
  };
  std::string_view fabric;
  kind is{};
  std::string reason;  ///< One sentence without a full stop.
};

namespace detail {

/// Half round trip of 8 bytes between two processes, as `weft bench` measured it for the row; 0: nobody did.
template <class F>
inline constexpr std::uint32_t half_round_trip_of = 0;
template <class F>
requires requires { F::half_round_trip_ns; }
inline constexpr std::uint32_t half_round_trip_of<F> = F::half_round_trip_ns;

/// What a choice needs to know of a fabric.
struct fabric_profile {
  std::string_view name;
  std::uint64_t fingerprint = 0;
  bool same_host = false;
  bool hardware = false;
  std::uint32_t half_round_trip_ns = 0;

  constexpr int tier() const noexcept { return same_host ? 0 : hardware ? 1 : 2; }
};
template <class F>
inline constexpr fabric_profile profile_of{F::name, F::fingerprint, F::facts.same_host,
                                           F::facts.data_progress == data_progress::hardware, half_round_trip_of<F>};

/// Numbers of the fabrics of a set, the best first. Figures decide where each fabric of a tier has one: a card that
/// nobody measured is not worse than sockets that somebody did.
template <class... F>
consteval std::array<std::size_t, sizeof...(F)> best_first() {
  constexpr std::array<fabric_profile, sizeof...(F)> all{profile_of<F>...};
  std::array<std::size_t, sizeof...(F)> order{};
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto measured = [&](int tier) {
    return std::none_of(all.begin(), all.end(),
                        [&](const fabric_profile& p) { return p.tier() == tier && p.half_round_trip_ns == 0; });
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const int tier = all[a].tier();
    if (tier != all[b].tier()) return tier < all[b].tier();
    if (measured(tier) && all[a].half_round_trip_ns != all[b].half_round_trip_ns)
      return all[a].half_round_trip_ns < all[b].half_round_trip_ns;
    return a < b;
  });
  return order;
}

/// A fabric of the set on this side.
struct own_fabric {
  bool open = false;
  bool left_out = false;
  bool differs = false;  ///< The library is here, and is not what the row says.
  std::string why;       ///< Why it is not open.
  bool waits = false;    ///< Not opened yet: it opens when a peer needs it, or when the program asks for it.
};

/// Of a fabric that was tried and is not open.
inline std::pair<fabric_verdict::kind, std::string> why_closed(const own_fabric& mine) {
  if (mine.differs) return {fabric_verdict::kind::unusable, mine.why};
  return {fabric_verdict::kind::not_legal, "it is not open here: " + mine.why};
}

/// "8.1 us", or "not measured".
inline std::string printed_half_round_trip(const fabric_profile& p) {
  if (p.half_round_trip_ns == 0) return "half round trip not measured";
  const std::uint32_t tenths = (p.half_round_trip_ns + 5) / 10;  // of 10 ns
  return "half round trip " + std::to_string(tenths / 100) + "." + (tenths % 100 < 10 ? "0" : "") +
         std::to_string(tenths % 100) + " us";
}

/// Whether one fabric can serve the pair. `theirs`: null where the caller named the fabric itself.
inline fabric_verdict judge(const fabric_profile& p, const own_fabric& mine, const wire::fabric_directory& here,
                            const wire::fabric_directory& there) {
  using kind = fabric_verdict::kind;
  const auto said = [&](kind is, std::string reason) { return fabric_verdict{p.name, is, std::move(reason)}; };
  if (mine.left_out) return said(kind::left_out, "the choice of fabrics leaves it out");
  const auto offered = std::find_if(there.fabrics.begin(), there.fabrics.end(),
                                    [&](const wire::directory_entry& e) { return e.fabric == p.name; });
  if (offered == there.fabrics.end()) return said(kind::not_legal, "the other side does not offer it");
  if (p.same_host && (here.host == 0 || here.host != there.host))
    return said(kind::not_legal, "the other side is on another host, or in another container");
  if (p.same_host && here.user != there.user)
    return said(kind::not_legal, "the other side belongs to another user (" + std::to_string(there.user) + ", here " +
                                     std::to_string(here.user) + ")");
  if (!mine.open && !mine.waits) {
    auto [is, reason] = why_closed(mine);
    return said(is, std::move(reason));
  }
  if (offered->fingerprint != p.fingerprint)
    return said(kind::unusable, "the two programs were generated from other facts or answers of it");
  return said(kind::next, (p.same_host ? "both processes are on this host, " : "both sides have it, ") +
                              printed_half_round_trip(p) + (mine.waits ? ", opened when a peer needs it" : ""));
}

/// "mapped (why); tcp (why)".
inline std::string listed(const std::vector<fabric_verdict>& all) {
  std::string text;
  for (const fabric_verdict& each : all)
    text += (text.empty() ? "" : "; ") + std::string(each.fabric) + ": " + each.reason;
  return text;
}

}  // namespace detail
}  // namespace weft
