// SPDX-License-Identifier: Apache-2.0
//
// The contender: one end of a libfabric connection as a good user of that one fabric writes it, without weft's code. It
// knows its row's facts at compile time (provider, endpoint type, address form), as its author would. One completion
// queue read in batches, FI_THREAD_DOMAIN, selective completion, FI_WAIT_NONE, injected writes where they fit: the
// settings that measured best. Where the row has no write with an immediate the bytes travel as a message, polled in
// place. Hot path: post, poll. Threads: one owner.
#pragma once

#include "../../core/facts.hpp"
#include "../breather.hpp"
#include "../pingpong.hpp"
#include "../two_processes.hpp"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::bench {

/// How an end uses its library. This one measured best; bench/peers has the style of the examples.
struct tuned_use {
  static constexpr bool two_queues = false;
  static constexpr bool remote_memory =
      true;  // else messages alone, from memory that is registered where the library requires it
  static constexpr auto format = FI_CQ_FORMAT_DATA;
  static constexpr std::size_t receives = 16;
};
/// The same, with one pool of receives for all connections (fi_srx_context).
struct pooled_use : tuned_use {
  static constexpr bool pool = true;
};

template <class F, bool Atomics = false, class Use = tuned_use>
class raw_end {
 public:
  static constexpr const fabric_facts& facts = F::facts;
  static constexpr bool connected = facts.endpoint_type == endpoint_type::connected;
  static constexpr bool writes = facts.write_immediate_bytes >= 4;
  static constexpr bool takes_receives = !writes || facts.write_immediate_consumes_receive;
  static constexpr bool tells_immediate = writes;
  static constexpr std::size_t receives = Use::receives;
  /// Counts of the processor's counter between empty polls.
  static constexpr std::uint32_t room = [] {
    if constexpr (requires { Use::room; }) return Use::room;
    else return facts.same_host && facts.data_progress == data_progress::polling ? room_at_queue : no_room;
  }();

  /// Opens, and connects to the raw_end at the other end of the channel. `size`: the largest transfer.
  raw_end(const channel& to, bool first, std::size_t size) : size_(size), memory_(size * 2 + 4096) {
    for (const environment_setting& each : F::environment) setenv(each.name, each.value, 0);
    open_domain();
    open_queue();
    register_memory();
    if constexpr (connected) first ? dial(to) : answer(to);
    else exchange_addresses(to);
    exchange_regions(to, first);
  }
  /// Opens without a peer. Transfers of at most `size` bytes.
  explicit raw_end(std::size_t size) requires(!connected) : size_(size), memory_(size * 2 + 4096) {
    for (const environment_setting& each : F::environment) setenv(each.name, each.value, 0);
    open_domain();
    open_queue();
    register_memory();
    landed_ = memory_.data();
    open_table();
  }
  raw_end(const raw_end&) = delete;
  raw_end& operator=(const raw_end&) = delete;
  ~raw_end() {
    if (ep_ != nullptr && connected) fi_shutdown(ep_, 0);
    close_all(ep_, pep_, eq_, av_, pool_, mr_, cq_, sent_, domain_, fabric_);
    fi_freeinfo(info_);
  }

  std::byte* outgoing() noexcept { return memory_.data() + size_; }
  const std::byte* incoming() const noexcept { return landed_; }
  std::uint64_t ended() const noexcept { return ended_; }
  std::uint32_t immediate() const noexcept { return immediate_; }

