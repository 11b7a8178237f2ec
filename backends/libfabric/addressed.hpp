// SPDX-License-Identifier: Apache-2.0
//
// Addressed fabrics (FI_EP_RDM): one endpoint serves all peers, and a link is an entry of the address vector.
// The library has no handshake: a link is established as soon as its address is known. The first use shows whether a
// peer is there.
// Links to one address share its entry, and the last of them removes it. Reason: some address vectors return the same
// entry for a second insertion and count no uses. On rxd of libfabric 1.17 one removal then ends both, and posts return
// `again` for ever.
// Where the library cannot forget a peer (forgets_peers), the entry stays for the next dial. Example: shm since 2.0,
// where a reused entry ends in a segmentation fault. The vector then bounds the number of different peers of one port;
// further peers get an error.
// Where the library maps its peers' memory (own_node_path), a removal unmaps it. A post that such a peer made before,
// or makes meanwhile, then ends in a segmentation fault of this process (shm of libfabric 1.17: smr_map_del, then
// smr_progress_sar). A peer that was stopped and goes on does that. So an entry without links stays for a while.
// Hot path: of(), peer(). Threads: one owner.
#pragma once

#include "address.hpp"
#include "completion_queue.hpp"

#include <rdma/fi_endpoint.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace weft::backends::libfabric {

template <class Shape>
class addressed_endpoint {
 public:
  /// The endpoint, an entry of the address vector, and the link's tag. Entries of a table are indices (fi_av(3)), so 32
  /// bits suffice.
  struct link {
    fid_ep* endpoint = nullptr;  ///< Null: no link.
    std::uint32_t address = 0;
    std::uint32_t tag = 0;
    friend bool operator==(const link&, const link&) = default;
  };
  static constexpr bool link_has_receives = false;

  static result<addressed_endpoint> open(const domain& in, const completion_queue<Shape>& queue, fid_cntr* counter,
                                         const port_options& options) {
    const std::string who = "fabric " + std::string(Shape::name);
    addressed_endpoint made;
    made.info_ = in.info.get();
    fi_av_attr table{};
    table.type = FI_AV_TABLE;
    table.count = options.links;
    if (const int r = fi_av_open(in.object.get(), &table, made.peers_.slot(), nullptr); r != 0)
      return refused(r, "fi_av_open", who);
    refusal no = made.enable(in, queue, counter);
    for (int more = 0; no.number == -FI_EBUSY && more < other_names; ++more) no = made.enable(in, queue, counter);
    if (no.number != 0) return refused(no.number, no.call, who + no.what);
    fid_ep* endpoint = made.endpoint_.get();
    if constexpr (Shape::multi_receive)  // After fi_enable: shm of libfabric 1.17 crashes before it.
      if (const int r = fi_setopt(&endpoint->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &options.least_room,
                                  sizeof options.least_room);
          r != 0)
        return refused(r, "fi_setopt", who + ": FI_OPT_MIN_MULTI_RECV");
    made.own_ = name_of(&endpoint->fid);
    if (made.own_.empty()) return nameless(who);
    return made;
  }

  static fid_ep* of(link to) noexcept { return to.endpoint; }
  fid_ep* receives_of(link) const noexcept { return endpoint_.get(); }
  static fi_addr_t peer(link to) noexcept { return to.address; }
  fid_ep* region_endpoint() const noexcept { return endpoint_.get(); }
  static fid_eq* events() noexcept { return nullptr; }
  const address_bytes& address() const noexcept { return own_; }

  result<link> dial(const address_bytes& to, std::uint32_t tag) {
    if (auto why = unusable_address<Shape>(to, *info_, own_)) return *std::move(why);
    if constexpr (keeps_places) forget_left(most_kept);
    auto known = places_.begin();
    while (known != places_.end() && known->name != to) ++known;
    if constexpr (keeps_places)
      if (known != places_.end() && known->links == 0) {  // a later process may have the name
        forget(known);
        known = places_.end();
      }
    if (known == places_.end()) {
      fi_addr_t at = FI_ADDR_UNSPEC;
      int inserted = fi_av_insert(peers_.get(), to.data(), 1, &at, 0, nullptr);
      if constexpr (keeps_places)
        if (inserted != 1 && forget_left(0)) inserted = fi_av_insert(peers_.get(), to.data(), 1, &at, 0, nullptr);
      if (inserted != 1)
        return refused(inserted < 0 ? inserted : FI_EADDRNOTAVAIL, "fi_av_insert",
                       "fabric " + std::string(Shape::name) + ": dialling " +
                           printable_address(to, request<Shape>::socket_addresses));
      known = place_of(at);  // The same peer, spelled differently.
      if (known == places_.end()) known = places_.insert(known, {to, at, 0});
    }
    if (known->at > ~std::uint32_t{0})
      return failure{error(errc::native, "fi_av_insert"),
                     "fabric " + std::string(Shape::name) + ": a place in the table of addresses that is no index"};
    ++known->links;
    const link made{endpoint_.get(), static_cast<std::uint32_t>(known->at), tag};
    fresh_.push_back(made);
    return made;
  }

