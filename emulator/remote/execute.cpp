// SPDX-License-Identifier: Apache-2.0
#include "executing.hpp"

#include "profile.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <map>
#include <type_traits>

namespace weft::emulator {
namespace {

template <class Value>
constexpr bool has_order = std::is_arithmetic_v<Value>;
template <class Value>
constexpr bool has_bits = std::is_integral_v<Value>;

/// Unsigned arithmetic: a signed overflow wraps, as it does on cards.
template <class Value>
Value combined(std::uint8_t operation, Value was, Value operand) {
  if constexpr (std::is_integral_v<Value>) {
    using unsigned_value = std::make_unsigned_t<Value>;
    const auto left = static_cast<std::uint64_t>(static_cast<unsigned_value>(was));
    const auto right = static_cast<std::uint64_t>(static_cast<unsigned_value>(operand));
    return static_cast<Value>(operation == FI_SUM ? left + right : left * right);
  } else {
    return operation == FI_SUM ? was + operand : was * operand;
  }
}

template <class Value>
bool true_value(const Value& value) {
  return value != Value{};
}

/// Whether the swap of a comparing operation takes place (fi_atomic(3)).
template <class Value>
bool swaps(std::uint8_t operation, const Value& was, const Value& expected) {
  if (operation == FI_CSWAP) return was == expected;
  if (operation == FI_CSWAP_NE) return was != expected;
  if constexpr (has_order<Value>) {
    if (operation == FI_CSWAP_LE) return expected <= was;
    if (operation == FI_CSWAP_LT) return expected < was;
    if (operation == FI_CSWAP_GE) return expected >= was;
    if (operation == FI_CSWAP_GT) return expected > was;
  }
  return false;
}

/// The new value of one element; false where the type has no such operation.
template <class Value>
bool compute(std::uint8_t operation, const Value& was, const Value& operand, const Value& expected, Value& next) {
  switch (operation) {
    case FI_ATOMIC_READ:
      next = was;
      return true;
    case FI_ATOMIC_WRITE:
      next = operand;
      return true;
    case FI_SUM:
    case FI_PROD:
      next = combined(operation, was, operand);
      return true;
    case FI_LOR:
      next = static_cast<Value>(true_value(was) || true_value(operand));
      return true;
    case FI_LAND:
      next = static_cast<Value>(true_value(was) && true_value(operand));
      return true;
    case FI_LXOR:
      next = static_cast<Value>(true_value(was) != true_value(operand));
      return true;
    case FI_CSWAP:
    case FI_CSWAP_NE:
    case FI_CSWAP_LE:
    case FI_CSWAP_LT:
    case FI_CSWAP_GE:
    case FI_CSWAP_GT:
      next = swaps(operation, was, expected) ? operand : was;
      return true;
    default:
      break;
  }
  if constexpr (has_order<Value>) {
    if (operation == FI_MIN) return next = std::min(was, operand), true;
    if (operation == FI_MAX) return next = std::max(was, operand), true;
  }
  if constexpr (has_bits<Value>) {
    if (operation == FI_BOR) return next = static_cast<Value>(was | operand), true;
    if (operation == FI_BAND) return next = static_cast<Value>(was & operand), true;
    if (operation == FI_BXOR) return next = static_cast<Value>(was ^ operand), true;
    if (operation == FI_MSWAP) return next = static_cast<Value>((operand & expected) | (was & ~expected)), true;
  }
  return false;
}

template <class Value>
int execute(std::byte* at, const packet_header& what, std::string_view operands, std::string& old) {
  const std::size_t elements = what.length;
  const auto operation = static_cast<fi_op>(what.operation);
  const std::size_t lists = operation == FI_ATOMIC_READ ? 0 : compares(operation) ? 2 : 1;
  if (operands.size() < lists * elements * sizeof(Value)) return FI_EINVAL;
  old.assign(reinterpret_cast<const char*>(at), elements * sizeof(Value));
  for (std::size_t i = 0; i < elements; ++i) {
    Value was{};
    Value operand{};
    Value expected{};
    Value next{};
    std::memcpy(&was, at + i * sizeof was, sizeof was);
    if (lists > 0) std::memcpy(&operand, operands.data() + i * sizeof was, sizeof was);
    if (lists > 1) std::memcpy(&expected, operands.data() + (elements + i) * sizeof was, sizeof was);
    if (!compute(what.operation, was, operand, expected, next)) return FI_EOPNOTSUPP;
    std::memcpy(at + i * sizeof next, &next, sizeof next);
  }
  return 0;
}

using executor = int (*)(std::byte*, const packet_header&, std::string_view, std::string&);
struct element_type {
  std::size_t size;
  executor apply;
  const char* name;  ///< As the row names it; null: the row has no word for it.
  bool ordered;
  bool bits;
};
template <class Value>
constexpr element_type made(const char* name) {
  return {sizeof(Value), execute<Value>, name, has_order<Value>, has_bits<Value>};
}

const std::map<int, element_type>& types() {
  static const std::map<int, element_type> all{{FI_INT8, made<std::int8_t>(nullptr)},
                                               {FI_UINT8, made<std::uint8_t>(nullptr)},
                                               {FI_INT16, made<std::int16_t>(nullptr)},
                                               {FI_UINT16, made<std::uint16_t>(nullptr)},
                                               {FI_INT32, made<std::int32_t>("int32")},
                                               {FI_UINT32, made<std::uint32_t>("uint32")},
                                               {FI_INT64, made<std::int64_t>("int64")},
                                               {FI_UINT64, made<std::uint64_t>("uint64")},
                                               {FI_FLOAT, made<float>("float")},
                                               {FI_DOUBLE, made<double>("double")},
                                               {FI_FLOAT_COMPLEX, made<std::complex<float>>(nullptr)},
                                               {FI_DOUBLE_COMPLEX, made<std::complex<double>>(nullptr)},
                                               {FI_LONG_DOUBLE, made<long double>(nullptr)},
                                               {FI_LONG_DOUBLE_COMPLEX, made<std::complex<long double>>(nullptr)}};
  return all;
}

/// Whether fi_atomic(3) has the operation for such values.
bool exists(const element_type& of, fi_op operation) {
  switch (operation) {
    case FI_MIN:
    case FI_MAX:
    case FI_CSWAP_LE:
    case FI_CSWAP_LT:
    case FI_CSWAP_GE:
    case FI_CSWAP_GT:
      return of.ordered;
    case FI_BOR:
    case FI_BAND:
    case FI_BXOR:
    case FI_MSWAP:
      return of.bits;
    default:
      return operation <= FI_MSWAP;
  }
}

}  // namespace

std::size_t size_of(std::uint8_t datatype) {
  const auto found = types().find(datatype);
  return found == types().end() ? 0 : found->second.size;
}

bool compares(fi_op operation) { return operation >= FI_CSWAP && operation <= FI_MSWAP; }

bool executes(fi_datatype datatype, fi_op operation) {
  const profile& row = *emulated();
  const auto found = types().find(datatype);
  if (!row.atomics || found == types().end() || !exists(found->second, operation)) return false;
  if (datatype == FI_UINT64 && (operation == FI_SUM || operation == FI_CSWAP))
    return true;  // the value of the cell `atomics`
  static const std::map<fi_op, const char*> operations{
      {FI_SUM, "add"},         {FI_CSWAP, "compare_swap"}, {FI_ATOMIC_WRITE, "swap"}, {FI_BAND, "and"},
      {FI_BOR, "or"},          {FI_BXOR, "xor"},           {FI_MIN, "min"},           {FI_MAX, "max"},
      {FI_ATOMIC_READ, "read"}};
  const auto named = operations.find(operation);
  // What the cell `atomic_operations` has words for, the row decides.
  if (found->second.name != nullptr && named != operations.end())
    return row.atomic_operations.contains({named->second, found->second.name});
  return row.every_atomic;
}

int execute_atomic(std::byte* at, const packet_header& what, std::string_view operands, std::string& old) {
  const auto found = types().find(what.datatype);
  return found == types().end() ? FI_EOPNOTSUPP : found->second.apply(at, what, operands, old);
}

}  // namespace weft::emulator