  /// Posts `size` bytes of outgoing() with an immediate. False: full, poll first.
  template <ending M>
  bool post(std::size_t size, std::uint32_t immediate) {
    std::byte* const from = outgoing();
    ssize_t r;
    if constexpr (M == ending::unsignalled) {
      if constexpr (writes)
        r = size <= inject_ ? fi_inject_writedata(ep_, from, size, immediate, peer_, address_, key_)
                            : fi_writedata(ep_, from, size, descriptor_, immediate, peer_, address_, key_, &context_);
      else
        r = size <= inject_ ? fi_inject(ep_, from, size, peer_)
                            : fi_send(ep_, from, size, descriptor_, peer_, &context_);
    } else {
      constexpr std::uint64_t flags = FI_COMPLETION | (M == ending::delivered ? FI_DELIVERY_COMPLETE : 0);
      const iovec piece{from, size};
      if constexpr (writes) {
        const fi_rma_iov target{address_, size, key_};
        const fi_msg_rma message{&piece, &descriptor_, 1, peer_, &target, 1, &context_, immediate};
        r = fi_writemsg(ep_, &message, flags | FI_REMOTE_CQ_DATA);
      } else {
        const fi_msg message{&piece, &descriptor_, 1, peer_, &context_, 0};
        r = fi_sendmsg(ep_, &message, flags);
      }
    }
    if (r == 0) return true;
    if (r != -FI_EAGAIN) refuse("posting", static_cast<int>(r));
    return false;
  }

