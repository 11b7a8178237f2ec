// SPDX-License-Identifier: Apache-2.0
//
// Calls of weft.h, each with Python's lock left.
#include "transport.hpp"

#include <algorithm>
#include <utility>

#include "inside.hpp"
#include "options.hpp"

namespace py = pybind11;

namespace weft_python {
namespace {

constexpr number slice_ns = 50'000'000;  // between two looks for signals

}  // namespace

void end() { ending_thread = PyThread_get_thread_ident(); }

transport::transport(const py::dict& options) {
  const opening asked(options);
  if (const int status = call([&] { return weft_open(&asked.options, &net_); }); status != WEFT_OK)
    refuse_with(status, weft_last_sentence(nullptr));
}

transport::~transport() {
  if (closed_) return;
  if (busy_ || _Py_IsFinalizing() != 0) {
    // A thread of a program that ends may still be inside: its memory stays.
    for (auto& [region, memory] : memory_) new held_memory(std::move(memory));
    return;
  }
  const inside in(*this);
  weft_close(net_);
}

int transport::close() {
  const int status = call([&] { return weft_close(net_); });
  closed_ = true;
  memory_.clear();
  return status;
}

std::string transport::last_sentence() { return weft_last_sentence(net_); }

told transport::open_fabrics() {
  const char* text = "";
  const int status = call([&] { return weft_open_fabrics(net_, &text); });
  return {status, text};
}

told transport::listen_address() {
  const char* text = "";
  const int status = call([&] { return weft_listen_address(net_, &text); });
  return {status, text};
}

int transport::count(const py::dict& into) {
  weft_counters counted{};
  counted.size = sizeof counted;
  const int status = call([&] { return weft_count(net_, &counted); });
  into["in_flight"] = counted.in_flight;
  into["stale"] = counted.stale;
  into["garbled"] = counted.garbled;
  into["turned_away"] = counted.turned_away;
  into["fallbacks"] = counted.fallbacks;
  return status;
}

answered transport::start_connect(const std::string& where, const py::bytes& shown) {
  weft_peer peer = nullptr;
  const std::string data = shown;
  const int status = call([&] { return weft_start_connect(net_, where.c_str(), data.data(), data.size(), &peer); });
  return {status, number_of(peer)};
}

answered transport::connect(const std::string& where, const py::bytes& shown, number timeout) {
  weft_peer peer = nullptr;
  const std::string data = shown;
  const int status = call([&] { return weft_connect(net_, where.c_str(), data.data(), data.size(), timeout, &peer); });
  return {status, number_of(peer)};
}

int transport::accept(number peer, const py::bytes& shown) {
  const std::string data = shown;
  return call([&] { return weft_accept(net_, peer_of(peer), data.data(), data.size()); });
}

int transport::reject(number peer, const std::string& reason) {
  return call([&] { return weft_reject(net_, peer_of(peer), reason.c_str()); });
}

int transport::close_peer(number peer, number timeout) {
  return call([&] { return weft_close_peer(net_, peer_of(peer), timeout); });
}

int transport::is_alive(number peer) {
  return call([&] { return weft_is_alive(net_, peer_of(peer)); });
}

told transport::fabric_of(number peer) {
  const char* text = "";
  const int status = call([&] { return weft_fabric_of(net_, peer_of(peer), &text); });
  return {status, text};
}

told transport::explain(number peer) {
  const char* text = "";
  const int status = call([&] { return weft_explain(net_, peer_of(peer), &text); });
  return {status, text};
}

answered transport::largest_message(number peer) {
  number size = 0;
  const int status = call([&] { return weft_largest_message(net_, peer_of(peer), &size); });
  return {status, size};
}

py::tuple transport::register_memory(py::handle object, std::uint32_t rights) {
  held_memory memory(object);
  if (memory.readonly() && (rights & (WEFT_REMOTE_WRITE | WEFT_REMOTE_ATOMIC)) != 0)
    refuse("InvalidError", "memory: this " + std::string(Py_TYPE(object.ptr())->tp_name) +
                               " may only be read, and the "
                               "rights let peers write: use a bytearray or a writable array");
  weft_region region = nullptr;
  const int status = call([&] { return weft_register(net_, memory.begin(), memory.size(), rights, &region); });
  const number size = memory.size();
  const bool readonly = memory.readonly();
  if (status == WEFT_OK) memory_.emplace(number_of(region), std::move(memory));
  return py::make_tuple(status, number_of(region), size, readonly);
}

// A collection in any thread may end a region. The lock is kept, so the transport's own thread meets nobody inside.
int transport::release(number region) {
  if (!busy_) return let_go(region);
  released_.push_back(region);
  return WEFT_OK;
}

int transport::let_go(number region) {
  const int status = weft_release(net_, region_of(region));
  memory_.erase(region);
  return status;
}

int transport::send_region(number peer, number region) {
  return call([&] { return weft_send_region(net_, peer_of(peer), region_of(region)); });
}

answered transport::receive_region(number peer, number timeout) {
  weft_remote remote = nullptr;
  const int status =
      call([&] { return weft_receive_region(net_, peer_of(peer), std::min(timeout, slice_ns), &remote); });
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  return {status, number_of(remote)};
}

std::pair<int, py::bytes> transport::describe(number peer, number region) {
  std::array<char, WEFT_DESCRIPTION_BYTES> room{};
  std::size_t size = 0;
  const int status =
      call([&] { return weft_describe(net_, peer_of(peer), region_of(region), room.data(), room.size(), &size); });
  return {status, py::bytes(room.data(), status == WEFT_OK ? size : 0)};
}

answered transport::parse(number peer, const py::bytes& description) {
  weft_remote remote = nullptr;
  const std::string bytes = description;
  const int status = call([&] { return weft_parse(net_, peer_of(peer), bytes.data(), bytes.size(), &remote); });
  return {status, number_of(remote)};
}

std::pair<int, std::pair<number, std::uint32_t>> transport::remote_size(number remote) {
  number size = 0;
  std::uint32_t rights = 0;
  const int status = call([&] { return weft_remote_size(net_, remote_of(remote), &size, &rights); });
  return {status, {size, rights}};
}

int transport::forget(number remote) {
  return busy_ ? WEFT_OK : weft_forget(net_, remote_of(remote));  // else it ends with its peer; as in release()
}

int transport::send(number to, number region, number offset, number size, number context) {
  return call([&] { return weft_send(net_, peer_of(to), {region_of(region), offset, size}, context, 0); });
}

int transport::send_copy(number to, py::handle object, number context) {
  const held_memory memory(object);
  return call([&] { return weft_send_copy(net_, peer_of(to), memory.begin(), memory.size(), context, 0); });
}

int transport::put(number region, number offset, number size, number remote, number at, number context) {
  return call([&] { return weft_put(net_, {region_of(region), offset, size}, {remote_of(remote), at}, context, 0); });
}

int transport::put_notify(number region, number offset, number size, number remote, number at, std::uint32_t immediate,
                          number context) {
  return call([&] {
    return weft_put_notify(net_, {region_of(region), offset, size}, {remote_of(remote), at}, immediate, context, 0);
  });
}

int transport::get(number region, number offset, number size, number remote, number at, number context) {
  return call([&] { return weft_get(net_, {region_of(region), offset, size}, {remote_of(remote), at}, context, 0); });
}

int transport::flush(number to, number context) {
  return call([&] { return weft_flush(net_, peer_of(to), context); });
}

int transport::atomic(int what, int type, number remote, number at, number operand, number expected, number context) {
  return call([&] {
    return weft_atomic(net_, static_cast<weft_atomic_kind>(what), static_cast<weft_number>(type),
                       {remote_of(remote), at}, operand, expected, context, 0);
  });
}

py::list transport::taken(int count) {
  py::list events(static_cast<std::size_t>(count));
  for (int at = 0; at < count; ++at) {
    const weft_event& each = events_[static_cast<std::size_t>(at)];
    if (each.kind == WEFT_COMPLETED && each.operation != WEFT_OP_ATOMIC && each.operation != WEFT_OP_RECEIVE_TAGGED) {
      events[static_cast<std::size_t>(at)] = py::int_(each.context);
      continue;
    }
    py::object data = py::none();
    if (each.data != nullptr) data = py::bytes(static_cast<const char*>(each.data), each.size);
    py::object text = py::none();
    if (each.text != nullptr) text = py::str(each.text);
    events[static_cast<std::size_t>(at)] = py::make_tuple(each.kind, each.context, each.status, number_of(each.peer),
                                                          each.immediate, each.old, data, text, each.size);
  }
  return events;
}

py::object transport::poll() {
  const int count = call([&] { return weft_poll(net_, events_.data(), static_cast<std::uint32_t>(events_.size())); });
  if (count < 0) return py::int_(count);
  return taken(count);
}

py::object transport::wait(number timeout) {
  for (;;) {
    const number now = std::min(timeout, slice_ns);
    const int count =
        call([&] { return weft_wait(net_, events_.data(), static_cast<std::uint32_t>(events_.size()), now); });
    if (count >= 0) return taken(count);
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    timeout -= now;
    if (count != WEFT_DEADLINE || timeout == 0) return py::int_(count);
  }
}

answered transport::wait_descriptor() {
  int descriptor = -1;
  const int status = call([&] { return weft_wait_descriptor(net_, &descriptor); });
  return {status, static_cast<number>(descriptor)};
}

answered transport::arm() {
  number at_most = 0;
  const int status = call([&] { return weft_arm(net_, &at_most); });
  return {status, at_most};
}

}  // namespace weft_python
