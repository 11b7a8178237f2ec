// SPDX-License-Identifier: Apache-2.0
//
// Lists of pages by UCX, as NIXL's plugin posts them: a ucp_put_nbx for each page, some of them in flight, a flush of
// the endpoint, and one active message as the notice. UCX has no put with an immediate. Both memories are UCX's own
// (UCP_MEM_MAP_ALLOCATE), or its transports over shared memory could not write. Hot path: the loops. Threads: one.
#pragma once

#include "../../core/describe.hpp"
#include "../harness.hpp"
#include "../two_processes.hpp"
#include "list_plan.hpp"

#include <ucp/api/ucp.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace weft::bench {

/// Environment variables of UCX, as "NAME=VALUE NAME=VALUE". UCX reads them while a context and a worker are made, and
/// they have their former values afterwards.
class ucx_setting {
 public:
  explicit ucx_setting(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t equals = text.find('=', at), end = std::min(text.find(' ', at), text.size());
      const std::string name = text.substr(at, equals - at);
      if (const char* const was = std::getenv(name.c_str())) former_.emplace_back(name, was);
      else former_.emplace_back(name, std::nullopt);
      setenv(name.c_str(), text.substr(equals + 1, end - equals - 1).c_str(), 1);
      at = end + 1;
    }
  }
  ucx_setting(const ucx_setting&) = delete;
  ucx_setting& operator=(const ucx_setting&) = delete;
  ~ucx_setting() {
    for (const auto& [name, value] : former_)
      if (value) setenv(name.c_str(), value->c_str(), 1);
      else unsetenv(name.c_str());
  }

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> former_;
};

class ucx_end {
 public:
  static std::string version() { return ucp_get_version_string(); }

  /// Requires: `largest` bytes, at least those of a list.
  ucx_end(const channel& to, bool first, std::size_t largest, const std::string& setting)
      : bytes_(largest), first_(first) {
    const ucx_setting now(setting);
    open();
    meet(to);
  }
  ucx_end(const ucx_end&) = delete;
  ucx_end& operator=(const ucx_end&) = delete;
  ~ucx_end() {
    if (key_ != nullptr) ucp_rkey_destroy(key_);
    for (ucp_mem_h each : {source_, landing_})
      if (each != nullptr) ucp_mem_unmap(context_, each);
    if (worker_ != nullptr) ucp_worker_destroy(worker_);
    if (context_ != nullptr) ucp_cleanup(context_);
  }
  void plan(const list_plan& p, patience waiting) {
    plan_ = p;
    spin_ = spinner(waiting);
  }
  void write() {
    ended_ = 0;
    for (std::uint32_t sent = 0; ended_ < plan_.pages;) {
      for (std::uint32_t batch = 0; batch < posts_at_once && sent < plan_.pages && sent - ended_ < plan_.in_flight;
           ++batch, ++sent)
        post_page(sent);
      spin_.polled(ucp_worker_progress(worker_) > 0);
      must(why_, "ucp_put_nbx");
    }
    flush();
    ucp_request_param_t how{};
    how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    how.flags = UCP_AM_SEND_FLAG_EAGER;
    end_of(ucp_am_send_nbx(endpoint_, notice, &plan_.pages, sizeof plan_.pages, nullptr, 0, &how), "ucp_am_send_nbx");
  }
  void await() {
    for (++awaited_; arrived_ < awaited_;) spin_.polled(ucp_worker_progress(worker_) > 0);
  }
  void look() { ucp_worker_progress(worker_); }
  bytes source() { return {begin_, bytes_}; }
  const_bytes landing() const { return {static_cast<const std::byte*>(address_of(landing_)), bytes_}; }

  /// Call it before the destructor: both sides end together.
  void part(const channel& to) {
    const ucp_request_param_t plain{};
    end_of(ucp_ep_close_nbx(std::exchange(endpoint_, nullptr), &plain), "ucp_ep_close_nbx");
    to.part(first_, [this] { look(); });
  }

 private:
  static constexpr unsigned notice = 1;

