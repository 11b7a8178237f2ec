# SPDX-License-Identifier: Apache-2.0
#
# Tests of programs that must not compile: each expects the sentence that the program's author reads.

# weft_add_fail_test(file): adds the ctest fail.<stem>. Lines of the file control the test:
#   // EXPECT: sentence    The compiler must fail, and its output must contain the sentence. Several lines: all of them.
#                          "one | other": either one, for sentences that g++ and clang word differently.
#   // FABRIC: name        The file is a program for that fabric. Without the line it links weft::weft alone.
#   #ifdef WEFT_FIXED      The corrected form. It must compile, which shows that nothing else is wrong with the file.
function(weft_add_fail_test file)
  cmake_path(GET file STEM stem)
  weft_judge_fail_test(fail.${stem} ${file})
endfunction()

# weft_add_fail_judge_test(file sentence): fail_test.cmake must refuse this file with the sentence.
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
  # Nobody builds this object library. It collects the include directories and definitions of the target, transitively.
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${file})
  target_link_libraries(${name} PRIVATE ${target})
  set(includes $<TARGET_PROPERTY:${name},INCLUDE_DIRECTORIES>)
  set(defines $<TARGET_PROPERTY:${name},COMPILE_DEFINITIONS>)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -DFILE=${file} -P ${PROJECT_SOURCE_DIR}/cmake/fail_test.cmake --
    ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -fmessage-length=0
    "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>" "$<$<BOOL:${defines}>:-D$<JOIN:${defines},;-D>>"
    COMMAND_EXPAND_LISTS)
  weft_test_properties(${name})
endfunction()
