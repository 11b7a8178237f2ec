// SPDX-License-Identifier: Apache-2.0
//
// Coalesced posts: include this to use the answer coalesce::up_to<messages, bytes> (policies/coalesce.hpp), as in
// `weft::with<weft::selected, weft::answers::coalesce::up_to<16, 1024>>`. Small unsignalled posts to one peer then
// share messages unasked. No other header of weft includes this one, so other transports compile nothing of it. A group
// that a program opens by hand needs only compose/transport.hpp. Fabric fact: a post has a price, whatever its size.
// Hot path: yes, of such transports. Threads: the owner's.
#pragma once

#include "posting/coalescer.hpp"
#include "with.hpp"
