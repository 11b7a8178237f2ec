// SPDX-License-Identifier: Apache-2.0
//
// Another answer than the rules chose, by hand: `with<fabrics::tcp, notify::message_after_delivery>` is a fabric of its
// own, whose peers must be built with the same. What the row's facts forbid ends in one sentence at compile time:
// family, fabric, answer, the cell and its value, its evidence, and the nearest answer that is legal. The sentences are
// generated beside each fabric, from the same rules (generated/<fabric>.why_not.hpp), and are looked at only when
// somebody asks. Where an answer that is asked for makes another of the row's illegal, as pointers on a fabric where
// they cost the order that flush relies on, or permits one that the rules prefer, as atomics by the target where those
// of the provider cost that order, that one is replaced by what the rules choose then. Hot path: compile time only.
// Threads: none.
#pragma once

#include "../core/constant_text.hpp"
#include "../core/policy_name.hpp"
#include "fabric.hpp"

#include <type_traits>

namespace weft {

/// Whether a fabric's facts permit an answer; asks no sentence.
template <class F, class Answer>
concept can_answer = complete_fabric<F> && policy<Answer> &&
    std::same_as<decltype(why_not(static_cast<const F*>(nullptr), Answer{}, detail::asked{})), permitted>;

namespace detail {
/// One answer, replaced by that of a set to the same family, where it has one.
template <class Set, class Old>
consteval auto unless_in() {
  if constexpr (Set::template count<typename Old::family> == 1)
    return typename Set::template pick<typename Old::family>{};
  else return Old{};
}
template <class Set, class By>
struct replaced;
template <class... Old, class By>
struct replaced<policy_set<Old...>, By> {
  using type = policy_set<decltype(unless_in<By, Old>())...>;
};

/// A fabric's answers after what follows from those asked for; these themselves come last, and win.
template <class F, class Set, class... Asked>
struct followed {
  using type = Set;
};
template <class F, class Set, class First, class... Rest>
struct followed<F, Set, First, Rest...> {
  using type =
      typename followed<F, typename replaced<Set, decltype(follows(static_cast<const F*>(nullptr), First{}))>::type,
                        Rest...>::type;
};

/// `family=answer` words with the answers of a set.
template <class... Asked>
constexpr constant_text<512> shared_with(policy_set<Asked...> /*answers*/, std::string_view words) {
  constant_text<512> text;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(word.size() == words.size() ? word.size() : word.size() + 1);
    const std::string_view family = word.substr(0, word.find('='));
    bool taken = false;
    ((family == family_name<Asked>() ? (taken = true, text.add(family).add("=").add(answer_name<Asked>()), 0) : 0),
     ...);
    if (!taken) text.add(word);
    if (!words.empty()) text.add(" ");
  }
  return text;
}

/// FNV-1a: the same in every build, which is all that is asked of it.
constexpr std::uint64_t hash(std::string_view text) noexcept {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return value;
}
}  // namespace detail

/// Fabric F with these answers instead of its own. Illegal ones do not compile: the row's sentence says why, and what
/// is legal.
template <complete_fabric F, policy... Asked>
struct with : F {
 private:
  static constexpr bool legal = (can_answer<F, Asked> && ...);
  template <class Answer>
  static consteval bool told() {
    why_not(static_cast<const F*>(nullptr), Answer{}, detail::asked{});
    return true;
  }
  static_assert((told<Asked>() && ...));
  using wanted = typename detail::replaced<typename detail::followed<F, typename F::policies, Asked...>::type,
                                           policy_set<Asked...>>::type;

 public:
  /// A refused answer is told once: the set stays the row's, so that nothing else fails.
  using policies = std::conditional_t<legal, wanted, typename F::policies>;

 private:
  static constexpr auto shared_words = detail::shared_with(policies{}, F::shared);

 public:
  static constexpr std::string_view shared = shared_words.view();
  static constexpr std::uint64_t fingerprint =
      shared == F::shared ? F::fingerprint : F::fingerprint ^ detail::hash(shared);
};

}  // namespace weft
