// SPDX-License-Identifier: Apache-2.0
//
// invocation-<program>.<fabric>: WEFT_PROGRAM is run_manager, run_executor or run_client.
#include "programs.hpp"

int main(int argc, char** argv) { return weft::invocation::WEFT_PROGRAM(argc, argv); }
