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

# Two bounds: the first error has the sentences, and the whole output is at most 30 lines. One file is excused:
#   a_family_unanswered  the program asserts a concept itself, so the compiler words the first line
string(REGEX MATCH "[^\n]*error:[^\n]*" first "${output}")
string(REGEX REPLACE "[^\n]" "" lines "${output}")
string(LENGTH "${lines}" lines)
cmake_path(GET FILE STEM stem)
foreach(line IN LISTS expected)
  string(REGEX REPLACE "^// EXPECT: +" "" sentence "${line}")
  # "one | other": g++ and clang word their own sentences differently.
  string(REPLACE " | " ";" wordings "${sentence}")
  set(found FALSE)
  set(found_first FALSE)
  foreach(wording IN LISTS wordings)
    string(FIND "${output}" "${wording}" at)
    if(NOT at EQUAL -1)
      set(found TRUE)
    endif()
    string(FIND "${first}" "${wording}" at)
    if(NOT at EQUAL -1)
      set(found_first TRUE)
    endif()
  endforeach()
  if(NOT found)
    refuse("${FILE} does not compile, but the output lacks \"${sentence}\"; the compiler printed:\n${output}")
  elseif(NOT found_first AND NOT stem STREQUAL "a_family_unanswered")
    refuse("the first error of ${FILE} lacks \"${sentence}\"; the compiler printed:\n${output}")
  endif()
endforeach()
if(lines GREATER 30)
  refuse("${FILE} makes the compiler print ${lines} lines; at most 30 are readable:\n${output}")
endif()

if(CORRECTED STREQUAL "ALONE" AND text MATCHES "#ifn?def WEFT_FIXED")
  execute_process(COMMAND ${command} -DWEFT_FIXED ${FILE}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    refuse("the corrected form of ${FILE} must compile, but does not:\n${output}")
  endif()
endif()
