// SPDX-License-Identifier: Apache-2.0
//
// Scalable endpoints (fi_endpoint(3)): one address, and contexts for each direction. The transmit and the receive
// context with one index are two handles of one endpoint, whose number is that of the address plus the index. Shared
// transmit contexts are here too.
#include "native.hpp"
#include "opening.hpp"
#include "rules.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace weft::emulator {
namespace {

/// The lowest byte of its number is the index of a context.
constexpr std::size_t most_contexts = 256;

struct scalable_endpoint {
  fid_ep fid{};
  fid_domain* domain = nullptr;
  fi_info* info = nullptr;
  address_table* table = nullptr;
  std::uint64_t number = 0;
  std::vector<endpoint*> contexts;  ///< By index; null where no handle is open.
};

struct context_handle {
  endpoint_handle handle;  ///< First: a pointer to it is a pointer to this object.
  scalable_endpoint* of = nullptr;
  std::size_t index = 0;
};

scalable_endpoint& of(fid* handle) { return *reinterpret_cast<scalable_endpoint*>(handle); }

// ---- a context
int close_context(fid* handle) {
  const locked hold(process_lock());
  auto* closed = reinterpret_cast<context_handle*>(handle);
  if (--closed->handle.real->handles == 0) {
    closed->of->contexts[closed->index] = nullptr;
    destroy_endpoint(closed->handle.real);
  }
  delete closed;  // NOLINT(cppcoreguidelines-owning-memory)
  return 0;
}
fi_ops context_base{sizeof(fi_ops), close_context, bind_endpoint, control_endpoint, none, none, none};

endpoint_handle* open_context(fid_ep* scalable, int index, std::size_t of_class, void* context) {
  scalable_endpoint& whole = of(&scalable->fid);
  if (index < 0 || static_cast<std::size_t>(index) >= whole.contexts.size()) return nullptr;
  endpoint*& real = whole.contexts[static_cast<std::size_t>(index)];
  if (real == nullptr)
    real = make_endpoint(whole.domain, whole.info, whole.number + static_cast<std::size_t>(index), context);
  real->table = whole.table;
  ++real->handles;
  auto* made = new context_handle;
  made->handle.fid.fid = {of_class, context, &context_base};
  give_calls(made->handle.fid);
  made->handle.real = real;
  made->of = &whole;
  made->index = static_cast<std::size_t>(index);
  return &made->handle;
}

int open_transmit(fid_ep* scalable, int index, fi_tx_attr* attributes, fid_ep** opened, void* context) {
  const locked hold(process_lock());
  endpoint_handle* made = open_context(scalable, index, FI_CLASS_TX_CTX, context);
  if (made == nullptr) return -FI_EINVAL;
  if (attributes != nullptr) made->real->transmit_flags = attributes->op_flags;
  *opened = &made->fid;
  return 0;
}
int open_receive(fid_ep* scalable, int index, fi_rx_attr* attributes, fid_ep** opened, void* context) {
  const locked hold(process_lock());
  endpoint_handle* made = open_context(scalable, index, FI_CLASS_RX_CTX, context);
  if (made == nullptr) return -FI_EINVAL;
  if (attributes != nullptr) made->real->receive_flags = attributes->op_flags;
  *opened = &made->fid;
  return 0;
}

// ---- the whole
int close_scalable(fid* handle) {
  const locked hold(process_lock());
  auto* closed = &of(handle);
  if (std::any_of(closed->contexts.begin(), closed->contexts.end(), [](const endpoint* e) { return e != nullptr; }))
    return -FI_EBUSY;
  fi_freeinfo(closed->info);
  delete closed;  // NOLINT(cppcoreguidelines-owning-memory)
  return 0;
}
int bind_scalable(fid* handle, fid* to, std::uint64_t /*flags*/) {
  const locked hold(process_lock());
  if (to->fclass != FI_CLASS_AV) return -FI_EINVAL;
  of(handle).table = reinterpret_cast<address_table*>(to);
  for (endpoint* each : of(handle).contexts)
    if (each != nullptr) each->table = of(handle).table;
  return 0;
}
int control_scalable(fid* handle, int command, void* /*argument*/) {
  if (command != FI_ENABLE) return -FI_ENOSYS;
  return of(handle).table == nullptr ? -FI_ENOAV : 0;
}
int name_of_scalable(fid* handle, void* into, std::size_t* size) {
  const auto own = address_of(*emulated(), of(handle).number);
  const std::size_t had = std::exchange(*size, own.size());
  if (had > 0) std::memcpy(into, own.data(), std::min(had, own.size()));
  return had < own.size() ? -FI_ETOOSMALL : 0;
}

fi_ops scalable_base{sizeof(fi_ops), close_scalable, bind_scalable, control_scalable, none, none, none};
fi_ops_ep scalable_calls{sizeof(fi_ops_ep), none, none, none, open_transmit, open_receive, none, none};
fi_ops_cm scalable_names{sizeof(fi_ops_cm), none, name_of_scalable, none, none, none, none, none, none, none};

// ---- shared transmit contexts
struct shared_transmit {
  fid_stx fid{};
};
int close_shared(fid* handle) {
  delete reinterpret_cast<shared_transmit*>(handle);  // NOLINT(cppcoreguidelines-owning-memory)
  return 0;
}
fi_ops shared_base{sizeof(fi_ops), close_shared, none, none, none, none, none};
fi_ops_ep shared_calls{sizeof(fi_ops_ep), none, none, none, none, none, none, none};

}  // namespace

int open_scalable(fid_domain* domain, fi_info* info, fid_ep** opened, void* context) {
  const locked hold(process_lock());
  const profile& row = *emulated();
  if (row.contexts <= 1) return -FI_ENOSYS;
  const std::size_t wanted = std::max({info->ep_attr->tx_ctx_cnt, info->ep_attr->rx_ctx_cnt, std::size_t{1}});
  if (wanted > std::min(row.contexts, most_contexts)) return -FI_EINVAL;
  auto* made = new scalable_endpoint;
  made->fid.fid = {FI_CLASS_SEP, context, &scalable_base};
  made->fid.ops = &scalable_calls;
  made->fid.cm = &scalable_names;
  made->domain = domain;
  made->info = fi_dupinfo(info);
  made->number = new_number() & ~std::uint64_t{most_contexts - 1};
  made->contexts.resize(wanted);
  *opened = &made->fid;
  return 0;
}

int open_shared_transmit(fid_domain* /*domain*/, fi_tx_attr* /*attributes*/, fid_stx** opened, void* context) {
  if (!emulated()->shared_transmit) return -FI_ENOSYS;
  auto* made = new shared_transmit;
  made->fid.fid = {FI_CLASS_STX_CTX, context, &shared_base};
  made->fid.ops = &shared_calls;
  *opened = &made->fid;
  return 0;
}

}  // namespace weft::emulator
