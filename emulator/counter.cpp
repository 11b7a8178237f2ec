// SPDX-License-Identifier: Apache-2.0
//
// Counters (fi_cntr(3)): only where the row has them. They count as the row says: remote writes that arrived.
#include "objects.hpp"
#include "rules.hpp"

#include <chrono>

namespace weft::emulator {
namespace {

counter& of(fid_cntr* handle) { return *reinterpret_cast<counter*>(handle); }

int close_counter(fid* handle) {
  const locked hold(process_lock());
  delete reinterpret_cast<counter*>(handle);  // NOLINT(cppcoreguidelines-owning-memory)
  return 0;
}
fi_ops base_calls{sizeof(fi_ops), close_counter, none, none, none, none, none};

std::uint64_t read(fid_cntr* handle) {
  const locked hold(process_lock());
  for (endpoint* each : of(handle).endpoints) progress(*each);
  return of(handle).value;
}
std::uint64_t read_errors(fid_cntr* handle) { return of(handle).errors; }
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
int wait(fid_cntr* handle, std::uint64_t threshold, int timeout) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout);
  while (read(handle) < threshold) {
    if (timeout >= 0 && std::chrono::steady_clock::now() >= end) return -FI_ETIMEDOUT;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return 0;
}

fi_ops_cntr counter_calls{sizeof(fi_ops_cntr), read, read_errors, add, set, wait, none, none};

}  // namespace

int open_counter(fid_domain* /*domain*/, fi_cntr_attr* /*attributes*/, fid_cntr** opened, void* context) {
  if (!emulated()->remote_counter_counts_writes) return -FI_ENOSYS;
  auto* made = new counter;
  made->fid.fid = {FI_CLASS_CNTR, context, &base_calls};
  made->fid.ops = &counter_calls;
  *opened = &made->fid;
  return 0;
}

}  // namespace weft::emulator
