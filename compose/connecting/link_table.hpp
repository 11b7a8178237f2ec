// SPDX-License-Identifier: Apache-2.0
//
// The life of a connection's link as a table: state x event -> next state. advance_link() is the only place where it is
// assigned. The life of the connection itself is in transitions.hpp. Hot path: none. Threads: the owner's.
#pragma once

#include "../engine/peers.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::detail {

enum class link_event : std::uint8_t { made, stands, ends, hung_up };
inline constexpr std::size_t link_events = 4;

/// link_table[state][event]: the next state. A link that ended stays ended until this side hangs up.
inline constexpr std::array<std::array<link_state, link_events>, link_states> link_table{{
    {link_state::opening, link_state::none, link_state::none, link_state::none},  // none
    {link_state::opening, link_state::up, link_state::ended, link_state::none},   // opening
    {link_state::up, link_state::up, link_state::ended, link_state::none},        // up
    {link_state::ended, link_state::ended, link_state::ended, link_state::none},  // ended
}};
template <class Record>
void advance_link(Record& r, link_event what) noexcept {
  r.link_is = link_table[static_cast<std::size_t>(r.link_is)][static_cast<std::size_t>(what)];
}

}  // namespace weft::detail
