// SPDX-License-Identifier: Apache-2.0
#include "pair.hpp"

#include <array>
#include <chrono>
#include <cstdlib>

namespace weft::calls {
namespace {

using std::chrono::steady_clock;

void need(int code, const char* call) { ASSERT_EQ(code, 0) << call << ": " << fi_strerror(-code); }

void close_one(fid* handle) {
  if (handle != nullptr) {
    EXPECT_EQ(fi_close(handle), 0);
  }
}

}  // namespace

const char* provider() {
  const char* name = ::secure_getenv("WEFT_CALLS_PROVIDER");
  return name == nullptr ? "" : name;
}

bool pair::open(const wishes& wanted) {
  fi_info* hints = fi_allocinfo();
  hints->caps = wanted.caps;
  hints->mode = wanted.modes;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->op_flags = wanted.transmit_flags;
  hints->rx_attr->op_flags = wanted.receive_flags;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  hints->fabric_attr->prov_name = strdup(provider());
  const int found = fi_getinfo(FI_VERSION(1, 15), nullptr, nullptr, 0, hints, &info);
  fi_freeinfo(hints);
  if (found == -FI_ENODATA) return false;
  need(found, "fi_getinfo");
  need(fi_fabric(info->fabric_attr, &fabric, nullptr), "fi_fabric");
  need(fi_domain(fabric, info, &domain, nullptr), "fi_domain");
  open_side(a, wanted, 1);
  open_side(b, wanted, 2);
  for (auto [to, whom] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
    std::array<std::byte, 256> name{};
    std::size_t length = name.size();
    need(fi_getname(&whom->ep->fid, name.data(), &length), "fi_getname");
    EXPECT_EQ(fi_av_insert(to->av, name.data(), 1, &to->other, 0, nullptr), 1);
  }
  return true;
}

void pair::open_side(side& of, const wishes& wanted, std::uint64_t key) {
  fi_av_attr addresses{};
  addresses.type = FI_AV_TABLE;
  fi_cq_attr queue{};
  queue.format = FI_CQ_FORMAT_TAGGED;
  queue.size = 512;
  need(fi_av_open(domain, &addresses, &of.av, nullptr), "fi_av_open");
  need(fi_cq_open(domain, &queue, &of.cq, &of), "fi_cq_open");
  need(fi_endpoint(domain, info, &of.ep, nullptr), "fi_endpoint");
  need(fi_ep_bind(of.ep, &of.av->fid, 0), "fi_ep_bind");
  need(fi_ep_bind(of.ep, &of.cq->fid, FI_TRANSMIT), "fi_ep_bind");
  need(fi_ep_bind(of.ep, &of.cq->fid, FI_RECV | wanted.receive_binding), "fi_ep_bind");
  need(fi_enable(of.ep), "fi_enable");
  const bool remote = (wanted.caps & (FI_RMA | FI_ATOMIC)) != 0;
  if (!remote && (info->domain_attr->mr_mode & FI_MR_LOCAL) == 0) return;
  const std::uint64_t access =
      FI_SEND | FI_RECV | (remote ? FI_WRITE | FI_READ | FI_REMOTE_WRITE | FI_REMOTE_READ : std::uint64_t{0});
  need(fi_mr_reg(domain, of.memory.data(), memory_size, access, 0, key, 0, &of.mr, nullptr), "fi_mr_reg");
  if ((info->domain_attr->mr_mode & FI_MR_ENDPOINT) == 0) return;
  need(fi_mr_bind(of.mr, &of.ep->fid, 0), "fi_mr_bind");
  need(fi_mr_enable(of.mr), "fi_mr_enable");
}

void pair::read(side& of) {
  fi_cq_tagged_entry one{};
  fi_addr_t source = FI_ADDR_NOTAVAIL;
  const ssize_t n = fi_cq_readfrom(of.cq, &one, 1, &source);
  if (n == 1) {
    of.entries.push_back(one);
    of.sources.push_back(source);
  } else if (n == -FI_EAVAIL) {
    fi_cq_err_entry failed{};
    if (fi_cq_readerr(of.cq, &failed, 0) == 1) of.errors.push_back(failed);
  }
}

void pair::poll() {
  read(a);
  read(b);
}

bool pair::until(const std::function<bool()>& done) {
  const auto limit = steady_clock::now() + std::chrono::seconds(10);
  while (!done()) {
    if (steady_clock::now() >= limit) return false;
    poll();
  }
  return true;
}

ssize_t pair::post(const std::function<ssize_t()>& call) {
  ssize_t code = -FI_EAGAIN;
  EXPECT_TRUE(until([&] { return (code = call()) != -FI_EAGAIN; })) << "the queue stays full";
  return code;
}

fi_cq_tagged_entry pair::entry(side& of) {
  EXPECT_TRUE(until([&] { return !of.entries.empty() || !of.errors.empty(); })) << "no entry in ten seconds";
  if (of.entries.empty()) {
    ADD_FAILURE() << "no entry"
                  << (of.errors.empty() ? std::string() : std::string(", but ") + fi_strerror(of.errors.front().err));
    return {};
  }
  const fi_cq_tagged_entry first = of.entries.front();
  of.entries.pop_front();
  of.sources.pop_front();
  return first;
}

fi_cq_err_entry pair::error(side& of) {
  EXPECT_TRUE(until([&] { return !of.errors.empty(); })) << "no error entry in ten seconds";
  if (of.errors.empty()) return {};
  const fi_cq_err_entry first = of.errors.front();
  of.errors.pop_front();
  return first;
}

bool pair::quiet() {
  for (int i = 0; i < 200; ++i) poll();
  return a.entries.empty() && b.entries.empty() && a.errors.empty() && b.errors.empty();
}

std::uint64_t pair::base(const side& of) const {
  return (info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0 ? reinterpret_cast<std::uintptr_t>(of.memory.data()) : 0;
}

void pair::close(side& of) {
  close_one(of.mr == nullptr ? nullptr : &of.mr->fid);
  close_one(of.ep == nullptr ? nullptr : &of.ep->fid);
  close_one(of.cq == nullptr ? nullptr : &of.cq->fid);
  close_one(of.av == nullptr ? nullptr : &of.av->fid);
}

void pair::TearDown() {
  close(a);
  close(b);
  close_one(domain == nullptr ? nullptr : &domain->fid);
  close_one(fabric == nullptr ? nullptr : &fabric->fid);
  if (info != nullptr) fi_freeinfo(info);
}

}  // namespace weft::calls
