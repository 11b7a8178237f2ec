// SPDX-License-Identifier: Apache-2.0
//
// The list of behaviours. Hot path: no. Threads: none.
#include "behaviours.hpp"

#include <array>

namespace weft::probe {

std::span<const behaviour* const> behaviours() {
  static constexpr std::array all{&meeting,
                                  &first_post,
                                  &forgetting,
                                  &addressing,
                                  &keys,
                                  &write_immediate,
                                  &many_write_immediates,
                                  &send_immediate,
                                  &many_send_immediates,
                                  &counter,
                                  &send_after_write,
                                  &write_after_write,
                                  &last_byte,
                                  &send_after_send,
                                  &delivery,
                                  &wrong_key,
                                  &out_of_range,
                                  &completions,
                                  &first_atomic,
                                  &atomics,
                                  &progress,
                                  &waiting,
                                  &killed_peer,
                                  &inject,
                                  &gather,
                                  &full_queue,
                                  &largest,
                                  &multi_receive,
                                  &shared_receives,
                                  &formats,
                                  &own_node,
                                  &small_queue};
  return all;
}

}  // namespace weft::probe
