// SPDX-License-Identifier: Apache-2.0
//
// Other answers than the rules chose: `with<fabrics::tcp, answers::notify::message_after_delivery>` is another fabric,
// and its peers must be built with the same answers. An answer that the row's facts forbid does not compile. The
// sentence names family, fabric, answer, cell, value, evidence and the nearest legal answer; the sentences are
// generated (generated/<fabric>.why_not.hpp). An answer may make another answer of the row illegal, or permit one that
// the rules prefer. Then the rules choose anew for that family. Hot path: compile time only. Threads: none.
#pragma once

#include "../core/constant_text.hpp"
#include "../core/policy_name.hpp"
#include "../wire/hello.hpp"
#include "fabric_rules.hpp"

#include <type_traits>

namespace weft {

/// Whether a fabric's facts permit an answer, without its sentence.
template <class F, class Answer>
concept can_answer = complete_fabric<F> && policy<Answer> &&
    std::same_as<decltype(why_not(static_cast<const F*>(nullptr), Answer{}, detail::asked{})), permitted>;

namespace detail {
/// One answer, or the answer of a set to the same family, where the set has one.
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

/// A fabric's answers after the changes that the selected answers need. The selected answers come last, and win.
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
    if (!text.view().empty()) text.add(" ");
    bool taken = false;
    ((family == family_name<Asked>() ? (taken = true, text.add(family).add("=").add(answer_name<Asked>()), 0) : 0),
     ...);
    if (!taken) text.add(word);
  }
  return text;
}

/// FNV-1a: the same in every build.
constexpr std::uint64_t hash(std::string_view text) noexcept {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return value;
}
}  // namespace detail

/// Fabric F with these answers instead of its own. An illegal answer does not compile: the sentence says why, and names
/// a legal one.
template <complete_fabric F, policy... Asked>
struct with : F {
 private:
  static constexpr bool legal = (can_answer<F, Asked> && ...);
  template <class Answer>
  static consteval bool explained() {
    why_not(static_cast<const F*>(nullptr), Answer{}, detail::asked{});
    return true;
  }
  static_assert((explained<Asked>() && ...));
  using wanted = typename detail::replaced<typename detail::followed<F, typename F::policies, Asked...>::type,
                                           policy_set<Asked...>>::type;

 public:
  /// After a refused answer the set stays the row's, so that there is one compile error only.
  using policies = std::conditional_t<legal, wanted, typename F::policies>;

 private:
  static constexpr auto shared_words = detail::shared_with(policies{}, F::shared);
  static_assert(shared_words.view().size() <= wire::largest_shared,
                "weft: a handshake has no room for these answers [WEFT-C039]");

 public:
  static constexpr std::string_view shared = shared_words.view();
  static constexpr std::uint64_t fingerprint =
      shared == F::shared ? F::fingerprint : F::fingerprint ^ detail::hash(shared);
};

}  // namespace weft
