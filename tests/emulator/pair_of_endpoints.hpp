// SPDX-License-Identifier: Apache-2.0
//
// Two endpoints in one process over plain libfabric, as a careless program sets them up.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

namespace wrong {

using std::chrono::steady_clock;

inline void need(int code, const char* call) {
  if (code >= 0) return;
  std::fprintf(stderr, "wrong_program: %s: %s\n", call, fi_strerror(-code));
  std::exit(1);
}

inline constexpr std::size_t size = std::size_t{1} << 20U;

struct end {
  fid_ep* ep = nullptr;
  fid_cq* cq = nullptr;
  fid_av* av = nullptr;
  fid_mr* mr = nullptr;
  fi_addr_t other = FI_ADDR_UNSPEC;
  std::vector<std::byte> memory = std::vector<std::byte>(size);
  std::array<std::array<std::uint64_t, 16>, 64> contexts{};
  int seen = 0;
  std::uint64_t data = 0;
  bool told = false;  ///< An immediate or a message arrived.
};

struct pair {
  fi_info* info = nullptr;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  end a;
  end b;
};

inline void open_end(pair& p, end& e, std::uint64_t key) {
  fi_av_attr table{};
  fi_cq_attr queue{};
  queue.format = FI_CQ_FORMAT_DATA;
  queue.size = 512;
  need(fi_av_open(p.domain, &table, &e.av, nullptr), "fi_av_open");
  need(fi_cq_open(p.domain, &queue, &e.cq, nullptr), "fi_cq_open");
  need(fi_endpoint(p.domain, p.info, &e.ep, nullptr), "fi_endpoint");
  need(fi_ep_bind(e.ep, &e.av->fid, 0), "fi_ep_bind");
  need(fi_ep_bind(e.ep, &e.cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
  need(fi_enable(e.ep), "fi_enable");
  need(fi_mr_reg(p.domain, e.memory.data(), size,
                 FI_SEND | FI_RECV | FI_WRITE | FI_READ | FI_REMOTE_WRITE | FI_REMOTE_READ, 0, key, 0, &e.mr, nullptr),
       "fi_mr_reg");
  if ((p.info->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0) {
    need(fi_mr_bind(e.mr, &e.ep->fid, 0), "fi_mr_bind");
    need(fi_mr_enable(e.mr), "fi_mr_enable");
  }
}

inline void introduce(end& to, end& whom) {
  std::array<std::byte, 256> name{};
  std::size_t length = name.size();
  need(fi_getname(&whom.ep->fid, name.data(), &length), "fi_getname");
  need(fi_av_insert(to.av, name.data(), 1, &to.other, 0, nullptr) == 1 ? 0 : -FI_EINVAL, "fi_av_insert");
}

inline pair open_pair(const char* provider, std::uint64_t caps, int mr_mode) {
  pair p;
  fi_info* hints = fi_allocinfo();
  hints->caps = FI_MSG | FI_RMA | caps;
  hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = mr_mode;
  hints->fabric_attr->prov_name = strdup(provider);
  need(fi_getinfo(FI_VERSION(1, 15), nullptr, nullptr, 0, hints, &p.info), "fi_getinfo");
  fi_freeinfo(hints);
  need(fi_fabric(p.info->fabric_attr, &p.fabric, nullptr), "fi_fabric");
  need(fi_domain(p.fabric, p.info, &p.domain, nullptr), "fi_domain");
  return p;
}
inline void meet(pair& p) {
  open_end(p, p.a, 1);
  open_end(p, p.b, 2);
  introduce(p.a, p.b);
  introduce(p.b, p.a);
}

inline void poll(end& e) {
  fi_cq_data_entry entry{};
  const ssize_t n = fi_cq_read(e.cq, &entry, 1);
  if (n == -FI_EAVAIL) {
    fi_cq_err_entry error{};
    (void)fi_cq_readerr(e.cq, &error, 0);
    std::fprintf(stderr, "wrong_program: an operation failed: %s\n", fi_strerror(error.err));
    std::exit(1);
  }
  if (n < 1) return;
  ++e.seen;
  if ((entry.flags & (FI_REMOTE_CQ_DATA | FI_RECV)) != 0) {
    e.told = true;
    e.data = entry.data;
  }
}

/// Polls until `done`, at most ten seconds. With `only`, the other end is not polled.
inline void until(pair& p, const std::function<bool()>& done, end* only = nullptr) {
  const auto limit = steady_clock::now() + std::chrono::seconds(10);
  while (!done()) {
    if (only == nullptr || only == &p.a) poll(p.a);
    if (only == nullptr || only == &p.b) poll(p.b);
    if (steady_clock::now() < limit) continue;
    std::fprintf(stderr, "wrong_program: no event in ten seconds\n");
    std::exit(1);
  }
}

/// Posts, polling while the queue is full.
inline void post(pair& p, const std::function<ssize_t()>& call, const char* name) {
  for (;;) {
    const ssize_t code = call();
    if (code != -FI_EAGAIN) return need(static_cast<int>(code), name);
    poll(p.a);
    poll(p.b);
  }
}

inline std::uint64_t base(const pair& p) {
  return (p.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0 ? reinterpret_cast<std::uintptr_t>(p.b.memory.data())
                                                               : 0;
}
inline void* descriptor(const pair& p) { return fi_mr_desc(p.a.mr); }
inline void* context(pair& p, std::size_t n) { return p.a.contexts[n % 64].data(); }

inline ssize_t write(pair& p, std::size_t at, std::size_t bytes, std::uint64_t address, void* desc, void* with) {
  return fi_write(p.a.ep, p.a.memory.data() + at, bytes, desc, p.a.other, address, fi_mr_key(p.b.mr), with);
}

inline constexpr int all_modes = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ENDPOINT;

}  // namespace wrong
