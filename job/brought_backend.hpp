// SPDX-License-Identifier: Apache-2.0
//
// A backend that a program brings by an include, because it needs headers that few machines have: job/etcd.hpp. The
// other units of the program need not know it.
// Hot path: no. Threads: one owner.
#pragma once

#include "place.hpp"

#include <memory>

namespace weft::jobs {

class any_backend {
 public:
  any_backend() = default;
  any_backend(const any_backend&) = delete;
  any_backend& operator=(const any_backend&) = delete;
  virtual ~any_backend() = default;
  virtual result<void> put(std::string_view key, std::string_view value, duration limit) = 0;
  virtual result<std::string> get(std::uint32_t rank, std::string_view key, duration limit) = 0;
  virtual result<void> barrier(duration limit) = 0;
  virtual result<void> leave(duration limit) = 0;
  virtual std::string host() = 0;
};

/// Joins the job of a place in etcd. Null: no unit of the program includes job/etcd.hpp.
inline result<std::unique_ptr<any_backend>> (*join_in_etcd)(const place& at, duration limit) = nullptr;

class brought_backend {
 public:
  explicit brought_backend(std::unique_ptr<any_backend> by) : by_(std::move(by)) {}
  /// Errors: unsupported (the program brings no etcd), those of the backend.
  static result<brought_backend> join(const place& at, duration limit) {
    if (join_in_etcd == nullptr)
      return failure{error(errc::unsupported, "join"), "WEFT_STORE is \"" + in_words(at.etcd) +
                                                           "\", and this program was built without etcd: include " +
                                                           "weft/job/etcd.hpp in it, and link weft::etcd"};
    auto made = join_in_etcd(at, limit);
    if (!made) return std::move(made).error();
    return brought_backend(std::move(made).value());
  }

  result<void> put(std::string_view key, std::string_view value, duration limit) { return by_->put(key, value, limit); }
  result<std::string> get(std::uint32_t rank, std::string_view key, duration limit) {
    return by_->get(rank, key, limit);
  }
  result<void> barrier(duration limit) { return by_->barrier(limit); }
  result<void> leave(duration limit) { return by_->leave(limit); }
  std::string host() { return by_->host(); }

 private:
  std::unique_ptr<any_backend> by_;
};
static_assert(backend<brought_backend>);

}  // namespace weft::jobs
