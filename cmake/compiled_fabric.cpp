// SPDX-License-Identifier: Apache-2.0
//
// The one unit of libweft-<fabric>.a: all of a transport that is not on the hot path (weft_add_compiled_fabric).
#include <weft/weft.hpp>

template struct weft::detail::rare_calls<weft::detail::engine<weft::selected>>;
template struct weft::detail::engine_deleter<weft::detail::engine<weft::selected>>;
template struct weft::detail::failure_text<std::string>;
template struct weft::detail::status_text<std::string>;