  static void must(ucs_status_t s, const char* what) {
    if (s != UCS_OK) throw std::runtime_error(std::string("UCX, ") + what + ": " + ucs_status_string(s));
  }
  void open() {
    ucp_params_t wanted{};
    wanted.field_mask = UCP_PARAM_FIELD_FEATURES;
    wanted.features = UCP_FEATURE_RMA | UCP_FEATURE_AM;
    ucp_config_t* config = nullptr;
    must(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
    const ucs_status_t made = ucp_init(&wanted, config, &context_);
    ucp_config_release(config);
    must(made, "ucp_init");
    ucp_worker_params_t threads{};
    threads.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    threads.thread_mode = UCS_THREAD_MODE_SINGLE;
    must(ucp_worker_create(context_, &threads, &worker_), "ucp_worker_create");
    ucp_am_handler_param_t p{};
    p.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    p.id = notice;
    p.cb = [](void* own, const void*, std::size_t, void*, std::size_t, const ucp_am_recv_param_t*) {
      ++static_cast<ucx_end*>(own)->arrived_;
      return UCS_OK;
    };
    p.arg = this;
    must(ucp_worker_set_am_recv_handler(worker_, &p), "ucp_worker_set_am_recv_handler");
    for (ucp_mem_h* each : {&source_, &landing_}) {
      ucp_mem_map_params_t own{};
      own.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
      own.length = bytes_;
      own.flags = UCP_MEM_MAP_ALLOCATE;
      must(ucp_mem_map(context_, &own, each), "ucp_mem_map");
    }
    begin_ = static_cast<std::byte*>(address_of(source_));
  }
  void meet(const channel& to) {
    ucp_address_t* own = nullptr;
    std::size_t size = 0;
    must(ucp_worker_get_address(worker_, &own, &size), "ucp_worker_get_address");
    const std::string address = to.swap(first_, {reinterpret_cast<const char*>(own), size}, [this] { look(); });
    ucp_worker_release_address(worker_, own);
    ucp_ep_params_t peer{};
    peer.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    peer.address = reinterpret_cast<const ucp_address_t*>(address.data());
    must(ucp_ep_create(worker_, &peer, &endpoint_), "ucp_ep_create");
    const auto begin = reinterpret_cast<std::uint64_t>(address_of(landing_));
    void* key = nullptr;
    must(ucp_rkey_pack(context_, landing_, &key, &size), "ucp_rkey_pack");
    std::string region(reinterpret_cast<const char*>(&begin), sizeof begin);
    region.append(static_cast<const char*>(key), size);
    ucp_rkey_buffer_release(key);
    const std::string theirs = to.swap(first_, region, [this] { look(); });
    std::memcpy(&there_, theirs.data(), sizeof there_);
    must(ucp_ep_rkey_unpack(endpoint_, theirs.data() + sizeof there_, &key_), "ucp_ep_rkey_unpack");
    if (first_) flush();  // connects
    to.part(first_, [this] { look(); });
  }
  static void* address_of(ucp_mem_h memory) {
    ucp_mem_attr_t a{};
    a.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
    must(ucp_mem_query(memory, &a), "ucp_mem_query");
    return a.address;
  }

  void post_page(std::uint32_t i) {
    ucp_request_param_t how{};
    how.op_attr_mask = UCP_OP_ATTR_FIELD_MEMH | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    how.memh = source_;
    how.user_data = this;
    how.cb.send = [](void* request, ucs_status_t s, void* own) {
      auto& end = *static_cast<ucx_end*>(own);
      ++end.ended_;
      if (s != UCS_OK) end.why_ = s;
      ucp_request_free(request);
    };
    const auto r = ucp_put_nbx(endpoint_, begin_ + i * plan_.size, plan_.size, there_ + place_of(plan_, i) * plan_.size,
                               key_, &how);
    if (r == nullptr) ++ended_;
    else if (UCS_PTR_IS_ERR(r)) must(UCS_PTR_STATUS(r), "ucp_put_nbx");
  }
  void flush() {
    const ucp_request_param_t plain{};
    end_of(ucp_ep_flush_nbx(endpoint_, &plain), "ucp_ep_flush_nbx");
  }
  void end_of(ucs_status_ptr_t operation, const char* what) {
    if (!UCS_PTR_IS_PTR(operation)) return must(UCS_PTR_STATUS(operation), what);
    ucs_status_t s = UCS_INPROGRESS;
    while ((s = ucp_request_check_status(operation)) == UCS_INPROGRESS) spin_.polled(ucp_worker_progress(worker_) > 0);
    ucp_request_free(operation);
    must(s, what);
  }

  std::size_t bytes_;
  bool first_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_ep_h endpoint_ = nullptr;
  ucp_mem_h source_ = nullptr, landing_ = nullptr;
  ucp_rkey_h key_ = nullptr;
  std::byte* begin_ = nullptr;
  std::uint64_t there_ = 0;
  list_plan plan_;
  spinner spin_{{}};
  ucs_status_t why_ = UCS_OK;
  std::uint32_t ended_ = 0;
  std::uint64_t arrived_ = 0, awaited_ = 0;
};

}  // namespace weft::bench
