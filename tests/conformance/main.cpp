// SPDX-License-Identifier: Apache-2.0
//
// Every conformance suite, for the fabric that this file was compiled for.
#include "put_notify.hpp"
#include "stage.hpp"

namespace weft::conformance {

WEFT_INSTANTIATE(put_notify);

}  // namespace weft::conformance
