// SPDX-License-Identifier: Apache-2.0
//
// Calls into libfabric. Most of them are inline and go through tables of functions in the objects that the library
// returns. So each object gets copies of its tables whose functions decide first, then call the provider's.
// A provider may replace tables when an endpoint is bound or enabled: the new ones are copied then.
#include "decision.hpp"

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

extern "C" void* __libc_malloc(std::size_t);  // NOLINT(bugprone-reserved-identifier): glibc's name

namespace faults {
namespace {

/// A copy of a provider's table. The provider's objects point at `copy`.
template <class Table>
struct copied {
  Table copy;
  const Table* original;
  copied* next;
  static inline std::atomic<copied*> first = nullptr;

  static copied* at(const Table* table) noexcept {
    for (copied* each = first; each != nullptr; each = each->next)
      if (&each->copy == table) return each;
    return nullptr;
  }
  static copied* of(const Table* original) noexcept {
    for (copied* each = first; each != nullptr; each = each->next)
      if (each->original == original) return each;
    return nullptr;
  }
};

void wrap(fid_domain* o) noexcept;
void wrap(fid_ep* o) noexcept;
void wrap(fid_pep* o) noexcept;
void wrap(fid_eq* o) noexcept;
void wrap(fid_cq* o) noexcept;
void wrap(fid_av* o) noexcept;
void wrap(fid_mr* o) noexcept;
void wrap(fid_cntr* o) noexcept;
template <class Object>
concept wrapped_object = requires(Object* o) {
  wrap(o);
};
template <class Argument>
void wrap_made(const Argument& argument) noexcept {
  if constexpr (requires { wrap(*argument); })
    if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(*argument)>>) wrap(*argument);
}

/// A call through member `Call` of the table in member `Table` of an object.
template <auto Table, auto Call, text Name>
struct through;
template <class Object, class Functions, Functions* Object::*Table, class Returns, class First, class... Rest,
          Returns (*Functions::*Call)(First, Rest...), text Name>
struct through<Table, Call, Name> {
  static Returns call(First first, Rest... rest) {
    const auto* tables = copied<Functions>::at(reinterpret_cast<Object*>(first)->*Table);
    if (tables == nullptr) std::abort();  // the object has a table that is no copy, and yet this was called
    const auto real = tables->original->*Call;
    if (const int wrong = decide(point_of<Name>, WEFT_CALLER)) return -wrong;
    const Returns answer = real(first, rest...);
    if (answer == 0) (wrap_made(rest), ...);
    return answer;
  }
};

/// Gives `o` a copy of a table; `replace` puts functions into it.
template <class Object, class Functions, class Replace>
void copy(Object* o, Functions* Object::*table, Replace&& replace) noexcept {
  Functions* const now = o->*table;
  if (now == nullptr || copied<Functions>::at(now) != nullptr) return;
  copied<Functions>* made = copied<Functions>::of(now);
  if (made == nullptr) {
    made = static_cast<copied<Functions>*>(__libc_malloc(sizeof(copied<Functions>)));
    std::memset(static_cast<void*>(made), 0, sizeof *made);
    std::memcpy(static_cast<void*>(&made->copy), now, std::min(now->size, sizeof(Functions)));
    made->original = now;
    replace(made->copy);
    made->next = copied<Functions>::first;
    copied<Functions>::first = made;
  }
  o->*table = &made->copy;
}
template <auto Table, text Name, auto Call, class Functions>
void replace(Functions& copy) noexcept {
  if (copy.*Call != nullptr) copy.*Call = &through<Table, Call, Name>::call;
}

/// Closed all the same: an object that stays is the provider's leak.
int closing(fid* object) {
  const auto real = copied<fi_ops>::at(object->ops)->original->close;
  const int wrong = decide(point_of<"fi_close">, WEFT_CALLER);
  const int answer = real(object);
  return wrong != 0 ? -wrong : answer;
}
/// Endpoints may have other tables after these two.
int binding(fid* object, fid* other, std::uint64_t flags) {
  const auto real = copied<fi_ops>::at(object->ops)->original->bind;
  if (const int wrong = decide(point_of<"fi_bind">, WEFT_CALLER)) return -wrong;
  const int answer = real(object, other, flags);
  if (object->fclass == FI_CLASS_EP) wrap(reinterpret_cast<fid_ep*>(object));
  return answer;
}
int controlling(fid* object, int command, void* argument) {
  const auto real = copied<fi_ops>::at(object->ops)->original->control;
  if (const int wrong = decide(command == FI_ENABLE ? point_of<"fi_enable"> : point_of<"fi_control">, WEFT_CALLER))
    return -wrong;
  const int answer = real(object, command, argument);
  if (object->fclass == FI_CLASS_EP) wrap(reinterpret_cast<fid_ep*>(object));
  return answer;
}
void wrap_plain(fid* o) noexcept {
  copy(o, &fid::ops, [](fi_ops& f) {
    if (f.close != nullptr) f.close = closing;
    if (f.bind != nullptr) f.bind = binding;
    if (f.control != nullptr) f.control = controlling;
  });
}

void wrap(fid_fabric* o) noexcept {
  constexpr auto t = &fid_fabric::ops;
  wrap_plain(&o->fid);
  copy(o, t, [](fi_ops_fabric& f) {
    replace<t, "fi_domain", &fi_ops_fabric::domain>(f);
    replace<t, "fi_passive_ep", &fi_ops_fabric::passive_ep>(f);
    replace<t, "fi_eq_open", &fi_ops_fabric::eq_open>(f);
    replace<t, "fi_trywait", &fi_ops_fabric::trywait>(f);
  });
}
void wrap(fid_domain* o) noexcept {
  constexpr auto t = &fid_domain::ops;
  constexpr auto m = &fid_domain::mr;
  wrap_plain(&o->fid);
  copy(o, t, [](fi_ops_domain& f) {
    replace<t, "fi_av_open", &fi_ops_domain::av_open>(f);
    replace<t, "fi_cq_open", &fi_ops_domain::cq_open>(f);
    replace<t, "fi_endpoint", &fi_ops_domain::endpoint>(f);
    replace<t, "fi_cntr_open", &fi_ops_domain::cntr_open>(f);
    replace<t, "fi_srx_context", &fi_ops_domain::srx_ctx>(f);
    replace<t, "fi_query_atomic", &fi_ops_domain::query_atomic>(f);
  });
  copy(o, m, [](fi_ops_mr& f) {
    replace<m, "fi_mr_reg", &fi_ops_mr::reg>(f);
    replace<m, "fi_mr_regv", &fi_ops_mr::regv>(f);
    replace<m, "fi_mr_regattr", &fi_ops_mr::regattr>(f);
  });
}
template <class Endpoint>
void wrap_connecting(Endpoint* o) noexcept {
  constexpr auto t = &Endpoint::ops;
  constexpr auto c = &Endpoint::cm;
  wrap_plain(&o->fid);
  copy(o, t, [](fi_ops_ep& f) {
    replace<t, "fi_cancel", &fi_ops_ep::cancel>(f);
    replace<t, "fi_getopt", &fi_ops_ep::getopt>(f);
    replace<t, "fi_setopt", &fi_ops_ep::setopt>(f);
  });
  copy(o, c, [](fi_ops_cm& f) {
    replace<c, "fi_getname", &fi_ops_cm::getname>(f);
    replace<c, "fi_getpeer", &fi_ops_cm::getpeer>(f);
    replace<c, "fi_connect", &fi_ops_cm::connect>(f);
    replace<c, "fi_listen", &fi_ops_cm::listen>(f);
    replace<c, "fi_accept", &fi_ops_cm::accept>(f);
    replace<c, "fi_reject", &fi_ops_cm::reject>(f);
    replace<c, "fi_shutdown", &fi_ops_cm::shutdown>(f);
  });
}
void wrap(fid_pep* o) noexcept { wrap_connecting(reinterpret_cast<fid_ep*>(o)); }  // the same members come first
void wrap(fid_ep* o) noexcept {
  constexpr auto m = &fid_ep::msg;
  constexpr auto r = &fid_ep::rma;
  constexpr auto a = &fid_ep::atomic;
  wrap_connecting(o);
  copy(o, m, [](fi_ops_msg& f) {
    replace<m, "fi_recv", &fi_ops_msg::recv>(f);
    replace<m, "fi_recvmsg", &fi_ops_msg::recvmsg>(f);
    replace<m, "fi_send", &fi_ops_msg::send>(f);
    replace<m, "fi_sendmsg", &fi_ops_msg::sendmsg>(f);
    replace<m, "fi_inject", &fi_ops_msg::inject>(f);
    replace<m, "fi_senddata", &fi_ops_msg::senddata>(f);
    replace<m, "fi_injectdata", &fi_ops_msg::injectdata>(f);
  });
  copy(o, r, [](fi_ops_rma& f) {
    replace<r, "fi_read", &fi_ops_rma::read>(f);
    replace<r, "fi_readmsg", &fi_ops_rma::readmsg>(f);
    replace<r, "fi_write", &fi_ops_rma::write>(f);
    replace<r, "fi_writemsg", &fi_ops_rma::writemsg>(f);
    replace<r, "fi_writedata", &fi_ops_rma::writedata>(f);
    replace<r, "fi_inject_write", &fi_ops_rma::inject>(f);
    replace<r, "fi_inject_writedata", &fi_ops_rma::injectdata>(f);
  });
  copy(o, a, [](fi_ops_atomic& f) {
    replace<a, "fi_atomicmsg", &fi_ops_atomic::writemsg>(f);
    replace<a, "fi_fetch_atomicmsg", &fi_ops_atomic::readwritemsg>(f);
    replace<a, "fi_compare_atomicmsg", &fi_ops_atomic::compwritemsg>(f);
  });
}
void wrap(fid_eq* o) noexcept {
  constexpr auto t = &fid_eq::ops;
  wrap_plain(&o->fid);
  copy(o, t, [](fi_ops_eq& f) {
    replace<t, "fi_eq_read", &fi_ops_eq::read>(f);
    replace<t, "fi_eq_readerr", &fi_ops_eq::readerr>(f);
    replace<t, "fi_eq_sread", &fi_ops_eq::sread>(f);
  });
}
void wrap(fid_cq* o) noexcept {
  constexpr auto t = &fid_cq::ops;
  wrap_plain(&o->fid);
  copy(o, t, [](fi_ops_cq& f) {
    replace<t, "fi_cq_read", &fi_ops_cq::read>(f);
    replace<t, "fi_cq_readfrom", &fi_ops_cq::readfrom>(f);
    replace<t, "fi_cq_readerr", &fi_ops_cq::readerr>(f);
    replace<t, "fi_cq_sread", &fi_ops_cq::sread>(f);
  });
}
void wrap(fid_av* o) noexcept {
  constexpr auto t = &fid_av::ops;
  wrap_plain(&o->fid);
  copy(o, t, [](fi_ops_av& f) {
    replace<t, "fi_av_insert", &fi_ops_av::insert>(f);
    replace<t, "fi_av_remove", &fi_ops_av::remove>(f);
  });
}
void wrap(fid_mr* o) noexcept { wrap_plain(&o->fid); }
void wrap(fid_cntr* o) noexcept { wrap_plain(&o->fid); }

}  // namespace
}  // namespace faults

