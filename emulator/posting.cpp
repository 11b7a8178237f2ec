// SPDX-License-Identifier: Apache-2.0
#include "posting.hpp"

#include "receiving.hpp"
#include "rules.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <numeric>
#include <utility>

namespace weft::emulator {
namespace {

std::size_t bytes_in(const iovec* vector, std::size_t count) {
  return std::accumulate(vector, vector + count, std::size_t{0},
                         [](std::size_t sum, const iovec& each) { return sum + each.iov_len; });
}

std::string gather(const iovec* vector, std::size_t count) {
  std::string all;
  all.reserve(bytes_in(vector, count));
  for (std::size_t i = 0; i < count; ++i)
    if (vector[i].iov_len > 0) all.append(static_cast<const char*>(vector[i].iov_base), vector[i].iov_len);
  return all;
}

bool remote(packet_kind kind) {
  return kind == packet_kind::write || kind == packet_kind::read || kind == packet_kind::atomic;
}

/// Whether a success gives an entry. fi_getinfo(3): only such operations owe the library a context.
bool completes(const endpoint& from, const request& what) {
  return !what.silent && (!from.selective_transmit || (what.flags & FI_COMPLETION) != 0);
}

/// The rules of the row that a post can break. 0 where it breaks none.
int check(const endpoint& from, const request& what) {
  const profile& row = *emulated();
  if (!from.enabled)
    return broken("endpoint_enabled", "an operation was posted on an endpoint that is not enabled", FI_EOPBADSTATE);
  if (row.connected && !from.linked) return -FI_ENOTCONN;
  if (!row.connected && (from.table == nullptr || from.table->number_at(what.to) == 0))
    return broken("address", "an operation was posted to an address that is not in the address vector");
  if (what.kind == packet_kind::tagged) {
    if (!row.tagged) return broken("tagged", "a tagged message was posted; this fabric has none", FI_ENOSYS);
    if (const int refused = check_tag(what.tag)) return refused;
  }
  const std::size_t limit = remote(what.kind) ? row.rma_gather_limit : row.gather_limit;
  if (what.count > std::max<std::size_t>(limit, 1) || what.into_count > std::max<std::size_t>(limit, 1))
    return broken(remote(what.kind) ? "rma_gather_limit" : "gather_limit",
                  "a list of " + std::to_string(std::max(what.count, what.into_count)) + " buffers was posted; " +
                      std::to_string(limit) + " are allowed");
  const std::size_t size = bytes_in(what.from, what.count);
  const std::size_t moved = std::max<std::size_t>(size, what.kind == packet_kind::read ? what.length : 0);
  const std::uint64_t most = remote(what.kind) ? row.largest_write : row.largest_message;
  if (moved > most)
    return broken(remote(what.kind) ? "largest_write" : "largest_message",
                  std::to_string(moved) + " bytes were posted; the largest transfer has " + std::to_string(most),
                  FI_EMSGSIZE);
  const bool injected = what.silent || (what.flags & FI_INJECT) != 0;
  if (injected && size > row.inject_bytes)
    return broken("inject_bytes",
                  std::to_string(size) + " bytes were injected; " + std::to_string(row.inject_bytes) + " are allowed");
  if (what.has_data) {
    const std::size_t width = remote(what.kind) ? from.immediate_bytes : row.send_immediate_bytes;
    if (width == 0)
      return broken("write_immediate_bytes",
                    "an operation with an immediate was posted; they carry none on this fabric", FI_ENOSYS);
    if (width < 8 && (what.data >> (8 * width)) != 0)
      return broken(remote(what.kind) ? "write_immediate_bytes" : "send_immediate_bytes",
                    "an immediate wider than " + std::to_string(8 * width) + " bits was posted");
  }
  if ((what.flags & FI_DELIVERY_COMPLETE) != 0 && !row.delivery_complete)
    return broken("delivery_complete", "FI_DELIVERY_COMPLETE was asked for; this fabric has no such completion",
                  FI_ENOSYS);
  if (from.context_bytes > 0 && what.context == nullptr && completes(from, what))
    return broken("context_bytes", "an operation was posted without a context; the library keeps its own state in " +
                                       std::to_string(from.context_bytes) + " bytes of it");
  if (row.local_registration && what.listed && what.descriptors != nullptr &&
      std::count(what.descriptors, what.descriptors + what.count, nullptr) > 0)
    return broken("local_registration",
                  "a list of descriptors has an empty entry; libraries follow each, also those of buffers of no bytes "
                  "(give them that of any memory)");
  if (!injected && !what.taken_over)
    if (const int refused = check_local(from, what.from, what.descriptors, what.count, "posted")) return refused;
  return check_local(from, what.into, what.into_descriptors, what.into_count, "given for an answer");
}

/// Room in the completion queue for the ends of all posts and of one more.
bool has_room(const endpoint& of) {
  if (of.transmit == nullptr || of.transmit->size == 0) return true;
  const auto still_to_come =
      static_cast<std::size_t>(std::count_if(of.posted.begin(), of.posted.end(), [](const auto& each) {
        return each.second.completes && !each.second.reported;
      }));
  return of.transmit->entries.size() + still_to_come < of.transmit->size;
}

bool answers_again(endpoint& of) {
  if (of.again_left > 0) {
    --of.again_left;
    return true;
  }
  if (of.decisions.in_a_thousand(conducted().again)) of.again_left = 1 + static_cast<unsigned>(of.decisions.below(8));
  return of.again_left > 0;
}

/// Like a machine that stops: the process ends at once, without a message.
void die_in_time() {
  static std::uint64_t posts = 0;
  if (++posts == conducted().dying) (void)raise(SIGKILL);
}

/// A completion without delivery may come before the target has the bytes, except where a refusal must still be
/// reported.
bool may_be_early(const request& what) {
  if ((what.flags & FI_DELIVERY_COMPLETE) != 0) return false;
  if (what.kind == packet_kind::message || what.kind == packet_kind::tagged) return true;
  return what.kind == packet_kind::write && !emulated()->refused_write_reported;
}

void leave(endpoint& from, std::uint64_t to, const packet_header& head, std::string_view payload) {
  if (from.wire.send(to, head, payload) != sent::nobody) return;
  const auto known = from.posted.find(head.number);
  if (known == from.posted.end()) return;
  outstanding gone = std::move(known->second);
  from.posted.erase(known);
  if (emulated()->reports_killed_peer) finish(from, gone, FI_ECONNREFUSED, 0);
}

packet_header header_of(const request& what) {
  packet_header head;
  head.kind = what.kind;
  head.marks = static_cast<std::uint8_t>((what.has_data ? mark::data : 0) |
                                         ((what.flags & FI_DELIVERY_COMPLETE) != 0 ? mark::delivered : 0) |
                                         (what.kind == packet_kind::atomic && what.into_count > 0 ? mark::fetches : 0));
  head.datatype = what.datatype;
  head.operation = what.operation;
  head.address = what.address;
  head.key = what.key;
  head.data = what.data;
  head.tag = what.tag;
  head.length = what.length;
  return head;
}

/// Records the post, an injected operation too: each has a place in the queue until it arrives. Returns its number.
std::uint64_t keep(endpoint& from, const request& what, std::uint64_t to) {
  const std::uint64_t number = from.next_operation++;
  outstanding& kept = from.posted[number];
  kept.silent = what.silent;
  kept.kind = what.kind;
  kept.delivered = (what.flags & FI_DELIVERY_COMPLETE) != 0;
  kept.peer = to;
  kept.context = what.context;
  kept.flags = what.entry_flags;
  kept.completes = completes(from, what);
  kept.into.assign(what.into, what.into + what.into_count);
  if (kept.completes && from.context_bytes > 0) kept.noise = take_context(what.context);
  if (!what.silent && may_be_early(what) && from.decisions.in_a_thousand(conducted().early)) {
    finish(from, kept, 0, 0);
    kept.reported = true;
  }
  return number;
}

}  // namespace

int check_local(const endpoint& of, const iovec* vector, void* const* descriptors, std::size_t count,
                const char* call) {
  if (!emulated()->local_registration) return 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (vector[i].iov_len == 0) continue;
    const auto* covers = static_cast<const region*>(descriptors == nullptr ? nullptr : descriptors[i]);
    if (covers == nullptr)
      return broken("local_registration",
                    std::string("a buffer was ") + call + " without a descriptor; local memory must be registered");
    if (!of.domain->descriptors.contains(covers))
      return broken("local_registration",
                    std::string("a buffer was ") + call + " with a descriptor of no living region");
    if (!covers->enabled)
      return broken("region_endpoint_binding", std::string("a buffer was ") + call +
                                                   " with a region that is not enabled (fi_mr_bind, fi_mr_enable)");
    const auto* begin = static_cast<const std::byte*>(vector[i].iov_base);
    if (begin < covers->base || begin + vector[i].iov_len > covers->base + covers->size)
      return broken("local_registration",
                    std::string("a buffer was ") + call + " that lies outside of the region of its descriptor");
  }
  return 0;
}

