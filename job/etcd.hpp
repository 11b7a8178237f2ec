// SPDX-License-Identifier: Apache-2.0
//
// Include this in one unit of a program, and its jobs can meet in etcd: WEFT_STORE=etcd://host:port/prefix. In CMake
// link weft::etcd. Choose etcd where a cluster runs it already, and where no rank's host should hold the store.
// weft speaks HTTP with etcd's gateway of version 3.4 or later. It sends no password and uses no TLS: etcd must be in a
// network that you trust.
// Hot path: no. Threads: as weft::job.
#pragma once

#include "etcd/store.hpp"

#include "brought_backend.hpp"

namespace weft::jobs::etcd {

class brought_store final : public any_backend {
 public:
  explicit brought_store(store by) : by_(std::move(by)) {}
  static result<std::unique_ptr<any_backend>> join(const place& at, duration limit) {
    auto made = store::join(at.etcd, at.job, at.rank, at.size, limit);
    if (!made) return std::move(made).error();
    return std::unique_ptr<any_backend>(std::make_unique<brought_store>(std::move(made).value()));
  }
  result<void> put(std::string_view key, std::string_view value, duration limit) override {
    return by_.put(key, value, limit);
  }
  result<std::string> get(std::uint32_t rank, std::string_view key, duration limit) override {
    return by_.get(rank, key, limit);
  }
  result<void> barrier(duration limit) override { return by_.barrier(limit); }
  result<void> leave(duration limit) override { return by_.leave(limit); }
  std::string host() override { return by_.host(); }

 private:
  store by_;
};

/// Runs before main().
inline const bool is_brought = [] {
  join_in_etcd = &brought_store::join;
  return true;
}();

}  // namespace weft::jobs::etcd
