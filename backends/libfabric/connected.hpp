// SPDX-License-Identifier: Apache-2.0
//
// Connected fabrics (FI_EP_MSG): a passive endpoint listens, each link has its own endpoint, and an event queue reports
// connection events.
// Every endpoint is enabled before it connects or accepts, so receives are posted before a peer can send.
// A connection request is accepted at once, unless the handler returns no_tag. The application's handshake uses
// messages.
// Some providers deliver a request only while both sides read their queues: call poll_links and poll while you wait.
// Hot path: of(), peer(). Threads: one owner.
#pragma once

#include "../../core/if_memory.hpp"
#include "address.hpp"
#include "completion_queue.hpp"

#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>

#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

namespace weft::backends::libfabric {

template <class Shape>
class connected_endpoints {
 public:
  /// An endpoint. Null: no link.
  struct link {
    fid_ep* endpoint = nullptr;
    friend bool operator==(const link&, const link&) = default;
  };
  static constexpr bool link_has_receives = !Shape::shared_receives;

  static result<connected_endpoints> open(const domain& in, const completion_queue<Shape>& queue, fid_cntr* counter,
                                          const port_options& options) {
    connected_endpoints made(in, queue.get(), counter, options);
    fi_eq_attr attributes{};
    attributes.size = 2 * std::size_t{options.links} + 16;
    attributes.wait_obj = options.sleeps && completion_queue<Shape>::sleeps_on_descriptor ? FI_WAIT_FD : FI_WAIT_UNSPEC;
    if (const int r = fi_eq_open(in.fabric.get(), &attributes, made.events_.slot(), nullptr); r != 0)
      return refused(r, "fi_eq_open", made.who());
    if constexpr (Shape::shared_receives)
      if (auto pool = made.open_pool(); !pool) return std::move(pool).error();
    if (!options.listens) return made;
    if (const int r = fi_passive_ep(in.fabric.get(), in.info.get(), made.listener_.slot(), nullptr); r != 0)
      return refused(r, "fi_passive_ep", made.who());
    if (const int r = fi_pep_bind(made.listener_.get(), &made.events_.get()->fid, 0); r != 0)
      return refused(r, "fi_pep_bind", made.who());
    if (const int r = fi_listen(made.listener_.get()); r != 0)
      return refused(r, "fi_listen", made.who() + ": listening at " + options.node + ":" + options.service);
    if (made.address().empty()) return nameless(made.who());
    return made;
  }

  static fid_ep* of(link to) noexcept { return to.endpoint; }
  fid_ep* receives_of(link from) const noexcept {
    if constexpr (Shape::shared_receives) return pool_.get();
    else return from.endpoint;
  }
  std::uint32_t peer_tag(link of) const {
    const link_record* const held = record_of(of.endpoint);
    return held == nullptr ? no_tag : held->peer_tag;
  }
  /// host_number() of the caller, for links that arrived.
  std::uint64_t host_of(link of) const {
    const link_record* const held = record_of(of.endpoint);
    return held == nullptr ? 0 : held->host;
  }
  static constexpr fi_addr_t peer(link) noexcept { return FI_ADDR_UNSPEC; }
  static fid_ep* region_endpoint() noexcept { return nullptr; }
  fid_eq* events() const noexcept { return events_.get(); }
  address_bytes address() const { return listener_ ? name_of(&listener_.get()->fid) : address_bytes{}; }

  result<link> dial(const address_bytes& to, std::uint32_t tag) {
    if (auto why = unusable_address<Shape>(to, *info_, {})) return *std::move(why);
    const std::string dialling = who() + ": dialling " + printable_address(to, request<Shape>::socket_addresses);
    if (links_.size() >= most_links_)
      return failure{error(errc::invalid, "dial"),
                     dialling + ": more than port_options::links (" + std::to_string(most_links_) + ") at once"};
    const owned_info info = info_towards(to);
    if (!info) return failure{error(errc::no_memory, "fi_dupinfo"), dialling + ": out of memory"};
    owned<fid_ep> endpoint;
    if (const int r = make_endpoint(*info, endpoint); r != 0) return refused(r, "fi_endpoint", dialling);
    if (const int r = fi_connect(endpoint.get(), to.data(), nullptr, 0); r != 0) {
      failure why = refused(r, "fi_connect", dialling);
      why.why.code = errc::unreachable;
      return why;
    }
    return keep(std::move(endpoint), tag);
  }