  /// Polls once. Returns the number of arrived transfers; ended() counts own completions.
  int poll() {
    std::array<fi_cq_data_entry, 16> entries;
    breath_.before_poll();
    const ssize_t count = fi_cq_read(cq_, entries.data(), entries.size());
    if (count == -FI_EAGAIN) return 0;
    if (count < 0) failed();
    breath_.found();
    int arrived = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const fi_cq_data_entry& e = entries[i];
      if ((e.flags & (FI_REMOTE_WRITE | FI_RECV)) == 0) {
        ++ended_;
        continue;
      }
      ++arrived;
      immediate_ = static_cast<std::uint32_t>(e.data);
      if constexpr (takes_receives) receive_again(e.op_context);
    }
    return arrived;
  }

 protected:
  [[noreturn]] static void refuse(const char* what, int error) {
    throw std::runtime_error(std::string("raw libfabric, ") + what + ": " + fi_strerror(error < 0 ? -error : error));
  }
  static void must(int r, const char* what) {
    if (r != 0) refuse(what, r);
  }
  [[noreturn]] void failed() {
    fi_cq_err_entry e{};
    fi_cq_readerr(cq_, &e, 0);
    refuse("completion", e.err);
  }
  template <class... Fids>
  static void close_all(Fids*... fids) {
    ((fids != nullptr ? void(fi_close(&fids->fid)) : void()), ...);
  }

  void open_domain() {
    fi_info* hints = fi_allocinfo();
    hints->caps = FI_MSG | (Use::remote_memory ? FI_RMA : 0) | (Atomics ? FI_ATOMIC : 0);
    if constexpr (requires { Use::tags; }) hints->caps |= FI_TAGGED;
    hints->mode = (facts.context_bytes > 0 ? FI_CONTEXT : 0) | (facts.context_bytes >= 64 ? FI_CONTEXT2 : 0) |
                  (writes && facts.write_immediate_consumes_receive ? FI_RX_CQ_DATA : 0) | FI_ASYNC_IOV;
    hints->ep_attr->type = connected ? FI_EP_MSG : FI_EP_RDM;
    hints->domain_attr->mr_mode = FI_MR_ALLOCATED | (facts.virtual_addressing ? FI_MR_VIRT_ADDR : 0) |
                                  (facts.key_owner == key_owner::provider ? FI_MR_PROV_KEY : 0) |
                                  (facts.local_registration ? FI_MR_LOCAL : 0) |
                                  (facts.region_endpoint_binding ? FI_MR_ENDPOINT : 0);
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->data_progress =
        facts.data_progress == data_progress::polling ? FI_PROGRESS_MANUAL : FI_PROGRESS_AUTO;
    hints->domain_attr->cq_data_size = writes ? facts.write_immediate_bytes : 0;
    hints->fabric_attr->prov_name = strdup(std::string(facts.provider).c_str());
    if (!facts.fabric_name.empty()) hints->fabric_attr->name = strdup(std::string(facts.fabric_name).c_str());
    const std::string own = home();
    const char* node = facts.address_resolution == address_resolution::socket ? own.c_str() : nullptr;
    const int r = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), node, nullptr,
                             node != nullptr ? FI_SOURCE : 0, hints, &info_);
    fi_freeinfo(hints);
    must(r, "fi_getinfo");
    inject_ = info_->tx_attr->inject_size;
    must(fi_fabric(info_->fabric_attr, &fabric_, nullptr), "fi_fabric");
    must(fi_domain(fabric_, info_, &domain_, nullptr), "fi_domain");
  }
  void open_queue() {
    fi_cq_attr attributes{};
    attributes.format = Use::format;
    attributes.wait_obj = FI_WAIT_NONE;
    attributes.size = 512;
    must(fi_cq_open(domain_, &attributes, &cq_, nullptr), "fi_cq_open");
    if constexpr (Use::two_queues) must(fi_cq_open(domain_, &attributes, &sent_, nullptr), "fi_cq_open");
  }
  void register_memory() {
    if constexpr (!Use::remote_memory && !facts.local_registration) return;
    constexpr std::uint64_t access =
        FI_SEND | FI_RECV | (Use::remote_memory ? FI_WRITE | FI_READ | FI_REMOTE_WRITE | FI_REMOTE_READ : 0);
    must(fi_mr_reg(domain_, memory_.data(), memory_.size(), access, 0, 7, 0, &mr_, nullptr), "fi_mr_reg");
    descriptor_ = fi_mr_desc(mr_);
  }
  void make_endpoint(fi_info* info) {
    info->tx_attr->op_flags = 0;
    must(fi_endpoint(domain_, info, &ep_, nullptr), "fi_endpoint");
    if (eq_ != nullptr) must(fi_ep_bind(ep_, &eq_->fid, 0), "fi_ep_bind");
    if (av_ != nullptr) must(fi_ep_bind(ep_, &av_->fid, 0), "fi_ep_bind");
    must(fi_ep_bind(ep_, &(Use::two_queues ? sent_ : cq_)->fid,
                    FI_TRANSMIT | (facts.selective_completion ? FI_SELECTIVE_COMPLETION : 0)),
         "fi_ep_bind");
    must(fi_ep_bind(ep_, &cq_->fid, FI_RECV), "fi_ep_bind");
    if constexpr (requires { Use::pool; }) {
      must(fi_srx_context(domain_, info_->rx_attr, &pool_, nullptr), "fi_srx_context");
      must(fi_ep_bind(ep_, &pool_->fid, 0), "fi_ep_bind");
    }
    must(fi_enable(ep_), "fi_enable");
    if constexpr (facts.region_endpoint_binding && (Use::remote_memory || facts.local_registration)) {
      must(fi_mr_bind(mr_, &ep_->fid, 0), "fi_mr_bind");
      must(fi_mr_enable(mr_), "fi_mr_enable");
    }
    if constexpr (takes_receives) post_receives();
  }

  struct receive {
    fi_context2 context;
    std::vector<std::byte> memory;
  };
  void post_receives(std::size_t wanted = receives) {
    while (slots_.size() < wanted) {
      slots_.push_back(std::make_unique<receive>());
      slots_.back()->memory.resize(size_);
      post_receive(*slots_.back());
    }
  }
  void post_receive(receive& r) {
    const ssize_t posted = fi_recv(ep_, r.memory.data(), r.memory.size(), descriptor_, FI_ADDR_UNSPEC, &r);
    if (posted != 0) refuse("fi_recv", static_cast<int>(posted));
  }
  void receive_again(void* context) {
    auto& r = *static_cast<receive*>(context);
    if constexpr (!writes) landed_ = r.memory.data();  // read before the posted receives come around again
    post_receive(r);
  }

  // ---- connecting: out of band, as a launcher would do it
  static std::string name_of(fid* object) {
    char name[512];
    std::size_t length = sizeof name;
    must(fi_getname(object, name, &length), "fi_getname");
    return {name, length};
  }
  void open_events() {
    fi_eq_attr attributes{};
    attributes.wait_obj = FI_WAIT_UNSPEC;
    must(fi_eq_open(fabric_, &attributes, &eq_, nullptr), "fi_eq_open");
  }
  fi_info* wait_for(std::uint32_t wanted) {
    for (;;) {
      alignas(fi_eq_cm_entry) char buffer[512];
      std::uint32_t event = 0;
      const ssize_t length = fi_eq_read(eq_, &event, buffer, sizeof buffer, 0);
      fi_cq_data_entry none;
      if (length == -FI_EAGAIN && fi_cq_read(cq_, &none, 1) <= 0) continue;
      if (length < 0 || event != wanted) refuse("connecting", FI_ECONNREFUSED);
      fi_eq_cm_entry entry{};
      std::memcpy(static_cast<void*>(&entry), buffer, sizeof entry);
      return entry.info;
    }
  }
  void answer(const channel& to) {
    open_events();
    must(fi_passive_ep(fabric_, info_, &pep_, nullptr), "fi_passive_ep");
    must(fi_pep_bind(pep_, &eq_->fid, 0), "fi_pep_bind");
    must(fi_listen(pep_), "fi_listen");
    to.send_text(name_of(&pep_->fid));
    fi_info* asked = wait_for(FI_CONNREQ);
    make_endpoint(asked);
    must(fi_accept(ep_, nullptr, 0), "fi_accept");
    fi_freeinfo(asked);
    wait_for(FI_CONNECTED);
  }
  void dial(const channel& to) {
    open_events();
    const std::string there = to.receive_text();
    fi_info* towards = fi_dupinfo(info_);
    free(std::exchange(towards->src_addr, nullptr));
    towards->src_addrlen = 0;
    make_endpoint(towards);
    must(fi_connect(ep_, there.data(), nullptr, 0), "fi_connect");
    fi_freeinfo(towards);
    wait_for(FI_CONNECTED);
  }
  void open_table() {
    fi_av_attr attributes{};
    attributes.type = FI_AV_TABLE;
    must(fi_av_open(domain_, &attributes, &av_, nullptr), "fi_av_open");
    make_endpoint(info_);
  }
  void exchange_addresses(const channel& to) {
    open_table();
    to.send_text(name_of(&ep_->fid));
    const std::string there = to.receive_text();
    if (fi_av_insert(av_, there.data(), 1, &peer_, 0, nullptr) != 1) refuse("fi_av_insert", FI_EADDRNOTAVAIL);
  }
  void exchange_regions(const channel& to, bool first) {
    landed_ = memory_.data();
    const std::uint64_t own_key = Use::remote_memory ? fi_mr_key(mr_) : 0;
    const std::array<std::uint64_t, 2> ours{
        facts.virtual_addressing ? reinterpret_cast<std::uint64_t>(memory_.data()) : 0, own_key};
    const std::string theirs =
        to.swap(first, {reinterpret_cast<const char*>(ours.data()), sizeof ours}, [this] { poll(); });
    std::memcpy(&address_, theirs.data(), 8);
    std::memcpy(&key_, theirs.data() + 8, 8);
  }

  std::size_t size_;
  std::vector<std::byte> memory_;  // incoming, then outgoing
  const std::byte* landed_ = nullptr;
  std::vector<std::unique_ptr<receive>> slots_;
  fi_info* info_ = nullptr;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_cq* cq_ = nullptr;
  fid_cq* sent_ = nullptr;  // where sends have a queue of their own
  fid_eq* eq_ = nullptr;
  fid_av* av_ = nullptr;
  fid_pep* pep_ = nullptr;
  fid_mr* mr_ = nullptr;
  fid_ep* ep_ = nullptr;
  fid_ep* pool_ = nullptr;
  void* descriptor_ = nullptr;
  std::size_t inject_ = 0;
  breather<room> breath_;
  fi_addr_t peer_ = FI_ADDR_UNSPEC;
  std::uint64_t address_ = 0;
  std::uint64_t key_ = 0;
  std::uint64_t ended_ = 0;
  std::uint32_t immediate_ = 0;
  fi_context2 context_{};
};

}  // namespace weft::bench
