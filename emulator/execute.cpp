// SPDX-License-Identifier: Apache-2.0
//
// The effect of an atomic operation at its target (fi_atomic(3)).
#include "objects.hpp"

#include <algorithm>
#include <cstring>
#include <map>

namespace weft::emulator {
namespace {

template <class Value>
int execute(std::byte* at, std::uint8_t operation, std::string_view operands, std::string& old) {
  Value was{};
  Value operand{};
  Value expected{};
  std::memcpy(&was, at, sizeof was);
  old.assign(reinterpret_cast<const char*>(&was), sizeof was);
  if (operation == FI_ATOMIC_READ) return 0;
  if (operands.size() < (operation == FI_CSWAP ? 2 : 1) * sizeof(Value)) return FI_EINVAL;
  std::memcpy(&operand, operands.data(), sizeof operand);
  if (operation == FI_CSWAP) std::memcpy(&expected, operands.data() + sizeof operand, sizeof expected);
  Value next = operand;
  switch (operation) {
    case FI_MIN:
      next = std::min(was, operand);
      break;
    case FI_MAX:
      next = std::max(was, operand);
      break;
    case FI_SUM:
      if constexpr (std::is_integral_v<Value>) {
        using unsigned_value = std::make_unsigned_t<Value>;
        next = static_cast<Value>(static_cast<unsigned_value>(was) + static_cast<unsigned_value>(operand));
      } else {
        next = was + operand;
      }
      break;
    case FI_ATOMIC_WRITE:
      break;
    case FI_CSWAP:
      next = was == expected ? operand : was;
      break;
    default:
      if constexpr (std::is_integral_v<Value>) {
        if (operation == FI_BOR) next = was | operand;
        else if (operation == FI_BAND) next = was & operand;
        else if (operation == FI_BXOR) next = was ^ operand;
        else return FI_EOPNOTSUPP;
      } else {
        return FI_EOPNOTSUPP;
      }
  }
  std::memcpy(at, &next, sizeof next);
  return 0;
}

}  // namespace

std::size_t size_of(std::uint8_t datatype) {
  switch (datatype) {
    case FI_INT32:
    case FI_UINT32:
    case FI_FLOAT:
      return 4;
    case FI_INT64:
    case FI_UINT64:
    case FI_DOUBLE:
      return 8;
    default:
      return 0;
  }
}

bool executes(fi_datatype datatype, fi_op operation) {
  const profile& row = *emulated();
  if (!row.atomics) return false;
  if (datatype == FI_UINT64 && (operation == FI_SUM || operation == FI_CSWAP))
    return true;  // the value of the cell `atomics`
  static const std::map<fi_datatype, const char*> types{{FI_INT32, "int32"}, {FI_UINT32, "uint32"},
                                                        {FI_INT64, "int64"}, {FI_UINT64, "uint64"},
                                                        {FI_FLOAT, "float"}, {FI_DOUBLE, "double"}};
  static const std::map<fi_op, const char*> operations{
      {FI_SUM, "add"},         {FI_CSWAP, "compare_swap"}, {FI_ATOMIC_WRITE, "swap"}, {FI_BAND, "and"},
      {FI_BOR, "or"},          {FI_BXOR, "xor"},           {FI_MIN, "min"},           {FI_MAX, "max"},
      {FI_ATOMIC_READ, "read"}};
  const auto type = types.find(datatype);
  const auto named = operations.find(operation);
  return type != types.end() && named != operations.end() &&
         row.atomic_operations.contains({named->second, type->second});
}

int execute_atomic(std::byte* at, std::uint8_t datatype, std::uint8_t operation, std::string_view operands,
                   std::string& old) {
  switch (datatype) {
    case FI_INT32:
      return execute<std::int32_t>(at, operation, operands, old);
    case FI_UINT32:
      return execute<std::uint32_t>(at, operation, operands, old);
    case FI_INT64:
      return execute<std::int64_t>(at, operation, operands, old);
    case FI_UINT64:
      return execute<std::uint64_t>(at, operation, operands, old);
    case FI_FLOAT:
      return execute<float>(at, operation, operands, old);
    case FI_DOUBLE:
      return execute<double>(at, operation, operands, old);
    default:
      return FI_EOPNOTSUPP;
  }
}

}  // namespace weft::emulator
