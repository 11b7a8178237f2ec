// SPDX-License-Identifier: Apache-2.0
//
// Remote operations at their target.
#pragma once

#include "objects.hpp"

#include <string_view>

namespace weft::emulator {

/// Reports the end of an operation to its initiator; `code` is 0 or a positive FI_E code. Does nothing where no answer
/// was requested.
void answer(endpoint& from, const packet& to, int code, std::string_view payload = {});
/// Executes a write, read or atomic. True when it took effect or was refused; false when it has to wait.
bool serve_remote(endpoint& of, packet& p);

}  // namespace weft::emulator
