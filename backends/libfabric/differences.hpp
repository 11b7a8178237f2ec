// SPDX-License-Identifier: Apache-2.0
//
// Cells in which the library differs from the generated header: asked, returned and baked value, and the answer that
// depends on the cell.
// A difference without a dependent answer need not stop a program. Providers change depths and limits between releases
// (fi_getinfo(3): attributes depend on release, device and environment).
// Hot path: no. Threads: none.
#pragma once

#include "../../core/port.hpp"
#include "compared_facts.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::backends::libfabric {

/// One cell that differs.
struct difference {
  std::string_view family;  ///< The answer that depends on the cell; "" where none does.
  std::string text;
};

/// All cells that differ.
class differences {
 public:
  /// `detail` follows the fact's name where one fact has several parts.
  void cell(listed_fact which, std::string_view asked, std::string_view returned, std::string_view baked,
            std::string_view detail = {}) {
    const auto& [name, family] = *which;
    std::string text = std::string(name) + std::string(detail) + ": asked " + std::string(asked) + ", returned " +
                       std::string(returned) + ", baked " + std::string(baked);
    text += family.empty() ? std::string(" (no answer depends on it)") : " (" + std::string(family) + " depends on it)";
    all_.push_back({family, std::move(text)});
  }
  void flag(listed_fact which, bool baked, bool returned) {
    if (baked != returned) cell(which, word(baked), word(returned), word(baked));
  }
  void at_least(listed_fact which, std::uint64_t baked, std::uint64_t returned, std::string_view detail = {}) {
    if (returned < baked)
      cell(which, "at least " + std::to_string(baked), std::to_string(returned), std::to_string(baked), detail);
  }

  /// Whether opening must fail under the caller's choice. A difference with a dependent answer always fails.
  bool refuse(on_difference chosen) const {
    bool any = false;
    for (const difference& each : all_) any = any || chosen == on_difference::refuse || !each.family.empty();
    return any;
  }
  /// Every difference, or "".
  std::string text() const {
    std::string all;
    for (const difference& each : all_) all += (all.empty() ? "" : "; ") + each.text;
    return all;
  }
  /// The sentence of a refusal: the differences, and whether on_difference::degrade would accept them.
  std::string sentence(std::string_view fabric) const {
    std::string said =
        "fabric " + std::string(fabric) + ": the library is not what this program was generated for: " + text();
    if (!refuse(on_difference::degrade)) said += "; on_difference::degrade accepts these differences";
    return said + " [WEFT-O003]";
  }

 private:
  static std::string_view word(bool on) { return on ? "yes" : "no"; }

  std::vector<difference> all_;
};

}  // namespace weft::backends::libfabric