  void hang_up(link& gone) {
    fid_ep* endpoint = std::exchange(gone.endpoint, nullptr);
    auto held = links_.begin();
    while (held != links_.end() && held->endpoint.get() != endpoint) ++held;
    if (held == links_.end()) return;
    if (held->state != phase::lost) fi_shutdown(endpoint, 0);
    std::swap(*held, links_.back());
    links_.pop_back();
  }

  template <class On>
  void poll_links(On&& on) {
    // Room for private data that a peer may send unasked.
    alignas(fi_eq_cm_entry) std::byte buffer[sizeof(fi_eq_cm_entry) + 256];
    for (int i = 0; i < 16; ++i) {
      std::uint32_t event = 0;
      // tcp reads the requests of waiting callers here. It takes the end of a socket for EAGAIN if errno says so from
      // an earlier call (rx_cm_data in 1.17, xnet_recv_cm_msg in 2.1). The dead socket then stays and is polled for
      // ever.
      errno = 0;
      const ssize_t length = fi_eq_read(events_.get(), &event, buffer, sizeof buffer, 0);
      if (length == -FI_EAVAIL) {
        on_error(on);
      } else if (length >= static_cast<ssize_t>(sizeof(fi_eq_cm_entry))) {
        fi_eq_cm_entry entry{};
        std::memcpy(static_cast<void*>(&entry), buffer, sizeof entry);
        on_event(event, entry, {buffer + sizeof entry, static_cast<std::size_t>(length) - sizeof entry}, on);
      } else {
        return;
      }
    }
  }

 private:
  enum class phase : std::uint8_t { opening, established, lost };
  struct link_record {
    owned<fid_ep> endpoint;
    std::uint32_t tag = no_tag;
    phase state = phase::opening;
    std::uint32_t peer_tag = no_tag;  ///< The peer's tag for the link, where the peer sent it.
    std::uint64_t host = 0;           ///< Of a link that arrived.
  };

  using queues = typename completion_queue<Shape>::handles;
  const link_record* record_of(const fid_ep* endpoint) const noexcept {
    for (const link_record& each : links_)
      if (each.endpoint.get() == endpoint) return &each;
    return nullptr;
  }

  connected_endpoints(const domain& in, queues queue, fid_cntr* counter, const port_options& options)
      : info_(in.info.get()),
        domain_(in.object.get()),
        queue_(queue),
        counter_(counter),
        most_links_(options.links),
        bound_(!options.node.empty()) {}

  std::string who() const { return "fabric " + std::string(Shape::name); }

  /// The attested info, with the peer's address and without the listener's own port.
  owned_info info_towards(const address_bytes& to) const {
    owned_info info(fi_dupinfo(info_));
    if (!info) return info;
    if (!bound_ || info->src_addr == nullptr) {
      free(std::exchange(info->src_addr, nullptr));
      info->src_addrlen = 0;
    } else if (request<Shape>::socket_addresses) {
      static_cast<sockaddr_in*>(info->src_addr)->sin_port = 0;  // The port has the same place in both families.
    }
    free(std::exchange(info->dest_addr, nullptr));
    info->dest_addr = malloc(to.size());
    if (info->dest_addr == nullptr) return nullptr;
    std::memcpy(info->dest_addr, to.data(), to.size());
    info->dest_addrlen = to.size();
    if (request<Shape>::socket_addresses)
      info->addr_format = *socket_family(to) == AF_INET6 ? FI_SOCKADDR_IN6 : FI_SOCKADDR_IN;
    return info;
  }

  /// The receives of all links. Providers without anything to bind or enable answer -FI_ENOSYS.
  result<void> open_pool() {
    if (const int r = fi_srx_context(domain_, info_->rx_attr, pool_.slot(), nullptr); r != 0)
      return refused(r, "fi_srx_context", who() + ": the pool of receives");
    if (const int r = fi_ep_bind(pool_.get(), &queue_.receive_cq->fid, FI_RECV); r != 0 && r != -FI_ENOSYS)
      return refused(r, "fi_ep_bind", who() + ": the pool of receives");
    if (const int r = fi_enable(pool_.get()); r != 0 && r != -FI_ENOSYS)
      return refused(r, "fi_enable", who() + ": the pool of receives");
    return {};
  }

