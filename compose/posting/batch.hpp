// SPDX-License-Identifier: Apache-2.0
//
// Which batch a port has: a list of work requests (posting/work_request_chain.hpp), or members with a hint that more
// follows (posting/kept_back_batch.hpp). Hot path: yes. Threads: the owner's.
#pragma once

#include "kept_back_batch.hpp"
#include "work_request_chain.hpp"

#include <type_traits>

namespace weft::detail {

/// A batch to one peer. Members are unsignalled. close(context) requests the end of the last member; on rows that keep
/// posts in order, this is the end of all. The library gets members in the order given. Keep sources untouched until
/// the batch is closed, then as long as any unsignalled source. A fetch_add has a context and an end of its own; after
/// one, close(context) is `invalid` and close() is right. Make the batch, fill it, close it: other posts to that peer
/// may overtake members meanwhile, and some libraries hold members back until the batch closes.
///
/// Errors: a member that is refused at its call (bounds, rights, size, or a full queue: `again`) is not in the batch,
/// and the batch stays open. After `again`, repeat the member after progress(), or leave it out; the post after `again`
/// carries no hint. If only polls follow, the second one releases the members that the library holds. If the library
/// refuses a member that the batch took before, the batch is broken: that call, every later call and close() return the
/// error. posted() then counts the members that the library took, which are the first ones. If the batch goes out of
/// scope, the handler gets such an error as `failed` with a null context. If the queue is full then, progress() posts
/// the last member later, from a slot that is allocated then. Moved-from batches are closed.
template <class Engine>
using batch = std::conditional_t<lists_members<Engine>, work_request_chain<Engine>, kept_back_batch<Engine>>;

}  // namespace weft::detail
