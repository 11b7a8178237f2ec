// SPDX-License-Identifier: Apache-2.0
//
// Collects the connection requests of one initiator, one on each rail. The private data of a request names its
// initiator (wire/striped_region.hpp). The requests are accepted together when all have come. A request without such
// data, or with another number of rails or page size, is refused with a sentence. Hot path: no. Threads: the rails'
// owner.
#pragma once

#include "../../wire/striped_region.hpp"
#include "../transport.hpp"
#include "striping.hpp"

#include <optional>
#include <string>
#include <vector>

namespace weft {

template <complete_fabric F>
class connection_requests {
 public:
  /// Takes a request that came on a rail, or refuses it.
  void take(transport<F>& net, std::uint32_t rail, const striping& cut, const requested& r) {
    const auto words = r.has_private_data ? wire::parse_rail_words(r.private_data) : std::nullopt;
    if (!words)
      return (void)net.reject(r.peer,
                              "this side has " + std::to_string(cut.rails) + " rails, and this is a single connection");
    if (words->rails != cut.rails || words->rail != rail || words->page_bytes != cut.page_bytes)
      return (void)net.reject(r.peer, other_cut(cut, rail, *words));
    group& all = group_of(words->token, cut.rails);
    if (!all.rails[rail]) ++all.count;
    all.rails[rail] = r.peer;
  }
  /// The requests of an initiator with one on every rail, ready to be accepted. Nothing: no initiator is complete.
  std::optional<std::vector<peer>> complete() {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (groups_[i].count < groups_[i].rails.size()) continue;
      std::vector<peer> all = std::move(groups_[i].rails);
      groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(i));
      return all;
    }
    return std::nullopt;
  }
  /// Forgets a connection that was lost before the others came.
  void drop(const peer& lost) {
    for (group& each : groups_)
      for (peer& p : each.rails)
        if (p == lost) p = {}, --each.count;
    std::erase_if(groups_, [](const group& g) { return g.count == 0; });
  }

 private:
  struct group {
    std::uint64_t token = 0;
    std::uint32_t count = 0;
    std::vector<peer> rails;
  };

  static std::string other_cut(const striping& cut, std::uint32_t rail, const wire::rail_words& theirs) {
    const auto text = [](std::uint64_t r, std::uint64_t n, std::uint64_t page) {
      return "rail " + std::to_string(r) + " of " + std::to_string(n) + " with pages of " + std::to_string(page) +
             " bytes";
    };
    return "this is " + text(rail, cut.rails, cut.page_bytes) + ", and yours is " +
           text(theirs.rail, theirs.rails, theirs.page_bytes);
  }
  /// The number of groups is bounded, because each transport bounds its pending requests.
  group& group_of(std::uint64_t token, std::uint32_t rails) {
    for (group& each : groups_)
      if (each.token == token) return each;
    return groups_.emplace_back(group{token, 0, std::vector<peer>(rails)});
  }

  std::vector<group> groups_;
};

}  // namespace weft
