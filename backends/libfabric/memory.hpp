// SPDX-License-Identifier: Apache-2.0
//
// Memory registration. The shape answers four independent questions: who makes the key, whether local buffers need a
// descriptor, whether a region is bound to an endpoint, and whether it is then enabled.
// Regions that the application forgot are closed here, before the domain: otherwise the domain could not close.
// Hot path: no. Threads: one owner.
#pragma once

#include "device_memory.hpp"
#include "domain.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::backends::libfabric {

/// The registrations of one port.
template <class Shape>
class memory {
 public:
  memory() = default;
  explicit memory(fid_domain* domain) noexcept : domain_(domain) {}

  /// Objects that regions are bound to, where the row binds them: the endpoint, and the counter of remote writes if
  /// there is one.
  void bind_to(fid_ep* endpoint, fid_cntr* counter) noexcept {
    endpoint_ = endpoint;
    counter_ = counter;
  }

  result<registration> register_memory(bytes where, rights granted, std::uint64_t wanted_key) {
    return add(where, access_of(granted) | (Shape::local_descriptor ? local_access : 0),
               Shape::provider_key ? 0 : wanted_key);
  }

  /// Device memory always has a descriptor: the library must know the device (fi_mr(3), FI_MR_HMEM).
  result<registration> register_device(const device_memory& where, rights granted, std::uint64_t wanted_key) {
    const std::string who = about(where.size);
    const std::uint64_t access = access_of(granted) | local_access;
    device_request request;
    if (const std::string why = describe(where, access, Shape::provider_key ? 0 : wanted_key, request); !why.empty())
      return failure{error(errc::unsupported, "fi_mr_regattr"), who + " of a device: " + why};
    owned<fid_mr> region;
    if (const int r = fi_mr_regattr(domain_, &request.attr, request.flags | event_flags, region.slot()); r != 0)
      return refused(r, "fi_mr_regattr", who + " of a device");
    return finish(std::move(region), {where.address, where.size}, access, request.attr.requested_key, true);
  }

  /// Where local buffers need no descriptor, nothing is registered and the descriptor is null.
  result<registration> register_local(bytes where) {
    if constexpr (!Shape::local_descriptor) return registration{nullptr, nullptr, 0, where.data(), where.size()};
    if constexpr (Shape::provider_key) return add(where, local_access, 0);
    // Application keys must be unique, also for regions that no peer names. These keys count down from the widest.
    for (int attempt = 0;; ++attempt)
      if (auto made = add(where, local_access, next_local_key_--);
          made || made.why().native_code != FI_ENOKEY || attempt == 16)
        return made;
  }

  void deregister(registration& gone) {
    auto* region = static_cast<fid_mr*>(gone.native);
    gone = {};
    auto held = regions_.begin();
    while (held != regions_.end() && held->get() != region) ++held;
    if (held == regions_.end()) return;
    std::swap(*held, regions_.back());
    regions_.pop_back();
  }

  void close_all() { regions_.clear(); }

 private:
  static constexpr std::uint64_t local_access = FI_SEND | FI_RECV | FI_READ | FI_WRITE;

  static constexpr std::uint64_t event_flags = Shape::bind_regions && Shape::remote_counter ? FI_RMA_EVENT : 0;

  static std::uint64_t access_of(rights granted) noexcept {
    std::uint64_t access = 0;
    if (grants(granted, rights::remote_write)) access |= FI_REMOTE_WRITE;
    if (grants(granted, rights::remote_read)) access |= FI_REMOTE_READ;
    if (grants(granted, rights::remote_atomic)) access |= FI_REMOTE_WRITE | FI_REMOTE_READ;
    return access;
  }
  static std::string about(std::size_t size) {
    return "fabric " + std::string(Shape::name) + ": registering " + std::to_string(size) + " bytes";
  }

  result<registration> add(bytes where, std::uint64_t access, std::uint64_t key) {
    const std::string who = about(where.size());
    owned<fid_mr> region;
    if (const int r =
            fi_mr_reg(domain_, where.data(), where.size(), access, 0, key, event_flags, region.slot(), nullptr);
        r != 0)
      return r == -FI_ENOKEY
                 ? refused(r, "fi_mr_reg",
                           who + " with key " + std::to_string(key) + ", which is in use (keys must be unique)")
                 : refused(r, "fi_mr_reg", who);
    return finish(std::move(region), where, access, key, Shape::local_descriptor);
  }

  /// Binds and enables the region where the row says so, and stores it.
  result<registration> finish(owned<fid_mr> region, bytes where, std::uint64_t access, std::uint64_t wanted_key,
                              bool described) {
    const std::string who = about(where.size());
    if constexpr (Shape::bind_regions) {
      if (const int r = fi_mr_bind(region.get(), &endpoint_->fid, 0); r != 0) return refused(r, "fi_mr_bind", who);
      if constexpr (Shape::remote_counter)
        if (const int r = fi_mr_bind(region.get(), &counter_->fid, FI_REMOTE_WRITE); r != 0)
          return refused(r, "fi_mr_bind", who);
      if (const int r = fi_mr_enable(region.get()); r != 0) return refused(r, "fi_mr_enable", who);
    }
    std::uint64_t used = fi_mr_key(region.get());
    if (used == FI_KEY_NOTAVAIL) {
      if ((access & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0)
        return failure{error(errc::broken, "fi_mr_key"), who + ": the library has no 64-bit key for it"};
      // From 2.2 on a region that no peer may reach has no key (libfabric's commit dbec7405f). Nobody needs it.
      used = wanted_key;
    }
    registration made{region.get(), described ? fi_mr_desc(region.get()) : nullptr, used, where.data(), where.size()};
    regions_.push_back(std::move(region));
    return made;
  }

  fid_domain* domain_ = nullptr;
  fid_ep* endpoint_ = nullptr;
  fid_cntr* counter_ = nullptr;
  std::uint64_t next_local_key_ = ~std::uint64_t{1} >>
                                  (Shape::facts.key_bytes >= 8 ? 0 : 64 - 8 * Shape::facts.key_bytes);
  std::vector<owned<fid_mr>> regions_;
};

}  // namespace weft::backends::libfabric
