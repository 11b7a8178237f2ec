// SPDX-License-Identifier: Apache-2.0
//
// The one header that a program needs at first: `#include <weft/weft.hpp>`. It holds the fabric that the build
// selected, transports of it, statuses in words, and the version. Others have headers of their own: coroutines
// (coroutines/scheduler.hpp), several rails (compose/rails/rails.hpp), other answers than the row's (compose/with.hpp),
// asked orders (compose/ordering.hpp), coalesced posts (compose/coalescing.hpp). So have counts of notices
// (compose/notification_counter.hpp), counters (compose/counting/counted.hpp) and polling threads
// (compose/progress_thread.hpp). No fabric fact. Hot path: no. Threads: none.
#pragma once

#include "compose/selected.hpp"
#include "compose/transport.hpp"
#include "core/describe.hpp"
#include "core/version.hpp"

#if defined(WEFT_COMPILED)  // libweft-<fabric>.a has the definitions (CMake: weft_add_compiled_fabric)
namespace weft::detail {
extern template struct rare_calls<engine<selected>>;
extern template struct engine_deleter<engine<selected>>;
extern template struct failure_text<std::string>;
extern template struct status_text<std::string>;
}  // namespace weft::detail
#endif
