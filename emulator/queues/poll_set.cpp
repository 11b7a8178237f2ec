// SPDX-License-Identifier: Apache-2.0
//
// Poll sets (fi_poll(3)): which of several completion queues and counters have something to read.
#include "objects.hpp"
#include "profile.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace weft::emulator {
namespace {

struct poll_set {
  fid_poll fid{};
  std::map<struct fid*, std::uint64_t> members;  ///< Of a counter: the sum that was reported last.
};

poll_set& of(fid_poll* handle) { return *reinterpret_cast<poll_set*>(handle); }

int close_set(fid* handle) {
  const locked hold(process_lock());
  delete reinterpret_cast<poll_set*>(handle);  // NOLINT(cppcoreguidelines-owning-memory)
  return 0;
}

bool has_news(fid* member, std::uint64_t& reported) {
  if (member->fclass == FI_CLASS_CQ) return fi_cq_read(reinterpret_cast<fid_cq*>(member), nullptr, 0) != -FI_EAGAIN;
  auto* counts = reinterpret_cast<fid_cntr*>(member);
  const std::uint64_t sum = fi_cntr_read(counts) + fi_cntr_readerr(counts);
  return std::exchange(reported, sum) != sum;
}

int poll(fid_poll* handle, void** contexts, int count) {
  const locked hold(process_lock());
  int found = 0;
  for (auto& [member, reported] : of(handle).members)
    if (found < count && has_news(member, reported)) contexts[found++] = member->context;
  return found;
}
int add(fid_poll* handle, fid* member, std::uint64_t /*flags*/) {
  const locked hold(process_lock());
  if (member->fclass != FI_CLASS_CQ && member->fclass != FI_CLASS_CNTR) return -FI_EINVAL;
  of(handle).members.emplace(member, 0);
  return 0;
}
int remove(fid_poll* handle, fid* member, std::uint64_t /*flags*/) {
  const locked hold(process_lock());
  of(handle).members.erase(member);
  return 0;
}

fi_ops base_calls{sizeof(fi_ops), close_set, none, none, none, none, none};
fi_ops_poll set_calls{sizeof(fi_ops_poll), poll, add, remove};

}  // namespace

int open_poll_set(fid_domain* /*domain*/, fi_poll_attr* attributes, fid_poll** opened) {
  if (!emulated()->poll_sets) return -FI_ENOSYS;
  if (attributes != nullptr && attributes->flags != 0) return -FI_EINVAL;
  auto* made = new poll_set;
  made->fid.fid = {FI_CLASS_POLL, nullptr, &base_calls};
  made->fid.ops = &set_calls;
  *opened = &made->fid;
  return 0;
}

}  // namespace weft::emulator
