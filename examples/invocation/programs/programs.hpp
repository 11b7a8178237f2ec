// SPDX-License-Identifier: Apache-2.0
//
// What the three programs of a fabric do. They are compiled together, as most of each is the same transport; main.cpp
// is the same text for all. Hot path: no.
#pragma once

namespace weft::invocation {

/// Each runs until its work is done, and returns the exit code of the program. Errors are sentences on stderr.
int run_manager(int argc, char** argv);
int run_executor(int argc, char** argv);
int run_client(int argc, char** argv);

}  // namespace weft::invocation
