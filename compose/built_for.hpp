// SPDX-License-Identifier: Apache-2.0
//
// What a binary says about itself, for `weft inspect` and `strings`. A program that opens a transport carries one text
// for each fabric: fabric, library and releases, headers, wire version, answers, hashes of row and rules. So two builds
// can be compared without running them. Nothing reads the text at run time. Hot path: no. Threads: immutable.
#pragma once

#include "../core/constant_text.hpp"
#include "../core/policy_name.hpp"
#include "../wire/hello.hpp"
#include "fabric.hpp"

namespace weft {
namespace detail {
constexpr constant_text<1536>& add_release(constant_text<1536>& text, library_version version) {
  return version == any_later_version
             ? text.add("later")
             : text.add(std::uint64_t{version.major}).add(".").add(std::uint64_t{version.minor});
}

template <class... Answers>
constexpr void add_answers(constant_text<1536>& text, const policy_set<Answers...>* /*unused*/) {
  std::string_view between;
  ((text.add(between).add(policy_name<Answers>()), between = " "), ...);
}

template <complete_fabric F>
constexpr constant_text<1536> text_of() {
  constant_text<1536> text;
  text.add("weft-built-for 1\nfabric=")
      .add(F::name)
      .add("\nprovider=")
      .add(F::facts.provider)
      .add("\nlibrary=")
      .add(F::library)
      .add("\nsince=");
  add_release(text, F::facts.since).add("\nuntil=");
  add_release(text, F::facts.until).add("\nheaders=");
  add_release(text, F::built_with)
      .add("\nwire=")
      .add(std::uint64_t{wire::version})
      .add("\nfingerprint=")
      .add_hex(F::fingerprint);
  text.add("\nmade_from=").add(F::made_from).add("\nshared=").add(F::shared).add("\nanswers=");
  add_answers(text, static_cast<const typename F::policies*>(nullptr));
  text.add("\n");
  return text;
}
}  // namespace detail

/// Lines of key=value, the first being "weft-built-for 1".
template <complete_fabric F>
inline constexpr constant_text<1536> built_for = detail::text_of<F>();

namespace detail {
/// Volatile, so that optimiser and linker keep the text.
template <complete_fabric F>
inline constexpr const volatile void* const volatile carried = &built_for<F>;
}  // namespace detail

/// Keeps the text in the program although nothing uses it.
template <complete_fabric F>
inline void carry_built_for() noexcept {
  [[maybe_unused]] const volatile void* const read = detail::carried<F>;
}

}  // namespace weft
