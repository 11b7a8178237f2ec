// SPDX-License-Identifier: Apache-2.0
//
// The program's clock and its random numbers: they decide what a program asks of the fabric, so a record holds them and
// a replay gives them again. Hot path: every reading of a clock. Threads: any.
#pragma once

#include <chrono>

namespace weft::recording {

/// The machine's clock, also while the program's is that of the record.
std::chrono::steady_clock::time_point machine_now();

}  // namespace weft::recording