  void hang_up(link& gone) {
    if (gone.endpoint == nullptr) return;
    std::erase(fresh_, gone);
    if (const auto at = place_of(gone.address); at != places_.end() && --at->links == 0 && Shape::facts.forgets_peers) {
      if constexpr (keeps_places) {
        place left = std::move(*at);
        places_.erase(at);
        places_.push_back(std::move(left));  // behind those that were left before
      } else forget(at);
    }
    gone = {};
  }

  template <class On>
  void poll_links(On&& on) {
    if (fresh_.empty()) return;
    for (const link& each : std::exchange(fresh_, {})) on(link_change::established, each.tag, each);
  }

 private:
  struct place {
    address_bytes name;
    fi_addr_t at;
    std::uint32_t links;
  };
  struct refusal {
    int number = 0;
    const char* call = "";
    std::string what;
  };
  static constexpr bool keeps_places =
      Shape::facts.forgets_peers && Shape::facts.own_node_path == own_node_path::shared_memory;
  /// Entries without links that a dial leaves. Reason: each may hold 16 MiB of a peer that is gone.
  static constexpr std::size_t most_kept = 8;

  typename std::vector<place>::iterator forget(typename std::vector<place>::iterator which) {
    fi_av_remove(peers_.get(), &which->at, 1, 0);
    return places_.erase(which);
  }
  /// Forgets the entries without links that were left first, until at most `kept` stay. Whether there was one.
  bool forget_left(std::size_t kept) {
    std::size_t left = 0;
    for (const place& each : places_) left += each.links == 0;
    if (left <= kept) return false;
    for (auto each = places_.begin(); left > kept;)
      if (each->links == 0) each = forget(each), --left;
      else ++each;
    return true;
  }

  /// Names to try. An endpoint's name may consist of the process id and the endpoint's number in its domain (shm). A
  /// killed process leaves its names in use, and a later process with that id gets "busy". The next endpoint of the
  /// domain has another name.
  static constexpr int other_names = 64;

  refusal enable(const domain& in, const completion_queue<Shape>& queue, fid_cntr* counter) {
    endpoint_.reset();
    if (const int r = fi_endpoint(in.object.get(), in.info.get(), endpoint_.slot(), nullptr); r != 0)
      return {r, "fi_endpoint", {}};
    fid_ep* endpoint = endpoint_.get();
    if (const int r = fi_ep_bind(endpoint, &peers_.get()->fid, 0); r != 0) {
      // fi_close of an rxm endpoint reads its address vector, and crashes where none is bound (rxm_freeall_conns).
      if (fi_ep_bind(endpoint, &peers_.get()->fid, 0) != 0) endpoint_.abandon();
      return {r, "fi_ep_bind", ": address vector"};
    }
    if (const int r = completion_queue<Shape>::bind(queue.get(), endpoint); r != 0)
      return {r, "fi_ep_bind", ": completion queue"};
    if (counter != nullptr)
      if (const int r = fi_ep_bind(endpoint, &counter->fid, FI_REMOTE_WRITE); r != 0)
        return {r, "fi_ep_bind", ": remote counter"};
    if (const int r = fi_enable(endpoint); r != 0) return {r, "fi_enable", other_environment<Shape>()};
    return {};
  }

  auto place_of(fi_addr_t at) {
    auto found = places_.begin();
    while (found != places_.end() && found->at != at) ++found;
    return found;
  }

  const fi_info* info_ = nullptr;
  owned<fid_av> peers_;
  owned<fid_ep> endpoint_;  // After the vector: closed before it.
  address_bytes own_;
  std::vector<place> places_;
  std::vector<link> fresh_;  ///< Not reported yet.
};

}  // namespace weft::backends::libfabric
