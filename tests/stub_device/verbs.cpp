// SPDX-License-Identifier: Apache-2.0
//
// The entry points of libibverbs. The posting calls are not among them: the header reaches them through the context
// (ibv_context_ops). Hot path: no. Threads: one.
#include "objects.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#undef ibv_reg_mr
#undef ibv_query_port

namespace weft::stub_device {
namespace {
int query_port(ibv_context*, std::uint8_t, ibv_port_attr* into, std::size_t size) noexcept {
  ibv_port_attr seen{};
  seen.state = IBV_PORT_ACTIVE;
  seen.max_msg_sz = 1U << 30;
  seen.active_mtu = IBV_MTU_4096;
  std::memcpy(into, &seen, std::min(size, sizeof seen));
  return 0;
}
int arm(ibv_cq*, int) noexcept {
  ++seen().armed;
  return 0;
}
}  // namespace

state& here() noexcept {
  static state* const all = [] {
    auto* made = new state;  // never released, as devices are not
    std::strcpy(made->device.name, "stub0");
    made->device.transport_type = IBV_TRANSPORT_IB;
    made->device.node_type = IBV_NODE_CA;
    made->whole.sz = sizeof made->whole;
    made->whole.query_port = query_port;
    made->whole.create_qp_ex = create_extended;
    ibv_context& c = made->whole.context;
    c.device = &made->device;
    c.abi_compat = __VERBS_ABI_IS_EXTENDED;
    c.ops.poll_cq = poll_cq;
    c.ops.post_send = post_send;
    c.ops.post_recv = post_recv;
    c.ops.post_srq_recv = post_srq_recv;
    c.ops.req_notify_cq = arm;
    return made;
  }();
  return *all;
}
tally& seen() noexcept { return here().counted; }
void forget() noexcept {
  here().counted = {};
  here().ends_badly = here().refuses = false;
}
void end_badly(ibv_wc_status how, std::uint32_t vendor_number, std::uint32_t after) noexcept {
  state& s = here();
  s.ends_badly = true;
  s.how = how;
  s.vendor_number = vendor_number;
  s.after = after;
}
void refuse_post(int number, std::uint32_t taken) noexcept {
  state& s = here();
  s.refuses = true;
  s.refusal = number;
  s.taken = taken;
}
void set_extended(bool offered) noexcept { here().extends = offered; }
void set_queue_depth(int works) noexcept { here().queue_depth = works; }
ibv_context* context() noexcept { return &here().whole.context; }
std::pair<ibv_qp*, ibv_qp*> connected_pair(ibv_pd* domain, ibv_cq* first, ibv_cq* second, const ibv_qp_cap& cap) {
  ibv_qp_init_attr_ex ask{};
  ask.send_cq = ask.recv_cq = first;
  ask.cap = cap;
  ask.qp_type = IBV_QPT_RC;
  ask.pd = domain;
  ask.send_ops_flags = ~std::uint64_t{0};
  auto* one = static_cast<pair*>(create_extended(context(), &ask));
  ask.send_cq = ask.recv_cq = second;
  auto* other = static_cast<pair*>(create_extended(context(), &ask));
  one->peer = other;
  other->peer = one;
  return {one, other};
}
}  // namespace weft::stub_device

using namespace weft::stub_device;

extern "C" {
const char* ibv_get_device_name(ibv_device* of) { return of->name; }
int ibv_query_device(ibv_context*, ibv_device_attr* into) {
  *into = {};
  into->max_qp_wr = here().queue_depth;
  into->max_cqe = 1 << 22;
  into->max_sge = 32;
  into->max_qp_rd_atom = into->max_qp_init_rd_atom = 16;
  into->max_srq_wr = 1 << 15;
  into->max_srq = 64;
  into->max_srq_sge = 4;
  into->atomic_cap = IBV_ATOMIC_HCA;
  return 0;
}
int ibv_query_port(ibv_context* of, std::uint8_t port, _compat_ibv_port_attr* into) {
  return query_port(of, port, reinterpret_cast<ibv_port_attr*>(into), offsetof(ibv_port_attr, port_cap_flags2));
}
ibv_pd* ibv_alloc_pd(ibv_context* of) { return new ibv_pd{of, 0}; }
int ibv_dealloc_pd(ibv_pd* gone) {
  delete gone;
  return 0;
}
ibv_mr* ibv_reg_mr(ibv_pd* in, void* where, std::size_t size, int access) {
  auto* made = new region;
  made->context = in->context;
  made->pd = in;
  made->addr = where;
  made->length = size;
  made->lkey = made->rkey = here().next_key++;
  made->access = access;
  here().regions.push_back(made);
  return made;
}
ibv_mr* ibv_reg_mr_iova2(ibv_pd* in, void* where, std::size_t size, std::uint64_t, unsigned access) {
  return ibv_reg_mr(in, where, size, static_cast<int>(access));
}
int ibv_dereg_mr(ibv_mr* gone) {
  std::erase(here().regions, static_cast<region*>(gone));
  delete static_cast<region*>(gone);
  return 0;
}
ibv_comp_channel* ibv_create_comp_channel(ibv_context* of) {
  return new ibv_comp_channel{of, ::eventfd(0, EFD_CLOEXEC), 0};
}
int ibv_destroy_comp_channel(ibv_comp_channel* gone) {
  ::close(gone->fd);
  delete gone;
  return 0;
}
int ibv_get_cq_event(ibv_comp_channel*, ibv_cq**, void**) { return -1; }
void ibv_ack_cq_events(ibv_cq*, unsigned) {}
ibv_cq* ibv_create_cq(ibv_context* of, int entries, void*, ibv_comp_channel* channel, int) {
  auto* made = new completions;
  made->context = of;
  made->channel = channel;
  made->cqe = entries;
  return made;
}
int ibv_destroy_cq(ibv_cq* gone) {
  delete static_cast<completions*>(gone);
  return 0;
}
ibv_srq* ibv_create_srq(ibv_pd* in, ibv_srq_init_attr* ask) {
  (void)ask;
  auto* made = new shared_queue;
  made->context = in->context;
  made->pd = in;
  return made;
}
int ibv_destroy_srq(ibv_srq* gone) {
  delete static_cast<shared_queue*>(gone);
  return 0;
}
ibv_qp* ibv_create_qp(ibv_pd* in, ibv_qp_init_attr* ask) {
  if (static_cast<int>(ask->cap.max_send_wr) > here().queue_depth || ask->cap.max_inline_data > 256) {
    errno = EINVAL;
    return nullptr;
  }
  auto* made = new pair;
  made->context = in->context;
  made->pd = in;
  made->send_cq = ask->send_cq;
  made->recv_cq = ask->recv_cq;
  made->srq = ask->srq;
  made->qp_num = here().next_number++;
  made->depth = ask->cap.max_send_wr;
  return made;
}
int ibv_destroy_qp(ibv_qp* gone) {
  auto* of = static_cast<pair*>(gone);
  if (of->peer != nullptr) of->peer->peer = nullptr;
  delete of;
  return 0;
}
int ibv_modify_qp(ibv_qp*, ibv_qp_attr*, int) { return 0; }
const char* ibv_wc_status_str(ibv_wc_status s) { return s == IBV_WC_SUCCESS ? "success" : "a failure"; }
}
