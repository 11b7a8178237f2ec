// SPDX-License-Identifier: Apache-2.0
//
// The way in: fi_getinfo and fi_fabric take the place of libfabric's, and each object that is opened below gets wrapped
// tables. Calls that the library makes of itself (rxm opens tcp) go through unchanged. Hot path: no. Threads: one
// owner.
#include "lies.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <memory>

namespace weft::liar {

bool tells(std::string_view lie) {
  static const char* const told = std::getenv("WEFT_LIE");  // NOLINT(concurrency-mt-unsafe): nobody writes it
  return told != nullptr && lie == told;
}

originals& real() {
  static originals all{};
  return all;
}

bool& pooled() {
  static bool pool = false;
  return pool;
}

bool& small_queue() {
  static bool small = false;
  return small;
}

namespace {

struct info_closer {
  void operator()(fi_info* info) const noexcept { fi_freeinfo(info); }
};
using owned_info = std::unique_ptr<fi_info, info_closer>;

owned_info copy_of(const fi_info* info) { return owned_info(info == nullptr ? fi_allocinfo() : fi_dupinfo(info)); }

/// How deep this thread is inside of the library.
int& depth() {
  thread_local int calls = 0;
  return calls;
}
struct inside {
  inside() { ++depth(); }
  ~inside() { --depth(); }
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;
};

owned_info true_copy(const fi_info* info) {
  owned_info made = copy_of(info);
  made->handle = info->handle;
  make_true(*made);
  return made;
}

int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** opened, void* context) {
  const inside library;
  const owned_info honest = true_copy(info);
  const int returned = real().domain.endpoint(domain, honest.get(), opened, context);
  if (returned == 0) wrap_endpoint(*opened);
  return returned;
}

int open_pool(fid_domain* domain, fi_rx_attr* attributes, fid_ep** opened, void* context) {
  const inside library;
  pooled() = true;
  return real().domain.srx_ctx(domain, attributes, opened, context);
}

int open_queue(fid_domain* domain, fi_cq_attr* attributes, fid_cq** opened, void* context) {
  const inside library;
  small_queue() = attributes->size == 8;
  const int returned = real().domain.cq_open(domain, attributes, opened, context);
  if (returned == 0) wrap_queue(*opened);
  return returned;
}

int open_addresses(fid_domain* domain, fi_av_attr* attributes, fid_av** opened, void* context) {
  const inside library;
  const int returned = real().domain.av_open(domain, attributes, opened, context);
  if (returned == 0) wrap_addresses(*opened);
  return returned;
}

int open_counter(fid_domain* domain, fi_cntr_attr* attributes, fid_cntr** opened, void* context) {
  const inside library;
  const int returned = real().domain.cntr_open(domain, attributes, opened, context);
  if (returned == 0) wrap_counter(*opened);
  return returned;
}

int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** opened, void* context) {
  const inside library;
  const owned_info honest = true_copy(info);
  const int returned = real().fabric.domain(fabric, honest.get(), opened, context);
  if (returned != 0) return returned;
  wrap((*opened)->ops, real().domain, [](fi_ops_domain& ours) {
    ours.endpoint = open_endpoint;
    ours.srx_ctx = open_pool;
    ours.cq_open = open_queue;
    ours.av_open = open_addresses;
    ours.cntr_open = open_counter;
  });
  wrap_memory(*opened);
  return returned;
}

int open_listener(fid_fabric* fabric, fi_info* info, fid_pep** opened, void* context) {
  const inside library;
  const owned_info honest = true_copy(info);
  return real().fabric.passive_ep(fabric, honest.get(), opened, context);
}

int open_events(fid_fabric* fabric, fi_eq_attr* attributes, fid_eq** opened, void* context) {
  const inside library;
  const int returned = real().fabric.eq_open(fabric, attributes, opened, context);
  if (returned == 0) wrap_events(*opened);
  return returned;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace weft::liar

using weft::liar::tells;

extern "C" __attribute__((visibility("default"))) int fi_getinfo(std::uint32_t version, const char* node,
                                                                 const char* service, std::uint64_t flags,
                                                                 const fi_info* hints, fi_info** found) {
  static auto* const asked = weft::liar::next<decltype(fi_getinfo)>("fi_getinfo");
  if (weft::liar::depth() > 0) return asked(version, node, service, flags, hints, found);
  const weft::liar::inside library;
  if (tells("crashes_when_asked") && (hints->caps & FI_ATOMIC) != 0) std::raise(SIGSEGV);
  if (tells("hangs_when_asked") && (hints->caps & FI_ATOMIC) != 0)
    for (;;) pause();
  const weft::liar::owned_info request = weft::liar::copy_of(hints);
  weft::liar::falsify_request(*request);
  const int returned = asked(version, node, service, flags, request.get(), found);
  if (returned == 0) weft::liar::falsify_replies(hints, *found);
  return returned;
}

extern "C" __attribute__((visibility("default"))) int fi_fabric(fi_fabric_attr* attributes, fid_fabric** opened,
                                                                void* context) {
  static auto* const open = weft::liar::next<decltype(fi_fabric)>("fi_fabric");
  if (weft::liar::depth() > 0) return open(attributes, opened, context);
  const weft::liar::inside library;
  const int returned = open(attributes, opened, context);
  if (returned != 0) return returned;
  weft::liar::wrap((*opened)->ops, weft::liar::real().fabric, [](fi_ops_fabric& ours) {
    ours.domain = weft::liar::open_domain;
    ours.passive_ep = weft::liar::open_listener;
    ours.eq_open = weft::liar::open_events;
  });
  return returned;
}
