// SPDX-License-Identifier: Apache-2.0
//
// Reads the cell `atomic_operations` of a row: the atomics that its provider executes. Examples: "add compare_swap:
// int64 uint64; add: double", and "none".
// Hot path: compile time only.
#pragma once

#include "atomics.hpp"
#include "facts.hpp"

#include <string_view>

namespace weft {

/// Names of the operations and types in the cell, in the order of the enumerations.
inline constexpr std::string_view atomic_operation_names[atomic_operations] = {
    "add", "compare_swap", "swap", "and", "or", "xor", "min", "max", "read"};
inline constexpr std::string_view number_type_names[number_types] = {"int32",  "uint32", "int64",
                                                                     "uint64", "float",  "double"};

namespace detail {
constexpr bool has_word(std::string_view text, std::string_view word) noexcept {
  while (!text.empty()) {
    const std::string_view first = text.substr(0, text.find(' '));
    if (first == word) return true;
    text.remove_prefix(first.size() == text.size() ? first.size() : first.size() + 1);
  }
  return false;
}
}  // namespace detail

/// Whether the cell lists the operation for the type.
constexpr bool lists(std::string_view cell, atomic_operation o, number_type t) noexcept {
  while (!cell.empty()) {
    const std::string_view group = cell.substr(0, cell.find(';'));
    const std::string_view operations = group.substr(0, group.find(':'));
    if (operations.size() < group.size() &&
        detail::has_word(operations, atomic_operation_names[static_cast<std::size_t>(o) - 1]) &&
        detail::has_word(group.substr(operations.size() + 1), number_type_names[static_cast<std::size_t>(t) - 1]))
      return true;
    cell.remove_prefix(group.size() == cell.size() ? group.size() : group.size() + 1);
  }
  return false;
}
static_assert(lists("add read: int32; swap: double int64", atomic_operation::swap, number_type::int64));
static_assert(!lists("add read: int32; swap: double int64", atomic_operation::add, number_type::int64));
static_assert(!lists("none", atomic_operation::add, number_type::int64));

/// Whether the row's provider executes the operation on the type. The fact `atomics` grants add and compare_swap on
/// uint64; `atomic_operations` lists the others.
constexpr bool natively(const fabric_facts& row, atomic_operation o, number_type t) noexcept {
  if (row.atomics != atomic_execution::provider) return false;
  const bool always = t == number_type::uint64 && (o == atomic_operation::add || o == atomic_operation::compare_swap);
  return always || lists(row.atomic_operations, o, t);
}

/// Whether the row can carry out every lowering of the table.
constexpr bool possible(const atomic_table& table, const fabric_facts& row) noexcept {
  const auto swaps = [&row](number_type t) { return natively(row, atomic_operation::compare_swap, t); };
  for (std::size_t i = 1; i <= atomic_operations; ++i)
    for (std::size_t j = 1; j <= number_types; ++j) {
      const auto o = static_cast<atomic_operation>(i);
      const auto t = static_cast<number_type>(j);
      if (!offered(o, t)) continue;
      const atomic_lowering how = table.of(o, t);
      if (how == atomic_lowering::target) return false;
      if (how == atomic_lowering::native && !natively(row, o, t)) return false;
      if (how == atomic_lowering::loop && !swaps(size_of(t) == 4 ? number_type::uint32 : number_type::uint64))
        return false;
      if (how == atomic_lowering::wide_loop && (size_of(t) != 4 || !swaps(number_type::uint64))) return false;
    }
  return true;
}

}  // namespace weft
