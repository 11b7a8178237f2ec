// SPDX-License-Identifier: Apache-2.0
//
// libfabric, loaded when the first fabric of it opens. A program with WEFT_LOADS_LIBRARIES does not link the library,
// so it starts on machines without it. The six functions that libfabric exports are here; all others are calls through
// its objects (fabric(7)). The symbol versions are those of libfabric 1.15 to 2.x, whose structures the headers have.
// Hot path: no. Threads: any.
#pragma once

#if defined(WEFT_LOADS_LIBRARIES)

#include "../../core/error.hpp"

#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <array>
#include <csignal>
#include <string>

namespace weft::backends::libfabric {

/// Loads a library. The program's signal handlers stay as they are: PSM's libraries (libinfinipath, libpsm2), which
/// libfabric brings on many systems, take these signals when they are loaded. Null: dlerror() says why.
inline void* load_quietly(const char* file) noexcept {
  constexpr std::array taken{SIGINT, SIGTERM, SIGILL, SIGABRT, SIGBUS, SIGSEGV};
  std::array<struct sigaction, taken.size()> before{};
  for (std::size_t i = 0; i < taken.size(); ++i) (void)::sigaction(taken[i], nullptr, &before[i]);
  void* const handle = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  for (std::size_t i = 0; i < taken.size(); ++i) (void)::sigaction(taken[i], &before[i], nullptr);
  return handle;
}

/// The functions of the library, or the reason why there are none.
struct loaded_library {
  static constexpr const char* file = "libfabric.so.1";
  void* handle = load_quietly(file);
  std::string why = handle == nullptr ? ::dlerror() : "";  // NOLINT(concurrency-mt-unsafe): glibc's is per thread

  template <class Function>
  Function* find(const char* name, const char* release) const noexcept {
    return handle == nullptr ? nullptr : reinterpret_cast<Function*>(::dlvsym(handle, name, release));
  }
  decltype(fi_getinfo)* getinfo = find<decltype(fi_getinfo)>("fi_getinfo", "FABRIC_1.3");
  decltype(fi_dupinfo)* dupinfo = find<decltype(fi_dupinfo)>("fi_dupinfo", "FABRIC_1.3");
  decltype(fi_freeinfo)* freeinfo = find<decltype(fi_freeinfo)>("fi_freeinfo", "FABRIC_1.3");
  decltype(fi_fabric)* fabric = find<decltype(fi_fabric)>("fi_fabric", "FABRIC_1.1");
  decltype(fi_version)* version = find<decltype(fi_version)>("fi_version", "FABRIC_1.0");
  decltype(fi_strerror)* text = find<decltype(fi_strerror)>("fi_strerror", "FABRIC_1.0");
  bool whole() const noexcept {
    return getinfo != nullptr && dupinfo != nullptr && freeinfo != nullptr && fabric != nullptr && version != nullptr &&
           text != nullptr;
  }
  static const loaded_library& of_process() {
    static const loaded_library one;
    return one;
  }
};

/// The sentence where the library is missing; empty where it is loaded.
inline std::string missing_library() {
  const loaded_library& library = loaded_library::of_process();
  if (library.whole()) return {};
  if (library.handle != nullptr)
    return std::string(loaded_library::file) + " is older than libfabric 1.15: install that or later";
  return std::string(loaded_library::file) +
         " is not on this machine (Debian: apt-get install libfabric1; Fedora: dnf install libfabric): " + library.why;
}

}  // namespace weft::backends::libfabric

// Hidden and weak: each object file of the program may have them, and no library sees them.
#define WEFT_LOADED extern "C" [[gnu::weak, gnu::visibility("hidden")]]
WEFT_LOADED int fi_getinfo(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
                           const fi_info* hints, fi_info** info) {
  auto* const f = weft::backends::libfabric::loaded_library::of_process().getinfo;
  return f == nullptr ? -FI_ENOSYS : f(version, node, service, flags, hints, info);
}
WEFT_LOADED fi_info* fi_dupinfo(const fi_info* info) {
  auto* const f = weft::backends::libfabric::loaded_library::of_process().dupinfo;
  return f == nullptr ? nullptr : f(info);
}
WEFT_LOADED void fi_freeinfo(fi_info* info) {
  if (auto* const f = weft::backends::libfabric::loaded_library::of_process().freeinfo) f(info);
}
WEFT_LOADED int fi_fabric(fi_fabric_attr* attributes, fid_fabric** fabric, void* context) {
  auto* const f = weft::backends::libfabric::loaded_library::of_process().fabric;
  return f == nullptr ? -FI_ENOSYS : f(attributes, fabric, context);
}
WEFT_LOADED std::uint32_t fi_version() {
  auto* const f = weft::backends::libfabric::loaded_library::of_process().version;
  return f == nullptr ? 0 : f();
}
WEFT_LOADED const char* fi_strerror(int number) {
  auto* const f = weft::backends::libfabric::loaded_library::of_process().text;
  return f == nullptr ? "libfabric is not loaded" : f(number);
}
#undef WEFT_LOADED

#else

#include <string>

namespace weft::backends::libfabric {
/// The program is linked with the library.
inline std::string missing_library() { return {}; }
}  // namespace weft::backends::libfabric

#endif
