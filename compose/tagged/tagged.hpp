// SPDX-License-Identifier: Apache-2.0
//
// Tagged messages: include this to use the answer tagged::matched_over_messages<window> (policies/messages/tagged.hpp),
// as in `weft::with<weft::selected, weft::answers::tagged::matched_over_messages<>>`. Such transports have
// send_tagged() and receive_tagged() (calls.hpp). No other header of weft includes this one, so other transports
// compile nothing of it. Fabric fact: not every fabric matches tags itself. Hot path: yes, of such transports. Threads:
// the owner's.
#pragma once

#include "../with.hpp"
#include "calls.hpp"
