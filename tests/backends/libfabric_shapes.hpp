// SPDX-License-Identifier: Apache-2.0
//
// Shapes written by hand, one per provider of an ordinary machine. compose derives the same from generated headers. A
// test names providers because it checks the behaviour of each.
#pragma once

#include "../../backends/libfabric/port.hpp"

#include <fcntl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::testing {

/// The answers of most software providers; each shape replaces those that differ.
struct plain_answers {
  template <class Shape>
  using port = backends::libfabric::port<Shape>;
  static constexpr bool virtual_address = false;
  static constexpr bool provider_key = false;
  static constexpr bool local_descriptor = false;
  static constexpr bool bind_regions = false;
  static constexpr bool native_atomics = false;
  static constexpr bool write_immediate = true;
  static constexpr bool receive_reserve = false;
  static constexpr bool remote_counter = false;
  static constexpr bool ordered_send_after_write = true;
  static constexpr bool ordered_write_after_write = false;
  static constexpr bool delivery_complete = true;
  static constexpr bool selective_completion = true;
  static constexpr bool framed = false;
  static constexpr bool multi_receive = false;
  static constexpr bool shared_receives = false;
  static constexpr bool two_queues = false;
  static constexpr thread_level threads = thread_level::one_owner;
  static constexpr bool trusts_caller = false;
  /// For the tests only: a message larger than its receive arrives truncated, as a success.
  static constexpr bool cuts_messages = false;
};

constexpr fabric_facts software_facts(std::string_view provider) {
  fabric_facts facts{};
  facts.provider = provider;
  facts.since = {1, 15};
  facts.endpoint_type = endpoint_type::addressed;
  facts.address_resolution = address_resolution::socket;
  facts.key_owner = key_owner::application;
  facts.key_bytes = 8;
  facts.write_immediate_bytes = 8;
  facts.send_immediate_bytes = 8;
  facts.order_send_after_write = true;
  facts.order_send_after_send = true;
  facts.delivery_complete = true;
  facts.selective_completion = true;
  facts.data_progress = data_progress::polling;
  facts.completion_wait = completion_wait::descriptor;
  facts.inject_bytes = 64;
  facts.gather_limit = 4;
  facts.rma_gather_limit = 4;
  facts.queue_depth = 256;
  facts.largest_message = unlimited;
  facts.largest_write = unlimited;
  return facts;
}

struct tcp_shape : plain_answers {
  static constexpr std::string_view name = "tcp";
  static constexpr fabric_facts facts = [] {
    fabric_facts f = software_facts("tcp");
    f.endpoint_type = endpoint_type::connected;
    f.inject_bytes = 128;
    return f;
  }();
};

struct tcp_rxm_shape : plain_answers {
  static constexpr std::string_view name = "tcp_rxm";
  static constexpr fabric_facts facts = [] {
    fabric_facts f = software_facts("tcp;ofi_rxm");
    f.connects_lazily = true;
    return f;
  }();
};

struct sockets_shape : plain_answers {
  static constexpr std::string_view name = "sockets";
  static constexpr bool native_atomics = true;
  static constexpr fabric_facts facts = [] {
    fabric_facts f = software_facts("sockets");
    f.data_progress = data_progress::thread;
    f.atomics = atomic_execution::provider;
    f.inject_bytes = 255;
    return f;
  }();
};

struct shm_shape : plain_answers {
  static constexpr std::string_view name = "shm";
  static constexpr bool native_atomics = true;
  static constexpr bool ordered_send_after_write = true;
  static constexpr fabric_facts facts = [] {
    fabric_facts f = software_facts("shm");
    f.address_resolution = address_resolution::opaque;
    f.completion_wait = completion_wait::yield;
    f.atomics = atomic_execution::provider;
    f.inject_bytes = 4096;
    f.same_host = true;
    f.own_node_path = own_node_path::shared_memory;
    f.forgets_peers = FI_MAJOR_VERSION < 2;
    return f;
  }();
};

struct udp_rxd_shape : plain_answers {
  static constexpr std::string_view name = "udp_rxd";
  static constexpr bool cuts_messages = true;
  static constexpr fabric_facts facts = [] {
    fabric_facts f = software_facts("udp;ofi_rxd");
    f.completion_wait = completion_wait::yield;  // FI_GETWAIT is missing
    f.inject_bytes = 1024;
    return f;
  }();
};

/// Answers that the five rows do not give by default, each on a provider that supports it.
struct framed_shape : tcp_shape {
  static constexpr std::string_view name = "tcp, framed";
  static constexpr bool framed = true;
};
struct every_operation_shape : tcp_shape {
  static constexpr std::string_view name = "tcp, every operation completes";
  static constexpr bool selective_completion = false;
};
struct two_queues_shape : tcp_shape {
  static constexpr std::string_view name = "tcp, two queues";
  static constexpr bool two_queues = true;
};
struct shm_pointer_shape : shm_shape {
  static constexpr std::string_view name = "shm, virtual addresses";
  static constexpr bool virtual_address = true;
  static constexpr bool ordered_send_after_write = false;
};
struct counting_sockets_shape : sockets_shape {
  static constexpr std::string_view name = "sockets, counted";
  static constexpr bool remote_counter = true;
};
struct counting_shm_shape : shm_shape {
  static constexpr std::string_view name = "shm, counted";
  static constexpr bool remote_counter = true;
};

struct environment_shape : shm_shape {
  static constexpr std::string_view name = "environment";
  static constexpr std::array<environment_setting, 2> environment{
      {{"WEFT_TEST_UNSET", "row"}, {"WEFT_TEST_SET", "row"}}};
};

/// A context for a test.
inline void* token(std::uintptr_t n) { return reinterpret_cast<void*>(n * 16); }

inline std::size_t open_descriptors() {
  std::size_t n = 0;
  for (int fd = 0; fd < 1024; ++fd) n += fcntl(fd, F_GETFD) != -1;
  return n;
}

}  // namespace weft::testing
