# SPDX-License-Identifier: Apache-2.0
#
# Tests of programs that must not compile: each expects the sentence that the program's author reads.
# A compiler spends most of the time on weft's headers, so they are read once (weft_add_fail_header). The corrected
# forms share instantiations, so one unit a fabric has them all (weft_add_corrected_forms).

# weft_add_fail_test(file): adds the ctest fail.<stem>. Lines of the file control the test:
#   // EXPECT: sentence    The compiler must fail, and its output must contain the sentence. Several lines: all of them.
#                          "one | other": either one, for sentences that g++ and clang word differently.
#   // FABRIC: name        The file is a program for that fabric. Without the line it links weft::weft alone.
#   #ifdef WEFT_FIXED      The corrected form. It must compile, which shows that nothing else is wrong with the file.
function(weft_add_fail_test file)
  cmake_path(GET file STEM stem)
  weft_judge_fail_test(fail.${stem} ${file} COMMON)
endfunction()

# weft_add_fail_judge_test(file sentence): fail_test.cmake must refuse this file with the sentence.
function(weft_add_fail_judge_test file sentence)
  cmake_path(GET file STEM stem)
  weft_judge_fail_test(static.fail_judge.${stem} ${file} ALONE)
  set_tests_properties(static.fail_judge.${stem} PROPERTIES PASS_REGULAR_EXPRESSION "${sentence}.*fail test refused")
endfunction()

# weft_add_fail_header(header): the header that most mistakes include is precompiled by the test fail.header, which runs
# before the others. A file is given the result only if it includes that header itself, or the largest part of it.
function(weft_add_fail_header header)
  cmake_path(GET header FILENAME name)
  # The compiler knows the copy and the header as one file by time and content.
  file(COPY ${header} DESTINATION ${CMAKE_CURRENT_BINARY_DIR}/precompiled)
  cmake_path(ABSOLUTE_PATH header)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  set(copy ${CMAKE_CURRENT_BINARY_DIR}/precompiled/${name})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(result ${copy}.gch)
    set(use -include ${copy})
  else()
    set(result ${copy}.pch)
    set(use -include-pch ${result})
  endif()
  weft_compile_only(fail.header weft::weft ${header} command)
  list(REMOVE_ITEM command -fsyntax-only)
  add_test(NAME fail.header COMMAND ${command} -x c++-header ${header} -o ${result} COMMAND_EXPAND_LISTS)
  weft_test_properties(fail.header)
  set_tests_properties(fail.header PROPERTIES FIXTURES_SETUP fail_header)
  set_property(DIRECTORY PROPERTY WEFT_FAIL_HEADER "${use}")
endfunction()

# weft_add_corrected_forms(): the tests fail.corrected and fail.corrected.<fabric>, once all files are known.
function(weft_add_corrected_forms)
  get_property(targets DIRECTORY PROPERTY WEFT_CORRECTED)
  foreach(target IN LISTS targets)
    get_property(files DIRECTORY PROPERTY WEFT_CORRECTED_OF_${target})
    set(name fail.corrected)
    if(NOT target STREQUAL "weft")
      string(APPEND name ".${target}")
    endif()
    set(headers "")
    set(bodies "")
    foreach(file IN LISTS files)
      cmake_path(GET file STEM stem)
      cmake_path(GET file PARENT_PATH folder)
      file(STRINGS ${file} lines REGEX "^#include ")
      list(TRANSFORM lines REPLACE "^#include \"" "#include \"${folder}/")
      list(APPEND headers ${lines})
      string(APPEND bodies "namespace ${stem} {\n#include \"${file}\"\n}\n")
    endforeach()
    list(REMOVE_DUPLICATES headers)
    list(JOIN headers "\n" headers)
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "${headers}\n${bodies}int main() {}\n" @ONLY)
    weft_compile_only(${name} weft::${target} ${unit} command)
    get_property(header DIRECTORY PROPERTY WEFT_FAIL_HEADER)
    # Only the global main() may end without `return`.
    add_test(NAME ${name} COMMAND ${command} ${header} -DWEFT_FIXED -Wno-return-type ${unit} COMMAND_EXPAND_LISTS)
    weft_test_properties(${name})
    set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED fail_header)
  endforeach()
endfunction()

# weft_compile_only(name target file command): the command that reads a file as a program that links the target.
function(weft_compile_only name target file command)
  # Nobody builds this object library. It collects the include directories and definitions of the target, transitively.
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${file})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${name} PRIVATE ${target})
  set(includes $<REMOVE_DUPLICATES:$<TARGET_PROPERTY:${name},INCLUDE_DIRECTORIES>>)
  set(defines $<TARGET_PROPERTY:${name},COMPILE_DEFINITIONS>)
  set(${command}
    ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -fmessage-length=0
    "$<$<BOOL:${includes}>:-I$<JOIN:${includes},$<SEMICOLON>-I>>"
    "$<$<BOOL:${defines}>:-D$<JOIN:${defines},$<SEMICOLON>-D>>" PARENT_SCOPE)
endfunction()

# weft_judge_fail_test(name file where): `where` the corrected form is compiled, ALONE or in the unit COMMON to all.
function(weft_judge_fail_test name file where)
  cmake_path(ABSOLUTE_PATH file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} fabric REGEX "^// FABRIC: ")
  string(REGEX REPLACE "^// FABRIC: *" "" fabric "${fabric}")
  set(target weft)
  if(fabric)
    set(target ${fabric})
  endif()
  if(NOT TARGET weft::${target})
    message(STATUS "weft: ${name} is left out, as fabric ${fabric} is")
    return()
  endif()
  file(STRINGS ${file} corrected REGEX "^#ifn?def WEFT_FIXED")
  if(where STREQUAL "COMMON" AND corrected)
    set_property(DIRECTORY APPEND PROPERTY WEFT_CORRECTED_OF_${target} ${file})
    get_property(targets DIRECTORY PROPERTY WEFT_CORRECTED)
    list(APPEND targets ${target})
    list(REMOVE_DUPLICATES targets)
    set_property(DIRECTORY PROPERTY WEFT_CORRECTED "${targets}")
  endif()
  file(STRINGS ${file} shared REGEX "^#include (\"made_fabric\\.hpp\"|<weft/(compose/transport|weft)\\.hpp>)")
  get_property(header DIRECTORY PROPERTY WEFT_FAIL_HEADER)
  if(NOT shared)
    set(header "")
  endif()
  weft_compile_only(${name} weft::${target} ${file} command)
  add_test(NAME ${name}
    COMMAND ${CMAKE_COMMAND} -DFILE=${file} -DCORRECTED=${where} -P ${PROJECT_SOURCE_DIR}/cmake/fail_test.cmake --
      ${command} ${header} COMMAND_EXPAND_LISTS)
  weft_test_properties(${name})
  if(header)
    set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED fail_header)
  endif()
endfunction()
