// SPDX-License-Identifier: Apache-2.0
//
// The emulated row: its cells of the matrix, under their own names, and the conduct of this run (seed, faults, times).
// Read once, from the file and the variables that `weft emulate` sets. Hot path: no. Threads: immutable after the first
// call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace weft::emulator {

/// One row. The members are the cells of providers.yaml; sizes in bytes.
struct profile {
  std::string fabric;
  std::string provider;
  std::string fabric_name;
  bool connected = false;
  bool forgets_peers = true;
  std::set<std::uint32_t> address_formats;  ///< Numbers of rdma/fabric.h; empty: any.
  bool shared_memory_on_own_node = false;   ///< The provider maps shared memory for peers of its node.
  bool virtual_addressing = false;
  bool provider_keys = false;
  std::size_t key_bytes = 8;
  bool local_registration = false;
  bool region_endpoint_binding = false;
  std::size_t write_immediate_bytes = 0;
  bool write_immediate_consumes_receive = false;
  /// The variable that lets writes carry immediates has its value in this process.
  bool write_immediate_set = false;
  std::size_t send_immediate_bytes = 0;
  bool remote_counter_counts_writes = false;
  bool order_send_after_write = false;
  bool order_write_after_write = false;
  bool order_send_after_send = false;
  bool delivery_complete = false;
  bool refused_write_reported = false;
  bool refused_write_hidden = false;  ///< A success, also where a completion means delivery.
  bool selective_completion = true;
  bool atomics = false;
  std::set<std::pair<std::string, std::string>> atomic_operations;  ///< Operation and type, such as ("add", "int32").
  bool atomics_cost_order = false;
  bool polling = true;
  bool wait_descriptor = false;
  bool wait_yield = false;
  bool reports_killed_peer = false;
  bool multi_receive = true;
  std::size_t context_bytes = 0;
  std::size_t inject_bytes = 0;
  std::size_t gather_limit = 1;
  std::size_t rma_gather_limit = 1;
  std::size_t queue_depth = 64;
  bool full_completion_queue_refuses = false;  ///< Posts whose entries have no room in the completion queue.
  bool full_completion_queue_loses = false;    ///< Entries that have no room in it.
  std::uint64_t largest_message = 0;
  std::uint64_t largest_write = 0;

  // What the provider has of libfabric's interface beyond the cells: emulator/interfaces.yaml.
  bool tagged = true;
  bool directed_receive = true;
  std::uint64_t mem_tag_format = 0;
  bool order_hints_checked = true;  ///< fi_getinfo refuses orders that it does not promise.
  std::uint32_t address_format = 0;
  std::size_t address_bytes = 16;
  std::size_t address_number_at = 8;  ///< Where an address has the endpoint's number.
  std::size_t address_number_bits = 64;
  bool address_checked = true;  ///< An address has a check of its number.
  std::size_t address_check_at = 0;
  std::string address_text;  ///< As fi_av_straddr prints it: native.cpp.
  bool one_service_per_node = false;
  bool short_lookup_refused = false;
  std::set<std::string> counted;  ///< Ends that counters count, remote writes excepted (a cell decides those).
  int cancel_of_unknown = 0;      ///< FI_E code of fi_cancel where nothing has this context.
  std::size_t atomic_bytes = 0;   ///< Of one atomic operation.
  bool every_atomic = false;      ///< Types and operations for which the cells have no words exist.
  std::size_t contexts = 1;       ///< Of a scalable endpoint, each way.
  bool shared_transmit = false;   ///< Endpoints may share a transmit context.
  bool poll_sets = false;
  std::size_t immediate_without_messages = 0;  ///< Bytes, of endpoints without messages and modes; 0: none such.
};

/// Width of the immediate that a write carries in this run.
inline std::size_t write_immediate_width(const profile& row) {
  const bool asked = row.write_immediate_bytes == 0 && row.write_immediate_set && row.provider_keys;
  return asked ? row.send_immediate_bytes : row.write_immediate_bytes;
}

/// How far the run uses the row's freedom: each number is a chance in a thousand per decision; 0 is the best behaviour.
struct conduct {
  std::uint64_t seed = 1;
  std::uint64_t process = 0;  ///< Of several that run together: its decisions are its own.
  unsigned reorder = 0;       ///< A packet waits for a later one where no order is promised between them.
  unsigned again = 0;         ///< A burst of answers "again" begins.
  unsigned early = 0;         ///< A completion without delivery comes before the target has the bytes.
  unsigned shuffle = 0;       ///< Completions come in another order.
  unsigned slow = 0;          ///< The target does nothing at one poll.
  unsigned partial = 0;       ///< After a piece of a write the rest of its bytes waits for another poll.
  unsigned failing = 0;       ///< An operation ends with an error of the fabric.
  std::uint64_t dying = 0;    ///< No chance: the process is killed at the post with this number; 0: never.
  std::uint64_t latency_ns = 0;
  std::uint64_t bytes_per_second = 0;  ///< 0: unlimited.
};

/// The row of WEFT_EMULATOR_PROFILE; null where the variable is not set. An unreadable file ends the process with a
/// sentence.
const profile* emulated();
/// From WEFT_EMULATOR_SEED, WEFT_EMULATOR_FAULTS and WEFT_EMULATOR_SHAPE. The process is that of `weft emulate
/// --processes`, or the rank that a launcher gave (PMIx, Slurm).
const conduct& conducted();
/// Ends the process with a sentence.
[[noreturn]] void refuse(const std::string& sentence);

}  // namespace weft::emulator
