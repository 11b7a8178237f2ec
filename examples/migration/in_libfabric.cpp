// SPDX-License-Identifier: Apache-2.0
//
// Before: the task of in_weft.cpp in libfabric, over connected endpoints of the provider tcp. The initiator writes a
// text and the number 7 into a page of the target. Sides: `target HOST`, which prints where it listens, and
// `initiator HOST:PORT`.
#include <arpa/inet.h>
#include <endian.h>
#include <netinet/in.h>
#include <rdma/fabric.h>
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
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

using steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct closes {
  void operator()(fi_info* i) const { fi_freeinfo(i); }
  template <class T>
  void operator()(T* t) const {
    fi_close(&t->fid);
  }
};
template <class T>
using owned = std::unique_ptr<T, closes>;

void must(ssize_t r, const std::string& what) {
  if (r < 0) throw std::runtime_error(what + ": " + fi_strerror(static_cast<int>(-r)));
}

/// The target's page, in the private data of fi_accept, in network byte order.
struct page_description {
  std::uint64_t address, key, bytes;
};

/// All objects of one side. A member is closed before those above it.
struct side {
  owned<fi_info> info;
  owned<fid_fabric> fabric;
  owned<fid_eq> events;
  owned<fid_domain> domain;
  owned<fid_mr> memory;
  owned<fid_cq> queue;
  owned<fid_pep> listener;
  owned<fid_ep> endpoint;
  alignas(8) std::array<char, 4096> page{};

  side(const char* host, const char* port, std::uint64_t access, std::uint64_t flags) {
    owned<fi_info> hints(fi_allocinfo());
    if (!hints) throw std::bad_alloc();
    hints->caps = FI_MSG | FI_RMA;
    hints->ep_attr->type = FI_EP_MSG;
    hints->addr_format = FI_SOCKADDR_IN;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
    hints->domain_attr->cq_data_size = 4;
    hints->fabric_attr->prov_name = strdup("tcp");
    fi_info* found = nullptr;
    must(fi_getinfo(FI_VERSION(1, 15), host, port, flags, hints.get(), &found), "no such provider or address");
    info.reset(found);
    make("fi_fabric", fabric, [&](auto** to) { return fi_fabric(info->fabric_attr, to, nullptr); });
    fi_eq_attr events_wanted{};
    events_wanted.wait_obj = FI_WAIT_UNSPEC;
    make("fi_eq_open", events, [&](auto** to) { return fi_eq_open(fabric.get(), &events_wanted, to, nullptr); });
    make("fi_domain", domain, [&](auto** to) { return fi_domain(fabric.get(), info.get(), to, nullptr); });
    make("fi_mr_reg", memory,
         [&](auto** to) { return fi_mr_reg(domain.get(), page.data(), page.size(), access, 0, 1, 0, to, nullptr); });
    fi_cq_attr queue_wanted{};
    queue_wanted.format = FI_CQ_FORMAT_DATA;
    queue_wanted.wait_obj = FI_WAIT_UNSPEC;
    make("fi_cq_open", queue, [&](auto** to) { return fi_cq_open(domain.get(), &queue_wanted, to, nullptr); });
  }

