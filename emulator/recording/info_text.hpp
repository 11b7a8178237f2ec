// SPDX-License-Identifier: Apache-2.0
//
// fi_info(3) as one word: its attributes that are not 0, "name:value" separated by ";". Authorization keys and network
// cards (fi_nic(3)) are left out. Hot path: no. Threads: any.
#pragma once

#include <rdma/fabric.h>

#include <string>
#include <string_view>

namespace weft::recording {

/// "-" for null.
std::string text_of_info(const fi_info* info);
/// Allocated as by fi_allocinfo(3). Null where the text is none, and `why` says so.
fi_info* info_of_text(std::string_view text, std::string& why);

}  // namespace weft::recording
