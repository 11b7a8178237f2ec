// SPDX-License-Identifier: Apache-2.0
//
// What is true of one fabric, as constants: the C++ side of a row of providers.yaml. One spelling: each member is a
// YAML cell. Generated headers fill it; backends ask for what it says and attest it at open; the loopback behaves as
// badly as it permits. Cells that the device decides (inject_bytes, queue_depth) are lower bounds here and values at
// open. Hot path: constants only. Threads: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace weft {

/// A release of the backend's library. Members: as printed by the library (1.17 is {1, 17}).
struct library_version {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  friend constexpr auto operator<=>(const library_version&, const library_version&) = default;
};
inline constexpr library_version any_later_version{std::numeric_limits<std::uint16_t>::max(), 0};

enum class endpoint_type : std::uint8_t { connected, addressed };
/// How a listener's address is found from host and service.
enum class address_resolution : std::uint8_t { socket, opaque };
enum class key_owner : std::uint8_t { application, provider };
/// What an initiator learns when the target refuses its write (wrong key, out of range).
enum class refusal : std::uint8_t { reported, silent };
enum class atomic_execution : std::uint8_t { none, provider };
enum class data_progress : std::uint8_t { hardware, thread, polling };
enum class completion_wait : std::uint8_t { descriptor, yield, none };

/// One row of the matrix for one range of library versions. Sizes in bytes.
struct fabric_facts {
  std::string_view provider;     ///< The library's name for it ("tcp;ofi_rxm"); empty for backends without providers.
  std::string_view fabric_name;  ///< Only where a provider offers several ("efa-direct"); else empty.
  library_version since{};       ///< First release of the library that this row describes.
  library_version until = any_later_version;  ///< First release that it no longer describes.

  // meeting
  weft::endpoint_type endpoint_type{};
  weft::address_resolution address_resolution{};
  bool connects_lazily{};    ///< The first posts to a peer may be answered `again` until it progresses.
  bool forgets_peers{true};  ///< A peer can be taken out of the address vector, and its place be used again.

  // memory
  bool virtual_addressing{};  ///< Remote addresses are pointers of the target; otherwise offsets from the region's
                              ///< start.
  bool virtual_addressing_optional{};     ///< Pointers of the target are taken as well, where they are asked for.
  bool virtual_addressing_costs_order{};  ///< Asking for pointers takes away the order of writes, and that of messages
                                          ///< behind writes.
  weft::key_owner key_owner{};
  std::uint8_t key_bytes{};
  bool local_registration{};       ///< Local buffers of every transfer must be registered.
  bool region_endpoint_binding{};  ///< A region is bound to an endpoint and enabled before use.

  // notification
  std::uint8_t write_immediate_bytes{};  ///< 0: a write cannot carry an immediate, or not by default.
  bool write_immediate_consumes_receive{};
  std::uint8_t send_immediate_bytes{};
  bool remote_counter_counts_writes{};  ///< A counter at the target counts plain writes.

  // order and completion
  bool order_send_after_write{};  ///< A message is seen only after the bytes of the writes before it.
  bool order_write_after_write{};
  bool bytes_visible_in_order{};  ///< The last bytes of a write are visible to the polling thread only when all of it
                                  ///< is.
  bool order_send_after_send{};
  bool delivery_complete{};  ///< A completion can be had that means "the target has it".
  refusal refused_write{};
  bool selective_completion{};

  // atomics
  atomic_execution atomics{};            ///< 64-bit fetch-add and compare-swap, right by value.
  std::string_view atomic_operations{};  ///< What the provider executes, as "add compare_swap: int64 uint64"
                                         ///< (core/atomic_listing.hpp), or "none".
  bool atomics_cost_order{};             ///< Asking for atomics takes away send-after-write order.

  // progress, waiting, death
  weft::data_progress data_progress{};
  weft::completion_wait completion_wait{};
  bool reports_killed_peer{};  ///< The provider tells of a killed peer, also to one that only waits.
  bool same_host{};            ///< Both ends are processes of one host.

  // sizes
  std::uint8_t context_bytes{};  ///< Space the library overwrites in each operation's context: 0, 32 or 64.
  std::uint32_t inject_bytes{};  ///< Lower bound.
  std::uint8_t gather_limit{1};
  std::uint8_t rma_gather_limit{1};
  std::uint32_t queue_depth{};  ///< Lower bound of transmit and receive queues.
  std::uint64_t largest_message{};
  std::uint64_t largest_write{};
  std::uint32_t fused_bytes{};  ///< Notices that are messages: a payload up to this size is cheaper inside of one than
                                ///< as a write; 0: never.

  // receiving
  bool multi_receive{};    ///< One posted buffer can take many messages.
  bool shared_receives{};  ///< Connected endpoints can take their receives from one pool.
  // posting
  bool extended_posting{};  ///< Work is posted by calls that build it in the device's own queue (ibv_wr_*).
  bool split_queues{};      ///< What was posted and what arrives can end in queues of their own.
  bool thread_levels{};     ///< The library can be asked to lock for more threads than one owner.
};

/// A setting of the library's environment that a row wants before the library is first asked; a user's own value wins.
struct environment_setting {
  const char* name;
  const char* value;
};

inline constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

}  // namespace weft
