// SPDX-License-Identifier: Apache-2.0
//
// The two functions by which every program enters libfabric (fi_getinfo(3), fi_fabric(3)). A program that has this
// library in LD_PRELOAD finds them here first. All that it opens by them records or replays.
#include "info_text.hpp"
#include "objects.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace weft::recording {
namespace {

/// A function of the libfabric that the program has loaded, under whatever scope.
template <class Function>
Function* of_libfabric(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr)
    if (void* library = dlopen("libfabric.so.1", RTLD_LAZY | RTLD_NOLOAD)) found = dlsym(library, name);
  if (found == nullptr) stop(std::string("the program called ") + name + ", and has no libfabric.so.1");
  return reinterpret_cast<Function*>(found);
}

bool left_alone(const void* caller) {
  return inside_library > 0 || session::get().how() == mode::off || is_of_library(caller);
}

/// Hints with the library's own handles in place of the program's.
struct unwrapped {
  explicit unwrapped(const fi_info* hints) : info(const_cast<fi_info*>(hints)) { swap(); }
  ~unwrapped() {
    if (info == nullptr) return;
    if (info->fabric_attr != nullptr) info->fabric_attr->fabric = fabric;
    if (info->domain_attr != nullptr) info->domain_attr->domain = domain;
  }
  unwrapped(const unwrapped&) = delete;
  unwrapped& operator=(const unwrapped&) = delete;

 private:
  void swap() {
    if (info == nullptr) return;
    if (info->fabric_attr != nullptr && (fabric = info->fabric_attr->fabric) != nullptr)
      info->fabric_attr->fabric = real(fabric);
    if (info->domain_attr != nullptr && (domain = info->domain_attr->domain) != nullptr)
      info->domain_attr->domain = real(domain);
  }
  fi_info* info;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
};

int get_info(std::uint32_t version, const char* node, const char* service, std::uint64_t flags, const fi_info* hints,
             fi_info** into) {
  call c(nullptr, "getinfo");
  c.hex("version", version).text("node", node).text("service", service).hex("flags", flags);
  c.word("hints", text_of_info(hints));
  const auto answered = c.answer([&] {
    const unwrapped theirs(hints);
    return of_libfabric<decltype(fi_getinfo)>("fi_getinfo")(version, node, service, flags, hints, into);
  });
  if (answered != 0) return static_cast<int>(answered);
  std::size_t count = 0;
  for (const fi_info* each = c.replays() ? nullptr : *into; each != nullptr; each = each->next) ++count;
  c.out("count", count);
  if (count == 0 || count > 10'000) c.impossible("the answer to fi_getinfo has no count of infos");
  fi_info* at = c.replays() ? nullptr : *into;
  fi_info** end = into;
  for (std::size_t i = 0; i < count; ++i) {
    std::string text = at != nullptr ? text_of_info(at) : "";
    c.out_word("info" + std::to_string(i), text);
    if (at != nullptr) at = at->next;
    if (!c.replays()) continue;
    std::string why;
    if ((*end = info_of_text(text, why)) == nullptr) c.impossible(why);
    end = &(*end)->next;
  }
  return 0;
}

int open_fabric(fi_fabric_attr* attributes, fid_fabric** into, void* context) {
  call c(nullptr, "fabric");
  c.text("name", attributes->name).text("prov_name", attributes->prov_name);
  object* made = opened<fid_fabric>(c, "fabric", context, &base_calls, FI_CLASS_FABRIC, [&](fid_fabric** f) {
    return of_libfabric<decltype(fi_fabric)>("fi_fabric")(attributes, f, context);
  });
  if (made == nullptr) return static_cast<int>(c.answered());
  std::uint32_t version = made->real == nullptr ? 0 : reinterpret_cast<fid_fabric*>(made->real)->api_version;
  c.out("api_version", version);
  made->face.fabric.api_version = version;
  made->face.fabric.ops = &fabric_calls;
  *into = &made->face.fabric;
  return 0;
}

}  // namespace
}  // namespace weft::recording

using namespace weft::recording;

extern "C" {

__attribute__((visibility("default"))) int fi_getinfo(std::uint32_t version, const char* node, const char* service,
                                                      std::uint64_t flags, const fi_info* hints, fi_info** info) {
  if (left_alone(__builtin_return_address(0)))
    return of_libfabric<decltype(fi_getinfo)>("fi_getinfo")(version, node, service, flags, hints, info);
  return get_info(version, node, service, flags, hints, info);
}

__attribute__((visibility("default"))) int fi_fabric(fi_fabric_attr* attributes, fid_fabric** fabric, void* context) {
  if (left_alone(__builtin_return_address(0)))
    return of_libfabric<decltype(fi_fabric)>("fi_fabric")(attributes, fabric, context);
  return open_fabric(attributes, fabric, context);
}

/// Global objects, such as the monitor of memory to which Open MPI reports, are libfabric's own and are not recorded.
/// It makes them when it looks for providers, and in a replay nobody else lets it.
__attribute__((visibility("default"))) int fi_open(std::uint32_t version, const char* name, void* attributes,
                                                   std::size_t size, std::uint64_t flags, fid** opened, void* context) {
  const inside library;
  if (session::get().how() == mode::replaying) {
    fi_info* found = nullptr;
    if (of_libfabric<decltype(fi_getinfo)>("fi_getinfo")(version, nullptr, nullptr, FI_PROV_ATTR_ONLY, nullptr,
                                                         &found) == 0)
      fi_freeinfo(found);
  }
  return of_libfabric<decltype(fi_open)>("fi_open")(version, name, attributes, size, flags, opened, context);
}
}
