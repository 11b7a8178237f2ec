# SPDX-License-Identifier: Apache-2.0
#
# One source text, one binary per fabric. Also installed, for users of the package.
if(POLICY CMP0174)
  cmake_policy(SET CMP0174 NEW)  # an option that is given empty is empty; CMake 3.31 and later ask
endif()

# weft_add_per_fabric(name SOURCES file... [TEST] [FABRICS fabric...] [LIBRARIES target...] [LABELS label...] [ARGS argument...]
#                     [TIMEOUT seconds] [PROCESSORS n])
# Adds the executables <name>.<fabric>, for the fabrics named, or for all that can be built. With TEST, each is a ctest of the
# same name with the label fabric.<fabric>, killed after TIMEOUT (120 s); `$fabric` in an ARGS value becomes the fabric's name.
# PROCESSORS says how many processors one run keeps busy (a test of two processes: 2). Exit code 77 means skipped.
function(weft_add_per_fabric name)
  cmake_parse_arguments(PARSE_ARGV 1 A "TEST" "TIMEOUT;PROCESSORS" "SOURCES;FABRICS;LIBRARIES;LABELS;ARGS")
  if(NOT A_SOURCES OR A_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weft_add_per_fabric(${name}): give SOURCES; not understood: \"${A_UNPARSED_ARGUMENTS}\"")
  endif()
  if(NOT A_FABRICS)
    set(A_FABRICS ${WEFT_AVAILABLE_FABRICS})
  endif()
  foreach(fabric IN LISTS A_FABRICS)
    if(NOT TARGET weft::${fabric})
      message(STATUS "weft: ${name}.${fabric} is left out, as fabric ${fabric} is")
      continue()
    endif()
    add_executable(${name}.${fabric} ${A_SOURCES})
    target_link_libraries(${name}.${fabric} PRIVATE weft::${fabric} ${A_LIBRARIES} $<TARGET_NAME_IF_EXISTS:weft_build_settings>)
    if(A_TEST)
      list(TRANSFORM A_ARGS REPLACE "\\$fabric" ${fabric} OUTPUT_VARIABLE arguments)
      add_test(NAME ${name}.${fabric} COMMAND ${name}.${fabric} ${arguments})
      weft_test_properties(${name}.${fabric} LABELS fabric.${fabric} ${A_LABELS} TIMEOUT "${A_TIMEOUT}" PROCESSORS "${A_PROCESSORS}")
    endif()
  endforeach()
endfunction()

# weft_test_properties(test [LABELS label...] [TIMEOUT seconds] [PROCESSORS n]): what every ctest of weft has. The first part of
# the name, up to a dot, is a label too: unit, conformance, ...
function(weft_test_properties test)
  cmake_parse_arguments(PARSE_ARGV 1 A "" "TIMEOUT;PROCESSORS" "LABELS")
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 120)
  endif()
  if(NOT A_PROCESSORS)
    set(A_PROCESSORS 1)
  endif()
  string(REGEX REPLACE "\\..*" "" kind ${test})
  set_tests_properties(${test} PROPERTIES
    LABELS "${kind};${A_LABELS}" TIMEOUT ${A_TIMEOUT} PROCESSORS ${A_PROCESSORS} SKIP_RETURN_CODE 77)
endfunction()
