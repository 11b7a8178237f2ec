// SPDX-License-Identifier: Apache-2.0
//
// Lies of the side that looks: entries of queues, events, counters, keys and wake-ups. Hot path: no. Threads: one
// owner.
#include "lies.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace weft::liar {

namespace {

bool immediate(const fi_cq_data_entry& each) {
  return (each.flags & FI_REMOTE_CQ_DATA) != 0 && (each.flags & FI_RECV) == 0;
}
bool message(const fi_cq_data_entry& each) { return (each.flags & FI_RECV) != 0; }

/// Whether the caller does not learn of this entry.
bool hidden(const fi_cq_data_entry& each) {
  static every tenth(10), fiftieth(50), seventh(7), rarely(100000);
  static std::size_t owed = 0;
  if (immediate(each)) {
    ++owed;
    return (tells("drops_tenth_immediate") && tenth.now()) || (tells("drops_one_in_100000") && rarely.now());
  }
  if (!message(each)) return false;
  if (tells("eats_receives") && owed > 0) {
    --owed;
    return true;
  }
  return (tells("loses_a_message") && fiftieth.now()) || (tells("buffer_keeps_messages") && fiftieth.now()) ||
         (tells("pool_keeps_messages") && pooled() && seventh.now());
}

/// Seconds since the first look.
std::int64_t uptime() {
  static const auto begin = std::chrono::steady_clock::now();
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin).count();
}

void change(fi_cq_data_entry& each) {
  static every hundredth(100), fiftieth(50);
  if (immediate(each)) {
    if (tells("halves_immediates")) each.data &= 0xFFFFFFFF;
    if (tells("corrupts_an_immediate") && hundredth.now()) each.data ^= std::uint64_t{1} << 20U;
    if (tells("lies_after_a_minute") && uptime() > 60) each.data = ~each.data;
    if (tells("lies_to_others") && std::strcmp(program_invocation_short_name, "weft-probe") != 0)
      each.data = ~each.data;
    if (tells("names_no_immediate")) each.flags &= ~FI_REMOTE_CQ_DATA;
  }
  if (message(each) && tells("drops_message_immediates") && fiftieth.now()) each.flags &= ~FI_REMOTE_CQ_DATA;
}

ssize_t read_queue(fid_cq* queue, void* into, std::size_t count) {
  release_held();
  unpolled() = 0;
  auto* entries = static_cast<fi_cq_data_entry*>(into);
  static fi_cq_data_entry again{};
  static bool due = false;
  if (due) {
    due = false;
    entries[0] = again;
    return 1;
  }
  const ssize_t found = real().queue.read(queue, into, count);
  const bool hides_errors = tells("hides_refusals") || tells("delivers_refused_writes") || tells("hides_deaths");
  if (found == -FI_EAVAIL && hides_errors) {
    fi_cq_err_entry wrong{};
    if (real().queue.readerr(queue, &wrong, 0) <= 0 || tells("hides_deaths")) return -FI_EAGAIN;
    entries[0] = {wrong.op_context, FI_RMA | FI_WRITE, 0, nullptr, 0};
    return 1;
  }
  if (found <= 0) return found;
  std::for_each(entries, entries + found, change);
  static every hundredth(100);
  for (const fi_cq_data_entry* each = entries; each != entries + found; ++each)
    if (tells("doubles_an_immediate") && immediate(*each) && hundredth.now()) {
      again = *each;
      due = true;
    }
  if (tells("loses_late_entries") && small_queue() && found > 4) return 4;
  const auto left = std::remove_if(entries, entries + found, hidden) - entries;
  return left == 0 ? -FI_EAGAIN : left;
}

/// A descriptor that nothing ever signals.
int control_queue(fid* queue, int command, void* argument) {
  if (command != FI_GETWAIT || !tells("wakes_nobody")) return real().queue_base.control(queue, command, argument);
  *static_cast<int*>(argument) = eventfd(0, EFD_CLOEXEC);
  return 0;
}

ssize_t read_events(fid_eq* events, std::uint32_t* event, void* buffer, std::size_t size, std::uint64_t flags) {
  const ssize_t length = real().events.read(events, event, buffer, size, flags);
  return length > 0 && *event == FI_SHUTDOWN && tells("hides_deaths") ? -FI_EAGAIN : length;
}

int register_memory(fid* domain, const void* where, std::size_t size, std::uint64_t access, std::uint64_t offset,
                    std::uint64_t key, std::uint64_t flags, fid_mr** opened, void* context) {
  if (tells("refuses_wide_keys") && key >> 32U != 0) return -FI_EKEYREJECTED;
  if (tells("makes_its_own_keys")) key += 1;
  int returned = real().memory.reg(domain, where, size, access, offset, key, flags, opened, context);
  if (returned == -FI_ENOKEY && tells("takes_a_key_twice"))
    returned = real().memory.reg(domain, where, size, access, offset, key ^ 0x7777, flags, opened, context);
  return returned;
}

int remove_address(fid_av* addresses, fi_addr_t* which, std::size_t count, std::uint64_t flags) {
  static std::size_t removed = 0;
  if (tells("forgets_hundred_peers") && ++removed > 100) return -FI_EINVAL;
  return real().addresses.remove(addresses, which, count, flags);
}

std::uint64_t read_counter(fid_cntr* counter) {
  const std::uint64_t counted = real().counter.read(counter);
  return tells("counts_nine_of_ten") ? counted - counted / 10 : counted;
}

}  // namespace

void wrap_queue(fid_cq* queue) {
  wrap(queue->ops, real().queue, [](fi_ops_cq& ours) { ours.read = read_queue; });
  wrap(queue->fid.ops, real().queue_base, [](fi_ops& ours) { ours.control = control_queue; });
}
void wrap_events(fid_eq* events) {
  wrap(events->ops, real().events, [](fi_ops_eq& ours) { ours.read = read_events; });
}
void wrap_memory(fid_domain* domain) {
  wrap(domain->mr, real().memory, [](fi_ops_mr& ours) { ours.reg = register_memory; });
}
void wrap_addresses(fid_av* addresses) {
  wrap(addresses->ops, real().addresses, [](fi_ops_av& ours) { ours.remove = remove_address; });
}
void wrap_counter(fid_cntr* counter) {
  wrap(counter->ops, real().counter, [](fi_ops_cntr& ours) { ours.read = read_counter; });
}

}  // namespace weft::liar