#define WEFT_INTERPOSED extern "C" __attribute__((visibility("default")))
WEFT_INTERPOSED int faulty_getinfo(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
                                   const fi_info* hints, fi_info** found) __asm__("fi_getinfo");
WEFT_INTERPOSED fi_info* faulty_dupinfo(const fi_info* of) __asm__("fi_dupinfo");
WEFT_INTERPOSED int faulty_fabric(fi_fabric_attr* of, fid_fabric** made, void* context) __asm__("fi_fabric");

int faulty_getinfo(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
                   const fi_info* hints, fi_info** found) {
  static const auto real = faults::next<decltype(faulty_getinfo)>("fi_getinfo");
  if (const int wrong = faults::decide(faults::point_of<"fi_getinfo">, WEFT_CALLER)) return -wrong;
  return real(version, node, service, flags, hints, found);
}
fi_info* faulty_dupinfo(const fi_info* of) {
  static const auto real = faults::next<decltype(faulty_dupinfo)>("fi_dupinfo");
  if (faults::decide(faults::point_of<"fi_dupinfo">, WEFT_CALLER) != 0) return nullptr;
  return real(of);
}
int faulty_fabric(fi_fabric_attr* of, fid_fabric** made, void* context) {
  static const auto real = faults::next<decltype(faulty_fabric)>("fi_fabric");
  const bool ours = faults::from_program(WEFT_CALLER);
  if (const int wrong = faults::decide(faults::point_of<"fi_fabric">, WEFT_CALLER)) return -wrong;
  const int answer = real(of, made, context);
  // Fabrics that a provider opens for itself keep their tables: layers of providers recognise their own.
  if (answer == 0 && ours) faults::wrap(*made);
  return answer;
}
