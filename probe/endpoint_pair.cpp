// SPDX-License-Identifier: Apache-2.0
//
// Opening a side and its plain operations. Local buffers have a descriptor only where the provider needs one. Addresses
// are virtual only where it needs them. A region is bound to the endpoint only where it must be. Hot path: no. Threads:
// one owner.
#include "endpoint_pair.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace weft::probe {

namespace {

question asked_of(const demands& about, const wishes& wish) {
  question asked = least(about);
  if (wish.atomics) asked.caps |= FI_ATOMIC;
  if (wish.many) asked.caps |= FI_MULTI_RECV;
  if (wish.counter) asked.caps |= FI_RMA_EVENT;
  if (wish.counter && (asked.region_mode & FI_MR_ENDPOINT) != 0) asked.region_mode |= FI_MR_RMA_EVENT;
  if (wish.orders) asked.order = granted_orders(about, asked);
  return asked;
}

}  // namespace

endpoint_pair::endpoint_pair(const demands& about, const wishes& wish, channel& side, bool initiates)
    : peer{},
      wish_(wish),
      side_(side),
      slowness_(std::max(1, static_cast<int>(about.deadline.count() / 9000))),
      connected_(about.connected),
      contexts_(first_receive + wish.receives) {
  std::memset(static_cast<void*>(contexts_.data()), 0xA5, contexts_.size() * sizeof(fi_context2));
  info_ = reply_to(about, asked_of(about, wish));
  if (!info_) throw refused{"fi_getinfo", FI_ENODATA};
  info_->tx_attr->op_flags = 0;
  memory_size_ = wish.page + wish.receives * wish.receive_bytes;
  memory_ =
      static_cast<std::byte*>(mmap(nullptr, memory_size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (memory_ == MAP_FAILED) throw refused{"mmap", FI_ENOMEM};
  open(about);
  meet(initiates);
  exchange_pages();
}

endpoint_pair::~endpoint_pair() {
  // A region bound to an endpoint closes before it, any other after it.
  if ((info_->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0) region_.reset();
  second_.reset();
  endpoint_.reset();
  pool_.reset();
  region_.reset();
  if (memory_ != nullptr && memory_ != MAP_FAILED) munmap(memory_, memory_size_);
}

void endpoint_pair::open(const demands& about) {
  fid_fabric* fabric = nullptr;
  require(fi_fabric(info_->fabric_attr, &fabric, nullptr), "fi_fabric");
  fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  require(fi_domain(fabric, info_.get(), &domain, nullptr), "fi_domain");
  domain_.reset(domain);
  fi_cq_attr attributes{};
  attributes.format = FI_CQ_FORMAT_DATA;
  attributes.wait_obj = wish_.sleeps ? FI_WAIT_FD : FI_WAIT_NONE;
  attributes.size = wish_.completions;
  fid_cq* queue = nullptr;
  require(fi_cq_open(domain, &attributes, &queue, nullptr), wish_.sleeps ? "fi_cq_open(FI_WAIT_FD)" : "fi_cq_open");
  queue_.reset(queue);
  if (wish_.counter) {
    fi_cntr_attr counting{};
    counting.events = FI_CNTR_EVENTS_COMP;
    counting.wait_obj = FI_WAIT_NONE;
    fid_cntr* opened = nullptr;
    require(fi_cntr_open(domain, &counting, &opened, nullptr), "fi_cntr_open");
    counter_.reset(opened);
  }
  if (wish_.pool) {
    info_->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
    fid_ep* pool = nullptr;
    require(fi_srx_context(domain, info_->rx_attr, &pool, nullptr), "fi_srx_context");
    pool_.reset(pool);
  }
  const bool bound_regions = (info_->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0;
  if (about.connected) {
    region_ = register_memory(memory_, memory_size_, requested_key_);
    return;
  }
  fi_av_attr table{};
  table.type = FI_AV_TABLE;
  table.count = 8;
  fid_av* peers = nullptr;
  require(fi_av_open(domain, &table, &peers, nullptr), "fi_av_open");
  peers_.reset(peers);
  if (!bound_regions) region_ = register_memory(memory_, memory_size_, requested_key_);
  endpoint_ = open_endpoint(*info_);
  if (bound_regions) region_ = register_memory(memory_, memory_size_, requested_key_);
  begin_receiving();
}

owner<fid_ep> endpoint_pair::open_endpoint(fi_info& info) {
  info.tx_attr->op_flags = 0;
  if (pool_) info.ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
  fid_ep* endpoint = nullptr;
  require(fi_endpoint(domain_.get(), &info, &endpoint, nullptr), "fi_endpoint");
  owner<fid_ep> made(endpoint);
  if (pool_) require(fi_ep_bind(endpoint, &pool_->fid, 0), "fi_ep_bind(pool)");
  if (events_) require(fi_ep_bind(endpoint, &events_->fid, 0), "fi_ep_bind(events)");
  if (peers_) require(fi_ep_bind(endpoint, &peers_->fid, 0), "fi_ep_bind(addresses)");
  require(fi_ep_bind(endpoint, &queue_->fid, FI_TRANSMIT | FI_SELECTIVE_COMPLETION),
          "fi_ep_bind(FI_SELECTIVE_COMPLETION)");
  require(fi_ep_bind(endpoint, &queue_->fid, FI_RECV), "fi_ep_bind(FI_RECV)");
  if (counter_) require(fi_ep_bind(endpoint, &counter_->fid, FI_REMOTE_WRITE), "fi_ep_bind(FI_REMOTE_WRITE)");
  require(fi_enable(endpoint), "fi_enable");
  return made;
}

owner<fid_mr> endpoint_pair::register_memory(void* where, std::size_t size, std::uint64_t key) const {
  const std::uint64_t access = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
  const bool bound = (info_->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0;
  fid_mr* region = nullptr;
  require(fi_mr_reg(domain_.get(), where, size, access, 0, key, bound && counter_ ? FI_RMA_EVENT : 0, &region, nullptr),
          "fi_mr_reg");
  owner<fid_mr> made(region);
  if (bound) {
    require(fi_mr_bind(region, &endpoint_->fid, 0), "fi_mr_bind");
    if (counter_) require(fi_mr_bind(region, &counter_->fid, FI_REMOTE_WRITE), "fi_mr_bind(counter)");
    require(fi_mr_enable(region), "fi_mr_enable");
  }
  return made;
}

void endpoint_pair::begin_receiving() {
  describes_ = (info_->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
  for (std::size_t i = 0; i < wish_.receives; ++i) require(receive(i), "fi_recv");
}

std::uint64_t endpoint_pair::address_of(const void* pointer, const void* start) const {
  const bool pointers = (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
  return pointers ? reinterpret_cast<std::uintptr_t>(pointer)
                  : static_cast<std::uint64_t>(static_cast<const std::byte*>(pointer) -
                                               static_cast<const std::byte*>(start));
}

std::size_t endpoint_pair::index_of(const void* context) const {
  const auto* slot = static_cast<const fi_context2*>(context);
  return slot >= contexts_.data() && slot < contexts_.data() + contexts_.size()
             ? static_cast<std::size_t>(slot - contexts_.data())
             : ~std::size_t{0};
}

ssize_t endpoint_pair::write_over(fid_ep* link, const transfer& what) {
  const iovec piece{memory_ + what.from, what.size};
  void* described = descriptor();
  const fi_rma_iov target{peer.address + what.to, what.size, peer.key};
  const fi_msg_rma message{&piece, &described, 1, peer_address_, &target, 1, context(what.context), what.data};
  return fi_writemsg(link, &message, what.flags);
}

ssize_t endpoint_pair::send_over(fid_ep* link, const transfer& what) {
  const iovec piece{memory_ + what.from, what.size};
  void* described = descriptor();
  const fi_msg message{&piece, &described, 1, peer_address_, context(what.context), what.data};
  return fi_sendmsg(link, &message, what.flags);
}

ssize_t endpoint_pair::receive(std::size_t index) {
  return fi_recv(pool_ ? pool_.get() : endpoint_.get(), receive_memory(index), wish_.receive_bytes, descriptor(),
                 FI_ADDR_UNSPEC, context(first_receive + index));
}

ssize_t endpoint_pair::receive_many(std::size_t at, std::size_t size, std::size_t which) {
  const iovec room{memory_ + at, size};
  void* described = descriptor();
  const fi_msg message{&room, &described, 1, FI_ADDR_UNSPEC, context(which), 0};
  return fi_recvmsg(endpoint_.get(), &message, FI_MULTI_RECV);
}

bool endpoint_pair::poll() {
  const bool report = events_ && poll_events();
  fi_cq_data_entry read[16];
  const ssize_t count = fi_cq_read(queue_.get(), read, 16);
  for (ssize_t i = 0; i < count; ++i)
    came.push_back({read[i].op_context, read[i].flags, read[i].len, read[i].data, 0, read[i].buf});
  if (count == -FI_EAVAIL) {
    fi_cq_err_entry wrong{};
    if (fi_cq_readerr(queue_.get(), &wrong, 0) > 0)
      came.push_back({wrong.op_context, wrong.flags, wrong.len, wrong.data, wrong.err == 0 ? FI_EOTHER : wrong.err});
  }
  return report || count > 0 || count == -FI_EAVAIL;
}

std::uint64_t endpoint_pair::serve() {
  while (!side_.ready())
    if (!poll()) sched_yield();
  return side_.wait_for_value();
}

namespace {

bool own(const entry& each) { return (each.flags & (FI_REMOTE_WRITE | FI_RECV)) == 0; }

}  // namespace

std::size_t endpoint_pair::ended(std::size_t which) const {
  std::size_t count = 0;
  for (const entry& each : came) count += own(each) && each.context == &contexts_[which];
  return count;
}

int endpoint_pair::failure() const {
  for (const entry& each : came)
    if (each.error != 0) return each.error;
  return 0;
}

std::vector<std::size_t> endpoint_pair::received() const {
  std::vector<std::size_t> found;
  for (const entry& each : came)
    if ((each.flags & FI_RECV) != 0 && (each.flags & FI_REMOTE_WRITE) == 0 && each.error == 0)
      found.push_back(index_of(each.context) - first_receive);
  return found;
}

std::vector<entry> endpoint_pair::landed() const {
  std::vector<entry> found;
  for (const entry& each : came) {
    const bool remote = (each.flags & FI_REMOTE_WRITE) != 0;
    // One provider omits FI_REMOTE_WRITE: an immediate without an own operation belongs to a remote write.
    const bool nameless = (each.flags & FI_REMOTE_CQ_DATA) != 0 && (each.flags & (FI_WRITE | FI_SEND | FI_RECV)) == 0;
    if (each.error == 0 && (remote || nameless)) found.push_back(each);
  }
  return found;
}

}  // namespace weft::probe
