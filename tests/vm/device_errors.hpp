// SPDX-License-Identifier: Apache-2.0
//
// Common part of the tests of device errors: a port of the selected fabric, connected to a target in another process,
// and the completions of each context. The tests post by the port itself, so that no check of weft stops a wrong key or
// address before the device.
#pragma once

#include "../../compose/fabric.hpp"
#include "../../compose/selected.hpp"
#include "../backends/peer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>

namespace weft::testing {

/// The port of the selected fabric, as a transport uses it.
struct selected_shape : shape_of<selected> {
  template <class Shape>
  using port = selected::port<Shape>;
};

inline void* token(std::uintptr_t n) { return reinterpret_cast<void*>(n * 16); }

/// The completions of one context.
struct tally {
  std::size_t fine = 0, typed = 0, other = 0;
  std::string text;
};

template <class Shape>
struct device_errors_of : ::testing::Test {
  initiator<Shape> self;
  void SetUp() override { ASSERT_EQ(self.meet(), ""); }

  auto& port() { return *self.port; }
  local_memory scratch(std::size_t size) { return {self.scratch.data(), size, self.scratch_memory.descriptor}; }
  std::size_t ends_told(void* context) { return self.ended[context].size(); }
  /// The completions of every post with this context; those of these kinds count as typed.
  tally ends_of(void* context, std::initializer_list<errc> kinds) {
    return ends_of(context, std::span(kinds.begin(), kinds.size()));
  }
  tally ends_of(void* context, std::span<const errc> kinds) {
    tally sum;
    for (const status& each : self.ended[context]) {
      if (each) ++sum.fine;
      else if (std::find(kinds.begin(), kinds.end(), each.code) != kinds.end()) ++sum.typed;
      else ++sum.other;
      if (sum.text.size() < 200)
        sum.text += " " + std::to_string(static_cast<int>(each.code)) + "(" + std::to_string(each.native_code) + ")";
    }
    return sum;
  }

  template <post_mode M>
  status write_once(remote_memory at, std::size_t size, void* context) {
    return port().template write<M>(self.peer, scratch(size), at, context);
  }
  template <post_mode M>
  status write(remote_memory at, std::size_t size, void* context) {
    return self.post([&] { return write_once<M>(at, size, context); });
  }
  status send(void* context) {
    const local_memory from = self.staged("E", 1, self.scratch.size() - max_message_bytes);
    if constexpr (Shape::framed)
      return port().template send_framed<post_mode::signalled>(self.peer, from, {from.data, 0, from.descriptor},
                                                               context);
    else return port().template send<post_mode::signalled>(self.peer, from, 0, context);
  }
  /// Where the fabric executes atomics.
  status fetch_add(remote_memory at, std::uint64_t operand, void* context) {
    if constexpr (Shape::native_atomics) {
      auto* old = reinterpret_cast<std::uint64_t*>(self.scratch.data());
      return self.post(
          [&] { return port().fetch_add(self.peer, operand, old, self.scratch_memory.descriptor, at, context); });
    } else {
      return error(errc::unsupported, "fetch_add");
    }
  }
  /// After a broken link: the peer is there, connects again, and its memory is unchanged.
  void met_anew_with_memory_untouched() {
    port().hang_up(self.peer);
    self.messages.clear();
    ASSERT_EQ(self.connect(), "");
    ASSERT_TRUE(self.say("L0"));
    EXPECT_EQ(self.hear().body, std::string(256, '\0'));
    EXPECT_TRUE(self.part());
  }
};

}  // namespace weft::testing
