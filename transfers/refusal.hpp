// SPDX-License-Identifier: Apache-2.0
//
// Why an engine refused a list: kept as numbers on the hot path, made a sentence on the cold side.
// Hot path: check_list(), three comparisons for each transfer; never describe(). Threads: values.
#pragma once

#include "transfer.hpp"

#include <span>
#include <string>

namespace weft::transfers {

enum class refused_for : std::uint8_t {
  nothing,
  empty,
  too_long,
  nobody,
  lists_in_use,
  peers_in_use,
  slice_past_region,
  room_there,
  rights_there,
  stale_handle,
  not_ended,
  notice_of_gets,
};

/// The last list or handle that the engine refused.
struct refusal {
  refused_for reason = refused_for::nothing;
  operation what{};                      ///< put or get.
  std::uint32_t transfer = no_transfer;  ///< Its index in the list.
  std::uint64_t bytes = 0;               ///< Of the transfer; of `empty` and `too_long` the number of transfers.
  std::uint64_t room = 0;                ///< Bytes that the peer's region has from the place; or the limit.
};

/// The status that belongs to a reason.
constexpr status status_of(const refusal& r) noexcept {
  const char* const call = r.what == operation::get ? "get_list" : "put_list";
  switch (r.reason) {
    case refused_for::nothing:
      return {};
    case refused_for::nobody:
      return error(errc::peer_lost, call);
    case refused_for::lists_in_use:
    case refused_for::peers_in_use:
      return again(waits_for::operation_slot, call);
    case refused_for::slice_past_region:
    case refused_for::room_there:
      return error(errc::out_of_range, call);
    case refused_for::rights_there:
      return error(errc::denied, call);
    case refused_for::stale_handle:
    case refused_for::not_ended:
      return error(errc::invalid, "list handle");
    default:
      return error(errc::invalid, call);
  }
}

/// Number and bounds of a list's transfers, and the rights that the peer's regions grant.
constexpr refusal check_list(operation what, std::span<const transfer> all) noexcept {
  constexpr std::uint64_t longest = no_transfer - 1;
  if (all.empty()) return {refused_for::empty, what};
  if (all.size() > longest) return {refused_for::too_long, what, no_transfer, all.size(), longest};
  const rights asked = what == operation::get ? rights::remote_read : rights::remote_write;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const transfer& t = all[i];
    if (t.here.size <= t.there.room && grants(t.there.granted, asked)) [[likely]]
      continue;
    const refused_for reason = t.here.size == no_slice      ? refused_for::slice_past_region
                               : t.here.size > t.there.room ? refused_for::room_there
                                                            : refused_for::rights_there;
    return {reason, what, static_cast<std::uint32_t>(i), t.here.size, t.there.room};
  }
  return {refused_for::nothing, what};
}

/// One sentence: what is wrong, where, what would be right.
inline std::string describe(const refusal& r) {
  const std::string call = r.what == operation::get ? "get_list: " : "put_list: ";
  const std::string which = call + "transfer " + std::to_string(r.transfer);
  switch (r.reason) {
    case refused_for::nothing:
      return "nothing was refused";
    case refused_for::empty:
      return call + "the list is empty; a list has at least one transfer";
    case refused_for::too_long:
      return call + "the list has " + std::to_string(r.bytes) + " transfers; the most are " + std::to_string(r.room);
    case refused_for::nobody:
      return call + "the peer is not connected; connect it first, and start no list after its end";
    case refused_for::lists_in_use:
      return call + "all " + std::to_string(r.room) +
             " lists are in use; release those that have ended, or give the engine more (engine_options::lists)";
    case refused_for::peers_in_use:
      return call + "lists to " + std::to_string(r.room) +
             " other peers have not ended; wait for one, or give the engine more (engine_options::peers)";
    case refused_for::slice_past_region:
      return which + " has a slice that ends after its own region; slice(offset, length) must lie inside";
    case refused_for::room_there:
      return which + " has " + std::to_string(r.bytes) + " bytes, and the peer's region has " + std::to_string(r.room) +
             " from its place on; shorten it, or begin earlier";
    case refused_for::rights_there:
      return which + " needs " + (r.what == operation::get ? "rights::remote_read" : "rights::remote_write") +
             ", which the peer's region does not grant; the peer must register it with this right";
    case refused_for::stale_handle:
      return "this handle names no list: the list was released; keep handles until release()";
    case refused_for::not_ended:
      return "this list has not ended; wait for its end, or cancel it and wait, before release()";
    case refused_for::notice_of_gets:
      return call + "a list of gets carries no notice; the peer sees nothing of it";
  }
  return "unknown";
}

}  // namespace weft::transfers
