// SPDX-License-Identifier: Apache-2.0
//
// What the entries of the completion queue mean. They are told apart by the lowest bit of their id: a place of a send queue, or of a receive queue; the
// opcode of a failed one says nothing (ibv_poll_cq(3)). A failed one breaks its link.
// Hot path: poll. Threads: one owner.
#pragma once

#include "../../core/port.hpp"
#include "connections.hpp"

#include <algorithm>
#include <string>

namespace weft::backends::verbs {

template <class Shape>
class endings {
 public:
  endings(completion_queue& queue, posting<Shape::facts.extended_posting>& posts, connections<Shape>& links) noexcept
      : queue_(queue), posts_(posts), links_(links) {}

  template <class On>
  [[gnu::always_inline]] int poll(On& on) {
    if (posts_.has_refused()) [[unlikely]]
      return posts_.tell_refused([&on](const refused_post& r) { on(completion_entry{completion_kind::ended, r.context, 0, 0, r.why}); });
    const int found = queue_.poll([this, &on](const ibv_wc& entry) { tell(entry, on); });
    if (found == 0) links_.settle();
    else if (found < 0) [[unlikely]] links_.all_broke();
    return std::max(found, 0);
  }

  /// Tells of what a reader read: at least one.
  template <class On>
  [[gnu::always_inline]] int tell_all(const completion_queue::entries& all, int count, On& on) {
    const ibv_wc* each = all.data();
    const ibv_wc* const end = each + count;
    do tell(*each, on);
    while (++each != end);
    return count;
  }

  std::string last_error_text() const {
    if (last_bad_.status == IBV_WC_SUCCESS) return "none";
    return std::string(ibv_wc_status_str(last_bad_.status)) + " (vendor error " + std::to_string(last_bad_.vendor_err) + ")";
  }

 private:
  template <class On>
  void tell(const ibv_wc& entry, On& on) {
    if ((entry.wr_id & 1u) == 0) return tell_receive(entry, on);
    auto& place = *reinterpret_cast<send_place<connection>*>(entry.wr_id & ~std::uint64_t{1});
    connection& c = *place.owner;
    if (entry.status != IBV_WC_SUCCESS) [[unlikely]] {
      if (place.ended) return;  // soft iWARP was seen to flush a read twice (Linux 6.1): it ends once
      c.sends.retire(place);
      return tell_failure(entry, completion_kind::ended, place.context, &c, on);
    }
    c.sends.retire(place);
    if (place.told) on(completion_entry{completion_kind::ended, place.context, 0, entry.byte_len, {}});
    if (c.offer.due()) [[unlikely]]
      posts_.offer(c);
  }

  template <class On>
  void tell_receive(const ibv_wc& entry, On& on) {
    if constexpr (Shape::shared_receives) return tell_pooled(entry, on);
    else return tell_own(entry, on);
  }

  template <class On>
  void tell_own(const ibv_wc& entry, On& on) {
    const auto& place = *reinterpret_cast<const receive_place<connection>*>(entry.wr_id);
    place.owner->receives.end_one();
    if (entry.status != IBV_WC_SUCCESS) [[unlikely]]
      return tell_failure(entry, completion_kind::received, place.context, place.owner, on);
    if (!place.owner->stood) [[unlikely]]
      links_.heard(*place.owner);
    tell_arrival(entry, place.context, on);
  }

  /// A receive of the pool: its link is looked for only where that matters.
  template <class On>
  void tell_pooled(const ibv_wc& entry, On& on) {
    const auto ended_one = links_.pool().end(entry.wr_id);
    if (!ended_one.first) [[unlikely]]
      return;
    if (entry.status != IBV_WC_SUCCESS) [[unlikely]]
      return tell_failure(entry, completion_kind::received, ended_one.context, links_.of_number(entry.qp_num), on);
    if (links_.awaits_a_word()) [[unlikely]]
      if (connection* const from = links_.of_number(entry.qp_num); from != nullptr) links_.heard(*from);
    tell_arrival(entry, ended_one.context, on);
  }

  template <class On>
  [[gnu::always_inline]] static void tell_arrival(const ibv_wc& entry, void* context, On& on) {
    const auto kind = entry.opcode == IBV_WC_RECV_RDMA_WITH_IMM ? completion_kind::landed : completion_kind::received;
    on(completion_entry{kind, context, (entry.wc_flags & IBV_WC_WITH_IMM) != 0 ? ntohl(entry.imm_data) : 0, entry.byte_len, {}});
  }

  template <class On>
  [[gnu::cold, gnu::noinline]] void tell_failure(const ibv_wc& entry, completion_kind kind, void* context, connection* of, On& on) {
    if (entry.status != IBV_WC_WR_FLUSH_ERR) last_bad_ = entry;
    if (of != nullptr) links_.broke(*of);  // null: hung up already
    on(completion_entry{kind, context, 0, 0, ended(entry.status)});
  }

  completion_queue& queue_;
  posting<Shape::facts.extended_posting>& posts_;
  connections<Shape>& links_;
  ibv_wc last_bad_{};
};

}  // namespace weft::backends::verbs
