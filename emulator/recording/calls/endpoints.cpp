// SPDX-License-Identifier: Apache-2.0
//
// Endpoints and connections (fi_endpoint(3), fi_cm(3)), without what they post.
#include "objects.hpp"
#include "posting.hpp"

#include <algorithm>
#include <unordered_map>

namespace weft::recording {
namespace {

/// The line that posted with this context; "-" where none is open.
std::string posted_by(void* context) {
  const posted receive = post_of(context, FI_RECV, nullptr);
  const posted any = receive.line != 0 ? receive : post_of(context, 0, nullptr);
  return any.line == 0 ? "-" : std::to_string(any.line);
}

ssize_t cancel(fid* handle, void* context) {
  call c(&of(handle), "cancel");
  c.word("of", posted_by(context));
  return c.answer([&] { return fi_cancel(of(handle).real, context); });
}

int get_option(fid* handle, int level, int name, void* value, std::size_t* size) {
  call c(&of(handle), "getopt");
  const std::size_t room = *size;
  c.in("level", static_cast<std::uint64_t>(level)).in("name", static_cast<std::uint64_t>(name)).in("room", room);
  const auto answered = c.answer([&] { return fi_getopt(of(handle).real, level, name, value, size); });
  std::size_t kept = answered == 0 ? std::min(room, *size) : 0;
  c.out("size", *size);
  c.out_bytes("value", value, room, kept, true);
  return static_cast<int>(answered);
}
int set_option(fid* handle, int level, int name, const void* value, std::size_t size) {
  call c(&of(handle), "setopt");
  c.in("level", static_cast<std::uint64_t>(level)).in("name", static_cast<std::uint64_t>(name));
  c.word("value", hex_of(value, value == nullptr ? 0 : size));
  return static_cast<int>(c.answer([&] { return fi_setopt(of(handle).real, level, name, value, size); }));
}

template <auto Open, class Attributes>
int open_context(const char* verb, const char* kind, std::size_t fid_class, fid_ep* e, int index,
                 Attributes* attributes, fid_ep** into, void* x) {
  call c(&of(e), verb);
  c.in("index", static_cast<std::uint64_t>(index));
  object* made = opened<fid_ep>(c, kind, x, &base_calls, fid_class,
                                [&](fid_ep** made_one) { return Open(real(e), index, attributes, made_one, x); });
  if (made == nullptr) return static_cast<int>(c.answered());
  made->post_flags = attributes != nullptr ? attributes->op_flags : of(e).post_flags;
  give_endpoint_calls(made->face.ep);
  *into = &made->face.ep;
  return 0;
}
int open_transmit(fid_ep* e, int index, fi_tx_attr* attributes, fid_ep** into, void* x) {
  return open_context<fi_tx_context>("tx_context", "tx", FI_CLASS_TX_CTX, e, index, attributes, into, x);
}
int open_receive(fid_ep* e, int index, fi_rx_attr* attributes, fid_ep** into, void* x) {
  return open_context<fi_rx_context>("rx_context", "rx", FI_CLASS_RX_CTX, e, index, attributes, into, x);
}
ssize_t receive_room(fid_ep* e) {
  call c(&of(e), "rx_size_left");
  return c.answer([&] { return real(e)->ops->rx_size_left(real(e)); });
}
ssize_t transmit_room(fid_ep* e) {
  call c(&of(e), "tx_size_left");
  return c.answer([&] { return real(e)->ops->tx_size_left(real(e)); });
}

// ---- connections
template <class Ask>
int address(call& c, void* into, std::size_t* size, Ask ask) {
  const std::size_t room = *size;
  c.in("room", room);
  const auto answered = c.answer(ask);
  std::size_t kept = std::min(room, *size);
  c.out("size", *size);
  c.out_bytes("address", into, room, kept, true);
  return static_cast<int>(answered);
}
int name_of_endpoint(fid* handle, void* into, std::size_t* size) {
  call c(&of(handle), "getname");
  return address(c, into, size, [&] { return fi_getname(of(handle).real, into, size); });
}
int name_of_peer(fid_ep* e, void* into, std::size_t* size) {
  call c(&of(e), "getpeer");
  return address(c, into, size, [&] { return fi_getpeer(real(e), into, size); });
}
int set_name(fid* handle, void* from, std::size_t size) {
  call c(&of(handle), "setname");
  c.word("address", hex_of(from, size));
  return static_cast<int>(c.answer([&] { return fi_setname(of(handle).real, from, size); }));
}
int dial(fid_ep* e, const void* to, const void* data, std::size_t size) {
  call c(&of(e), "connect");
  c.in("size", size);  // where to is in the program's own hands: ports of listeners differ from run to run
  return static_cast<int>(c.answer([&] { return fi_connect(real(e), to, data, size); }));
}
int listen(fid_pep* p) {
  call c(&of(p), "listen");
  return static_cast<int>(c.answer([&] { return fi_listen(real(p)); }));
}
int accept(fid_ep* e, const void* data, std::size_t size) {
  call c(&of(e), "accept");
  c.in("size", size);
  return static_cast<int>(c.answer([&] { return fi_accept(real(e), data, size); }));
}
int reject(fid_pep* p, fid* request, const void* data, std::size_t size) {
  call c(&of(p), "reject");
  c.word("request", request_name(request)).in("size", size);
  return static_cast<int>(c.answer([&] { return fi_reject(real(p), request, data, size); }));
}
int shut_down(fid_ep* e, std::uint64_t flags) {
  call c(&of(e), "shutdown");
  c.hex("flags", flags);
  return static_cast<int>(c.answer([&] { return fi_shutdown(real(e), flags); }));
}
int join(fid_ep* /*endpoint*/, const void* /*address*/, std::uint64_t /*flags*/, fid_mc** /*into*/, void* /*context*/) {
  return not_recorded("fi_join");
}

}  // namespace

void give_endpoint_calls(fid_ep& to) {
  to.ops = &endpoint_calls;
  to.cm = &connection_calls;
  to.msg = &message_calls;
  to.tagged = &tagged_calls;
  to.rma = &remote_calls;
  to.atomic = &atomic_calls;
}

fi_ops_ep endpoint_calls{sizeof(fi_ops_ep), cancel,       get_option,   set_option,
                         open_transmit,     open_receive, receive_room, transmit_room};
fi_ops_cm connection_calls{sizeof(fi_ops_cm), set_name, name_of_endpoint, name_of_peer, dial, listen, accept, reject,
                           shut_down,         join};

}  // namespace weft::recording
