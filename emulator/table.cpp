// SPDX-License-Identifier: Apache-2.0
//
// Address vectors (fi_av(3)): addresses are opaque bytes; each insertion gets a new index.
#include "objects.hpp"
#include "rules.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace weft::emulator {
namespace {

int close_table(fid* handle) {
  delete reinterpret_cast<address_table*>(handle);  // NOLINT(cppcoreguidelines-owning-memory)
  return 0;
}
fi_ops base_calls{sizeof(fi_ops), close_table, none, none, none, none, none};

int insert(fid_av* handle, const void* addresses, std::size_t count, fi_addr_t* places, std::uint64_t /*flags*/,
           void* /*context*/) {
  const locked hold(process_lock());
  auto* table = reinterpret_cast<address_table*>(handle);
  int good = 0;
  for (std::size_t i = 0; i < count; ++i) {
    raw_address one;
    std::memcpy(&one, static_cast<const std::byte*>(addresses) + i * sizeof one, sizeof one);
    const bool valid = one.magic == raw_address{}.magic;
    if (places != nullptr) places[i] = FI_ADDR_NOTAVAIL;
    if (!valid) continue;
    std::size_t place = table->numbers.size();
    if (emulated()->forgets_peers) {
      const auto free = std::find(table->numbers.begin(), table->numbers.end(), 0);
      place = static_cast<std::size_t>(free - table->numbers.begin());
    }
    if (place == table->numbers.size()) table->numbers.push_back(0);
    table->numbers[place] = one.number;
    if (places != nullptr) places[i] = place;
    ++good;
  }
  return good;
}

int take_out(fid_av* handle, fi_addr_t* places, std::size_t count, std::uint64_t /*flags*/) {
  const locked hold(process_lock());
  auto* table = reinterpret_cast<address_table*>(handle);
  for (std::size_t i = 0; i < count; ++i) {
    if (places[i] >= table->numbers.size()) return -FI_EINVAL;
    table->numbers[places[i]] = 0;
  }
  return 0;
}

int look_up(fid_av* handle, fi_addr_t place, void* into, std::size_t* size) {
  const locked hold(process_lock());
  const auto* table = reinterpret_cast<address_table*>(handle);
  if (place >= table->numbers.size()) return -FI_EINVAL;
  raw_address one;
  one.number = table->numbers[place];
  std::memcpy(into, &one, std::min(*size, sizeof one));
  *size = sizeof one;
  return 0;
}

const char* in_text(fid_av* /*handle*/, const void* address, char* into, std::size_t* size) {
  raw_address one;
  std::memcpy(&one, address, sizeof one);
  const int length = std::snprintf(into, *size, "weft-emulator://%016llx", static_cast<unsigned long long>(one.number));
  *size = static_cast<std::size_t>(length) + 1;
  return into;
}

fi_ops_av table_calls = [] {
  fi_ops_av calls{};
  calls.size = sizeof calls;
  calls.insert = insert;
  calls.insertsvc = none;
  calls.insertsym = none;
  calls.remove = take_out;
  calls.lookup = look_up;
  calls.straddr = in_text;
  calls.av_set = none;
  return calls;
}();

}  // namespace

int open_table(fid_domain* /*domain*/, fi_av_attr* attributes, fid_av** opened, void* context) {
  auto* made = new address_table;
  made->fid.fid = {FI_CLASS_AV, context, &base_calls};
  made->fid.ops = &table_calls;
  if (attributes != nullptr && attributes->type == FI_AV_UNSPEC) attributes->type = FI_AV_TABLE;
  *opened = &made->fid;
  return 0;
}

}  // namespace weft::emulator
