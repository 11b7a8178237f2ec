// SPDX-License-Identifier: Apache-2.0
//
// Counters (fi_cntr(3)). What a counter counts is decided where it is bound (fi_ep_bind): the profile says which ends
// the provider counts, and the row says whether remote writes are among them.
#include "objects.hpp"
#include "rules.hpp"

#include <chrono>

namespace weft::emulator {
namespace {

counter& of(fid_cntr* handle) { return *reinterpret_cast<counter*>(handle); }

int close_counter(fid* handle) {
  const locked hold(process_lock());
  auto* closed = reinterpret_cast<counter*>(handle);
  if (!closed->endpoints.empty()) return -FI_EBUSY;
  delete closed;  // NOLINT(cppcoreguidelines-owning-memory)
  return 0;
}
fi_ops base_calls{sizeof(fi_ops), close_counter, none, none, none, none, none};

std::uint64_t read(fid_cntr* handle) {
  const locked hold(process_lock());
  for (endpoint* each : of(handle).endpoints) progress(*each);
  return of(handle).value;
}
std::uint64_t read_errors(fid_cntr* handle) {
  const locked hold(process_lock());
  return of(handle).errors;
}
int add(fid_cntr* handle, std::uint64_t more) {
  const locked hold(process_lock());
  of(handle).value += more;
  return 0;
}
int set(fid_cntr* handle, std::uint64_t value) {
  const locked hold(process_lock());
  of(handle).value = value;
  return 0;
}
int add_errors(fid_cntr* handle, std::uint64_t more) {
  const locked hold(process_lock());
  of(handle).errors += more;
  return 0;
}
int set_errors(fid_cntr* handle, std::uint64_t value) {
  const locked hold(process_lock());
  of(handle).errors = value;
  return 0;
}
/// fi_cntr(3): until the threshold, a further error, or the time is over. A negative time has no end.
int wait(fid_cntr* handle, std::uint64_t threshold, int timeout) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout);
  const std::uint64_t errors = read_errors(handle);
  while (read(handle) < threshold) {
    if (read_errors(handle) != errors) return -FI_EAVAIL;
    if (timeout >= 0 && std::chrono::steady_clock::now() >= end) return -FI_ETIMEDOUT;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return 0;
}

fi_ops_cntr counter_calls{sizeof(fi_ops_cntr), read, read_errors, add, set, wait, add_errors, set_errors};

}  // namespace

void count(counter* by, int code) {
  if (by != nullptr) ++(code == 0 ? by->value : by->errors);
}

int open_counter(fid_domain* /*domain*/, fi_cntr_attr* attributes, fid_cntr** opened, void* context) {
  const profile& row = *emulated();
  if (row.counted.empty() && !row.remote_counter_counts_writes) return -FI_ENOSYS;
  if (attributes != nullptr && attributes->events != FI_CNTR_EVENTS_COMP) return -FI_EINVAL;
  const fi_wait_obj wanted = attributes == nullptr ? FI_WAIT_NONE : attributes->wait_obj;
  if (wanted != FI_WAIT_NONE && wanted != FI_WAIT_UNSPEC) return -FI_ENOSYS;  // no thread sleeps on a counter here
  auto* made = new counter;
  made->fid.fid = {FI_CLASS_CNTR, context, &base_calls};
  made->fid.ops = &counter_calls;
  *opened = &made->fid;
  return 0;
}

}  // namespace weft::emulator
