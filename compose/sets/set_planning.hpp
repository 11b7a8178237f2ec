// SPDX-License-Identifier: Apache-2.0
//
// Which fabrics a connection tries, in which order, and what is said where one is passed over. Hot path: no. Threads:
// the owner's.
#pragma once

#include "../connecting/host_and_service.hpp"
#include "set_state.hpp"

#include <cstdio>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace weft::detail {

/// The fabrics of a connection, the best first, and where each listens.
struct connection_plan {
  std::vector<fabric_verdict> verdicts;
  std::vector<std::size_t> order;      ///< Number of the fabric of each verdict.
  std::vector<std::string> addresses;  ///< Of each verdict; empty where the other side has none.
};

template <class... F>
class set_planning {
  using state = set_state<F...>;
  using kind = fabric_verdict::kind;

 public:
  explicit set_planning(state& s) noexcept : s_(s) {}

  /// The number of the fabric that `where` names, as in fabric@host:service; the number of fabrics where it names none.
  static std::size_t named_in(std::string_view where) noexcept {
    const std::size_t at = where.find('@');
    std::size_t i = at == std::string_view::npos ? state::count : 0;
    while (i < state::count && where.substr(0, at) != state::profiles[i].name) ++i;
    return i;
  }
  /// Asks the directory at `where`, or takes the fabric that `where` names. Requires: that fabric does not wait.
  /// Errors: those of the question; incompatible, unsupported or invalid, where no plan can be made.
  result<connection_plan> make(std::string_view where, duration timeout) const {
    const std::size_t at = where.find('@');
    if (at != std::string_view::npos) return named(where.substr(0, at), where.substr(at + 1));
    auto place = host_and_service::parse(where);
    if (!place) return std::move(place).error();
    auto bytes_of = state::oob_exchange::fetch(place->host, place->service, timeout, s_.side_channel.get());
    if (!bytes_of) {
      failure why = std::move(bytes_of).error();
      if (why.why.code == errc::deadline)
        why.sentence += "; a program of one fabric is called with its fabric's name: FABRIC@" + std::string(where);
      return why;
    }
    const auto there = wire::parse_directory(*bytes_of);
    if (!there)
      return failure{error(errc::incompatible, "connect"),
                     std::string(where) +
                         " is not the address of a set of fabrics: a program of one fabric is called "
                         "with its fabric's name: FABRIC@" +
                         std::string(where)};
    connection_plan p;
    for (const std::size_t i : state::order) {
      p.verdicts.push_back(judge(state::profiles[i], s_.own[i], s_.here, *there));
      p.order.push_back(i);
      p.addresses.emplace_back();
      for (const wire::directory_entry& each : there->fabrics)
        if (each.fabric == state::profiles[i].name) p.addresses.back() = each.address;
    }
    return p;
  }
  /// The fabric of this step waited, and cannot be opened.
  void found_closed(connection_plan& p, std::size_t i) const {
    std::tie(p.verdicts[i].is, p.verdicts[i].reason) = why_closed(s_.own[p.order[i]]);
  }
  /// A step of the loops below: whether the next best fabric may be tried after this one.
  bool may_fall_back(connection_plan& p, std::size_t i, std::string why) const {
    p.verdicts[i].is = kind::unusable;
    p.verdicts[i].reason = std::move(why);
    return s_.options.fallback == fallback::allowed;
  }
  failure refused(std::string_view where, const connection_plan& p, std::size_t i, status why) const {
    std::string text = std::string(where) + " cannot be reached by " + std::string(p.verdicts[i].fabric) +
                       ", the best fabric of this pair: " + p.verdicts[i].reason;
    std::string others;
    for (std::size_t k = i + 1; k < p.verdicts.size(); ++k)
      if (p.verdicts[k].is == kind::next) others += (others.empty() ? "" : ", ") + std::string(p.verdicts[k].fabric);
    if (!others.empty())
      text += "; options.fallback = fallback::allowed would take " + others + ", options.fabrics leaves fabrics out";
    return {why, std::move(text)};
  }
  failure nothing_in_common(std::string_view where, const connection_plan& p) const {
    return {error(errc::incompatible, "connect"),
            std::string(where) + " and this side have no fabric that can serve them: " + listed(p.verdicts)};
  }
  /// Keeps what was chosen; a fall-back is said once.
  void chose(std::string_view where, connection_plan& p, std::size_t i, peer to) const {
    p.verdicts[i].is = kind::taken;
    std::size_t better = 0;
    while (better < i && p.verdicts[better].is != kind::unusable) ++better;
    if (better < i && s_.fallbacks++ == 0)
      (void)std::fprintf(
          stderr,
          "weft: warning: %s is reached by %s (%s), and not by %s (%s): %s; further fall-backs are "
          "counted only\n",
          std::string(where).c_str(), std::string(p.verdicts[i].fabric).c_str(),
          printed_half_round_trip(state::profiles[p.order[i]]).c_str(), std::string(p.verdicts[better].fabric).c_str(),
          printed_half_round_trip(state::profiles[p.order[better]]).c_str(), p.verdicts[better].reason.c_str());
    s_.choices[peer_access::record(to)] = {peer_access::number(to), std::move(p.verdicts)};
  }

 private:
  /// The plan of "fabric@host:service".
  result<connection_plan> named(std::string_view fabric, std::string_view address) const {
    for (const std::size_t i : state::order) {
      if (state::profiles[i].name != fabric) continue;
      if (!s_.own[i].open)
        return failure{error(errc::unsupported, "connect"),
                       "fabric " + std::string(fabric) + " is not open here: " +
                           (s_.own[i].left_out ? "the choice of fabrics leaves it out" : s_.own[i].why)};
      return connection_plan{
          {{fabric_verdict{state::profiles[i].name, kind::next, "the caller named it"}}}, {i}, {std::string(address)}};
    }
    return failure{
        error(errc::invalid, "connect"),
        "\"" + std::string(fabric) + "\" is no fabric of this program, which has " + std::string(names_of_all())};
  }
  static std::string names_of_all() {
    std::string all;
    for (const fabric_profile& each : state::profiles) all += (all.empty() ? "" : ", ") + std::string(each.name);
    return all;
  }

  state& s_;
};

}  // namespace weft::detail
