// SPDX-License-Identifier: Apache-2.0
//
// How the two sides of a behaviour connect: addressed endpoints exchange their names, connected ones connect. Both
// sides read all their queues meanwhile, because some providers deliver a request only then. Hot path: no. Threads: one
// owner.
#include "endpoint_pair.hpp"

#include <netinet/in.h>

#include <cstdlib>
#include <cstring>
#include <utility>

namespace weft::probe {

namespace {

std::vector<std::byte> name_of(fid* object) {
  std::vector<std::byte> name(512);
  std::size_t length = name.size();
  require(fi_getname(object, name.data(), &length), "fi_getname");
  name.resize(length);
  return name;
}

/// The local address without its port, so that a connecting endpoint takes any.
void take_any_port(fi_info& info) {
  if (info.src_addr != nullptr && socket_addresses(info)) static_cast<sockaddr_in*>(info.src_addr)->sin_port = 0;
}

}  // namespace

void endpoint_pair::meet(bool initiates) {
  if (connected_) {
    fi_eq_attr attributes{};
    attributes.size = 32;
    attributes.wait_obj = FI_WAIT_UNSPEC;
    fid_eq* events = nullptr;
    require(fi_eq_open(fabric_.get(), &attributes, &events, nullptr), "fi_eq_open");
    events_.reset(events);
    if (!initiates) listen();
    connect_again(initiates);
    return;
  }
  own_name_ = name_of(&endpoint_->fid);
  side_.send_bytes(own_name_.data(), own_name_.size());
  peer_name_ = side_.hear_bytes();
  know_peer();
}

void endpoint_pair::know_peer() {
  if (!peers_) throw refused{"fi_av_insert", FI_ENOSYS};
  if (fi_av_insert(peers_.get(), peer_name_.data(), 1, &peer_address_, 0, nullptr) != 1)
    throw refused{"fi_av_insert", FI_EADDRNOTAVAIL};
}

void endpoint_pair::listen() {
  fid_pep* listener = nullptr;
  require(fi_passive_ep(fabric_.get(), info_.get(), &listener, nullptr), "fi_passive_ep");
  listener_.reset(listener);
  require(fi_pep_bind(listener, &events_->fid, 0), "fi_pep_bind");
  require(fi_listen(listener), "fi_listen");
  own_name_ = name_of(&listener->fid);
}

void endpoint_pair::accept_one() {
  established_ = false;
  side_.send_bytes(own_name_.data(), own_name_.size());
  if (!until([&] { return request_ != nullptr; }, milliseconds(5000)))
    throw refused{"waiting for a connection", FI_ETIMEDOUT};
  owner<fid_ep>& link = next_link();
  link = open_endpoint(*requested_);
  request_ = nullptr;
  if (!second_) begin_receiving();
  require(fi_accept(link.get(), nullptr, 0), "fi_accept");
  wait_connected();
}

void endpoint_pair::dial() {
  established_ = false;
  peer_name_ = side_.hear_bytes();
  owned_info towards(fi_dupinfo(info_.get()));
  if (!towards) throw refused{"fi_dupinfo", FI_ENOMEM};
  take_any_port(*towards);
  free(std::exchange(towards->dest_addr, malloc(peer_name_.size())));
  std::memcpy(towards->dest_addr, peer_name_.data(), peer_name_.size());
  towards->dest_addrlen = peer_name_.size();
  owner<fid_ep>& link = next_link();
  link = open_endpoint(*towards);
  if (!second_) begin_receiving();
  require(fi_connect(link.get(), peer_name_.data(), nullptr, 0), "fi_connect");
  wait_connected();
}

void endpoint_pair::wait_connected() {
  if (!until([&] { return established_ || ends > 0; }, milliseconds(5000))) throw refused{"connecting", FI_ETIMEDOUT};
  if (!established_) throw refused{"connecting", FI_ECONNREFUSED};
}

bool endpoint_pair::poll_events() {
  alignas(fi_eq_cm_entry) std::byte buffer[sizeof(fi_eq_cm_entry) + 256];
  std::uint32_t event = 0;
  const ssize_t length = fi_eq_read(events_.get(), &event, buffer, sizeof buffer, 0);
  if (length == -FI_EAVAIL) {
    fi_eq_err_entry wrong{};
    if (fi_eq_readerr(events_.get(), &wrong, 0) > 0) ++ends;
    return true;
  }
  if (length < static_cast<ssize_t>(sizeof(fi_eq_cm_entry))) return false;
  fi_eq_cm_entry found{};
  std::memcpy(static_cast<void*>(&found), buffer, sizeof found);
  if (event == FI_CONNREQ) {
    requested_.reset(found.info);
    request_ = found.fid;
  }
  if (event == FI_CONNECTED) established_ = true;
  if (event == FI_SHUTDOWN) ++ends;
  return true;
}

void endpoint_pair::exchange_pages() {
  const remote_page own{fi_mr_key(region_.get()), address_of(memory_, memory_),
                        reinterpret_cast<std::uintptr_t>(memory_), memory_size_};
  side_.send_bytes(&own, sizeof own);
  while (!side_.ready())
    if (!poll()) sched_yield();
  const std::vector<std::byte> heard = side_.hear_bytes();
  if (heard.size() != sizeof peer) throw abandoned{};
  std::memcpy(&peer, heard.data(), sizeof peer);
}

void endpoint_pair::warm_up() {
  require(insist([&] { return write({.from = 0, .to = 0, .context = 4095}); }), "fi_writemsg");
  if (!until([&] { return ended(4095) > 0; })) throw refused{"the first write", FI_ETIMEDOUT};
  if (failure() != 0) throw refused{"the first write", failure()};
  came.clear();
}

}  // namespace weft::probe
