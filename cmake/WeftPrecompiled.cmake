# SPDX-License-Identifier: Apache-2.0
#
# WEFT_PRECOMPILED: weft's own programs read the standard library and GoogleTest precompiled, which saves 0.7 s of
# each unit. Headers of weft are never in it: each of them is still compiled alone (static.headers). A source file's own
# includes are checked where the option is OFF, as in the preset `dev`.
set(weft_precompiled_headers <algorithm> <array> <atomic> <bit> <charconv> <chrono> <concepts> <cstdint> <cstdio>
  <cstdlib> <cstring> <deque> <filesystem> <fstream> <functional> <limits> <map> <memory> <mutex> <new> <optional>
  <random> <set> <span> <sstream> <stdexcept> <string> <string_view> <thread> <tuple> <type_traits> <utility> <variant>
  <vector>)

# weft_programs_below(directory out): the executables of a directory and of those below.
function(weft_programs_below directory out)
  get_property(programs DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(subdirectories DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
  list(FILTER programs EXCLUDE REGEX "^weft_precompiled")
  foreach(subdirectory IN LISTS subdirectories)
    weft_programs_below(${subdirectory} below)
    list(APPEND programs ${below})
  endforeach()
  set(${out} ${programs} PARENT_SCOPE)
endfunction()

# weft_precompile(): gives each program, and each library of programs, that is compiled with the common settings alone
# its precompiled header. One with options of its own, and what is position-independent, would need another one.
function(weft_precompile)
  foreach(kind IN ITEMS plain tests)
    add_library(weft_precompiled_${kind} OBJECT EXCLUDE_FROM_ALL
      ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/precompiled.cpp)
    target_link_libraries(weft_precompiled_${kind} PRIVATE weft::weft weft_build_settings)
    target_precompile_headers(weft_precompiled_${kind} PRIVATE ${weft_precompiled_headers})
  endforeach()
  if(TARGET GTest::gtest)
    target_link_libraries(weft_precompiled_tests PRIVATE GTest::gtest)
    target_precompile_headers(weft_precompiled_tests PRIVATE <gtest/gtest.h>)
  endif()

  weft_programs_below(${PROJECT_SOURCE_DIR} programs)
  foreach(program IN LISTS programs)
    get_target_property(type ${program} TYPE)
    if(NOT type MATCHES "^(EXECUTABLE|OBJECT_LIBRARY|STATIC_LIBRARY)$")
      continue()
    endif()
    get_target_property(independent ${program} POSITION_INDEPENDENT_CODE)
    get_target_property(options ${program} COMPILE_OPTIONS)
    get_target_property(libraries ${program} LINK_LIBRARIES)
    if(independent OR options OR program MATCHES "^lint" OR NOT "weft_build_settings" IN_LIST libraries)
      continue()
    endif()
    set(kind plain)
    if("${libraries}" MATCHES "GTest::")
      set(kind tests)
    endif()
    target_precompile_headers(${program} REUSE_FROM weft_precompiled_${kind})
  endforeach()
endfunction()
