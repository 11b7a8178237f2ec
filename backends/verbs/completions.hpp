// SPDX-License-Identifier: Apache-2.0
//
// Maps entries of the completion queue to completions. The lowest bit of an entry's id distinguishes send queue entries
// from receive queue entries: the opcode of a failed completion is undefined (ibv_poll_cq(3)). A failed one breaks its
// link.
// Hot path: poll. Threads: one owner.
#pragma once

#include "../../core/port.hpp"
#include "connections.hpp"

#include <algorithm>
#include <string>

namespace weft::backends::verbs {

template <class Shape>
class completions {
 public:
  completions(completion_queue& queue, posting<Shape::facts.extended_posting>& posts,
              connections<Shape>& links) noexcept
      : queue_(queue), posts_(posts), links_(links) {
    links_.report_to(this);
  }
  completions(const completions&) = delete;  // Links hold its address.
  completions& operator=(const completions&) = delete;
  ~completions() = default;

  template <class On>
  [[gnu::always_inline]] int poll(On& on) {
    if (posts_.has_refused()) [[unlikely]]
      return posts_.report_refused([&on](const refused_post& r) {
        on(completion_entry{completion_kind::ended, r.context, 0, 0, r.why});
      });
    const int found = queue_.poll([this, &on](const ibv_wc& entry) { report_one(entry, on); });
    if (found == 0) links_.settle();
    else if (found < 0) [[unlikely]] links_.fail_all();
    return std::max(found, 0);
  }

  /// Reports entries that were read. Requires: at least one. Rare paths get a copy of `on`, so it need not be in
  /// memory.
  template <class On>
  [[gnu::always_inline]] void report_all(const completion_queue::entries& all, int count, On& on) {
    const ibv_wc* each = all.data();
    const ibv_wc* const end = each + count;
    do report(*each, on);
    while (++each != end);
  }

  /// Reports posted receives to the peer, when that is due.
  [[gnu::noinline]] static void offer(connection& to) noexcept { of(to).posts_.offer(to); }

  std::string last_error_text() const {
    if (last_bad_.status == IBV_WC_SUCCESS) return "none";
    return std::string(ibv_wc_status_str(last_bad_.status)) + " (vendor error " + std::to_string(last_bad_.vendor_err) +
           ")";
  }

 private:
  static completions& of(const connection& c) noexcept { return *static_cast<completions*>(c.completions); }

  /// The usual cases are here, where the queue is read. Rare cases are out of line and use the object of the entry's
  /// link.
  template <class On>
  [[gnu::always_inline]] void report(const ibv_wc& entry, On& on) {
    if (entry.status != IBV_WC_SUCCESS) [[unlikely]]
      return report_failed(entry, on);
    if ((entry.wr_id & 1u) == 0) return report_receive(entry, on);
    auto& place = *reinterpret_cast<send_place<connection>*>(entry.wr_id - 1);
    if (!place.owner->sends.retire_next(place)) [[unlikely]]
      return report_rare<On>(place, entry.byte_len, on);
    if (place.reported && place.context == nullptr) __builtin_unreachable();  // A signalled post always has a context.
    if (place.reported) on(completion_entry{completion_kind::ended, place.context, 0, entry.byte_len, {}});
  }
  template <class On>
  [[gnu::noinline]] void report_one(const ibv_wc& entry, On& on) {
    report(entry, on);
  }
  /// The offer comes last: it may take the entry that ended.
  template <class On>
  [[gnu::noinline]] static void report_rare(send_place<connection>& place, std::size_t length, On on) {
    connection& c = *place.owner;
    c.sends.retire_rare(place);
    if (place.reported) on(completion_entry{completion_kind::ended, place.context, 0, length, {}});
    if (c.offer.due()) of(c).posts_.offer(c);
  }

  template <class On>
  [[gnu::always_inline]] void report_receive(const ibv_wc& entry, On& on) {
    if constexpr (Shape::shared_receives) return report_pooled(entry, on);
    else return report_own(entry, on);
  }

