// SPDX-License-Identifier: Apache-2.0
//
// The place of an engine where tagged messages are matched (policies/messages/tagged.hpp), and the empty part that
// stands there by default. The core calls its members in every case, and here they do nothing. Only a program that asks
// for tagged::matched_over_messages includes the real part (compose/tagged/). Fabric fact: none. Hot path: nothing
// remains of it. Threads: the owner's.
#pragma once

#include "../../core/error.hpp"
#include "../../core/memory.hpp"

#include <string_view>

namespace weft::detail {

/// What the record of a peer holds for tagged messages: nothing.
struct not_tagged {};

/// The part of a transport without tagged messages.
template <class F>
struct no_tagged {
  static constexpr bool matches = false;
  /// What a hello says that both sides must share (wire/hello.hpp), and whether this side matches tags.
  static constexpr std::string_view introduced = F::shared;
  explicit no_tagged(auto& /*engine*/) noexcept {}

  /// Learns from a hello what the peer takes.
  static constexpr void adopt(auto& /*record*/, const_bytes /*shared*/) noexcept {}
  /// Reserves memory when the transport opens. Throws: bad_alloc.
  static constexpr void open() noexcept {}
  /// A message arrived that wire::is_tagged() knows. False: it must wait.
  static constexpr bool arrived(auto& /*record*/, const_bytes /*body*/, bool /*others_wait*/, auto& /*on*/) noexcept {
    return true;
  }
  /// Takes the buffer of a slot back. False: it is another part's.
  [[gnu::always_inline]] static constexpr bool takes_back(const auto& /*slot*/) noexcept { return false; }
  /// Replaces a buffer that the library keeps.
  static constexpr void refill() noexcept {}
  /// Reports ends and returns credits that could not be returned.
  static constexpr void settle(const auto& /*on*/) noexcept {}
  /// Whether settle() has nothing to do.
  static constexpr bool settled() noexcept { return true; }
  /// The receives that name a peer end.
  static constexpr void receives_end(auto& /*record*/, errc /*why*/) noexcept {}
  /// A peer is gone: so do they, and its messages are dropped.
  static constexpr void peer_ends(auto& /*record*/, status /*why*/) noexcept {}
  /// Reports the ends of receives.
  static constexpr void report_ends(const auto& /*on*/) noexcept {}
};

template <class Answer>
consteval bool tags_have_their_header() {  // apart from the types, so that the compiler says nothing else
  static_assert(!Answer::matches,
                "weft: tagged::matched_over_messages<window> has a header of its own: "
                "#include <weft/compose/tagged/tagged.hpp> [WEFT-C015]");
  return true;
}

/// The calls of a transport or a set without tagged messages: each is the compile error of `Sentence`.
template <class Sentence>
struct refused_tagged_calls {
  template <class... Any>
  status send_tagged(Any&&...) noexcept {
    return Sentence::template refuse<Any...>();
  }
  template <class... Any>
  status receive_tagged(Any&&...) noexcept {
    return Sentence::template refuse<Any...>();
  }
};
struct fabric_without_tags {
  template <class... Any>
  static status refuse() noexcept {
    static_assert(sizeof...(Any) > 1000,
                  "weft: this fabric's answer to tagged is none: ask for it, as in "
                  "weft::with<weft::selected, weft::answers::tagged::matched_over_messages<>>, "
                  "and #include <weft/compose/tagged/tagged.hpp> [WEFT-C016]");
    return {};
  }
};

/// The types that an answer to `tagged` brings. compose/tagged/calls.hpp adds those of matched_over_messages.
template <class Answer>
struct tagged_of {
  static_assert(tags_have_their_header<Answer>());
  using peer_part = not_tagged;
  template <class Traits>
  using type = no_tagged<typename Traits::fabric>;
  template <class Transport, class F>
  using calls = refused_tagged_calls<fabric_without_tags>;
};

}  // namespace weft::detail
