// SPDX-License-Identifier: Apache-2.0
//
// Address vectors (fi_av(3)): each insertion gets a place, which is the fi_addr_t of both types, table and map.
#include "native.hpp"
#include "objects.hpp"
#include "rules.hpp"

#include <algorithm>
#include <cstring>

namespace weft::emulator {
namespace {

address_table& of(fid_av* handle) { return *reinterpret_cast<address_table*>(handle); }

int close_table(fid* handle) {
  const locked hold(process_lock());
  delete reinterpret_cast<address_table*>(handle);  // NOLINT(cppcoreguidelines-owning-memory)
  return 0;
}
fi_ops base_calls{sizeof(fi_ops), close_table, none, none, none, none, none};

/// A free place where the row's provider forgets removed peers, else a new one.
std::size_t place_for(address_table& table) {
  if (emulated()->forgets_peers) {
    const auto free = std::find(table.numbers.begin(), table.numbers.end(), 0);
    if (free != table.numbers.end()) return static_cast<std::size_t>(free - table.numbers.begin());
  }
  table.numbers.push_back(0);
  return table.numbers.size() - 1;
}

/// With FI_SYNC_ERR the context is one int per address: 0, or why it was not inserted.
int insert(fid_av* handle, const void* addresses, std::size_t count, fi_addr_t* places, std::uint64_t flags,
           void* context) {
  const locked hold(process_lock());
  const profile& row = *emulated();
  if (addresses == nullptr && count > 0) return -FI_EINVAL;
  if ((flags & FI_SYNC_ERR) != 0 && context == nullptr) return -FI_EINVAL;
  int good = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t number = number_in(row, static_cast<const std::byte*>(addresses) + i * row.address_bytes);
    if ((flags & FI_SYNC_ERR) != 0) static_cast<int*>(context)[i] = number == 0 ? FI_EINVAL : 0;
    if (places != nullptr) places[i] = FI_ADDR_NOTAVAIL;
    if (number == 0) continue;
    const std::size_t place = place_for(of(handle));
    of(handle).numbers[place] = number;
    if (places != nullptr) places[i] = place;
    ++good;
  }
  return good;
}

/// Addresses by name are refused by every provider that was read, and by some only after they looked at the arguments.
int insert_service(fid_av* /*handle*/, const char* /*node*/, const char* /*service*/, fi_addr_t* /*place*/,
                   std::uint64_t /*flags*/, void* /*context*/) {
  return -FI_ENOSYS;
}
int insert_range(fid_av* /*handle*/, const char* /*node*/, std::size_t /*nodes*/, const char* /*service*/,
                 std::size_t services, fi_addr_t* /*places*/, std::uint64_t /*flags*/, void* /*context*/) {
  return emulated()->one_service_per_node && services != 1 ? -FI_EINVAL : -FI_ENOSYS;
}

int take_out(fid_av* handle, fi_addr_t* places, std::size_t count, std::uint64_t /*flags*/) {
  const locked hold(process_lock());
  if (places == nullptr) return -FI_EINVAL;
  address_table& table = of(handle);
  for (std::size_t i = 0; i < count; ++i) {
    if (places[i] >= table.numbers.size()) return -FI_EINVAL;
    table.numbers[places[i]] = 0;
  }
  return 0;
}

/// A buffer that is too short gets the first bytes, or nothing where the provider refuses it; `size` says what is
/// needed.
int look_up(fid_av* handle, fi_addr_t place, void* into, std::size_t* size) {
  const locked hold(process_lock());
  const profile& row = *emulated();
  const address_table& table = of(handle);
  if (place >= table.numbers.size() || table.numbers[place] == 0) return -FI_EINVAL;
  const std::size_t room = *size;
  *size = row.address_bytes;
  if (room < row.address_bytes && row.short_lookup_refused) return -FI_ETOOSMALL;
  const auto address = address_of(row, table.numbers[place]);
  std::memcpy(into, address.data(), std::min(room, address.size()));
  return 0;
}

const char* in_text(fid_av* /*handle*/, const void* address, char* into, std::size_t* size) {
  const std::string text = address_as_text(*emulated(), address);
  if (into != nullptr && *size > 0) {
    const std::size_t copied = std::min(*size - 1, text.size());
    std::memcpy(into, text.data(), copied);
    into[copied] = '\0';
  }
  *size = text.size() + 1;
  return into;
}

fi_ops_av table_calls = [] {
  fi_ops_av calls{};
  calls.size = sizeof calls;
  calls.insert = insert;
  calls.insertsvc = insert_service;
  calls.insertsym = insert_range;
  calls.remove = take_out;
  calls.lookup = look_up;
  calls.straddr = in_text;
  calls.av_set = none;
  return calls;
}();

}  // namespace

int open_table(fid_domain* domain, fi_av_attr* attributes, fid_av** opened, void* context) {
  if (attributes != nullptr && (attributes->flags & FI_EVENT) != 0) return -FI_ENOSYS;  // insertions end at once
  auto* made = new address_table;
  made->fid.fid = {FI_CLASS_AV, context, &base_calls};
  made->fid.ops = &table_calls;
  made->context_bits = attributes == nullptr ? 0 : static_cast<unsigned>(attributes->rx_ctx_bits);
  (void)domain;
  if (attributes != nullptr && attributes->type == FI_AV_UNSPEC) attributes->type = FI_AV_TABLE;
  *opened = &made->fid;
  return 0;
}

}  // namespace weft::emulator
