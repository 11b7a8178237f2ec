// SPDX-License-Identifier: Apache-2.0
//
// A peer by hand, for tests of strangers: it speaks the handshake over a port, and each byte of it can be changed.
#pragma once

#include "rows.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace weft::test {

template <class F>
class peer_by_hand {
 public:
  using port_type = loopback::port<shape_of<F>>;
  using engine_type = detail::engine<F>;

  explicit peer_by_hand(port_options options = {}) : net(port_type::open(options).value()) {
    if constexpr (!port_type::link_has_receives) receive();
  }

  // ---- links
  void dial(const std::string& where = "listener") {
    if (dialled) net->hang_up(link);
    dialled = true;
    link = net->dial(net->resolve(where, "7471").value(), 1).value();
    if constexpr (port_type::link_has_receives) receive();
  }
  /// Waits for a message for up to 20 ms.
  bool hear() {
    heard.clear();
    for (int i = 0; i < 100 && heard.empty(); ++i) turn();
    return !heard.empty();
  }
  /// Says it at most once; false: the port took nothing within 20 ms.
  bool say(wire::message_kind kind, const_bytes body, wire::connection_word to = {}) {
    const auto tag = wire::message_tag::of(kind, to);
    message.assign(engine_type::front, {});
    engine_type::put_front(message, tag);
    message.insert(message.end(), body.begin(), body.end());
    for (int i = 0; i < 100; ++i) {
      const bool sent(net->template send<post_mode::signalled>(link, {message.data(), message.size(), nullptr},
                                                               engine_type::immediate_of(tag), nullptr));
      turn();
      if (sent) return true;
    }
    return false;
  }

  // ---- words
  /// A new connection: another word and another nonce.
  void renew() {
    own = own_hello();
    challenge.reset();
    callers[0] = static_cast<std::byte>(std::to_integer<unsigned>(callers[0]) + 1);
  }
  std::vector<std::byte> first_hello() {
    words.resize(wire::largest_authentication);
    words.resize(wire::encode(wire::hello_authentication{callers, false, {}, {}}, words));
    return encoded();
  }
  /// Requires: a challenge was heard.
  std::vector<std::byte> proven_hello(std::string_view known) {
    const auto code = detail::code_of(secret(known), wire::proving_side::caller, callers, *challenge, own).value();
    words.resize(wire::largest_authentication);
    words.resize(wire::encode(wire::hello_authentication{callers, true, *challenge, code}, words));
    return encoded();
  }
  /// Whether the last message is a challenge; keeps its nonce.
  bool is_challenged() {
    const auto said = wire::parse_refusal(const_bytes(heard).subspan(engine_type::front));
    if (!said || said->nonce != own.nonce) return false;
    challenge = wire::parse_challenge(*said);
    return challenge.has_value();
  }
  std::string refusal() const {
    const auto said = wire::parse_refusal(const_bytes(heard).subspan(engine_type::front));
    if (!said || wire::parse_challenge(*said)) return {};
    return {reinterpret_cast<const char*>(said->reason.data()), said->reason.size()};
  }

  std::unique_ptr<port_type> net;
  typename port_type::link link{};
  bool dialled = false;
  std::vector<std::byte> heard;  ///< The last message.
  std::uint32_t times = 0;  ///< So many hellos. This member and the next stand before `own`, which is made of them.
  address_bytes address;
  wire::introduction own = own_hello();
  wire::challenge_nonce callers{};
  std::optional<wire::challenge_nonce> challenge;

  void receive() { EXPECT_TRUE(net->post_receive(link, {slot.data(), slot.size(), nullptr}, slot.data())); }
  void turn() {
    net->poll_links([this](link_change change, std::uint32_t, typename port_type::link which) -> std::uint32_t {
      if (change != link_change::arrived) return no_tag;
      link = which;
      if constexpr (port_type::link_has_receives) receive();
      return 1;
    });
    net->poll([this](const completion_entry& c) {
      if (c.kind != completion_kind::received || !c.outcome) return;
      heard.assign(slot.data(), slot.data() + c.length);
      receive();
    });
    loopback::sleep_for(200us);
  }

 private:
  wire::introduction own_hello() {
    const auto text = [](std::string_view t) { return std::as_bytes(std::span(t.data(), t.size())); };
    wire::introduction i;
    i.fingerprint = F::fingerprint;
    i.connection = wire::connection_number::of(3, ++times);
    i.proof = 1000 + times;
    i.nonce = i.own_word().value;
    i.max_message_bytes = 4096;
    if (!engine_type::connected) {
      address = net->address();
      i.address = address;
    }
    i.fabric = text(F::name);
    i.shared = text(F::shared);
    return i;
  }
  std::vector<std::byte> encoded() {
    own.authentication = words;
    std::vector<std::byte> body(wire::largest_handshake);
    body.resize(wire::encode(own, body));
    return body;
  }

  std::vector<std::byte> slot = std::vector<std::byte>(4096), message, words;
};

}  // namespace weft::test
