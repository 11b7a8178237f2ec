// SPDX-License-Identifier: Apache-2.0
//
// Remote atomics (fi_atomic(3)): each call becomes one request, whose payload is the operands and, behind them, the
// values to compare with.
#include "executing.hpp"
#include "false_reply.hpp"
#include "posting.hpp"
#include "rules.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

namespace weft::emulator {
namespace {

endpoint& of(fid_ep* handle) { return endpoint_of(handle); }

/// Elements of one element's type, in one or several places.
struct elements {
  const fi_ioc* list = nullptr;
  void* const* descriptors = nullptr;
  std::size_t places = 0;

  std::size_t count() const {
    return std::accumulate(list, list + places, std::size_t{0},
                           [](std::size_t sum, const fi_ioc& each) { return sum + each.count; });
  }
  std::vector<iovec> bytes(std::size_t of_one) const {
    std::vector<iovec> all;
    for (std::size_t i = 0; i < places; ++i) all.push_back({list[i].addr, list[i].count * of_one});
    return all;
  }
};

/// One operation, from any call.
struct operation {
  elements operands;
  elements expected;
  elements results;
  fi_addr_t to = FI_ADDR_UNSPEC;
  std::uint64_t address = 0;
  std::uint64_t key = 0;
  fi_datatype datatype{};
  fi_op kind{};
  void* context = nullptr;
  std::uint64_t flags = 0;
  bool silent = false;
};

/// Elements of one operation at most; fi_query_atomic(3) reports it.
std::size_t most_elements(fi_datatype datatype, fi_op kind) {
  const std::size_t size = size_of(static_cast<std::uint8_t>(datatype)) * (compares(kind) ? 2 : 1);
  return std::max<std::size_t>(emulated()->atomic_bytes / std::max<std::size_t>(size, 1), 1);
}

int check(const endpoint& from, const operation& what, std::size_t count) {
  const profile& row = *emulated();
  if (!row.atomics) return broken("atomics", "an atomic operation was posted; this fabric has none", FI_ENOSYS);
  if ((from.domain->caps & FI_ATOMIC) == 0 || !executes(what.datatype, what.kind)) return -FI_EOPNOTSUPP;
  if (compares(what.kind) != (what.expected.places > 0)) return -FI_EINVAL;
  if (count == 0) return -FI_EINVAL;
  const std::size_t most = most_elements(what.datatype, what.kind);
  if (count > most)
    return broken(
        "atomic_bytes",
        std::to_string(count) + " elements were posted as one atomic; fi_query_atomic allows " + std::to_string(most),
        FI_EMSGSIZE);
  const std::size_t places = std::max<std::size_t>(row.rma_gather_limit, 1);
  if (std::max(what.operands.places, what.expected.places) > places)
    return broken("rma_gather_limit", "a list of more than " + std::to_string(places) + " operands was posted");
  return 0;
}

void append(std::string& payload, const std::vector<iovec>& from) {
  for (const iovec& each : from) payload.append(static_cast<const char*>(each.iov_base), each.iov_len);
}

ssize_t post_atomic(endpoint& from, const operation& what) {
  const locked hold(process_lock());
  const std::size_t count = what.kind == FI_ATOMIC_READ ? what.results.count() : what.operands.count();
  if (const int refused = check(from, what, count)) return refused;
  const std::size_t size = size_of(static_cast<std::uint8_t>(what.datatype));
  std::string payload;
  if (what.kind != FI_ATOMIC_READ) {
    const std::vector<iovec> local = what.operands.bytes(size);
    if (const int refused = what.silent ? 0
                                        : check_local(from, local.data(), what.operands.descriptors, local.size(),
                                                      "posted as an operand"))
      return refused;
    append(payload, local);
    append(payload, what.expected.bytes(size));
  }
  const std::vector<iovec> into = what.results.bytes(size);
  const iovec one{payload.data(), payload.size()};
  request made;
  made.kind = packet_kind::atomic;
  made.to = what.to;
  made.from = &one;
  made.count = 1;
  made.into = into.data();
  made.into_count = into.size();
  made.into_descriptors = const_cast<void**>(what.results.descriptors);
  made.address = what.address;
  made.key = what.key;
  made.length = count;
  made.context = what.context;
  made.flags = what.flags;
  made.silent = what.silent;
  made.taken_over = true;
  made.entry_flags = FI_ATOMIC | (into.empty() ? FI_WRITE : FI_READ);
  made.datatype = static_cast<std::uint8_t>(what.datatype);
  made.operation = static_cast<std::uint8_t>(what.kind);
  return post(from, made);
}

operation aimed(fi_addr_t to, std::uint64_t address, std::uint64_t key, fi_datatype datatype, fi_op kind, void* context,
                std::uint64_t flags) {
  operation what;
  what.to = to;
  what.address = address;
  what.key = key;
  what.datatype = datatype;
  what.kind = kind;
  what.context = context;
  what.flags = flags;
  return what;
}
operation of_message(const fi_msg_atomic* m, std::uint64_t flags) {
  operation what = aimed(m->addr, m->rma_iov->addr, m->rma_iov->key, m->datatype, m->op, m->context, flags);
  what.operands = {m->msg_iov, m->desc, m->iov_count};
  return what;
}

// ---- changes
ssize_t changev(fid_ep* ep, const fi_ioc* operands, void** descriptors, std::size_t places, fi_addr_t to,
                std::uint64_t address, std::uint64_t key, fi_datatype datatype, fi_op kind, void* context) {
  operation what = aimed(to, address, key, datatype, kind, context, usual_flags(of(ep)));
  what.operands = {operands, descriptors, places};
  return post_atomic(of(ep), what);
}
ssize_t change(fid_ep* ep, const void* operand, std::size_t count, void* descriptor, fi_addr_t to,
               std::uint64_t address, std::uint64_t key, fi_datatype datatype, fi_op kind, void* context) {
  const fi_ioc one{const_cast<void*>(operand), count};
  return changev(ep, &one, &descriptor, 1, to, address, key, datatype, kind, context);
}
ssize_t changemsg(fid_ep* ep, const fi_msg_atomic* m, std::uint64_t flags) {
  return m->rma_iov_count != 1 ? -FI_EINVAL : post_atomic(of(ep), of_message(m, flags));
}
ssize_t inject(fid_ep* ep, const void* operand, std::size_t count, fi_addr_t to, std::uint64_t address,
               std::uint64_t key, fi_datatype datatype, fi_op kind) {
  const fi_ioc one{const_cast<void*>(operand), count};
  operation what = aimed(to, address, key, datatype, kind, nullptr, 0);
  what.operands = {&one, nullptr, 1};
  what.silent = true;
  return post_atomic(of(ep), what);
}

// ---- changes that return the value before them
ssize_t fetchv(fid_ep* ep, const fi_ioc* operands, void** descriptors, std::size_t places, fi_ioc* results,
               void** result_descriptors, std::size_t result_places, fi_addr_t to, std::uint64_t address,
               std::uint64_t key, fi_datatype datatype, fi_op kind, void* context) {
  operation what = aimed(to, address, key, datatype, kind, context, usual_flags(of(ep)));
  what.operands = {operands, descriptors, places};
  what.results = {results, result_descriptors, result_places};
  return post_atomic(of(ep), what);
}
ssize_t fetch(fid_ep* ep, const void* operand, std::size_t count, void* descriptor, void* result,
              void* result_descriptor, fi_addr_t to, std::uint64_t address, std::uint64_t key, fi_datatype datatype,
              fi_op kind, void* context) {
  const fi_ioc one{const_cast<void*>(operand), count};
  fi_ioc into{result, count};
  return fetchv(ep, &one, &descriptor, 1, &into, &result_descriptor, 1, to, address, key, datatype, kind, context);
}
ssize_t fetchmsg(fid_ep* ep, const fi_msg_atomic* m, fi_ioc* results, void** result_descriptors,
                 std::size_t result_places, std::uint64_t flags) {
  if (m->rma_iov_count != 1) return -FI_EINVAL;
  operation what = of_message(m, flags);
  what.results = {results, result_descriptors, result_places};
  return post_atomic(of(ep), what);
}

// ---- changes that compare
ssize_t comparev(fid_ep* ep, const fi_ioc* operands, void** descriptors, std::size_t places, const fi_ioc* expected,
                 void** expected_descriptors, std::size_t expected_places, fi_ioc* results, void** result_descriptors,
                 std::size_t result_places, fi_addr_t to, std::uint64_t address, std::uint64_t key,
                 fi_datatype datatype, fi_op kind, void* context) {
  operation what = aimed(to, address, key, datatype, kind, context, usual_flags(of(ep)));
  what.operands = {operands, descriptors, places};
  what.expected = {expected, expected_descriptors, expected_places};
  what.results = {results, result_descriptors, result_places};
  return post_atomic(of(ep), what);
}
ssize_t compare(fid_ep* ep, const void* operand, std::size_t count, void* descriptor, const void* expected,
                void* expected_descriptor, void* result, void* result_descriptor, fi_addr_t to, std::uint64_t address,
                std::uint64_t key, fi_datatype datatype, fi_op kind, void* context) {
  const fi_ioc one{const_cast<void*>(operand), count};
  const fi_ioc other{const_cast<void*>(expected), count};
  fi_ioc into{result, count};
  return comparev(ep, &one, &descriptor, 1, &other, &expected_descriptor, 1, &into, &result_descriptor, 1, to, address,
                  key, datatype, kind, context);
}
ssize_t comparemsg(fid_ep* ep, const fi_msg_atomic* m, const fi_ioc* expected, void** expected_descriptors,
                   std::size_t expected_places, fi_ioc* results, void** result_descriptors, std::size_t result_places,
                   std::uint64_t flags) {
  if (m->rma_iov_count != 1) return -FI_EINVAL;
  operation what = of_message(m, flags);
  what.expected = {expected, expected_descriptors, expected_places};
  what.results = {results, result_descriptors, result_places};
  return post_atomic(of(ep), what);
}

// ---- questions
bool exists(const domain_object& domain, fi_datatype datatype, fi_op kind, std::uint64_t flags) {
  if ((domain.caps & FI_ATOMIC) == 0 || (flags & FI_TAGGED) != 0 || !executes(datatype, kind)) return false;
  if (compares(kind) != ((flags & FI_COMPARE_ATOMIC) != 0)) return false;
  return kind != FI_ATOMIC_READ || (flags & FI_FETCH_ATOMIC) != 0;
}
int valid(fid_ep* ep, fi_datatype datatype, fi_op kind, std::size_t* count, std::uint64_t flags) {
  if (!exists(*of(ep).domain, datatype, kind, flags)) return -FI_EOPNOTSUPP;
  if (count != nullptr) *count = most_elements(datatype, kind);
  return 0;
}
int valid_change(fid_ep* ep, fi_datatype datatype, fi_op kind, std::size_t* count) {
  return valid(ep, datatype, kind, count, 0);
}
int valid_fetch(fid_ep* ep, fi_datatype datatype, fi_op kind, std::size_t* count) {
  return valid(ep, datatype, kind, count, FI_FETCH_ATOMIC);
}
int valid_compare(fid_ep* ep, fi_datatype datatype, fi_op kind, std::size_t* count) {
  return valid(ep, datatype, kind, count, FI_COMPARE_ATOMIC);
}

}  // namespace

int query_atomic(fid_domain* domain, fi_datatype datatype, fi_op operation, fi_atomic_attr* attributes,
                 std::uint64_t flags) {
  if (!exists(*reinterpret_cast<domain_object*>(domain), datatype, operation, flags)) return -FI_EOPNOTSUPP;
  if (attributes == nullptr) return 0;
  attributes->count = most_elements(datatype, operation);
  attributes->size = size_of(static_cast<std::uint8_t>(datatype));
  const auto lies = falsified();
  if (lies.contains("atomic_attr.size"))
    attributes->size = std::strtoull(lies.at("atomic_attr.size").c_str(), nullptr, 0);
  if (lies.contains("atomic_attr.count"))
    attributes->count = std::strtoull(lies.at("atomic_attr.count").c_str(), nullptr, 0);
  return 0;
}

fi_ops_atomic atomic_calls{sizeof(fi_ops_atomic),
                           change,
                           changev,
                           changemsg,
                           inject,
                           fetch,
                           fetchv,
                           fetchmsg,
                           compare,
                           comparev,
                           comparemsg,
                           valid_change,
                           valid_fetch,
                           valid_compare};

}  // namespace weft::emulator