  /// Creates, binds and enables an endpoint: receives can be posted.
  int make_endpoint(fi_info& info, owned<fid_ep>& made) const {
    info.tx_attr->op_flags = 0;
    if constexpr (Shape::shared_receives) info.ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
    if (const int r = fi_endpoint(domain_, &info, made.slot(), nullptr); r != 0) return r;
    if (const int r = fi_ep_bind(made.get(), &events_.get()->fid, 0); r != 0) return r;
    if (const int r = completion_queue<Shape>::bind(queue_, made.get()); r != 0) return r;
    if constexpr (Shape::shared_receives)
      if (const int r = fi_ep_bind(made.get(), &pool_.get()->fid, 0); r != 0) return r;
    if (counter_ != nullptr)
      if (const int r = fi_ep_bind(made.get(), &counter_->fid, FI_REMOTE_WRITE); r != 0) return r;
    return fi_enable(made.get());
  }

  link keep(owned<fid_ep> endpoint, std::uint32_t tag) {
    links_.push_back({std::move(endpoint), tag, phase::opening});
    return link{links_.back().endpoint.get()};
  }

  /// The link of an event; null for endpoints that are closed already.
  link_record* find(fid* object) {
    for (link_record& each : links_)
      if (&each.endpoint.get()->fid == object) return &each;
    return nullptr;
  }

  template <class On>
  [[gnu::cold, gnu::noinline]] void on_event(std::uint32_t event, const fi_eq_cm_entry& entry, const_bytes data,
                                             On& on) {
    if (event == FI_CONNREQ) return on_request(owned_info(entry.info), on);
    link_record* about = find(entry.fid);
    if (about == nullptr) return;
    if (event == FI_CONNECTED && about->state == phase::opening) {
      about->state = phase::established;
      if (data.size() >= sizeof about->peer_tag) std::memcpy(&about->peer_tag, data.data(), sizeof about->peer_tag);
      on(link_change::established, about->tag, link{about->endpoint.get()});
    } else if (event == FI_SHUTDOWN) {
      report_end(*about, on);
    }
  }

  /// `info` may name no provider. weft uses it as it came and compares nothing.
  template <class On>
  void on_request(owned_info info, On& on) {
    owned<fid_ep> endpoint;
    if (links_.size() > most_links_) {
      fi_reject(listener_.get(), info->handle, nullptr, 0);
      return;
    }
    if (make_endpoint(*info, endpoint) != 0) {
      // Closing the endpoint refuses the request. Without one the request has no other owner.
      if (!endpoint) fi_reject(listener_.get(), info->handle, nullptr, 0);
      return;
    }
    if (links_.size() == links_.capacity() && !if_memory([this] { links_.reserve(2 * links_.size() + 8); })) return;
    const link arrived = keep(std::move(endpoint), no_tag);
    if (const auto* from = static_cast<const std::byte*>(info->dest_addr); from != nullptr)
      links_.back().host = host_number(address_bytes(from, from + info->dest_addrlen));
    const std::uint32_t tag = on(link_change::arrived, no_tag, arrived);
    link_record* kept = find(&arrived.endpoint->fid);
    if (kept == nullptr) return;  // The handler hung up.
    kept->tag = tag;
    link unwanted = arrived;
    if (tag == no_tag || links_.size() > most_links_)
      return hang_up(unwanted);  // Not fi_reject: the endpoint owns the request by now.
    constexpr std::size_t tag_bytes = Shape::shared_receives ? sizeof tag : 0;  // See peer_tag in core/port.hpp.
    if (fi_accept(arrived.endpoint, tag_bytes == 0 ? nullptr : &tag, tag_bytes) != 0) report_end(*kept, on);
  }

  template <class On>
  [[gnu::cold]] void on_error(On& on) {
    fi_eq_err_entry entry{};
    if (fi_eq_readerr(events_.get(), &entry, 0) < 0) return;
    if (link_record* about = find(entry.fid)) report_end(*about, on);
  }

  template <class On>
  static void report_end(link_record& about, On& on) {
    const phase before = std::exchange(about.state, phase::lost);
    if (before == phase::lost) return;
    on(before == phase::opening ? link_change::refused : link_change::lost, about.tag, link{about.endpoint.get()});
  }

  const fi_info* info_ = nullptr;
  fid_domain* domain_ = nullptr;
  queues queue_;
  fid_cntr* counter_ = nullptr;
  std::size_t most_links_ = 0;
  bool bound_ = false;
  owned<fid_eq> events_;
  owned<fid_pep> listener_;
  owned<fid_ep> pool_;              // Shape::shared_receives
  std::vector<link_record> links_;  // Last: closed first.
};

}  // namespace weft::backends::libfabric
