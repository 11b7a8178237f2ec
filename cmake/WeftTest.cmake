# SPDX-License-Identifier: Apache-2.0
#
# Unit tests and other tests that need no fabric.
if(POLICY CMP0174)
  cmake_policy(SET CMP0174 NEW)  # an empty value of an option stays empty; CMake 3.31 and later ask
endif()

# weft_add_test(name SOURCES file... [LIBRARIES target...] [LABELS label...] [ARGS argument...] [TIMEOUT seconds]
#               [PROCESSORS n])
# Adds the GoogleTest executable <name> and the ctest of the same name: kind.subject, such as unit.wire.hello.
function(weft_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 A "" "TIMEOUT;PROCESSORS" "SOURCES;LIBRARIES;LABELS;ARGS")
  if(NOT A_SOURCES OR A_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weft_add_test(${name}): SOURCES is needed; unknown arguments: \"${A_UNPARSED_ARGUMENTS}\"")
  endif()
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE weft::weft GTest::gmock GTest::gtest_main ${A_LIBRARIES} weft_build_settings)
  add_test(NAME ${name} COMMAND ${name} ${A_ARGS})
  weft_test_properties(${name} LABELS ${A_LABELS} TIMEOUT "${A_TIMEOUT}" PROCESSORS "${A_PROCESSORS}")
endfunction()
