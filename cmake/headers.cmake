# SPDX-License-Identifier: Apache-2.0
#
# The public headers, one list per need. generated/ is listed by generated/fabrics.cmake.
set(WEFT_HEADERS
  core/error.hpp
  core/facts.hpp
  core/memory.hpp
  core/policy.hpp
  core/port.hpp
  core/time.hpp
  policies/atomics.hpp
  policies/back_pressure.hpp
  policies/bootstrap.hpp
  policies/completion.hpp
  policies/endpoint.hpp
  policies/framing.hpp
  policies/liveness.hpp
  policies/local_descriptor.hpp
  policies/notify.hpp
  policies/policies.hpp
  policies/progress.hpp
  policies/region_address.hpp
  policies/region_binding.hpp
  policies/region_key.hpp
  policies/threading.hpp
  policies/wait.hpp
  policies/write_fault.hpp
  wire/control.hpp
  wire/hello.hpp
  wire/message_tag.hpp
  wire/reader.hpp
  wire/region_bytes.hpp
)

# Headers that include <rdma/...>: they need libfabric's own headers.
set(WEFT_LIBFABRIC_HEADERS
)
