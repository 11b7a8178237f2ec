// SPDX-License-Identifier: Apache-2.0
//
// The smallest program of a user: one fabric, selected by the build. It prints that fabric's name.
#include <weft/compose/selected.hpp>
#include <weft/core/version.hpp>

#include <cstdio>

#if WEFT_VERSION < 200
#error "these tests expect weft 0.2.0 or later"
#endif

static_assert(weft::complete_fabric<weft::selected>);

// A user's code may warn under -Wconversion. weft's own warning flags must not reach it.
int narrowed(long wide) { return wide; }

int main() {
  const std::string_view name = weft::selected::name;
  std::printf("hello from %.*s\n", static_cast<int>(name.size()), name.data());
  return narrowed(static_cast<long>(name.empty()));
}
