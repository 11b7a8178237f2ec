// SPDX-License-Identifier: Apache-2.0
#include "receiving.hpp"

#include "matching.hpp"
#include "posting.hpp"
#include "rules.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace weft::emulator {
namespace {

constexpr std::uint64_t search_flags = FI_PEEK | FI_CLAIM | FI_DISCARD;

/// FI_PEEK and its like belong to tagged receives, and fi_tagged(3) pairs them.
int check_search(const receive_request& what) {
  const std::uint64_t search = what.flags & search_flags;
  if (search == 0) return 0;
  if (!what.tagged || search == FI_DISCARD) return -FI_EINVAL;
  if ((search & FI_CLAIM) != 0 && what.context == nullptr)
    return broken("context_of_a_claim", "a message was to be claimed without a context: the context names it later");
  return 0;
}

bool completes(const endpoint& to, std::uint64_t flags) {
  return !to.selective_receive || (flags & FI_COMPLETION) != 0;
}

/// The rules of the row that a receive can break. 0 where it breaks none.
int check(const endpoint& to, const receive_request& what) {
  const profile& row = *emulated();
  if (what.tagged && !row.tagged)
    return broken("tagged", "a tagged receive was posted; this fabric has none", FI_ENOSYS);
  if (what.count > std::max<std::size_t>(row.gather_limit, 1))
    return broken("gather_limit", "a receive with " + std::to_string(what.count) + " buffers was posted; " +
                                      std::to_string(row.gather_limit) + " are allowed");
  if (what.tagged)
    if (const int refused = check_tag(what.tag)) return refused;
  if (row.context_bytes > 0 && what.context == nullptr && completes(to, what.flags))
    return broken("context_bytes", "a receive was posted without a context; the library keeps its own state in " +
                                       std::to_string(row.context_bytes) + " bytes of it");
  const bool multi = (what.flags & FI_MULTI_RECV) != 0;
  if (multi && (what.tagged || what.count != 1)) return -FI_EINVAL;
  if (multi && !row.multi_receive)
    return broken("multi_receive", "a receive for many messages was posted; on this fabric each takes one", FI_ENOSYS);
  return check_local(to, what.into, what.descriptors, what.count, "posted for a message");
}

}  // namespace

int check_tag(std::uint64_t tag) {
  const profile& row = *emulated();
  const int reserved = std::countl_zero(row.mem_tag_format);
  if (reserved == 0 || tag >> (64 - reserved) == 0) return 0;
  return broken("mem_tag_format",
                "a tag has more than the " + std::to_string(64 - reserved) +
                    " bits that fi_ep_attr::mem_tag_format leaves to programs",
                FI_EINVAL);
}

ssize_t receive(endpoint& to, const receive_request& what) {
  const locked hold(process_lock());
  if (const int refused = check_search(what)) return refused;
  if (const int refused = check(to, what)) return refused;
  const bool searches = (what.flags & (FI_PEEK | FI_CLAIM)) != 0;
  if (!searches && to.receives.size() + to.tagged_receives.size() >= to.receive_size) return -FI_EAGAIN;
  posted_receive made;
  made.into.assign(what.into, what.into + what.count);
  for (const iovec& each : made.into) made.size += each.iov_len;
  made.context = what.context;
  made.tagged = what.tagged;
  made.tag = what.tag;
  made.ignore = what.ignore;
  made.completes = completes(to, what.flags);
  made.multi = (what.flags & FI_MULTI_RECV) != 0;
  if ((to.caps & FI_DIRECTED_RECV) != 0 && what.from != FI_ADDR_UNSPEC && to.table != nullptr) {
    made.from = to.table->number_at(what.from);
    if (made.from == 0)
      return broken("address", "a receive from one sender names an address that is not in the address vector");
  }
  if ((what.flags & FI_CLAIM) != 0 && (what.flags & FI_PEEK) == 0)
    return -receive_claimed(to, std::move(made), what.flags);
  if (made.completes || searches) made.noise = take_context(what.context);
  if (searches) peek(to, made, what.flags);
  else post_receive(to, std::move(made));
  return 0;
}

}  // namespace weft::emulator