  template <class On>
  [[gnu::always_inline]] static void report_own(const ibv_wc& entry, On& on) {
    if (entry.wr_id == 0) __builtin_unreachable();  // It is an address.
    auto& place = *reinterpret_cast<receive_place<connection>*>(entry.wr_id);
    connection& c = *place.owner;
    if (!c.was_established) [[unlikely]]
      message_arrived(c);
    // Only the handler runs between this release and the next receive: the compiler sees which entry that takes.
    c.receives.end(place);
    report_arrival(entry, place.context, &c, on);
  }
  [[gnu::cold, gnu::noinline]] static void message_arrived(connection& c) noexcept { of(c).links_.message_arrived(c); }

  /// A receive of the pool. Its link is looked up only where a caller needs it.
  template <class On>
  [[gnu::always_inline]] void report_pooled(const ibv_wc& entry, On& on) {
    const auto ended_one = links_.pool().end(entry.wr_id);
    if (!ended_one.first) [[unlikely]]
      return;
    if (links_.awaits_message()) [[unlikely]]
      if (connection* const from = links_.of_number(entry.qp_num); from != nullptr) links_.message_arrived(*from);
    report_arrival(entry, ended_one.context, nullptr, on);
  }

  template <class On>
  [[gnu::always_inline]] static void report_arrival(const ibv_wc& entry, void* context, connection* by, On& on) {
    const std::uint32_t immediate = (entry.wc_flags & IBV_WC_WITH_IMM) != 0 ? ntohl(entry.imm_data) : 0;
    if (entry.opcode == IBV_WC_RECV_RDMA_WITH_IMM)
      on(completion_entry{completion_kind::write_with_immediate, context, immediate, entry.byte_len, {}});
    else on(completion_entry{completion_kind::received, context, immediate, entry.byte_len, {}, nullptr, false, by});
  }

  template <class On>
  [[gnu::always_inline]] void report_failed(const ibv_wc& entry, On& on) {
    if constexpr (Shape::shared_receives) report_failed_of<On>(*this, entry, on);
    else report_failed_own<On>(entry, on);
  }
  template <class On>
  [[gnu::cold, gnu::noinline]] static void report_failed_own(const ibv_wc& entry, On on) {
    const bool sent = (entry.wr_id & 1u) != 0;
    report_failed_of<On>(of(sent ? *reinterpret_cast<const send_place<connection>*>(entry.wr_id - 1)->owner
                                 : *reinterpret_cast<const receive_place<connection>*>(entry.wr_id)->owner),
                         entry, on);
  }
  template <class On>
  [[gnu::cold, gnu::noinline]] static void report_failed_of(completions& self, const ibv_wc& entry, On on) {
    if ((entry.wr_id & 1u) != 0) {
      auto& place = *reinterpret_cast<send_place<connection>*>(entry.wr_id - 1);
      if (place.ended) return;  // Soft iWARP flushes a read twice at times (Linux 6.1): it ends once.
      place.owner->sends.retire(place);
      return self.report_failure(entry, completion_kind::ended, place.context, place.owner, on);
    }
    if constexpr (Shape::shared_receives) {
      if (const auto ended_one = self.links_.pool().end(entry.wr_id); ended_one.first)
        self.report_failure(entry, completion_kind::received, ended_one.context, self.links_.of_number(entry.qp_num),
                            on);
    } else {
      auto& place = *reinterpret_cast<receive_place<connection>*>(entry.wr_id);
      place.owner->receives.end(place);
      self.report_failure(entry, completion_kind::received, place.context, place.owner, on);
    }
  }

  template <class On>
  [[gnu::cold, gnu::noinline]] void report_failure(const ibv_wc& entry, completion_kind kind, void* context,
                                                   connection* of, On& on) {
    if (entry.status != IBV_WC_WR_FLUSH_ERR) last_bad_ = entry;
    if (of != nullptr) links_.fail(*of);  // Null: already hung up.
    on(completion_entry{kind, context, 0, 0, ended(entry.status)});
  }

  completion_queue& queue_;
  posting<Shape::facts.extended_posting>& posts_;
  connections<Shape>& links_;
  ibv_wc last_bad_{};
};

}  // namespace weft::backends::verbs
