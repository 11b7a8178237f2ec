// SPDX-License-Identifier: Apache-2.0
//
// What the program holds in place of the library's objects: each begins with a fid, as theirs do, and has tables of
// calls that record or replay. Its name in a record, such as ep2, counts the objects of its kind from 1. Threads: the
// caller holds the session's lock.
#pragma once

#include "call.hpp"
#include "not_implemented.hpp"

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::recording {

struct object {
  union {
    fid any;
    fid_fabric fabric;
    fid_domain domain;
    fid_ep ep;
    fid_pep pep;
    fid_cq cq;
    fid_cntr cntr;
    fid_eq eq;
    fid_av av;
    fid_mr mr;
    fid_poll poll;
    fid_stx stx;
  } face{};
  fid* real = nullptr;  ///< Null while replaying.
  std::string name;
  std::uint64_t empty_polls = 0;  ///< Since the last answer that was one.
  std::uint64_t value = 0;        ///< Of a counter, at its last answer.
  std::uint64_t errors = 0;
  fi_cq_format format = FI_CQ_FORMAT_CONTEXT;
  const object* transmit_queue = nullptr;  ///< Of an endpoint: where its posts complete.
  const object* receive_queue = nullptr;
  bool selective = false;        ///< An endpoint whose posts complete where they ask for it.
  std::uint64_t post_flags = 0;  ///< Of an endpoint's calls without flags.
  std::byte* base = nullptr;     ///< Of a region.
  std::size_t size = 0;
  std::vector<std::byte> shadow;  ///< The region's bytes as the program last had them; empty: not watched.
  int descriptor = -1;            ///< While replaying: what the program may wait for.
};

/// The object behind a handle of the program; null for a handle that is none of ours.
object* find(const fid* handle);
/// The object whose real one this is; null where there is none.
object* of_real(const fid* real);
inline object& of(fid* handle) { return *reinterpret_cast<object*>(handle); }
template <class Handle>
object& of(Handle* handle) {
  return *reinterpret_cast<object*>(handle);
}
/// The library's own handle behind one of the program's; a handle that is none of ours is the library's.
fid* real_of(fid* handle);
template <class Handle>
Handle* real(Handle* handle) {
  return reinterpret_cast<Handle*>(real_of(reinterpret_cast<fid*>(handle)));
}

/// `kind` is the first part of the name.
object* make_object(std::string_view kind, std::size_t fid_class, void* context, fi_ops* base_calls);
void forget_object(object* closed);
/// The name of the object, "-" for null, "other" for a handle that is none of ours.
std::string name_of(const fid* handle);
/// The open object of this name; null where there is none.
object* named(std::string_view name);
/// The name of the open object with this context of the program; empty where there is none.
std::string owner_of_context(const void* context);
/// The region with this descriptor, by name; "-" without one.
std::string descriptor_name(const void* descriptor);
/// An address of this process' memory that a peer of the same process would use, as "mr1+64"; else the number.
std::string remote_address(std::uint64_t address, std::uint64_t key);
/// Open regions with watched bytes.
const std::vector<object*>& watched_regions();
void watch(object& region);

/// Opens an object: the answer of `open`, which gets the place for the real handle. Null where it was refused.
template <class Handle, class Open>
object* opened(call& c, std::string_view kind, void* context, fi_ops* base_calls, std::size_t fid_class, Open open) {
  Handle* made = nullptr;
  if (c.answer([&] { return open(&made); }) != 0) return nullptr;
  object* fresh = make_object(kind, made == nullptr ? fid_class : made->fid.fclass, context, base_calls);
  fresh->real = made == nullptr ? nullptr : &made->fid;
  c.note("made", fresh->name);
  return fresh;
}

/// A text that the library owns: its word, and a copy where the program wants one.
const char* kept_text(call& c, std::string& word, char* into, std::size_t size);
/// The name of a connection request (FI_CONNREQ).
std::string request_name(fid* handle);
/// After a call on a region: the key and the descriptor that it has from then on.
void take_key(call& c, object& region, bool granted);
/// Prints once that the program uses what neither records nor replays, and returns the answer to it.
int not_recorded(const char* what);

// ---- tables, by the file that has them
extern fi_ops base_calls;
extern fi_ops_fabric fabric_calls;
extern fi_ops_domain domain_calls;
extern fi_ops_mr memory_calls;
extern fi_ops_av table_calls;
extern fi_ops_cq queue_calls;
extern fi_ops_cntr counter_calls;
extern fi_ops_eq event_calls;
extern fi_ops_poll poll_calls;
extern fi_ops_ep endpoint_calls;
extern fi_ops_cm connection_calls;
extern fi_ops_msg message_calls;
extern fi_ops_tagged tagged_calls;
extern fi_ops_rma remote_calls;
extern fi_ops_atomic atomic_calls;
void give_endpoint_calls(fid_ep& to);

}  // namespace weft::recording
