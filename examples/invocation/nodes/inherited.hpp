// SPDX-License-Identifier: Apache-2.0
//
// Accounts of executors whose manager is gone. Its words are lost with it, but the node keeps the journals, and brings
// them to its next manager. A journal alone is exact, since its worker has ended: all that it counted stands there. The
// client gets the bill from that manager, and shows the secret of the allocation for it.
// Hot path: no. Threads: the manager's.
#pragma once

#include "messages.hpp"

#include <algorithm>
#include <iterator>
#include <list>
#include <optional>
#include <span>
#include <vector>

namespace weft::invocation::nodes {

class inherited_accounts {
 public:
  static constexpr std::size_t most = 1024;  ///< Then the oldest one goes, and its client counts it as unbilled.

  /// Journals of one executor, in order. False: they are not what comes next. A node that lost its connection halfway
  /// tells all of them again, from the first.
  bool take(const orphan_message& m) {
    auto at = find(m.client_secret);
    if (at == kept_.end()) {
      if (m.first != 0 || m.workers == 0 || m.workers > most_workers) return false;
      if (kept_.size() == most) kept_.pop_front();
      kept_.push_back({m.client_secret, std::vector<worker_journal>(m.workers), 0});
      at = std::prev(kept_.end());
    }
    const bool begins_again = m.first == 0 && !at->whole();
    if (m.workers != at->journals.size() || (m.first != at->here && !begins_again)) return false;
    const std::size_t some = m.words.size() / journal_bytes;
    if (some == 0 || !unpacked(m.words, std::span(at->journals).subspan(m.first))) return false;
    at->here = m.first + some;
    taken_ += std::uint64_t{at->whole()};
    return true;
  }
  /// The bill of an allocation, once; nothing: it is not here, or not yet.
  std::optional<bill_fields> collect(const token& client_secret) {
    const auto at = find(client_secret);
    if (at == kept_.end() || !at->whole()) return std::nullopt;
    bill_fields bill;
    bill.exact = true;
    for (const worker_journal& j : at->journals) {
      bill.hot_ns += j.earned[0].load();
      bill.execution_ns += j.earned[1].load();
      bill.invocations += j.invocations.load();
    }
    bill.worker_hot_ns = bill.hot_ns;
    bill.worker_execution_ns = bill.execution_ns;
    kept_.erase(at);
    return bill;
  }
  /// Whole ones so far.
  std::uint64_t taken() const noexcept { return taken_; }

 private:
  struct kept_account {
    token client_secret;
    std::vector<worker_journal> journals;
    std::size_t here;  ///< Journals that have come.
    bool whole() const noexcept { return here == journals.size(); }
  };
  std::list<kept_account>::iterator find(const token& client_secret) {
    return std::ranges::find_if(
        kept_, [&](const kept_account& each) { return same_token(each.client_secret, client_secret); });
  }

  std::list<kept_account> kept_;
  std::uint64_t taken_ = 0;
};

}  // namespace weft::invocation::nodes
