// SPDX-License-Identifier: Apache-2.0
//
// The set of fabrics that libweft.so holds. Each fabric matches tags. Peers of other programs meet it all the same: a
// side says in its hello whether it matches tags (wire/tagged.hpp). It counts for `weft top` when the program or the
// environment asks (WEFT_COUNTS). Hot path: compile time only. Threads: none.
#pragma once

#include "../compose/counting/counted.hpp"
#include "../compose/selected.hpp"
#include "../compose/sets/tagged.hpp"

namespace weft::abi {

using library_set = counted<with_each<selected, answers::tagged::matched_over_messages<>>, counting::on_request>;

}  // namespace weft::abi
