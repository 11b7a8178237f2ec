// SPDX-License-Identifier: Apache-2.0
//
// All families, for generated headers and for sets composed by hand. Add a new family here and in `all_families`: then
// every row fails until it answers.
// Hot path: compile time only.
#pragma once

#include "atomics.hpp"
#include "authentication.hpp"
#include "bootstrap.hpp"
#include "checks.hpp"
#include "coalesce.hpp"
#include "completion.hpp"
#include "endpoint.hpp"
#include "flush.hpp"
#include "framing.hpp"
#include "inject.hpp"
#include "liveness.hpp"
#include "local_descriptor.hpp"
#include "messages/tagged.hpp"
#include "notify.hpp"
#include "progress.hpp"
#include "queues.hpp"
#include "receive_buffers.hpp"
#include "receive_pool.hpp"
#include "region_address.hpp"
#include "region_binding.hpp"
#include "region_key.hpp"
#include "threading.hpp"
#include "wait.hpp"
#include "write_fault.hpp"

namespace weft {
using all_families =
    family_list<endpoint_family, bootstrap_family, framing_family, region_address_family, region_key_family,
                local_descriptor_family, region_binding_family, notify_family, write_fault_family, atomics_family,
                progress_family, wait_family, threading_family, completion_family, liveness_family,
                receive_buffers_family, receive_pool_family, flush_family, coalesce_family, queues_family,
                inject_family, checks_family, authentication_family, tagged_family>;
}  // namespace weft
