// SPDX-License-Identifier: Apache-2.0
//
// What every entry point does around its call: handles become objects or an error with a sentence, and no exception
// passes. Hot path: call(), found(). Threads: as weft.h.
#pragma once

#include "process_table.hpp"

#include <array>
#include <cstdio>
#include <exception>
#include <new>

namespace weft::abi {

/// The sentence of the last error of a call without a transport, per thread. Plain memory, which needs no destructor.
inline thread_local std::array<char, 2048> sentence_of_thread{};

inline int refuse(errc code, const char* call, std::string_view sentence) noexcept {
  (void)std::snprintf(sentence_of_thread.data(), sentence_of_thread.size(), "%s: %.*s", call,
                      static_cast<int>(sentence.size()), sentence.data());
  return code_of(code);
}
/// A wrong argument.
inline int wrong(open_transport& t, const char* call, const char* sentence, errc code = errc::invalid) noexcept {
  std::array<char, 512> text{};
  (void)std::snprintf(text.data(), text.size(), "%s: %s", call, sentence);
  return t.answer(error(code, call), text.data());
}

/// Runs `body(transport)`, which returns C's answer.
template <class Body>
[[gnu::always_inline]] inline int call(weft_transport net, const char* name, Body&& body) noexcept {
  open_transport* const t = process_table::one().find(net);
  if (t == nullptr) [[unlikely]] {
    if (net == nullptr) return refuse(errc::invalid, name, "the transport is NULL");
    if (!handle_number::existed(handle_kind::transport, number_of(net)))
      return refuse(errc::invalid, name, "this is no transport: pass what weft_open() gave");
    return refuse(errc::closed, name, "this transport was closed, or the process is a child of fork()");
  }
  try {
    return body(*t);
  } catch (const std::bad_alloc&) {
    return t->answer(error(errc::no_memory, name));
  } catch (const std::exception& e) {
    return t->answer(error(errc::broken, name), e.what());
  } catch (...) {
    return t->answer(error(errc::broken, name));
  }
}

/// An object of the transport, and why there is none.
inline int no_peer(open_transport& t, const char* name, weft_peer handle) noexcept {
  if (handle == nullptr) return wrong(t, name, "the peer is NULL");
  const errc code = decltype(t.peers)::why(handle, errc::peer_lost);
  return wrong(t, name,
               code == errc::invalid ? "this is no peer: pass what weft_connect() or an event gave"
                                     : "this peer is gone, or belongs to another transport",
               code);
}
inline int no_region(open_transport& t, const char* name, weft_region handle) noexcept {
  if (handle == nullptr) return wrong(t, name, "the region is NULL");
  const errc code = decltype(t.regions)::why(handle, errc::closed);
  return wrong(t, name,
               code == errc::invalid ? "this is no region: pass what weft_register() or weft_allocate() gave"
                                     : "this region was released, or belongs to another transport",
               code);
}
inline int no_remote(open_transport& t, const char* name, weft_remote handle) noexcept {
  if (handle == nullptr) return wrong(t, name, "the remote region is NULL");
  const errc code = decltype(t.remotes)::why(handle, errc::closed);
  return wrong(t, name,
               code == errc::invalid
                   ? "this is no remote region: pass what weft_parse() or weft_receive_region() gave"
                   : "this remote region was forgotten, its peer is gone, or it belongs to another transport",
               code);
}

/// Copies the fields that this version knows. False: a later version's field is not zero.
template <class T>
bool copied_options(const T* given, T& into) {
  const auto* const from = reinterpret_cast<const unsigned char*>(given);
  for (std::uint64_t i = sizeof(T); i < given->size; ++i)
    if (from[i] != 0) return false;
  std::memcpy(&into, from, std::min<std::uint64_t>(given->size, sizeof(T)));
  return true;
}

/// The same, where `size` is wrong by so much that the caller has not set it: false.
template <class T>
bool takes_options(const T* given, T& into) {
  return given->size >= sizeof(into.size) && given->size <= 4096 && copied_options(given, into);
}

/// Nanoseconds of C. Longer than a century is a century, so that no sum overflows.
inline duration time_of(std::uint64_t ns) noexcept {
  constexpr std::uint64_t century = 100ULL * 365 * 24 * 3600 * 1'000'000'000;
  return duration(static_cast<std::int64_t>(std::min(ns, century)));
}

}  // namespace weft::abi
