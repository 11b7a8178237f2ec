// SPDX-License-Identifier: Apache-2.0
//
// What a policy is, and how answers form a complete set.
// A family is one question that every fabric must answer. A policy is one answer: an empty type that names its family.
// A set in a generated header answers each family exactly once. There are no defaults, so a missing answer is an error.
// Hot path: compile time only. Threads: none.
#pragma once

#include <concepts>
#include <type_traits>

namespace weft {

/// The answers of all families: answers::notify::immediate, answers::wait::spin. They have a separate namespace, so
/// that `using namespace weft` does not clash with `wait` and `flush` of the C and C++ libraries.
namespace answers {}
namespace detail {
using namespace answers;  // NOLINT(google-build-using-namespace): the rooms of compose/ name answers all the time
}

/// An answer to the family that it names. It is an empty type, so a choice costs nothing.
template <class P>
concept policy = requires {
  typename P::family;
}
&&std::is_empty_v<P>;

/// An answer to the given family.
template <class P, class Family>
concept answers_family = policy<P> && std::same_as<typename P::family, Family>;

namespace detail {
template <class Family, class First, class... Rest>
consteval auto first_answer() {
  if constexpr (std::same_as<typename First::family, Family>) return First{};
  else return first_answer<Family, Rest...>();
}
}  // namespace detail

/// Answers in any order, at most one per family.
template <policy... Answers>
struct policy_set {
  template <class Family>
  static constexpr int count = (0 + ... + int{std::same_as<typename Answers::family, Family>});

 private:
  static constexpr bool each_family_once = ((count<typename Answers::family> == 1) && ...);
  static_assert(each_family_once, "weft: two policies answer for the same family [WEFT-C005]");

 public:
  template <class Family>
  requires(count<Family> == 1) using pick = decltype(detail::first_answer<Family, Answers...>());
};

/// The families of a contract. Checks that a set answers each of them.
template <class... Families>
struct family_list {
  template <class Set>
  static constexpr bool answered_by = ((Set::template count<Families> == 1) && ...);
};

}  // namespace weft
