// SPDX-License-Identifier: Apache-2.0
//
// A hello as a transport of this build sends it, for a hostile peer that changes some of its fields. It is captured
// once from a real transport, so no field of the layout is named here that the peer does not change. Hot path: no.
// Threads: one.
#pragma once

#include "../target.hpp"
#include "rows.hpp"

#include <vector>

namespace weft::fuzz {

namespace loopback = backends::loopback;
using namespace std::chrono_literals;

/// An introduction and the bytes that it points at.
struct kept_introduction {
  wire::introduction words{};
  std::vector<std::byte> address, fabric, shared, private_data, authentication;

  void keep(const wire::introduction& i) {
    words = i;
    address.assign(i.address.begin(), i.address.end());
    fabric.assign(i.fabric.begin(), i.fabric.end());
    shared.assign(i.shared.begin(), i.shared.end());
    private_data.assign(i.private_data.begin(), i.private_data.end());
    authentication.assign(i.authentication.begin(), i.authentication.end());
  }
  wire::introduction pointing() const {
    wire::introduction i = words;
    i.address = address;
    i.fabric = fabric;
    i.shared = shared;
    i.private_data = private_data;
    i.authentication = authentication;
    return i;
  }
};

template <class F>
constexpr std::size_t front_bytes = weft::detail::engine<F>::framed ? wire::header_bytes : 0;

/// A port without a transport: it sends any bytes to anybody.
template <class F>
class raw_port {
 public:
  using port_type = typename weft::detail::engine<F>::port_type;
  using link = typename port_type::link;
  static constexpr std::size_t slot = 2048, slots = 16;

  raw_port(loopback::world& w, const std::string& node, const std::string& service) {
    const loopback::guest there(w, node);
    port_options o;
    o.node = node;
    o.service = service;
    o.listens = true;
    o.receives = slots;
    o.links = 8;
    o.least_room = slot;
    net = std::move(port_type::open(o)).value();
    texts_held = net->register_local(texts).value();
    room_held = net->register_local(room).value();
    memory_held = net->register_memory(memory, rights::all, 0x5eed).value();
    if constexpr (!port_type::link_has_receives) post_receives({});
  }

  void post_receives(link at) {
    for (std::size_t i = 0; i < slots; ++i) post_receive(at, i);
  }
  void post_receive(link at, std::size_t i) {
    (void)net->post_receive(at, {room.data() + i * slot, slot, room_held.descriptor}, room.data() + i * slot);
  }
  void dial(const std::string& host, const std::string& service) {
    const auto where = net->resolve(host, service);
    if (where) dial_address(*where);
  }
  void dial_address(const address_bytes& where) {
    if (links.size() >= 8) return;
    auto made = net->dial(where, static_cast<std::uint32_t>(links.size() + 1));
    if (!made) return;
    links.push_back(*made);
    if constexpr (port_type::link_has_receives) post_receives(*made);
  }
  void hang_up(std::size_t which) {
    if (which >= links.size()) return;
    net->hang_up(links[which]);
    links.erase(links.begin() + static_cast<std::ptrdiff_t>(which));
  }
  /// Sends a message with any tag. A full queue or a lost link drops it.
  void send(std::size_t which, wire::message_tag tag, const_bytes body) {
    if (which >= links.size() || body.size() + front_bytes < F >> slot) return;
    std::byte* const at = next_text();
    weft::detail::engine<F>::put_front({at, slot}, tag);
    if (!body.empty()) std::memcpy(at + front_bytes<F>, body.data(), body.size());
    (void)net->template send<post_mode::signalled>(links[which],
                                                   {at, front_bytes<F> + body.size(), texts_held.descriptor},
                                                   weft::detail::engine<F>::immediate_of(tag), nullptr);
  }
  void write(std::size_t which, remote_memory to, const_bytes body, bool notifies, std::uint64_t immediate) {
    if (which >= links.size() || body.size() > slot) return;
    std::byte* const at = next_text();
    if (!body.empty()) std::memcpy(at, body.data(), body.size());
    const local_memory from{at, body.size(), texts_held.descriptor};
    if (notifies) (void)net->template write_immediate<post_mode::signalled>(links[which], from, to, immediate, nullptr);
    else (void)net->template write<post_mode::signalled>(links[which], from, to, nullptr);
  }
  void read(std::size_t which, remote_memory from, std::size_t size) {
    if (which >= links.size()) return;
    (void)net->read(links[which], {next_text(), std::min(size, slot), texts_held.descriptor}, from, nullptr);
  }

  /// Takes events. `on(body)` gets each message after its header.
  template <class On>
  void turn(On&& on) {
    net->poll_links([this](link_change change, std::uint32_t, link which) -> std::uint32_t {
      if (change != link_change::arrived || links.size() >= 8) return no_tag;
      links.push_back(which);
      if constexpr (port_type::link_has_receives) post_receives(which);
      return static_cast<std::uint32_t>(links.size());
    });
    net->poll([&](const completion_entry& c) {
      constexpr bool many = weft::detail::engine<F>::many_in_one;  // a buffer comes back when it is spent
      const bool spent = c.kind == completion_kind::released || !many || c.last;
      if ((c.kind != completion_kind::received && c.kind != completion_kind::released) || c.context == nullptr) return;
      auto* const start = static_cast<std::byte*>(c.context);
      if (c.kind == completion_kind::received && c.outcome && c.length >= front_bytes<F> && c.length <= slot) {
        const std::byte* const body = c.at == nullptr ? start : c.at;
        on(const_bytes(body + front_bytes<F>, c.length - front_bytes<F>));
      }
      if (!spent) return;
      const auto i = static_cast<std::size_t>(start - room.data()) / slot;
      if constexpr (port_type::link_has_receives) {
        if (!links.empty()) post_receive(links.back(), i);
      } else {
        post_receive({}, i);
      }
    });
  }

  std::vector<std::byte> texts = std::vector<std::byte>(slot * slots), room = std::vector<std::byte>(slot * slots),
                         memory = std::vector<std::byte>(4096);
  std::unique_ptr<port_type> net;
  registration texts_held{}, room_held{}, memory_held{};
  std::vector<link> links;

 private:
  std::byte* next_text() noexcept { return texts.data() + slot * (text_++ % slots); }
  std::size_t text_ = 0;
};

/// The hello of a transport of this fabric.
template <class F>
const kept_introduction& greeting_of() {
  static const kept_introduction captured = [] {
    kept_introduction kept;
    loopback::world w(3);
    const loopback::guest outside(w, "outside");
    raw_port<F> listener(w, "listener", "7471");
    auto net = [&] {
      const loopback::guest there(w, "caller");
      transport_options o;
      o.node = "caller";
      o.sleeps = true;
      give_secret<F>(o);
      return open<F>(o).value();
    }();
    (void)net.start_connect("listener:7471");
    for (int i = 0; i < 20'000 && kept.words.nonce == 0; ++i) {
      net.progress([](auto&&) {});
      listener.turn([&](const_bytes body) {
        wire::introduction i_read;
        if (wire::parse(body, i_read) == wire::parse_verdict::good) kept.keep(i_read);
      });
      loopback::sleep_for(20us);
    }
    require(kept.words.nonce != 0, "a transport says hello");
    return kept;
  }();
  return captured;
}

}  // namespace weft::fuzz
