// SPDX-License-Identifier: Apache-2.0
//
// Runs a behaviour in two processes (or claims in one) and collects their facts. The supervisor itself never calls the
// library: a provider that hangs or crashes ends a child, and the supervisor reports it. Hot path: no. Threads: one.
#pragma once

#include "behaviours.hpp"

#include <string>

namespace weft::probe {

/// One line of JSON: behaviour, ended (shown, refused, crashed, hung), why, facts, seconds.
std::string supervise(const demands& about, const behaviour& what);
/// The same for the claims.
std::string supervise_claims(const demands& about);

}  // namespace weft::probe
