// SPDX-License-Identifier: Apache-2.0
//
// How much memory a request asks for, and how much the manager permits. A request needs no credentials, so the product
// of its fields is checked, not only each field. Hot path: no. Threads: values.
#pragma once

#include "../messages.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace weft::invocation {

/// Limits in bytes, for one allocation and for all together.
struct memory_budget {
  std::uint64_t one = std::uint64_t{1} << 30;
  std::uint64_t all = std::uint64_t{4} << 30;
};

/// Bytes of a request's workers: slots with their headers, and each worker's copy of the object. Nothing: more than 64
/// bits can say.
constexpr std::optional<std::uint64_t> bytes_of(const allocate_message& m) noexcept {
  const std::uint64_t slot =
      slot_stride(sizeof(call_header), m.input_bytes) + slot_stride(sizeof(reply_header), m.output_bytes);
  const std::uint64_t object = m.source == function_source::object ? m.object_bytes : 0;
  std::uint64_t worker = 0;
  std::uint64_t all = 0;
  if (__builtin_mul_overflow(slot, m.slots, &worker) || __builtin_add_overflow(worker, object, &worker) ||
      __builtin_mul_overflow(worker, m.workers, &all))
    return std::nullopt;
  return all;
}

/// Empty: permitted. Else the sentence of a refusal, and whether the request may succeed later.
struct over_budget {
  refusal_code code{};
  std::string sentence;
};
inline std::optional<over_budget> check_budget(const memory_budget& limits, std::uint64_t in_use,
                                               std::optional<std::uint64_t> wanted) {
  const std::string need =
      wanted ? "the slots and objects of this request need " + std::to_string(*wanted) + " bytes; "
             : std::string("the slots and objects of this request need more bytes than 64 bits can count; ");
  if (!wanted || *wanted > limits.one)
    return over_budget{refusal_code::too_large, need + "at most " + std::to_string(limits.one) +
                                                    " are possible here for one allocation (--max-allocation-bytes)"};
  if (*wanted > limits.all)
    return over_budget{refusal_code::too_large,
                       need + "at most " + std::to_string(limits.all) + " are possible here (--max-bytes)"};
  if (in_use > limits.all - *wanted)
    return over_budget{refusal_code::busy, need + std::to_string(in_use) + " of " + std::to_string(limits.all) +
                                               " are in use (--max-bytes); try later"};
  return std::nullopt;
}

}  // namespace weft::invocation
