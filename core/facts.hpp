// SPDX-License-Identifier: Apache-2.0
//
// The facts of one fabric as constants: the C++ side of a row of providers.yaml. Each member has the name of its YAML
// cell.
// Generated headers fill the struct. Backends ask the library for these values and attest them at open; the loopback
// shows the worst behaviour that they permit.
// Cells that the device decides (inject_bytes, queue_depth) are lower bounds here and values at open.
// Hot path: constants only. Threads: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace weft {

/// A release of the backend's library, as printed: 1.17 is {1, 17}.
struct library_version {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  friend constexpr auto operator<=>(const library_version&, const library_version&) = default;
};
inline constexpr library_version any_later_version{std::numeric_limits<std::uint16_t>::max(), 0};

enum class endpoint_type : std::uint8_t { connected, addressed };
/// How the address of a listener is found from host and service.
enum class address_resolution : std::uint8_t { socket, opaque };
enum class key_owner : std::uint8_t { application, provider };
/// What the initiator learns when the target refuses its write (wrong key, out of range). reported: an error. silent:
/// no error, and a completion that means delivery never comes as a success. hidden: such a completion is a success too.
enum class refusal : std::uint8_t { reported, silent, hidden };
enum class atomic_execution : std::uint8_t { none, provider };
enum class data_progress : std::uint8_t { hardware, thread, polling };
enum class completion_wait : std::uint8_t { descriptor, yield, none };
/// A post that finds the transmit queue full. refuses: the post returns `again`. overruns: a write with an immediate
/// may overwrite queued posts, but the library reports its room. loses: the library accepts and drops a message that is
/// not injected.
enum class full_queue : std::uint8_t { refuses, overruns, loses };
/// Posts with more entries than the completion queue was opened for. keeps: the library keeps all entries. refuses: a
/// post returns `again` until entries are read. loses: entries are lost, so the queue must be as deep as all posts.
enum class full_completion_queue : std::uint8_t { keeps, refuses, loses };
/// How processes of one node reach each other. shared_memory: not by the card, with limits, order and waits of its own.
enum class own_node_path : std::uint8_t { fabric, shared_memory };

/// One row of the matrix, for one range of library versions. Sizes are in bytes.
struct fabric_facts {
  /// The library's name for the provider ("tcp;ofi_rxm"); empty for backends without providers.
  std::string_view provider;
  std::string_view fabric_name;  ///< The fabric's name where a provider offers several ("efa-direct"); else empty.
  library_version since{};       ///< First library release that this row describes.
  library_version until = any_later_version;  ///< First library release that it no longer describes.

  // connection
  weft::endpoint_type endpoint_type{};
  weft::address_resolution address_resolution{};
  bool connects_lazily{};    ///< The first posts to a peer may return `again` until the caller makes progress.
  bool forgets_peers{true};  ///< A peer can leave the address vector, and its slot be used again.
  std::string_view address_formats{};  ///< Of fi_info: "in in6" is FI_SOCKADDR_IN and FI_SOCKADDR_IN6.
  weft::own_node_path own_node_path{};

  // memory
  /// Remote addresses are pointers of the target; otherwise offsets from the region's start.
  bool virtual_addressing{};
  bool virtual_addressing_optional{};     ///< The provider takes pointers of the target too, on request.
  bool virtual_addressing_costs_order{};  ///< Requesting pointers loses write-after-write and send-after-write order.
  weft::key_owner key_owner{};
  std::uint8_t key_bytes{};
  bool local_registration{};       ///< Local buffers of every transfer must be registered.
  bool region_endpoint_binding{};  ///< A region is bound to an endpoint and enabled before use.

  // notification
  std::uint8_t write_immediate_bytes{};  ///< 0: a write cannot carry an immediate, or not by default.
  bool write_immediate_consumes_receive{};
  std::string_view write_immediate_setting{};  ///< "NAME=VALUE" gives writes an immediate, with keys of the provider.
  std::uint8_t send_immediate_bytes{};
  bool remote_counter_counts_writes{};  ///< A counter at the target counts plain writes.

  // order and completion
  bool order_send_after_write{};  ///< A message is delivered only after the bytes of earlier writes are visible.
  bool order_write_after_write{};
  bool bytes_visible_in_order{};  ///< The last bytes of a write become visible to the polling thread last.
  bool order_send_after_send{};
  bool delivery_complete{};  ///< A completion can mean "the target has the bytes".
  refusal refused_write{};
  bool selective_completion{};

  // atomics
  atomic_execution atomics{};  ///< Executor of fetch-add and compare-swap on uint64, with operands by value.
  /// All operations that the provider executes: "add compare_swap: int64 uint64" (core/atomic_listing.hpp), or "none".
  std::string_view atomic_operations{};
  bool atomics_cost_order{};  ///< Requesting atomics loses send-after-write order.

  // progress, waiting, peer failure
  weft::data_progress data_progress{};
  weft::completion_wait completion_wait{};
  bool reports_killed_peer{};  ///< The provider reports a killed peer, also to a process that only waits.
  bool same_host{};            ///< Both endpoints are processes of one host.

  // sizes
  std::uint8_t context_bytes{};  ///< Bytes that the library overwrites in each operation's context: 0, 32 or 64.
  std::uint32_t inject_bytes{};  ///< Lower bound.
  std::uint8_t gather_limit{1};
  std::uint8_t rma_gather_limit{1};
  std::uint32_t queue_depth{};  ///< Lower bound of transmit and receive queues.
  std::uint64_t largest_message{};
  std::uint64_t largest_write{};
  /// Largest payload for which a notice message with the bytes inside is cheaper than a write; 0: never.
  std::uint32_t fused_bytes{};

  // receiving
  bool multi_receive{};    ///< One posted buffer can take many messages.
  bool shared_receives{};  ///< Connected endpoints can share one pool of receives.
  // posting
  bool extended_posting{};  ///< The library builds work requests in the device's own queue (ibv_wr_*).
  bool split_queues{};      ///< Transmits and receives can complete in separate queues.
  bool thread_levels{};     ///< The library accepts threading levels other than one owner.
  weft::full_queue full_queue{};
  weft::full_completion_queue full_completion_queue{};
};

/// An environment variable that a row wants set before the first call of the library. A user's own value wins.
struct environment_setting {
  const char* name;
  const char* value;
};

inline constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

}  // namespace weft
