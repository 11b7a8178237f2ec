// SPDX-License-Identifier: Apache-2.0
//
// Rows of the emulated provider `attested` (attested.profile). Each row differs from the plain one in one fact.
#pragma once

#include "libfabric_shapes.hpp"

namespace weft::testing {

/// The plain row: the provider grants all of it, and more of each size.
struct attested_row : plain_answers {
  static constexpr std::string_view name = "attested";
  static constexpr fabric_facts facts = [] {
    fabric_facts f = software_facts("attested");
    f.address_resolution = address_resolution::opaque;
    f.completion_wait = completion_wait::none;
    f.inject_bytes = 128;
    f.gather_limit = 3;
    f.rma_gather_limit = 3;
    f.queue_depth = 256;
    f.largest_message = 65536;
    f.largest_write = 65536;
    return f;
  }();
};

/// The plain row with facts changed by `Change`, which takes the facts and returns them.
template <auto Change>
struct with_facts : attested_row {
  static constexpr fabric_facts facts = Change(attested_row::facts);
};

struct by_pointer : attested_row {
  static constexpr bool virtual_address = true;
};
struct provider_keyed : attested_row {
  static constexpr bool provider_key = true;
};
struct described : attested_row {
  static constexpr bool local_descriptor = true;
};
struct bound : attested_row {
  static constexpr bool bind_regions = true;
};
struct reserving : attested_row {
  static constexpr bool receive_reserve = true;
};
struct pooled : attested_row {
  static constexpr bool shared_receives = true;
};
struct counting : attested_row {
  static constexpr bool remote_counter = true;
};
struct many_in_one : attested_row {
  static constexpr bool multi_receive = true;
};
struct writes_ordered : attested_row {
  static constexpr bool ordered_write_after_write = true;
};
struct messages_overtake : attested_row {
  static constexpr bool ordered_send_after_write = false;
};
template <std::uint8_t Pieces>
struct framed_in : attested_row {
  static constexpr bool framed = true;
  static constexpr fabric_facts facts = [] {
    fabric_facts f = attested_row::facts;
    f.gather_limit = Pieces;
    return f;
  }();
};
constexpr char swapping[] = "add compare_swap swap: uint64", plain_atomics[] = "add compare_swap: uint64",
               reading[] = "add compare_swap read: uint64";
template <const char* Listed>
struct atomic_row : attested_row {
  static constexpr bool native_atomics = true;
  static constexpr fabric_facts facts = [] {
    fabric_facts f = attested_row::facts;
    f.atomics = atomic_execution::provider;
    f.atomic_operations = Listed;
    return f;
  }();
};

}  // namespace weft::testing
