// SPDX-License-Identifier: Apache-2.0
//
// The smallest program of a user: it is built for one fabric and says which, with the answers that the fabric gave.
#include <weft/compose/selected.hpp>

#include <cstdio>

static_assert(weft::complete_fabric<weft::selected>);

int main() {
  const std::string_view name = weft::selected::name;
  std::printf("hello from %.*s\n", static_cast<int>(name.size()), name.data());
  return name.empty() ? 1 : 0;
}
