// SPDX-License-Identifier: Apache-2.0
//
// Before: the task of in_weft.cpp in verbs and librdmacm, over a reliable connection. The initiator writes a text and
// the number 7 into a page of the target. Sides: `target HOST`, which prints where it listens, and `initiator
// HOST:PORT`. Exit code 77: this machine has no device.
#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <poll.h>
#include <rdma/rdma_cma.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

using steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

[[noreturn]] void fail(const char* what, int error) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(error));
}
void must(int r, const char* what) {
  if (r != 0) fail(what, errno);
}

/// The target's page, in the private data of rdma_accept, in network byte order.
struct page_description {
  std::uint64_t address, bytes;
  std::uint32_t key, unused;
};

struct closes {
  void operator()(rdma_event_channel* c) const { rdma_destroy_event_channel(c); }
  void operator()(ibv_pd* d) const { ibv_dealloc_pd(d); }
  void operator()(ibv_cq* q) const { ibv_destroy_cq(q); }
  void operator()(ibv_mr* m) const { ibv_dereg_mr(m); }
  void operator()(rdma_cm_id* i) const {
    if (i->qp != nullptr) rdma_destroy_qp(i);
    rdma_destroy_id(i);
  }
};
template <class T>
using owned = std::unique_ptr<T, closes>;

/// All objects of one side. A member is closed before those above it.
struct side {
  owned<rdma_event_channel> events;
  owned<ibv_pd> domain;
  owned<ibv_mr> memory;
  owned<ibv_cq> queue;
  owned<rdma_cm_id> listener;
  owned<rdma_cm_id> connection;
  alignas(8) std::array<char, 4096> page{};

  side() : events(rdma_create_event_channel()) {
    if (!events) fail("rdma_create_event_channel", errno);
  }
  rdma_cm_id* new_id() {
    rdma_cm_id* made = nullptr;
    must(rdma_create_id(events.get(), &made, nullptr, RDMA_PS_TCP), "rdma_create_id");
    return made;
  }
  /// Queues and memory on the device that the connection got.
  void furnish(int access) {
    rdma_cm_id* const id = connection.get();
    domain.reset(ibv_alloc_pd(id->verbs));
    if (!domain) fail("ibv_alloc_pd", errno);
    memory.reset(ibv_reg_mr(domain.get(), page.data(), page.size(), access));
    if (!memory) fail("ibv_reg_mr", errno);
    queue.reset(ibv_create_cq(id->verbs, 16, nullptr, nullptr, 0));
    if (!queue) fail("ibv_create_cq", errno);
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = queue.get();
    wanted.qp_type = IBV_QPT_RC;
    wanted.cap.max_send_wr = wanted.cap.max_recv_wr = 8;
    wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
    must(rdma_create_qp(id, domain.get(), &wanted), "rdma_create_qp");
  }
  static rdma_conn_param terms() {
    rdma_conn_param p{};
    p.responder_resources = p.initiator_depth = 1;
    p.retry_count = p.rnr_retry_count = 7;  // 7 of the second kind: for ever
    return p;
  }

  struct event {
    rdma_cm_id* id;
    page_description offered;
  };
  /// Waits for a connection event, and copies what is valid only until its acknowledgement.
  event wait_for(rdma_cm_event_type wanted, std::chrono::milliseconds at_most) {
    pollfd readable{events->fd, POLLIN, 0};
    const int ready = poll(&readable, 1, static_cast<int>(at_most.count()));
    if (ready < 0) fail("poll", errno);
    if (ready == 0) throw std::runtime_error("connection: nothing came in time");
    rdma_cm_event* raw = nullptr;
    must(rdma_get_cm_event(events.get(), &raw), "rdma_get_cm_event");
    event copy{raw->id, {}};
    const rdma_cm_event_type came = raw->event;
    const auto& p = raw->param.conn;
    if (came == RDMA_CM_EVENT_ESTABLISHED && p.private_data_len >= sizeof copy.offered)
      std::memcpy(&copy.offered, p.private_data, sizeof copy.offered);
    rdma_ack_cm_event(raw);
    if (came != wanted) throw std::runtime_error(std::string("connection: ") + rdma_event_str(came));
    return copy;
  }
  /// Polls the queue for one completion.
  ibv_wc wait_for_completion(std::chrono::seconds at_most) {
    for (const auto end = steady::now() + at_most; steady::now() < end;) {
      // A peer that ends shows in the channel. Look there first: completions from before its end are still found.
      pollfd readable{events->fd, POLLIN, 0};
      const bool left = poll(&readable, 1, 0) > 0;
      ibv_wc completion{};
      const int count = ibv_poll_cq(queue.get(), 1, &completion);
      if (count < 0) fail("ibv_poll_cq", EIO);
      if (count == 0 && left) throw std::runtime_error("the peer left early");
      if (count == 0) continue;
      if (completion.status != IBV_WC_SUCCESS)
        throw std::runtime_error(std::string("completion: ") + ibv_wc_status_str(completion.status));
      return completion;
    }
    throw std::runtime_error("no completion came in time");
  }
};

