// SPDX-License-Identifier: Apache-2.0
//
// The facts that opening compares with the library's reply, each with the answer that depends on it.
// The list is the only place for these names: a comparison of another name does not compile. A test walks the list and
// falsifies each fact in both directions (tests/backends/libfabric_attestation.test.cpp).
// Hot path: no. Threads: constants.
#pragma once

#include <array>
#include <stdexcept>
#include <string_view>

namespace weft::backends::libfabric {

/// A fact that opening compares.
struct compared_fact {
  std::string_view name;
  std::string_view family;  ///< The answer that depends on the fact; "" where none does.
};

/// All of them.
inline constexpr std::array compared_facts{
    compared_fact{"library version", "every answer"},
    compared_fact{"provider", "every answer"},
    compared_fact{"fabric_name", "every answer"},
    compared_fact{"endpoint_type", "endpoint"},
    compared_fact{"address_resolution socket", "bootstrap"},
    compared_fact{"virtual_addressing", "region_address"},
    compared_fact{"key_owner provider", "region_key"},
    compared_fact{"local_registration", "local_descriptor"},
    compared_fact{"region_endpoint_binding", "region_binding"},
    compared_fact{"mr_mode", "every region"},
    compared_fact{"key_bytes", "region_key"},
    compared_fact{"mode bits", "every operation"},
    compared_fact{"context_bytes", "every operation"},
    compared_fact{"write_immediate_consumes_receive", "notify"},
    compared_fact{"immediate bytes", "notify or framing"},
    compared_fact{"capabilities", "every operation"},
    compared_fact{"shared_receives", "receive_pool"},
    compared_fact{"order_send_after_write", "notify"},
    compared_fact{"order_write_after_write", "notify"},
    compared_fact{"order_send_after_send", "endpoint"},
    compared_fact{"data_progress", "progress"},
    compared_fact{"inject_bytes", "every short message or write"},
    compared_fact{"queue_depth (transmit)", ""},
    compared_fact{"queue_depth (receive)", ""},
    compared_fact{"receives", "what was opened with"},
    compared_fact{"largest_message", ""},
    compared_fact{"largest_write", ""},
    compared_fact{"gather_limit (framing)", "framing"},
    compared_fact{"gather_limit", "gather lists"},
    compared_fact{"rma_gather_limit", "gather lists"},
    compared_fact{"atomic_operations", "atomic_operations"},
};

/// A fact of the list, found by its name while compiling.
class listed_fact {
 public:
  consteval listed_fact(const char* name) {  // NOLINT(google-explicit-constructor)
    for (const compared_fact& each : compared_facts)
      if (each.name == name) fact_ = &each;
    if (fact_ == nullptr) throw std::logic_error("compared_facts lacks this name");  // the compiler shows this line
  }
  const compared_fact& operator*() const noexcept { return *fact_; }

 private:
  const compared_fact* fact_ = nullptr;
};

}  // namespace weft::backends::libfabric
