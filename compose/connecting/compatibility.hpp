// SPDX-License-Identifier: Apache-2.0
//
// Whether two builds can talk. A peer's introduction (wire/hello.hpp) is compared with this build. The sentence names
// the first difference: wire version, fabric, an answer or fact that both sides must share, or else the rules. Both
// sides read the same sentence, so it names caller and listener. Hot path: no. Threads: values.
#pragma once

#include "../../core/printable.hpp"
#include "../../wire/hello.hpp"
#include "../../wire/tagged.hpp"

#include <string>
#include <string_view>

namespace weft::detail {

/// How a build introduces itself.
struct build_words {
  std::string_view fabric;
  std::string_view shared;  ///< "notify=immediate key_bytes=8 ...": answers and facts that must be equal.
  std::uint64_t fingerprint = 0;
};

/// The side that dialled.
enum class asking : std::uint8_t { they, we };

inline std::string difference(std::string_view theirs, std::string_view ours, asking who) {
  const std::string caller(who == asking::they ? theirs : ours);
  const std::string listener(who == asking::they ? ours : theirs);
  return "the caller was built for " + caller + ", the listener for " + listener;
}

/// Removes the first word of a text and returns it.
inline std::string_view word(std::string_view& text) noexcept {
  const std::string_view first = text.substr(0, text.find(' '));
  text.remove_prefix(first.size() == text.size() ? first.size() : first.size() + 1);
  return first;
}

/// Empty when the two builds can talk; else the sentence that names the difference.
inline std::string incompatibility(const build_words& ours, const wire::introduction& theirs,
                                   wire::parse_verdict verdict, asking who) {
  const auto text = [](const_bytes b) { return printable({reinterpret_cast<const char*>(b.data()), b.size()}); };
  if (verdict == wire::parse_verdict::other_wire_version)
    return detail::difference("wire version " + std::to_string(theirs.wire_version),
                              "wire version " + std::to_string(wire::version), who);
  if (theirs.fingerprint == ours.fingerprint) return {};
  if (text(theirs.fabric) != ours.fabric)
    return detail::difference("fabric " + text(theirs.fabric), "fabric " + std::string(ours.fabric), who);
  const std::string shared = text(theirs.shared);
  std::string_view a = wire::without_tagged_word(shared);
  std::string_view b = ours.shared;
  while (!a.empty() && !b.empty()) {
    const auto there = detail::word(a);
    const auto here = detail::word(b);
    if (there != here) return "fabric " + std::string(ours.fabric) + ": " + detail::difference(there, here, who);
  }
  // A word that only one side has: an answer that a program asked for (compose/with.hpp).
  const auto without = [](std::string_view one) {
    return "another answer to " + std::string(one.substr(0, one.find('=')));
  };
  const std::string here(detail::word(b)), there(detail::word(a));
  if (here.empty() != there.empty())
    return "fabric " + std::string(ours.fabric) + ": " +
           detail::difference(there.empty() ? without(here) : there, here.empty() ? without(there) : here, who);
  return "caller and listener were built for other rules of fabric " + std::string(ours.fabric) +
         ": generate both from one matrix";
}

}  // namespace weft::detail
