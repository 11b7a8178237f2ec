// SPDX-License-Identifier: Apache-2.0
//
// What a transfer engine takes and tells: transfers, the options of a list, its handle and its state.
// Hot path: plain values. Threads: values.
#pragma once

#include "../compose/events.hpp"
#include "../compose/region.hpp"
#include "../core/time.hpp"

#include <cstdint>
#include <string_view>

namespace weft::transfers {

using namespace std::chrono_literals;

/// One element of a list: memory of this side, and a place in a region of the peer. The direction is the list's. The
/// length is here.size: `{pages.slice(offset, length), there.at(offset)}`.
struct transfer {
  local_memory here;
  remote_place there;
};

/// Between lists to the same peer: a transfer of a higher class is posted first. A class that always has work keeps
/// lower ones waiting. Lists of one class are posted in the order of their calls.
enum class priority : std::uint8_t { urgent, normal, background };
inline constexpr std::size_t priorities = 3;

/// What the target's handler gets as `notified::immediate`, once, when the bytes of the whole list are visible there.
struct notice {
  std::uint32_t immediate = 0;
};

/// Names a list of an engine. Cheap to copy; a default handle names none. It is stale after release().
class list_handle {
 public:
  constexpr list_handle() = default;
  constexpr list_handle(std::uint32_t index, std::uint32_t generation) noexcept
      : index_(index), generation_(generation) {}
  constexpr explicit operator bool() const noexcept { return generation_ != 0; }
  constexpr std::uint32_t index() const noexcept { return index_; }
  constexpr std::uint32_t generation() const noexcept { return generation_; }
  friend constexpr bool operator==(const list_handle&, const list_handle&) = default;

 private:
  std::uint32_t index_ = 0;
  std::uint32_t generation_ = 0;
};

enum class list_state : std::uint8_t {
  released,   ///< The handle is stale: its list was released, or never was.
  pending,    ///< Transfers are still to be posted, or in flight.
  stopping,   ///< It has failed or was cancelled: nothing more is posted, and some transfers are in flight.
  done,       ///< All have ended well, the notice too.
  failed,     ///< None is in flight any more; list_status::why says the first reason.
  cancelled,  ///< By cancel(), and none is in flight any more.
};
constexpr std::string_view name_of(list_state s) noexcept {
  constexpr std::string_view names[] = {"released", "pending", "stopping", "done", "failed", "cancelled"};
  return names[static_cast<std::size_t>(s)];
}
/// Whether the library owns no memory of the list any more.
constexpr bool has_ended(list_state s) noexcept { return s != list_state::pending && s != list_state::stopping; }

inline constexpr std::uint32_t no_transfer = ~std::uint32_t{0};

/// A list at one moment.
struct list_status {
  list_state state = list_state::released;
  status why{};                                 ///< Why it failed, from the first failure on; closed: cancelled.
  std::uint32_t failed_transfer = no_transfer;  ///< Index of the first transfer that failed; else no_transfer.
  std::uint32_t transfers = 0;
  std::uint32_t done = 0;        ///< Transfers that have ended well.
  std::uint64_t bytes_done = 0;  ///< Their bytes.
};

/// Gets the end of a list, inside progress(), post_more(), cancel() or a call that starts a list. It may start lists
/// and release this one; it may not wait.
using ended_function = void (*)(void* context, list_handle which, const list_status& how);

struct list_options {
  transfers::priority priority = transfers::priority::normal;
  /// A list that has not ended by then fails with `deadline`: the rest is not posted, and what is in flight ends as the
  /// transport's operation_timeout says.
  duration timeout = 60s;
  ended_function ended = nullptr;
  void* context = nullptr;  ///< For `ended`.
};

/// Capacity of an engine. All of it is allocated once: 200 bytes for each list, 24 for each operation in flight.
struct engine_options {
  std::uint32_t lists = 64;  ///< At one time, ended ones until release().
  std::uint32_t peers = 32;  ///< To which lists are under way at one time.
  /// Operations to one peer. The transport's own limit (transport_options::operations) holds too: posts that it answers
  /// with `again` are repeated.
  std::uint32_t in_flight_per_peer = 64;
  std::uint32_t posts_at_once = 16;  ///< To one peer, between two polls of the queue.
};

/// The answer of put_list, get_list and post: a handle, or why there is none. Errors: again (every list is in use),
/// peer_lost, and those of engine::refused(), where nothing was posted.
struct [[nodiscard]] started_list {
  status why;
  list_handle handle;
  constexpr explicit operator bool() const noexcept { return static_cast<bool>(why); }
};

}  // namespace weft::transfers
