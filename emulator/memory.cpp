// SPDX-License-Identifier: Apache-2.0
//
// Regions (fi_mr(3)): keys of the provider cannot be guessed, keys of the application must fit and be new. Regions that
// are bound to endpoints work only after the binding.
#include "objects.hpp"
#include "rules.hpp"

namespace weft::emulator {
namespace {

int close_region(fid* handle) {
  const locked hold(process_lock());
  auto* closed = reinterpret_cast<region*>(handle);
  closed->domain->regions.erase(closed->fid.key);
  closed->domain->descriptors.erase(closed);
  delete closed;  // NOLINT(cppcoreguidelines-owning-memory)
  return 0;
}

int bind_region(fid* handle, fid* to, std::uint64_t /*flags*/) {
  if (to->fclass == FI_CLASS_EP) reinterpret_cast<region*>(handle)->bound = true;
  return 0;
}

int control_region(fid* handle, int command, void* /*argument*/) {
  auto* of = reinterpret_cast<region*>(handle);
  if (command != FI_ENABLE) return -FI_ENOSYS;
  if (emulated()->region_endpoint_binding && !of->bound)
    return broken("region_endpoint_binding",
                  "a region was enabled before it was bound to an endpoint (fi_mr_bind, then fi_mr_enable)");
  of->enabled = true;
  return 0;
}

fi_ops region_calls{sizeof(fi_ops), close_region, bind_region, control_region, none, none, none};

std::uint64_t greatest_key(std::size_t bytes) {
  return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1;
}

int register_memory(fid* handle, const void* buffer, std::size_t size, std::uint64_t access, std::uint64_t /*offset*/,
                    std::uint64_t wanted, std::uint64_t flags, fid_mr** made, void* context) {
  const locked hold(process_lock());
  const profile& row = *emulated();
  if (handle->fclass != FI_CLASS_DOMAIN) return -FI_EINVAL;
  auto* domain = reinterpret_cast<domain_object*>(handle);
  std::uint64_t key = wanted;
  const std::uint64_t most = greatest_key(row.key_bytes);
  if (row.provider_keys) {
    do key = domain->keys.number() & most;
    while (key == 0 || key == FI_KEY_NOTAVAIL || domain->regions.contains(key));
  } else {
    if (wanted > most)
      return broken("key_bytes",
                    "a key of " + std::to_string(wanted) + " was asked for; keys have " +
                        std::to_string(row.key_bytes) + " bytes on this fabric",
                    FI_EKEYREJECTED);
    const bool remote = (access & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0;
    if (!remote)
      while (domain->regions.contains(key)) key = domain->keys.number() & most;
    else if (domain->regions.contains(key)) return -FI_ENOKEY;
  }
  auto* fresh = new region;
  fresh->fid.fid = {FI_CLASS_MR, context, &region_calls};
  fresh->fid.mem_desc = fresh;
  fresh->fid.key = key;
  fresh->domain = domain;
  fresh->base = static_cast<std::byte*>(const_cast<void*>(buffer));
  fresh->size = size;
  fresh->access = access;
  fresh->enabled = !row.region_endpoint_binding;
  (void)flags;
  domain->regions[key] = fresh;
  domain->descriptors.insert(fresh);
  *made = &fresh->fid;
  return 0;
}

int register_vector(fid* handle, const iovec* vector, std::size_t count, std::uint64_t access, std::uint64_t offset,
                    std::uint64_t wanted, std::uint64_t flags, fid_mr** made, void* context) {
  if (count != 1) return -FI_EINVAL;
  return register_memory(handle, vector->iov_base, vector->iov_len, access, offset, wanted, flags, made, context);
}
int register_attributes(fid* handle, const fi_mr_attr* of, std::uint64_t flags, fid_mr** made) {
  if (of->iov_count != 1) return -FI_EINVAL;
  return register_memory(handle, of->mr_iov->iov_base, of->mr_iov->iov_len, of->access, of->offset, of->requested_key,
                         flags, made, of->context);
}

}  // namespace

fi_ops_mr memory_calls{sizeof(fi_ops_mr), register_memory, register_vector, register_attributes};

}  // namespace weft::emulator
