// SPDX-License-Identifier: Apache-2.0
//
// Regions and address tables (fi_mr(3), fi_av(3)). Regions that peers may write to are watched: fi_mr(3) tells nobody
// that bytes landed, so what changed is compared at each poll.
#include "objects.hpp"

#include <algorithm>

namespace weft::recording {
namespace {

struct wanted {
  const void* buffer = nullptr;
  std::size_t size = 0;
  std::uint64_t access = 0;
  std::uint64_t offset = 0;
  std::uint64_t key = 0;
  std::uint64_t flags = 0;
  void* context = nullptr;
  bool host = true;
};

template <class Open>
int register_as(fid* d, const char* verb, const wanted& w, fid_mr** into, Open open) {
  call c(&of(d), verb);
  c.in("size", w.size).hex("access", w.access).hex("key", w.key).in("offset", w.offset).hex("flags", w.flags);
  object* made = opened<fid_mr>(c, "mr", w.context, &base_calls, FI_CLASS_MR, open);
  if (made == nullptr) return static_cast<int>(c.answered());
  made->base = static_cast<std::byte*>(const_cast<void*>(w.buffer));
  made->size = w.host ? w.size : 0;
  take_key(c, *made, true);
  if (made->size != 0 && (w.access & FI_REMOTE_WRITE) != 0) watch(*made);
  *into = &made->face.mr;
  return 0;
}

int register_buffer(fid* d, const void* b, std::size_t n, std::uint64_t access, std::uint64_t offset, std::uint64_t key,
                    std::uint64_t flags, fid_mr** into, void* x) {
  return register_as(d, "mr_reg", {b, n, access, offset, key, flags, x}, into, [&](fid_mr** m) {
    return fi_mr_reg(real(reinterpret_cast<fid_domain*>(d)), b, n, access, offset, key, flags, m, x);
  });
}
int register_list(fid* d, const iovec* v, std::size_t n, std::uint64_t access, std::uint64_t offset, std::uint64_t key,
                  std::uint64_t flags, fid_mr** into, void* x) {
  const bool one = n == 1;
  return register_as(d, "mr_regv", {one ? v->iov_base : nullptr, one ? v->iov_len : 0, access, offset, key, flags, x},
                     into, [&](fid_mr** m) {
                       return fi_mr_regv(real(reinterpret_cast<fid_domain*>(d)), v, n, access, offset, key, flags, m,
                                         x);
                     });
}
int register_attributes(fid* d, const fi_mr_attr* a, std::uint64_t flags, fid_mr** into) {
  const bool one = a->iov_count == 1;
  const bool host = one && a->iface == FI_HMEM_SYSTEM;  // nobody can compare the memory of a device
  return register_as(d, "mr_regattr",
                     {one ? a->mr_iov->iov_base : nullptr, one ? a->mr_iov->iov_len : 0, a->access, a->offset,
                      a->requested_key, flags, a->context, host},
                     into,
                     [&](fid_mr** m) { return fi_mr_regattr(real(reinterpret_cast<fid_domain*>(d)), a, flags, m); });
}

// ---- addresses
int insert(fid_av* t, const void* addresses, std::size_t count, fi_addr_t* places, std::uint64_t flags, void* x) {
  call c(&of(t), "insert");
  c.in("count", count).hex("flags", flags);
  const auto good = c.answer([&] { return fi_av_insert(real(t), addresses, count, places, flags, x); });
  for (std::size_t i = 0; i < count; ++i) {
    if (places != nullptr) c.out("place" + std::to_string(i), places[i]);
    if ((flags & FI_SYNC_ERR) != 0 && x != nullptr) c.out("error" + std::to_string(i), static_cast<int*>(x)[i]);
  }
  return static_cast<int>(good);
}
int insert_service(fid_av* t, const char* node, const char* service, fi_addr_t* place, std::uint64_t flags, void* x) {
  call c(&of(t), "insertsvc");
  c.text("node", node).text("service", service).hex("flags", flags);
  const auto good = c.answer([&] { return fi_av_insertsvc(real(t), node, service, place, flags, x); });
  if (good > 0 && place != nullptr) c.out("place0", *place);
  return static_cast<int>(good);
}
int insert_range(fid_av* t, const char* node, std::size_t nodes, const char* service, std::size_t services,
                 fi_addr_t* places, std::uint64_t flags, void* x) {
  call c(&of(t), "insertsym");
  c.text("node", node).in("nodes", nodes).text("service", service).in("services", services).hex("flags", flags);
  const auto good =
      c.answer([&] { return fi_av_insertsym(real(t), node, nodes, service, services, places, flags, x); });
  for (std::size_t i = 0; good > 0 && places != nullptr && i < nodes * services; ++i)
    c.out("place" + std::to_string(i), places[i]);
  return static_cast<int>(good);
}
int take_out(fid_av* t, fi_addr_t* places, std::size_t count, std::uint64_t flags) {
  call c(&of(t), "remove");
  for (std::size_t i = 0; places != nullptr && i < count; ++i) c.in("place", places[i]);
  c.hex("flags", flags);
  return static_cast<int>(c.answer([&] { return fi_av_remove(real(t), places, count, flags); }));
}
int look_up(fid_av* t, fi_addr_t place, void* into, std::size_t* size) {
  call c(&of(t), "lookup");
  const std::size_t room = *size;
  c.in("place", place).in("room", room);
  const auto answered = c.answer([&] { return fi_av_lookup(real(t), place, into, size); });
  c.out("size", *size);
  std::size_t kept = answered == 0 ? std::min(room, *size) : 0;
  c.out_bytes("address", into, room, kept, true);
  return static_cast<int>(answered);
}
const char* in_text(fid_av* t, const void* address, char* into, std::size_t* size) {
  call c(&of(t), "straddr");
  const std::size_t room = *size;
  c.in("room", into == nullptr ? 0 : room);
  std::string text;
  (void)c.answer([&] {
    const char* said = fi_av_straddr(real(t), address, into, size);
    text = said == nullptr ? "" : word_of(said);
    return 0;
  });
  c.out("size", *size);
  (void)kept_text(c, text, into, into == nullptr ? 0 : room);
  return into;
}
int open_set(fid_av* /*table*/, fi_av_set_attr* /*attributes*/, fid_av_set** /*into*/, void* /*context*/) {
  return not_recorded("fi_av_set");
}

}  // namespace

void take_key(call& c, object& region, bool granted) {
  if (!granted) return;
  fid_mr& face = region.face.mr;
  bool described = false;
  if (region.real != nullptr) {
    const auto* of = reinterpret_cast<const fid_mr*>(region.real);
    face.key = of->key;
    face.mem_desc = of->mem_desc;
    described = of->mem_desc != nullptr;
  }
  c.out("key", face.key);
  c.out("described", described);
  if (c.replays()) face.mem_desc = described ? &region : nullptr;
}

fi_ops_mr memory_calls{sizeof(fi_ops_mr), register_buffer, register_list, register_attributes};
fi_ops_av table_calls = [] {
  fi_ops_av calls{};
  calls.size = sizeof calls;
  calls.insert = insert;
  calls.insertsvc = insert_service;
  calls.insertsym = insert_range;
  calls.remove = take_out;
  calls.lookup = look_up;
  calls.straddr = in_text;
  calls.av_set = open_set;
  return calls;
}();

}  // namespace weft::recording
