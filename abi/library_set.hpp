// SPDX-License-Identifier: Apache-2.0
//
// The set of fabrics that libweft.so holds. Each fabric matches tags. Peers of other programs meet it all the same: a
// side says in its hello whether it matches tags (wire/tagged.hpp). Hot path: compile time only. Threads: none.
#pragma once

#include "../compose/selected.hpp"
#include "../compose/sets/tagged.hpp"

namespace weft::abi {

using library_set = with_each<selected, answers::tagged::matched_over_messages<>>;

}  // namespace weft::abi
