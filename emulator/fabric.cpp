// SPDX-License-Identifier: Apache-2.0
//
// Fabrics, domains and event queues, and the entry by which libfabric loads the emulator (fi_provider(3)).
#include "connections.hpp"
#include "objects.hpp"
#include "rules.hpp"

#include <rdma/providers/fi_prov.h>

#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <new>
#include <utility>

namespace weft::emulator {

std::recursive_mutex& process_lock() {
  static auto& lock = *new std::recursive_mutex;  // never destroyed: own threads may outlive the end of main
  return lock;
}

namespace {

template <class Object>
int destroy(fid* handle) {
  const locked hold(process_lock());
  delete reinterpret_cast<Object*>(handle);  // NOLINT(cppcoreguidelines-owning-memory): the handle owns it
  return 0;
}

template <class Object>
fi_ops plain_calls{sizeof(fi_ops), destroy<Object>, none, none, none, none, none};

/// Never destroyed: a watching thread may outlive the end of main.
std::vector<domain_object*>& living_domains() {
  static auto& all = *new std::vector<domain_object*>;
  return all;
}

// ---- domain
int close_domain(fid* handle) {
  auto* domain = reinterpret_cast<domain_object*>(handle);
  {
    const locked hold(process_lock());
    if (!domain->endpoints.empty() || !domain->regions.empty()) return -FI_EBUSY;
    domain->stop = true;
    std::erase(living_domains(), domain);
  }
  if (domain->mover.joinable()) domain->mover.join();
  delete domain;  // NOLINT(cppcoreguidelines-owning-memory)
  return 0;
}

/// Wakes threads that sleep on a queue of this endpoint, if there is an entry.
void wake_sleepers(const endpoint& of) {
  for (completion_queue* queue : {of.transmit, of.receive})
    if (queue != nullptr && !(queue->entries.empty() && queue->errors.empty())) queue->bell.ring();
  if (of.events != nullptr && !of.events->events.empty()) of.events->bell.ring();
}

/// Devices move data without a poll.
void move_data(domain_object& domain) {
  for (;;) {
    {
      const locked hold(process_lock());
      if (domain.stop) return;
      for (endpoint* each : domain.endpoints)
        if (each->enabled) {
          progress(*each);
          wake_sleepers(*each);
        }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

/// Where data moves only in a poll, a program that never polls gets this sentence: it would wait for ever.
void look_for_idle_endpoints() {
  const auto now = std::chrono::steady_clock::now();
  for (const domain_object* domain : living_domains())
    for (const endpoint* each : domain->endpoints) {
      epoll_event event{};
      if (each->enabled && now - each->last_poll > std::chrono::seconds(3) &&
          epoll_wait(each->wire.descriptor(), &event, 1, 0) > 0)
        broken("data_progress",
               "data arrived at an endpoint without a poll for 3 s; on this fabric it becomes visible only "
               "while the target polls its queue");
    }
}
void watch_for_pollers() {
  for (;;) {
    const auto begin = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const locked hold(process_lock());
    const auto now = std::chrono::steady_clock::now();
    if (now - begin < std::chrono::milliseconds(800)) {
      look_for_idle_endpoints();
      continue;
    }
    for (const domain_object* domain :
         living_domains())  // the whole process got no processor: nothing is known about its polls
      for (endpoint* each : domain->endpoints) each->last_poll = now;
  }
}

fi_ops domain_base{sizeof(fi_ops), close_domain, none, none, none, none, none};
fi_ops_domain domain_calls{
    sizeof(fi_ops_domain), open_table,           open_queue, open_endpoint, open_scalable, open_counter,
    open_poll_set,         open_shared_transmit, none,       query_atomic,  none,          none};

// ---- fabric
int trywait(fid_fabric* /*fabric*/, fid** handles, int count) {
  const locked hold(process_lock());
  for (int i = 0; i < count; ++i) {
    if (handles[i]->fclass == FI_CLASS_EQ) {
      auto* queue = reinterpret_cast<event_queue*>(handles[i]);
      if (!queue->events.empty()) return -FI_EAGAIN;
      queue->bell.silence();
    }
    if (handles[i]->fclass != FI_CLASS_CQ) continue;
    auto* queue = reinterpret_cast<completion_queue*>(handles[i]);
    if (!queue->entries.empty() || !queue->errors.empty()) return -FI_EAGAIN;
    for (const endpoint* each : queue->endpoints)
      if (!each->pending.empty() || !each->answers.empty()) return -FI_EAGAIN;
    queue->bell.silence();
  }
  return 0;
}
fi_ops_fabric fabric_calls{sizeof(fi_ops_fabric), open_domain, open_passive, open_events, none, trywait, none};

}  // namespace

constexpr std::size_t page_bytes = 4096;

shared_page::~shared_page() {
  if (at_ != nullptr) munmap(at_, page_bytes);
}

void shared_page::map() {
  const int file = memfd_create("weft-emulator", MFD_CLOEXEC);
  if (file < 0) return;
  void* made = ftruncate(file, page_bytes) == 0 ? mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                                                : MAP_FAILED;
  close(file);
  if (made != MAP_FAILED) at_ = made;
}

int open_domain(fid_fabric* /*fabric*/, fi_info* info, fid_domain** opened, void* context) {
  const locked hold(process_lock());
  auto* made = new domain_object;
  made->fid.fid = {FI_CLASS_DOMAIN, context, &domain_base};
  made->fid.ops = &domain_calls;
  made->fid.mr = &memory_calls;
  made->caps = info->caps;
  if (emulated()->shared_memory_on_own_node) made->own_node.map();
  made->keys = chance(conducted().seed ^
                      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) ^
                      (static_cast<std::uint64_t>(getpid()) << 32U));
  living_domains().push_back(made);
  if (emulated()->polling) {
    static const bool watched = (std::thread(watch_for_pollers).detach(), true);
    (void)watched;
  } else {
    made->mover = std::thread(move_data, std::ref(*made));
  }
  *opened = &made->fid;
  return 0;
}

int open_fabric(fi_fabric_attr* attributes, fid_fabric** opened, void* context) {
  auto* made = new fabric_object;
  made->fid.fid = {FI_CLASS_FABRIC, context, &plain_calls<fabric_object>};
  made->fid.ops = &fabric_calls;
  made->fid.api_version = attributes->api_version;
  *opened = &made->fid;
  return 0;
}

}  // namespace weft::emulator

/// Called by libfabric when it loads the file.
extern "C" __attribute__((visibility("default"))) fi_provider* fi_prov_ini() {
  static fi_provider provider = [] {
    const weft::emulator::profile* row = weft::emulator::emulated();
    fi_provider made{};
    made.version = FI_VERSION(999, 0);  // of two providers with one name the library keeps the higher version
    made.fi_version = fi_version();
    made.name = row == nullptr ? "weft_emulator" : row->provider.c_str();
    made.getinfo = weft::emulator::offer;
    made.fabric = weft::emulator::open_fabric;
    made.cleanup = [] {};
    return made;
  }();
  return &provider;
}
