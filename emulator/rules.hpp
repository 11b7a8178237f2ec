// SPDX-License-Identifier: Apache-2.0
//
// A rule of the row that a program broke: one sentence per rule on standard error, with the rule's name, and a refusal
// as the answer. Hot path: only where a rule is broken. Threads: any.
#pragma once

#include "profile.hpp"

#include <rdma/fi_errno.h>

#include <cstdio>
#include <set>
#include <string>

namespace weft::emulator {

/// Prints the sentence, the first time for this rule. Returns the call's answer.
inline int broken(const char* rule, const std::string& sentence, int code = FI_EINVAL) {
  static auto& said = *new std::set<std::string>;  // never destroyed: own threads may outlive the end of main
  if (said.insert(rule).second) {
    std::fprintf(stderr, "weft emulator: fabric %s, rule %s: %s\n", emulated()->fabric.c_str(), rule, sentence.c_str());
    std::fflush(stderr);
  }
  return -code;
}

}  // namespace weft::emulator
