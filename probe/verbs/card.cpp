// SPDX-License-Identifier: Apache-2.0
//
// How the two sides of a behaviour connect: the target listens on the given address and sends its port. Both create
// queues, region and receives before the connect or accept. Hot path: no. Threads: one owner.
#include "card.hpp"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>

namespace weft::probe::cards {

namespace {

[[noreturn]] void refuse(const char* call, int code = errno) { throw refused{call, code == 0 ? EIO : code}; }

struct local_address {
  explicit local_address(const std::string& node) {
    if (getaddrinfo(node.c_str(), nullptr, nullptr, &found) != 0) refuse("getaddrinfo", EADDRNOTAVAIL);
  }
  local_address(const local_address&) = delete;
  local_address& operator=(const local_address&) = delete;
  ~local_address() { freeaddrinfo(found); }
  sockaddr* at(std::uint16_t port) const {
    if (found->ai_family == AF_INET6) reinterpret_cast<sockaddr_in6*>(found->ai_addr)->sin6_port = htons(port);
    else reinterpret_cast<sockaddr_in*>(found->ai_addr)->sin_port = htons(port);
    return found->ai_addr;
  }
  addrinfo* found = nullptr;
};

rdma_cm_id* fresh_id(rdma_event_channel* events) {
  rdma_cm_id* made = nullptr;
  if (rdma_create_id(events, &made, nullptr, RDMA_PS_TCP) != 0) refuse("rdma_create_id");
  return made;
}

}  // namespace

opened_device::opened_device(const demands& about) {
  const local_address own(about.node);
  id.reset(fresh_id(nullptr));
  if (rdma_bind_addr(id.get(), own.at(0)) != 0) refuse("rdma_bind_addr");
  if (id->verbs == nullptr) refuse("rdma_bind_addr: the address is of no RDMA device", ENODEV);
  context = id->verbs;
  port = id->port_num;
  if (const int r = ibv_query_device(context, &attributes); r != 0) refuse("ibv_query_device", r);
  if (const int r = ibv_query_port(context, port, &port_attributes); r != 0) refuse("ibv_query_port", r);
  internet_wire = context->device->transport_type == IBV_TRANSPORT_IWARP;
}

std::uint32_t granted_inline_bytes(const opened_device& on) {
  const owner<ibv_pd, ibv_dealloc_pd> domain(ibv_alloc_pd(on.context));
  const owner<ibv_cq, ibv_destroy_cq> queue(ibv_create_cq(on.context, 16, nullptr, nullptr, 0));
  if (!domain || !queue) refuse("ibv_create_cq");
  for (std::uint32_t wanted = most_inline; wanted >= 16; wanted /= 2) {
    ibv_qp_init_attr ask{};
    ask.send_cq = ask.recv_cq = queue.get();
    ask.qp_type = IBV_QPT_RC;
    ask.cap = {1, 1, 1, 1, wanted};
    if (const owner<ibv_qp, ibv_destroy_qp> made(ibv_create_qp(domain.get(), &ask)); made)
      return std::min(ask.cap.max_inline_data, most_inline);
  }
  return 0;
}

std::string running_release() {
  Dl_info from{};
  char path[PATH_MAX];
  if (dladdr(reinterpret_cast<const void*>(&ibv_get_device_list), &from) == 0 ||
      realpath(from.dli_fname, path) == nullptr)
    return "0.0";
  std::string name(path);  // libibverbs.so.1.14.44.0: the last two numbers are rdma-core's
  const std::size_t last = name.rfind('.'),
                    before = last == 0 || last == std::string::npos ? last : name.rfind('.', last - 1);
  return before == std::string::npos ? "0.0" : name.substr(before + 1);
}

card::card(const demands& about, const wishes& wish, channel& side, bool initiates)
    : wish_(wish),
      side_(side),
      patience_(about.deadline / 4),
      memory_(wish.page + std::size_t{wish.receives} * wish.receive_bytes),
      events_(rdma_create_event_channel()) {
  if (!events_) refuse("rdma_create_event_channel");
  fcntl(events_->fd, F_SETFL, fcntl(events_->fd, F_GETFL) | O_NONBLOCK);
  meet(side, initiates, about);
  exchange_pages(side);
}

card::~card() {
  if (connected_) rdma_disconnect(id_.get());
  if (id_ && id_->qp != nullptr) rdma_destroy_qp(id_.get());
}

void card::furnish() {
  internet_wire_ = id_->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
  domain_.reset(ibv_alloc_pd(id_->verbs));
  if (!domain_) refuse("ibv_alloc_pd");
  if (wish_.sleeps) wakes_.reset(ibv_create_comp_channel(id_->verbs));
  const std::uint32_t receives = wish_.receives + wish_.more_receives;
  queue_.reset(ibv_create_cq(id_->verbs, static_cast<int>(wish_.depth + receives), nullptr, wakes_.get(), 0));
  if (!queue_) refuse("ibv_create_cq");
  ibv_qp_init_attr ask{};
  ask.send_cq = ask.recv_cq = queue_.get();
  ask.qp_type = IBV_QPT_RC;
  ask.cap = {wish_.depth, receives, wish_.pieces, 1, wish_.inline_bytes};
  if (rdma_create_qp(id_.get(), domain_.get(), &ask) != 0) refuse("rdma_create_qp");
  granted_ = ask.cap;
  int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  if (!internet_wire_) access |= IBV_ACCESS_REMOTE_ATOMIC;
  region_.reset(ibv_reg_mr(domain_.get(), memory_.data(), memory_.size(), access));
  if (!region_) refuse("ibv_reg_mr");
  for (std::uint32_t i = 0; i < wish_.receives; ++i)
    if (const int r = receive(i); r != 0) refuse("ibv_post_recv", r);
}

rdma_cm_id* card::wait_for(rdma_cm_event_type wanted) {
  const auto end = std::chrono::steady_clock::now() + 2 * patience_;
  rdma_cm_event* event = nullptr;
  while (rdma_get_cm_event(events_.get(), &event) != 0) {
    if (errno != EAGAIN) refuse("rdma_get_cm_event");
    if (std::chrono::steady_clock::now() > end) refuse(rdma_event_str(wanted), ETIMEDOUT);
    usleep(200);
  }
  rdma_cm_id* const of = event->id;
  const auto what = event->event;
  const int status = event->status;
  rdma_ack_cm_event(event);
  if (what != wanted) refuse(rdma_event_str(what), status < 0 ? -status : ECONNREFUSED);
  return of;
}

void card::meet(channel& side, bool initiates, const demands& about) {
  const local_address own(about.node);
  rdma_conn_param terms{};
  terms.responder_resources = terms.initiator_depth = 1;
  terms.retry_count = 6;  // soft-RoCE takes 7 for infinite
  terms.rnr_retry_count = 7;
  if (initiates) {
    id_.reset(fresh_id(events_.get()));
    if (rdma_resolve_addr(id_.get(), nullptr, own.at(static_cast<std::uint16_t>(side.hear())), 2000) != 0)
      refuse("rdma_resolve_addr");
    wait_for(RDMA_CM_EVENT_ADDR_RESOLVED);
    if (rdma_resolve_route(id_.get(), 2000) != 0) refuse("rdma_resolve_route");
    wait_for(RDMA_CM_EVENT_ROUTE_RESOLVED);
    furnish();
    if (rdma_connect(id_.get(), &terms) != 0) refuse("rdma_connect");
  } else {
    listener_.reset(fresh_id(events_.get()));
    if (rdma_bind_addr(listener_.get(), own.at(0)) != 0) refuse("rdma_bind_addr");
    if (rdma_listen(listener_.get(), 4) != 0) refuse("rdma_listen");
    side.tell(ntohs(rdma_get_src_port(listener_.get())));
    id_.reset(wait_for(RDMA_CM_EVENT_CONNECT_REQUEST));
    furnish();
    if (rdma_accept(id_.get(), &terms) != 0) refuse("rdma_accept");
  }
  wait_for(RDMA_CM_EVENT_ESTABLISHED);
  connected_ = true;
}

void card::exchange_pages(channel& side) {
  const remote_page own{reinterpret_cast<std::uintptr_t>(memory_.data()), wish_.page, region_->rkey};
  side.tell_bytes(&own, sizeof own);
  const std::vector<std::byte> heard = side.hear_bytes();
  if (heard.size() != sizeof peer) throw abandoned{};
  std::memcpy(&peer, heard.data(), sizeof peer);
}

int card::post(const transfer& what) {
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(memory_.data() + what.from), what.size, region_->lkey};
  ibv_send_wr work{};
  work.wr_id = what.context;
  work.sg_list = &piece;
  work.num_sge = what.size == 0 ? 0 : 1;
  work.opcode = what.what;
  work.send_flags = what.flags;
  work.imm_data = htonl(what.immediate);
  if (what.what == IBV_WR_ATOMIC_FETCH_AND_ADD)
    work.wr.atomic = {
        peer.address + what.to,
        what.operand,
        0,
        peer.key,
    };
  else if (what.what == IBV_WR_ATOMIC_CMP_AND_SWP)
    work.wr.atomic = {peer.address + what.to, what.compare, what.operand, peer.key};
  else work.wr.rdma = {peer.address + what.to, peer.key};
  ibv_send_wr* stuck = nullptr;
  return ibv_post_send(pair(), &work, &stuck);
}

