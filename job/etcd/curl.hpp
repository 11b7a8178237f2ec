// SPDX-License-Identifier: Apache-2.0
//
// libcurl, loaded when a program first speaks to etcd: the same binary starts where no libcurl is installed. Only its
// header is needed to build.
// Hot path: no. Threads: any.
#pragma once

#include "../../core/error.hpp"

#include <curl/curl.h>
#include <dlfcn.h>

#include <string>

namespace weft::jobs::etcd {

/// The calls that weft makes, by libcurl's names (curl_easy_setopt(3), curl_multi_poll(3) and others).
struct curl_calls {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_multi_init) multi_init = nullptr;
  decltype(&::curl_multi_add_handle) multi_add = nullptr;
  decltype(&::curl_multi_remove_handle) multi_remove = nullptr;
  decltype(&::curl_multi_perform) multi_perform = nullptr;
  decltype(&::curl_multi_poll) multi_poll = nullptr;
  decltype(&::curl_multi_info_read) multi_info_read = nullptr;
  decltype(&::curl_multi_cleanup) multi_cleanup = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  std::string missing{};  ///< Why the calls cannot be made; empty: they can.

  /// Loads the library once; it stays. Errors: unsupported.
  static result<const curl_calls*> load() {
    static const curl_calls calls;
    if (calls.missing.empty()) return &calls;
    return {error(errc::unsupported, "etcd"), calls.missing};
  }

 private:
  curl_calls() {
    void* library = nullptr;
    for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"})
      if (library == nullptr) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      missing = "etcd is reached by libcurl, and libcurl.so.4 cannot be loaded (Debian: libcurl4): " +
                std::string(::dlerror());  // NOLINT(concurrency-mt-unsafe): glibc's is per thread
      return;
    }
    const auto find = [&](auto& into, const char* name) {
      into = reinterpret_cast<std::remove_reference_t<decltype(into)>>(::dlsym(library, name));
      if (into == nullptr && missing.empty())
        missing = "libcurl is too old: it lacks " + std::string(name) + ", and weft needs 7.66 or later";
    };
    find(global_init, "curl_global_init");
    find(slist_append, "curl_slist_append");
    find(slist_free_all, "curl_slist_free_all");
    find(easy_init, "curl_easy_init");
    find(easy_setopt, "curl_easy_setopt");
    find(easy_getinfo, "curl_easy_getinfo");
    find(easy_cleanup, "curl_easy_cleanup");
    find(easy_strerror, "curl_easy_strerror");
    find(multi_init, "curl_multi_init");
    find(multi_add, "curl_multi_add_handle");
    find(multi_remove, "curl_multi_remove_handle");
    find(multi_perform, "curl_multi_perform");
    find(multi_poll, "curl_multi_poll");
    find(multi_info_read, "curl_multi_info_read");
    find(multi_cleanup, "curl_multi_cleanup");
    if (missing.empty() && global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) missing = "libcurl cannot be initialized";
  }
};

}  // namespace weft::jobs::etcd