using address = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;
address resolve(const std::string& host, const char* port) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  addrinfo* found = nullptr;
  if (const int r = getaddrinfo(host.c_str(), port, &hints, &found); r != 0)
    throw std::runtime_error("\"" + host + "\": " + gai_strerror(r));
  return {found, &freeaddrinfo};
}

void target(const char* host) {
  side own;
  own.listener.reset(own.new_id());
  must(rdma_bind_addr(own.listener.get(), resolve(host, nullptr)->ai_addr), "rdma_bind_addr");
  must(rdma_listen(own.listener.get(), 1), "rdma_listen");
  std::printf("target: at %s:%u\n", host, ntohs(rdma_get_src_port(own.listener.get())));

  own.connection.reset(own.wait_for(RDMA_CM_EVENT_CONNECT_REQUEST, 30s).id);
  own.furnish(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  ibv_recv_wr receive{};  // without bytes: a write with an immediate takes one, and leaves it empty
  ibv_recv_wr* bad = nullptr;
  if (const int r = ibv_post_recv(own.connection->qp, &receive, &bad); r != 0) fail("ibv_post_recv", r);
  const page_description offered{htobe64(reinterpret_cast<std::uintptr_t>(own.page.data())), htobe64(own.page.size()),
                                 htobe32(own.memory->rkey), 0};
  rdma_conn_param p = side::terms();
  p.private_data = &offered;
  p.private_data_len = sizeof offered;
  must(rdma_accept(own.connection.get(), &p), "rdma_accept");
  own.wait_for(RDMA_CM_EVENT_ESTABLISHED, 10s);
  const ibv_wc completion = own.wait_for_completion(20s);
  if ((completion.wc_flags & IBV_WC_WITH_IMM) == 0) throw std::runtime_error("a message came, not a write");
  std::printf("target: %s (%u)\n", own.page.data(), ntohl(completion.imm_data));
  own.wait_for(RDMA_CM_EVENT_DISCONNECTED, 20s);
  rdma_disconnect(own.connection.get());
  std::printf("target: the initiator left in order\n");
}

void initiator(const std::string& to) {
  const std::size_t colon = to.rfind(':');
  if (colon == std::string::npos) throw std::runtime_error("the address \"" + to + "\" is not HOST:PORT");
  const address there = resolve(to.substr(0, colon), to.substr(colon + 1).c_str());
  side own;
  own.connection.reset(own.new_id());
  must(rdma_resolve_addr(own.connection.get(), nullptr, there->ai_addr, 2000), "rdma_resolve_addr");
  own.wait_for(RDMA_CM_EVENT_ADDR_RESOLVED, 5s);
  must(rdma_resolve_route(own.connection.get(), 2000), "rdma_resolve_route");
  own.wait_for(RDMA_CM_EVENT_ROUTE_RESOLVED, 5s);
  own.furnish(IBV_ACCESS_LOCAL_WRITE);
  std::strcpy(own.page.data(), "hello, world");
  rdma_conn_param p = side::terms();
  must(rdma_connect(own.connection.get(), &p), "rdma_connect");
  const page_description page = own.wait_for(RDMA_CM_EVENT_ESTABLISHED, 10s).offered;
  if (be64toh(page.bytes) < 13) throw std::runtime_error("the target offers no page of 13 bytes");

  ibv_sge from{reinterpret_cast<std::uintptr_t>(own.page.data()), 13, own.memory->lkey};
  ibv_send_wr write{};
  write.sg_list = &from;
  write.num_sge = 1;
  write.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  write.send_flags = IBV_SEND_SIGNALED;
  write.imm_data = htonl(7);
  write.wr.rdma.remote_addr = be64toh(page.address);
  write.wr.rdma.rkey = be32toh(page.key);
  ibv_send_wr* bad = nullptr;
  // The queue is empty here. In a loop ENOMEM means: poll for completions, then post again.
  if (const int r = ibv_post_send(own.connection->qp, &write, &bad); r != 0) fail("ibv_post_send", r);
  own.wait_for_completion(20s);
  std::printf("initiator: written\n");
  must(rdma_disconnect(own.connection.get()), "rdma_disconnect");
  own.wait_for(RDMA_CM_EVENT_DISCONNECTED, 10s);
}

bool has_device() {
  int count = 0;
  ibv_device** const list = ibv_get_device_list(&count);
  if (list != nullptr) ibv_free_device_list(list);
  return count > 0;
}

}  // namespace

int main(int argc, char** argv) try {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string_view side = argc == 3 ? argv[1] : "";
  if (side != "target" && side != "initiator")
    return std::fprintf(stderr, "usage: %s target HOST | initiator HOST:PORT\n", argv[0]), 2;
  if (!has_device()) return std::fprintf(stderr, "this machine has no device of rdma-core\n"), 77;
  if (side == "target") target(argv[2]);
  else initiator(argv[2]);
} catch (const std::exception& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
