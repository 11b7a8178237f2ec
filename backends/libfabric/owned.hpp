// SPDX-License-Identifier: Apache-2.0
//
// Who closes what: libfabric's objects as move-only owners that close on destruction. The order of members decides the
// order of closing, which libfabric minds: endpoints, regions, address vector, completion queue, event queue, domain,
// fabric. Hot path: get() only. Threads: one owner.
#pragma once

#include <rdma/fabric.h>

#include <memory>
#include <utility>

namespace weft::backends::libfabric {

/// One object of libfabric, closed when its owner goes.
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

 private:
  Fid* object_ = nullptr;
};

struct info_closer {
  void operator()(fi_info* info) const noexcept { fi_freeinfo(info); }
};
/// A list of fi_info, freed as libfabric wants it.
using owned_info = std::unique_ptr<fi_info, info_closer>;

}  // namespace weft::backends::libfabric
