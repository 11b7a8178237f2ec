// SPDX-License-Identifier: Apache-2.0
//
// Authenticated meeting: include this to use the answer authentication::shared_secret (policies/authentication.hpp), as
// in `weft::with<weft::selected, weft::answers::authentication::shared_secret>`, and link weft::authentication. Both
// sides then prove transport_options::secret before they meet (docs/how-to/security/authenticate_peers.md). No other
// header of weft includes this one, so other programs need no libcrypto. Hot path: none. Threads: the owner's.
#pragma once

#include "connecting/shared_secret.hpp"
#include "with.hpp"
