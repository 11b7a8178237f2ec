# SPDX-License-Identifier: Apache-2.0
#
# cmake -DFILE=<source> -DCORRECTED=<ALONE|COMMON> -P fail_test.cmake -- <compiler> <options...>
# Judges one file that must not compile. WeftFailTest.cmake describes the lines of the file.
# CORRECTED=COMMON: the corrected form is compiled elsewhere, in one unit with others.
cmake_minimum_required(VERSION 3.25)

# NOTICE keeps the sentence on one line; FATAL_ERROR breaks long lines.
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

set(ENV{LC_ALL} C)  # English messages with plain quotation marks
file(READ ${FILE} text)
string(REGEX MATCHALL "// EXPECT: [^\n]+" expected "${text}")
if(NOT expected)
  refuse("${FILE} has no line \"// EXPECT: sentence\"")
endif()

execute_process(COMMAND ${command} ${FILE} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(code EQUAL 0)
  refuse("${FILE} compiles, but it must not")
endif()
foreach(line IN LISTS expected)
  string(REGEX REPLACE "^// EXPECT: +" "" sentence "${line}")
  # "one | other": g++ and clang word their own sentences differently.
  string(REPLACE " | " ";" wordings "${sentence}")
  set(found FALSE)
  foreach(wording IN LISTS wordings)
    string(FIND "${output}" "${wording}" at)
    if(NOT at EQUAL -1)
      set(found TRUE)
    endif()
  endforeach()
  if(NOT found)
    refuse("${FILE} does not compile, but the output lacks \"${sentence}\"; the compiler printed:\n${output}")
  endif()
endforeach()

if(CORRECTED STREQUAL "ALONE" AND text MATCHES "#ifn?def WEFT_FIXED")
  execute_process(COMMAND ${command} -DWEFT_FIXED ${FILE}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    refuse("the corrected form of ${FILE} must compile, but does not:\n${output}")
  endif()
endif()
