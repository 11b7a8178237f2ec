// SPDX-License-Identifier: Apache-2.0
//
// Memory registration: the card makes the keys, addresses are the target's own, and every local buffer needs a key too.
// iWARP's reads need a destination that peers may write (RFC 5040, 5.3). Only memory that grants peers nothing is
// registered so: no peer has its key.
// Regions that the application forgot are closed before the domain.
// Hot path: descriptor_of(), local_key(). Threads: one owner.
#pragma once

#include "../../core/device_memory.hpp"
#include "device.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::backends::verbs {

/// A local key travels as the registration's descriptor.
inline void* descriptor_of(std::uint32_t local_key) noexcept {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(local_key));
}
inline std::uint32_t local_key(void* descriptor) noexcept {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(descriptor));
}

/// The access flags of rights on this kind of wire.
constexpr int access_of(rights granted, bool atomics, bool internet_wire) noexcept {
  int access = IBV_ACCESS_LOCAL_WRITE;
  if (grants(granted, rights::remote_write) || (internet_wire && granted == rights::none))
    access |= IBV_ACCESS_REMOTE_WRITE;
  if (grants(granted, rights::remote_read)) access |= IBV_ACCESS_REMOTE_READ;
  if (atomics && grants(granted, rights::remote_atomic)) access |= IBV_ACCESS_REMOTE_ATOMIC;
  return access;
}

/// The registrations of one port.
template <class Shape>
class memory {
 public:
  memory() = default;
  explicit memory(const device& on) noexcept : domain_(on.domain.get()), internet_wire_(on.internet_wire) {}

  result<registration> register_memory(bytes where, rights granted) {
    const int access = access_of(granted, Shape::native_atomics, internet_wire_);
    owned<ibv_mr> region(ibv_reg_mr(domain_, where.data(), where.size(), access));
    if (!region)
      return refused(errno, "ibv_reg_mr",
                     "fabric " + std::string(Shape::name) + ": registering " + std::to_string(where.size()) +
                         " bytes (ulimit -l bounds what a process may pin)");
    const registration made{region.get(), descriptor_of(region->lkey), region->rkey, where.data(), where.size()};
    regions_.push_back(std::move(region));
    return made;
  }

  /// Device memory comes as dmabuf only: a CUDA pointer needs another kernel module (nvidia-peermem).
  result<registration> register_device(const device_memory& where, rights granted) {
    const std::string who =
        "fabric " + std::string(Shape::name) + ": registering " + std::to_string(where.size) + " bytes of a device";
    if (where.kind != memory_kind::dmabuf)
      return failure{error(errc::unsupported, "ibv_reg_dmabuf_mr"),
                     who + ": rdma-core registers device memory only as a dmabuf; export one (dmabuf_memory)"};
    const auto address = reinterpret_cast<std::uintptr_t>(where.address);
    const int access = access_of(granted, Shape::native_atomics, internet_wire_);
    owned<ibv_mr> region(ibv_reg_dmabuf_mr(domain_, where.offset, where.size, address, where.descriptor, access));
    if (!region) return refused(errno, "ibv_reg_dmabuf_mr", who);
    const registration made{region.get(), descriptor_of(region->lkey), region->rkey, where.address, where.size};
    regions_.push_back(std::move(region));
    return made;
  }

  void deregister(registration& gone) {
    const auto held = std::find_if(regions_.begin(), regions_.end(),
                                   [&](const owned<ibv_mr>& each) { return each.get() == gone.native; });
    gone = {};
    if (held == regions_.end()) return;
    std::swap(*held, regions_.back());
    regions_.pop_back();
  }

 private:
  ibv_pd* domain_ = nullptr;
  bool internet_wire_ = false;
  std::vector<owned<ibv_mr>> regions_;
};

}  // namespace weft::backends::verbs