  template <class T, class Call>
  static void make(const char* what, owned<T>& into, Call call) {
    T* made = nullptr;
    must(call(&made), what);
    into.reset(made);
  }
  void open_endpoint(fi_info* with) {
    make("fi_endpoint", endpoint, [&](auto** to) { return fi_endpoint(domain.get(), with, to, nullptr); });
    must(fi_ep_bind(endpoint.get(), &events->fid, 0), "fi_ep_bind");
    must(fi_ep_bind(endpoint.get(), &queue->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    must(fi_enable(endpoint.get()), "fi_enable");
  }

  /// A connection event; its entry ends in the peer's private data.
  struct event {
    fid_t fid;
    fi_info* info;
    page_description offered;
  };
  static_assert(offsetof(fi_eq_cm_entry, data) == offsetof(event, offered));
  /// Waits for a connection event. Polls the queue too: on tcp it also drives connections.
  event wait_for(std::uint32_t wanted, std::chrono::seconds at_most) {
    for (const auto end = steady::now() + at_most; steady::now() < end;) {
      if (fi_cq_read(queue.get(), nullptr, 0) == -FI_EAVAIL) fail_as_queue_says();
      event e{};
      std::uint32_t came = 0;
      const ssize_t bytes = fi_eq_sread(events.get(), &came, &e, sizeof e, 10, 0);
      if (bytes == -FI_EAGAIN || bytes == -FI_EINTR || bytes == -FI_ETIMEDOUT) continue;
      if (bytes == -FI_EAVAIL) {
        fi_eq_err_entry error{};
        must(fi_eq_readerr(events.get(), &error, 0), "fi_eq_readerr");
        must(-error.err, "connection");
      }
      must(bytes, "fi_eq_sread");
      if (came != wanted) throw std::runtime_error("connection: refused, or the peer left early");
      return e;
    }
    throw std::runtime_error("connection: nothing came in time");
  }
  /// Waits for an entry that has one of the flags.
  fi_cq_data_entry wait_for_entry(std::uint64_t flags, std::chrono::seconds at_most) {
    for (const auto end = steady::now() + at_most; steady::now() < end;) {
      // A peer that ends shows in the other queue. Look there first: entries from before its end are still found.
      event e;
      std::uint32_t came = 0;
      const bool left = fi_eq_read(events.get(), &came, &e, sizeof e, FI_PEEK) > 0 && came == FI_SHUTDOWN;
      fi_cq_data_entry entry{};
      const ssize_t count = fi_cq_sread(queue.get(), &entry, 1, nullptr, 10);
      if (count == 1 && (entry.flags & flags) != 0) return entry;
      if (count == -FI_EAVAIL) fail_as_queue_says();
      if (count < 0 && count != -FI_EAGAIN && count != -FI_EINTR && count != -FI_ETIMEDOUT) must(count, "fi_cq_sread");
      if (left && count < 0) throw std::runtime_error("the peer left early");
    }
    throw std::runtime_error("no completion came in time");
  }
  [[noreturn]] void fail_as_queue_says() {
    fi_cq_err_entry e{};
    must(fi_cq_readerr(queue.get(), &e, 0), "fi_cq_readerr");
    char text[128];
    throw std::runtime_error(std::string("completion: ") + fi_strerror(e.err) + ", " +
                             fi_cq_strerror(queue.get(), e.prov_errno, e.err_data, text, sizeof text));
  }
};

void target(const char* host) {
  side own(host, nullptr, FI_REMOTE_WRITE, FI_SOURCE);
  side::make("fi_passive_ep", own.listener,
             [&](auto** to) { return fi_passive_ep(own.fabric.get(), own.info.get(), to, nullptr); });
  must(fi_pep_bind(own.listener.get(), &own.events->fid, 0), "fi_pep_bind");
  must(fi_listen(own.listener.get()), "fi_listen");
  sockaddr_in name{};
  std::size_t length = sizeof name;
  must(fi_getname(&own.listener->fid, &name, &length), "fi_getname");
  std::printf("target: at %s:%u\n", inet_ntoa(name.sin_addr), ntohs(name.sin_port));

  owned<fi_info> asked(own.wait_for(FI_CONNREQ, 30s).info);
  own.open_endpoint(asked.get());
  const bool pointers = (own.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
  const page_description offered{htobe64(pointers ? reinterpret_cast<std::uintptr_t>(own.page.data()) : 0),
                                 htobe64(fi_mr_key(own.memory.get())), htobe64(own.page.size())};
  must(fi_accept(own.endpoint.get(), &offered, sizeof offered), "fi_accept");
  own.wait_for(FI_CONNECTED, 10s);
  const fi_cq_data_entry entry = own.wait_for_entry(FI_REMOTE_CQ_DATA, 20s);
  std::printf("target: %s (%u)\n", own.page.data(), static_cast<unsigned>(entry.data));
  own.wait_for(FI_SHUTDOWN, 20s);
  std::printf("target: the initiator left in order\n");
}

void initiator(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) throw std::runtime_error("the address \"" + address + "\" is not HOST:PORT");
  side own(address.substr(0, colon).c_str(), address.substr(colon + 1).c_str(), FI_WRITE, 0);
  std::strcpy(own.page.data(), "hello, world");
  own.open_endpoint(own.info.get());
  must(fi_connect(own.endpoint.get(), own.info->dest_addr, nullptr, 0), "fi_connect");
  const page_description page = own.wait_for(FI_CONNECTED, 10s).offered;
  if (be64toh(page.bytes) < 13) throw std::runtime_error("the target offers no page of 13 bytes");

  iovec from{own.page.data(), 13};
  void* descriptor = fi_mr_desc(own.memory.get());
  const fi_rma_iov there{be64toh(page.address), 13, be64toh(page.key)};
  fi_context2 context{};
  const fi_msg_rma message{&from, &descriptor, 1, FI_ADDR_UNSPEC, &there, 1, &context, 7};
  // Without FI_DELIVERY_COMPLETE tcp calls a write a success that the target refuses.
  constexpr std::uint64_t flags = FI_REMOTE_CQ_DATA | FI_COMPLETION | FI_DELIVERY_COMPLETE;
  ssize_t posted = -FI_EAGAIN;
  for (const auto end = steady::now() + 10s; posted == -FI_EAGAIN && steady::now() < end;) {
    posted = fi_writemsg(own.endpoint.get(), &message, flags);
    if (posted == -FI_EAGAIN) fi_cq_read(own.queue.get(), nullptr, 0);
  }
  must(posted, "fi_writemsg");
  own.wait_for_entry(FI_WRITE, 20s);
  std::printf("initiator: written\n");
  must(fi_shutdown(own.endpoint.get(), 0), "fi_shutdown");
}

}  // namespace

int main(int argc, char** argv) try {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string_view side = argc == 3 ? argv[1] : "";
  if (side == "target") target(argv[2]);
  else if (side == "initiator") initiator(argv[2]);
  else return std::fprintf(stderr, "usage: %s target HOST | initiator HOST:PORT\n", argv[0]), 2;
} catch (const std::exception& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
