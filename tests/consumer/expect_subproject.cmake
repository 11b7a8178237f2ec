# SPDX-License-Identifier: Apache-2.0
#
# What every project that contains weft may expect; included after weft_add_per_fabric(app ...).
# EXPECTED_FABRICS: fabrics that this machine can build, as weft's own build found them.
foreach(option WEFT_BUILD_TESTS WEFT_BUILD_BENCH WEFT_BUILD_EXAMPLES WEFT_INSTALL)
  if(${option})
    message(FATAL_ERROR "${option} is on, but weft is not the top-level project")
  endif()
endforeach()
if(NOT EXPECTED_FABRICS)
  message(FATAL_ERROR "EXPECTED_FABRICS is empty: this test checks nothing")
endif()
foreach(fabric IN LISTS EXPECTED_FABRICS)
  if(NOT TARGET app.${fabric})
    message(FATAL_ERROR "weft_add_per_fabric(app ...) made no target app.${fabric}")
  endif()
endforeach()
if(TARGET weft_static_tests OR TARGET weft_bench OR TARGET hello-caller.loopback)
  message(FATAL_ERROR "weft's own tests, benches or examples are part of this project")
endif()
get_property(tests DIRECTORY ${CMAKE_BINARY_DIR} PROPERTY TESTS)
if(tests)
  message(FATAL_ERROR "weft added tests to this project: ${tests}")
endif()
