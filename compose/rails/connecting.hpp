// SPDX-License-Identifier: Apache-2.0
//
// Connects peers of rails: one connection on each rail, all or none. If one rail's connection is lost, the peer is
// lost; that is reported once. Hot path: no. Threads: the rails' owner.
#pragma once

#include "../engine/random_number.hpp"
#include "connection_requests.hpp"
#include "striped_memory.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

template <complete_fabric F>
class rails_connecting {
  using nets_of = std::vector<transport<F>>;

 public:
  // ---- connecting
  // `filter` gets what comes on a rail while a connection there is given up; its member `rail` says which.
  /// Begins a connection on each rail. Returns an error if one cannot begin.
  template <class Filter>
  std::optional<failure> begin(nets_of& nets, const striping& cut, std::string_view where, Filter filter) {
    const std::vector<std::string> places = split(where);
    if (places.size() != nets.size())
      return failure{error(errc::invalid, "connect"), "there are " + std::to_string(places.size()) + " addresses in " +
                                                          std::string(where) + ", and " + std::to_string(nets.size()) +
                                                          " rails here"};
    connecting_.clear();
    standing_ = 0;
    lost_ = {};
    const std::uint64_t token = detail::unguessable();
    for (std::uint32_t i = 0; i < nets.size(); ++i) {
      const auto words = wire::encode(wire::rail_words{static_cast<std::uint16_t>(i),
                                                       static_cast<std::uint16_t>(cut.rails), cut.page_bytes, token});
      auto begun = nets[i].start_connect(places[i], words);
      if (!begun) {
        give_up(nets, std::exchange(connecting_, {}), filter);
        return std::move(begun).error();
      }
      connecting_.push_back(*begun);
    }
    return std::nullopt;
  }
  bool settled() const noexcept { return standing_ == connecting_.size() || !lost_; }
  /// Requires: the wait for settled() ended as `waited`.
  template <class Filter>
  result<striped_peer> finish(nets_of& nets, std::string_view where, status waited, Filter filter) {
    std::vector<peer> mine = std::exchange(connecting_, {});
    if (standing_ == mine.size() && lost_) return enter(std::move(mine));
    give_up(nets, mine, filter);
    if (!lost_) return {lost_, std::string(where) + " cannot be connected: " + reason_};
    return {waited, std::string(where) + " did not answer on every rail in time"};
  }
  bool connects(std::uint32_t rail, const peer& p) const noexcept {
    return rail < connecting_.size() && connecting_[rail] == p;
  }
  /// A connection is established. Returns whether connect() waits for it.
  bool stands(std::uint32_t rail, const peer& p) noexcept {
    const bool ours = connects(rail, p);
    standing_ += std::uint32_t{ours};
    return ours;
  }

  // ---- accepting
  void requested_on(transport<F>& net, std::uint32_t rail, const striping& cut, const requested& r) {
    requests_.take(net, rail, cut, r);
  }
  std::optional<std::vector<peer>> gathered() { return requests_.complete(); }
  template <class Filter>
  result<striped_peer> accept(nets_of& nets, std::vector<peer> all, Filter filter) {
    for (std::uint32_t i = 0; i < nets.size(); ++i)
      if (const status accepted = nets[i].accept(all[i]); !accepted) {
        give_up(nets, all, filter);
        return {accepted, "the request was withdrawn on rail " + std::to_string(i)};
      }
    return enter(std::move(all));
  }

  // ---- teardown
  void leave(const striped_peer& p) noexcept { peers_[p.index()]->number = 0; }
  /// A connection is gone. Returns the event for the owner, if any: one for a peer of all rails, one for any other
  /// connection.
  std::optional<lost> lose(std::uint32_t rail, const lost& e, const std::string& reason) {
    requests_.drop(e.peer);
    if (connects(rail, e.peer)) {
      if (lost_) lost_ = e.why, reason_ = "rail " + std::to_string(rail) + ": " + reason;
      return std::nullopt;
    }
    for (auto& each : peers_) {
      if (each->number == 0 || each->rails[rail] != e.peer) continue;
      if (std::exchange(each->lost, true)) return std::nullopt;
      return lost{each->rails.front(), e.why};
    }
    return e;
  }

 private:
  template <class Filter>
  static void give_up(nets_of& nets, const std::vector<peer>& all, Filter filter) {
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      filter.rail = i;
      (void)nets[i].close(all[i], 100ms, filter);
    }
  }
  striped_peer enter(std::vector<peer> all) {
    std::uint32_t index = 0;
    while (index < peers_.size() && peers_[index]->number != 0) ++index;
    if (index == peers_.size()) peers_.push_back(std::make_unique<striped_peer_record>());
    *peers_[index] = {std::move(all), ++numbers_, false};
    return {*peers_[index], index};
  }
  static std::vector<std::string> split(std::string_view where) {
    std::vector<std::string> all(1);
    for (const char c : where)
      if (c == ',') all.emplace_back();
      else all.back() += c;
    return all;
  }

  std::vector<std::unique_ptr<striped_peer_record>> peers_;
  connection_requests<F> requests_;
  std::vector<peer> connecting_;
  std::uint32_t standing_ = 0;
  status lost_;  ///< The error of the first connection that failed.
  std::string reason_;
  std::uint32_t numbers_ = 0;
};

}  // namespace weft