int card::receive(std::uint32_t index) {
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(receive_memory(index)), wish_.receive_bytes, region_->lkey};
  ibv_recv_wr work{first_receive + index, nullptr, &piece, 1};
  ibv_recv_wr* stuck = nullptr;
  return ibv_post_recv(pair(), &work, &stuck);
}

bool card::poll_events() {
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(events_.get(), &event) != 0) return false;
  ends += event->event == RDMA_CM_EVENT_DISCONNECTED;
  rdma_ack_cm_event(event);
  return true;
}

bool card::poll() {
  ibv_wc found[16];
  const int count = ibv_poll_cq(queue_.get(), 16, found);
  if (count < 0) refuse("ibv_poll_cq", EIO);
  came.insert(came.end(), found, found + count);
  return poll_events() || count > 0;
}

void card::must(const transfer& what, const char* call) {
  int said = 0;
  if (!until([&] { return (said = post(what)) != ENOMEM; })) refuse(call, said);
  if (said != 0) refuse(call, said);
}

std::uint64_t card::serve() {
  while (!side_.ready())
    if (!poll()) sched_yield();
  return side_.hear();
}

std::size_t card::ended(std::uint32_t context) const {
  std::size_t count = 0;
  for (const ibv_wc& each : came) count += each.wr_id == context;
  return count;
}

ibv_wc_status card::failure() const {
  for (const ibv_wc& each : came)
    if (each.status != IBV_WC_SUCCESS && each.wr_id < first_receive) return each.status;
  return IBV_WC_SUCCESS;
}

std::vector<std::size_t> card::received() const {
  std::vector<std::size_t> indices;
  for (const ibv_wc& each : came)
    if (each.wr_id >= first_receive && each.status == IBV_WC_SUCCESS)
      indices.push_back(static_cast<std::size_t>(each.wr_id - first_receive));
  return indices;
}

void card::warm_up() {
  must({.context = 4095}, "ibv_post_send");
  if (!until([&] { return ended(4095) > 0; })) refuse("the first write", ETIMEDOUT);
  if (failure() != IBV_WC_SUCCESS) refuse("the first write", EIO);
  came.clear();
}

}  // namespace weft::probe::cards
