// SPDX-License-Identifier: Apache-2.0
//
// Remote operations at their target.
#pragma once

#include "objects.hpp"

#include <string_view>

namespace weft::emulator {

/// Tells the initiator how its operation ended; `code` is 0 or a positive FI_E code. Nothing where nobody asked.
void answer(endpoint& from, const packet& to, int code, std::string_view payload = {});
/// Executes a write, read or atomic. True when it took effect or was refused; false when it has to wait.
bool serve_remote(endpoint& of, packet& p);

}  // namespace weft::emulator
