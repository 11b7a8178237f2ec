// SPDX-License-Identifier: Apache-2.0
//
// The side channel's name, for ports in units that leave out rare work (core/error.hpp). Hot path: no. Threads: none.
#pragma once

namespace weft::backends::oob_exchange {

class tcp;

}  // namespace weft::backends::oob_exchange
