// SPDX-License-Identifier: Apache-2.0
//
// Every fabric's generated header, as a program includes it: complete, consistent, and named as the target that
// selected it.
#include <weft/compose/selected.hpp>

#include <string_view>

#define WEFT_TEXT_OF(text) #text
#define WEFT_NAME_OF(fabric) WEFT_TEXT_OF(fabric)

static_assert(weft::complete_fabric<weft::selected>);
static_assert(weft::selected::name == std::string_view{WEFT_NAME_OF(WEFT_FABRIC)});
static_assert(weft::selected::fingerprint != 0);