ssize_t post(endpoint& from, const request& what) {
  const locked hold(process_lock());
  if (const int refused = check(from, what)) return refused;
  die_in_time();
  if (from.posted.size() >= from.transmit_size || answers_again(from)) return -FI_EAGAIN;
  if (emulated()->full_completion_queue_refuses && completes(from, what) && !has_room(from)) return -FI_EAGAIN;
  const std::uint64_t to = emulated()->connected ? from.peer : from.table->number_at(what.to);
  if (from.wire.full(to)) return -FI_EAGAIN;
  packet_header head = header_of(what);
  head.number = keep(from, what, to);
  std::string payload = gather(what.from, what.count);
  if ((what.flags & FI_MORE) != 0) {
    from.held.push_back({to, head, std::move(payload)});
    return 0;
  }
  release_held(from);
  leave(from, to, head, payload);
  return 0;
}

void release_held(endpoint& of) {
  of.held_polls = 0;
  for (const auto& each : std::exchange(of.held, {})) leave(of, each.to, each.head, each.payload);
}

void finish(endpoint& of, outstanding& operation, int code, std::size_t length) {
  if (operation.reported) return;
  if (code == 0 && !operation.silent && of.decisions.in_a_thousand(conducted().failing)) code = FI_EIO;
  count((operation.flags & FI_SEND) != 0   ? of.counted.sends
        : (operation.flags & FI_READ) != 0 ? of.counted.reads
                                           : of.counted.writes,
        code);
  if (operation.silent) return;
  (void)verify_context(operation.context, operation.noise);
  if (of.transmit == nullptr) return;
  if (code != 0) {
    fi_cq_err_entry error{};
    error.op_context = operation.context;
    error.flags = operation.flags;
    error.err = code;
    error.prov_errno = code;
    of.transmit->errors.push_back(error);
    return;
  }
  if (!operation.completes) return;
  entry reported;
  reported.context = operation.context;
  reported.flags = operation.flags;
  reported.length = length;
  auto& entries = of.transmit->entries;
  if (emulated()->full_completion_queue_loses && of.transmit->size != 0 && entries.size() >= of.transmit->size) {
    broken("full_completion_queue", "an entry found no room in a completion queue of " +
                                        std::to_string(of.transmit->size) + " entries, and is lost");
    return;
  }
  // Only among its own kind: receives keep their order, which the row promises for messages.
  std::size_t behind = 0;
  if (of.decisions.in_a_thousand(conducted().shuffle))
    while (behind < 4 && behind < entries.size() &&
           (entries[entries.size() - 1 - behind].flags & (FI_RECV | FI_REMOTE_WRITE)) == 0)
      ++behind;
  entries.insert(entries.end() - static_cast<std::ptrdiff_t>(behind), reported);
}

std::uint64_t take_context(void* context) {
  const std::size_t size = emulated()->context_bytes;
  if (size == 0 || context == nullptr) return 0;
  static chance noise(0x5eed);
  const std::uint64_t seed = noise.number() | 1U;
  chance bytes(seed);
  for (std::size_t at = 0; at + 8 <= size; at += 8) {
    const std::uint64_t word = bytes.number();
    std::memcpy(static_cast<std::byte*>(context) + at, &word, sizeof word);
  }
  return seed;
}

std::uint64_t verify_context(void* context, std::uint64_t seed) {
  const std::size_t size = emulated()->context_bytes;
  if (size == 0 || context == nullptr || seed == 0) return 0;
  chance bytes(seed);
  for (std::size_t at = 0; at + 8 <= size; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, static_cast<const std::byte*>(context) + at, sizeof word);
    if (word != bytes.number())
      broken("context_bytes", "the first " + std::to_string(size) +
                                  " bytes of an operation's context were written between its post and its completion; "
                                  "they are the library's on this fabric");
  }
  return take_context(context);
}

}  // namespace weft::emulator
