// SPDX-License-Identifier: Apache-2.0
//
// Addressed fabrics (FI_EP_RDM): one endpoint serves all peers, a link is a place in the address vector. There is no
// handshake: a link is established as soon as its address is known, and whether somebody is there shows when it is used.
// Hot path: of(), peer(). Threads: one owner.
#pragma once

#include "address.hpp"
#include "completion_queue.hpp"

#include <rdma/fi_endpoint.h>

#include <utility>
#include <vector>

namespace weft::backends::libfabric {

template <class Shape>
class addressed_endpoint {
 public:
  /// A place in the address vector.
  struct link {
    fi_addr_t address = FI_ADDR_UNSPEC;
    friend bool operator==(const link&, const link&) = default;
  };
  static constexpr bool link_has_receives = false;

  static result<addressed_endpoint> open(const domain& in, const completion_queue<Shape>& queue, fid_cntr* counter, const port_options& options) {
    const std::string who = "fabric " + std::string(Shape::name);
    addressed_endpoint made;
    made.info_ = in.info.get();
    fi_av_attr table{};
    table.type = FI_AV_TABLE;
    table.count = options.links;
    if (const int r = fi_av_open(in.object.get(), &table, made.peers_.slot(), nullptr); r != 0) return refused(r, "fi_av_open", who);
    if (const int r = fi_endpoint(in.object.get(), in.info.get(), made.endpoint_.slot(), nullptr); r != 0) return refused(r, "fi_endpoint", who);
    fid_ep* endpoint = made.endpoint_.get();
    if (const int r = fi_ep_bind(endpoint, &made.peers_.get()->fid, 0); r != 0) return refused(r, "fi_ep_bind", who + ": address vector");
    if (const int r = completion_queue<Shape>::bind(queue.get(), endpoint); r != 0) return refused(r, "fi_ep_bind", who + ": completion queue");
    if (counter != nullptr)
      if (const int r = fi_ep_bind(endpoint, &counter->fid, FI_REMOTE_WRITE); r != 0) return refused(r, "fi_ep_bind", who + ": remote counter");
    if (const int r = fi_enable(endpoint); r != 0) return refused(r, "fi_enable", who);
    made.own_ = name_of(&endpoint->fid);
    return made;
  }

  fid_ep* of(link) const noexcept { return endpoint_.get(); }
  static fi_addr_t peer(link to) noexcept { return to.address; }
  fid_ep* region_endpoint() const noexcept { return endpoint_.get(); }
  static fid_eq* events() noexcept { return nullptr; }
  const address_bytes& address() const noexcept { return own_; }

  result<link> dial(const address_bytes& to, std::uint32_t tag) {
    if (auto why = unusable_address<Shape>(to, *info_, own_)) return *std::move(why);
    link made;
    if (const int inserted = fi_av_insert(peers_.get(), to.data(), 1, &made.address, 0, nullptr); inserted != 1)
      return refused(inserted < 0 ? inserted : FI_EADDRNOTAVAIL, "fi_av_insert", "fabric " + std::string(Shape::name) + ": dialling " +
                     printable_address(to, request<Shape>::socket_addresses));
    fresh_.push_back({tag, made});
    return made;
  }

  void hang_up(link& gone) {
    if (gone.address == FI_ADDR_UNSPEC) return;
    std::erase_if(fresh_, [&](const newcomer& each) { return each.at == gone; });
    fi_av_remove(peers_.get(), &gone.address, 1, 0);
    gone = {};
  }

  template <class On>
  void poll_links(On&& on) {
    if (fresh_.empty()) return;
    for (const newcomer& each : std::exchange(fresh_, {})) on(link_change::established, each.tag, each.at);
  }

 private:
  struct newcomer {
    std::uint32_t tag;
    link at;
  };
  const fi_info* info_ = nullptr;
  owned<fid_av> peers_;
  owned<fid_ep> endpoint_;  // after the vector: closed before it
  address_bytes own_;
  std::vector<newcomer> fresh_;
};

}  // namespace weft::backends::libfabric
