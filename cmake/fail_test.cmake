# SPDX-License-Identifier: Apache-2.0
#
# cmake -DFILE=<source> -P fail_test.cmake -- <compiler> <options...>: judges one must-not-compile file (see WeftFailTest.cmake).
cmake_minimum_required(VERSION 3.25)

# A sentence on a line of its own, whatever its length, then the failure.
function(refuse sentence)
  message(NOTICE "fail test: ${sentence}")
  message(FATAL_ERROR "fail test refused")
endfunction()

set(command "")
set(after_dashes FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(after_dashes)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(after_dashes TRUE)
  endif()
endforeach()

set(ENV{LC_ALL} C)  # plain quotation marks, English
file(READ ${FILE} text)
string(REGEX MATCHALL "// EXPECT: [^\n]+" expected "${text}")
if(NOT expected)
  refuse("${FILE} has no line \"// EXPECT: sentence\"")
endif()

execute_process(COMMAND ${command} ${FILE} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(code EQUAL 0)
  refuse("${FILE} compiles, though it must not")
endif()
foreach(line IN LISTS expected)
  string(REGEX REPLACE "^// EXPECT: +" "" sentence "${line}")
  # Where the sentence is the compiler's own, each compiler has its wording: "one | other".
  string(REPLACE " | " ";" wordings "${sentence}")
  set(heard FALSE)
  foreach(wording IN LISTS wordings)
    string(FIND "${output}" "${wording}" at)
    if(NOT at EQUAL -1)
      set(heard TRUE)
    endif()
  endforeach()
  if(NOT heard)
    refuse("${FILE} does not compile, but nobody reads \"${sentence}\"; the compiler said:\n${output}")
  endif()
endforeach()

if(text MATCHES "#ifn?def WEFT_FIXED")
  execute_process(COMMAND ${command} -DWEFT_FIXED ${FILE} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    refuse("the corrected form of ${FILE} must compile, and does not:\n${output}")
  endif()
endif()
