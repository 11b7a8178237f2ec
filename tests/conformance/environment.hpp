// SPDX-License-Identifier: Apache-2.0
//
// The environment in which a fabric's tests run: processes, or fibers where the fabric's port is the in-process one.
// With WEFT_OVER_LOOPBACK any row runs over the in-process port, so its answers are tested without its hardware.
// WEFT_TRUSTED_CALLER asks for checks::trusted. Hot path: no. Threads: none.
#pragma once

#include "../../compose/selected.hpp"
#include "../../compose/with.hpp"
#include "live.hpp"
#include "simulated.hpp"

#include <type_traits>

namespace weft::conformance {

template <class F>
concept in_process = std::same_as<typename F::template port<shape_of<F>>, backends::loopback::port<shape_of<F>>>;

#if defined(WEFT_TRUSTED_CALLER)
using trusting = with<selected, answers::checks::trusted>;
using tested = trusting;
#elif defined(WEFT_OVER_LOOPBACK)
using tested = over<selected, backends::loopback::port>;
#else
using tested = selected;
#endif

using environment = std::conditional_t<in_process<tested>, simulated_environment<tested>, live<tested>>;

/// The fabric's name in the names of tests.
struct fabric_name {
  template <class Environment>
  static std::string GetName(int) {
    return std::string(Environment::fabric::name);
  }
};
#define WEFT_INSTANTIATE(suite) INSTANTIATE_TYPED_TEST_SUITE_P(fabric, suite, environment, fabric_name)

}  // namespace weft::conformance
