// SPDX-License-Identifier: Apache-2.0
//
// Owners of libfabric's objects: move-only, they close the object on destruction.
// The order of members decides the order of closing. libfabric wants endpoints, regions, address vector, completion
// queue, event queue, domain, fabric.
// Hot path: get() only. Threads: one owner.
#pragma once

#include <rdma/fabric.h>

#include <memory>
#include <utility>

namespace weft::backends::libfabric {

/// Owns one libfabric object and closes it.
template <class Fid>
class owned {
 public:
  owned() = default;
  explicit owned(Fid* object) noexcept : object_(object) {}
  owned(owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  owned& operator=(owned&& other) noexcept {
    if (this != &other) {
      reset();
      object_ = std::exchange(other.object_, nullptr);
    }
    return *this;
  }
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
  ~owned() { reset(); }

  Fid* get() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  /// For libfabric's out parameters. Requires: empty.
  Fid** slot() noexcept { return &object_; }
  void reset() noexcept {
    if (object_ != nullptr) fi_close(&std::exchange(object_, nullptr)->fid);
  }

  /// Keeps the object open for ever: for an object that its library cannot close.
  void abandon() noexcept { object_ = nullptr; }

 private:
  Fid* object_ = nullptr;
};

struct info_closer {
  void operator()(fi_info* info) const noexcept { fi_freeinfo(info); }
};
/// A list of fi_info, freed with fi_freeinfo.
using owned_info = std::unique_ptr<fi_info, info_closer>;

}  // namespace weft::backends::libfabric
