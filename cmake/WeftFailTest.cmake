# SPDX-License-Identifier: Apache-2.0
#
# What must not compile is a test, with the sentence that its author should read.

# weft_add_fail_test(file): adds the ctest fail.<stem>. The file's lines decide:
#   // EXPECT: sentence    the compiler fails and its output contains the sentence; several lines: all of them;
#                          "one | other": either (a compiler's own sentence, in the words of g++ and of clang)
#   // FABRIC: name        compiled as a program for that fabric; without the line, against weft::weft alone
#   #ifdef WEFT_FIXED      the file's corrected form, which must compile: else the test may fail for a reason of its own
function(weft_add_fail_test file)
  cmake_path(GET file STEM stem)
  weft_judge_fail_test(fail.${stem} ${file})
endfunction()

# weft_add_fail_judge_test(file sentence): the judge must refuse this file, and say so.
function(weft_add_fail_judge_test file sentence)
  cmake_path(GET file STEM stem)
  weft_judge_fail_test(static.fail_judge.${stem} ${file})
  set_tests_properties(static.fail_judge.${stem} PROPERTIES PASS_REGULAR_EXPRESSION "${sentence}.*fail test refused")
endfunction()

function(weft_judge_fail_test name file)
  cmake_path(ABSOLUTE_PATH file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} fabric REGEX "^// FABRIC: ")
  string(REGEX REPLACE "^// FABRIC: *" "" fabric "${fabric}")
  set(target weft::weft)
  if(fabric)
    set(target weft::${fabric})
  endif()
  if(NOT TARGET ${target})
    message(STATUS "weft: ${name} is left out, as fabric ${fabric} is")
    return()
  endif()
  # An object library that is never built: it gathers the target's include directories and definitions, transitively.
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${file})
  target_link_libraries(${name} PRIVATE ${target})
  set(includes $<TARGET_PROPERTY:${name},INCLUDE_DIRECTORIES>)
  set(defines $<TARGET_PROPERTY:${name},COMPILE_DEFINITIONS>)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -DFILE=${file} -P ${PROJECT_SOURCE_DIR}/cmake/fail_test.cmake --
    ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -fmessage-length=0
    "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>" "$<$<BOOL:${defines}>:-D$<JOIN:${defines},;-D>>" COMMAND_EXPAND_LISTS)
  weft_test_properties(${name})
endfunction()
