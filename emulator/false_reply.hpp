// SPDX-License-Identifier: Apache-2.0
//
// A reply of fi_getinfo(3) that differs from the row (WEFT_EMULATOR_REPLY), for tests of programs that compare replies.
// Hot path: no. Threads: any.
#pragma once

#include <rdma/fabric.h>

#include <map>
#include <string>

namespace weft::emulator {

/// Attributes in which the reply differs from the row: "attribute=value,..." of the variable. Read at each call, so one
/// process sees many replies.
std::map<std::string, std::string> falsified();
/// Sets these attributes in a reply. An unknown attribute ends the process with a sentence.
void falsify(fi_info& info);

}  // namespace weft::emulator
