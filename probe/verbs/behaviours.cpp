// SPDX-License-Identifier: Apache-2.0
//
// The behaviours of a device: names and facts are those of libfabric's providers (probe/), so that one reader serves
// both. There is no address vector. Hot path: no. Threads: none.
#include "../behaviours.hpp"

#include <array>

namespace weft::probe {

std::span<const behaviour* const> behaviours() {
  static constexpr std::array all{&meeting,
                                  &first_post,
                                  &addressing,
                                  &keys,
                                  &write_immediate,
                                  &counter,
                                  &send_immediate,
                                  &send_after_write,
                                  &write_after_write,
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
                                  &largest};
  return all;
}

}  // namespace weft::probe
