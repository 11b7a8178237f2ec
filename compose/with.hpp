// SPDX-License-Identifier: Apache-2.0
//
// Another answer than the rules chose, by hand: `with<fabrics::tcp, notify::message_after_delivery>` is a fabric of its own, whose peers
// must be built with the same. What the row's facts forbid ends in one sentence at compile time: family, fabric, answer, the cell and its value,
// its evidence, and the nearest answer that is legal. The sentences are generated beside each fabric, from the same rules
// (generated/<fabric>.why_not.hpp), and are looked at only when somebody asks.
// Hot path: compile time only. Threads: none.
#pragma once

#include "../core/constant_text.hpp"
#include "../core/policy_name.hpp"
#include "fabric.hpp"

#include <type_traits>

namespace weft {

/// Whether a fabric's facts permit an answer; asks no sentence.
template <class F, class Answer>
concept can_answer =
    complete_fabric<F> && policy<Answer> && std::same_as<decltype(why_not(static_cast<const F*>(nullptr), Answer{}, detail::asked{})), permitted>;

namespace detail {
template <class Set, class... Asked>
struct replaced;
template <class... Old, class... Asked>
struct replaced<policy_set<Old...>, Asked...> {
  using asked_set = policy_set<Asked...>;
  template <class One>
  static consteval auto pick() {
    if constexpr (asked_set::template count<typename One::family> == 1) return typename asked_set::template pick<typename One::family>{};
    else return One{};
  }
  using type = policy_set<decltype(pick<Old>())...>;
};

/// `family=answer` words, with the asked families' answers in the place of the old ones.
template <class... Asked>
constexpr constant_text<512> shared_with(std::string_view words) {
  constant_text<512> text;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(word.size() == words.size() ? word.size() : word.size() + 1);
    const std::string_view family = word.substr(0, word.find('='));
    bool taken = false;
    ((family == family_name<Asked>() ? (taken = true, text.add(family).add("=").add(answer_name<Asked>()), 0) : 0), ...);
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

/// Fabric F with these answers instead of its own. Illegal ones do not compile: the row's sentence says why, and what is legal.
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
  static constexpr auto shared_words = detail::shared_with<Asked...>(F::shared);

 public:
  /// A refused answer is told once: the set stays the row's, so that nothing else fails.
  using policies = typename detail::replaced<typename F::policies, std::conditional_t<legal, Asked, answer<F, typename Asked::family>>...>::type;
  static constexpr std::string_view shared = shared_words.view();
  static constexpr std::uint64_t fingerprint = shared == F::shared ? F::fingerprint : F::fingerprint ^ detail::hash(shared);
};

}  // namespace weft
