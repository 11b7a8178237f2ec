# SPDX-License-Identifier: Apache-2.0
#
# WEFT_PRECOMPILED: weft's own programs read precompiled headers: the standard library, GoogleTest, and in programs over
# a fabric weft's own headers. These take a third to a half of a small unit. Where the option is OFF, as in the preset
# `dev`, a source file's own includes are checked; static.headers compiles each header alone.
set(weft_precompiled_headers <algorithm> <array> <atomic> <bit> <charconv> <chrono> <concepts> <cstdint> <cstdio>
  <cstdlib> <cstring> <deque> <filesystem> <fstream> <functional> <limits> <map> <memory> <mutex> <new> <optional>
  <random> <set> <span> <sstream> <stdexcept> <string> <string_view> <thread> <tuple> <type_traits> <utility> <variant>
  <vector>)
# What almost every program over a fabric includes. No header of one row: WEFT_FABRIC selects that in the program.
set(weft_precompiled_fabric_headers <weft/compose/transport.hpp> <weft/compose/with.hpp> <weft/compose/fabric.hpp>
  <weft/policies/policies.hpp> <weft/core/describe.hpp> <weft/backends/loopback/port.hpp>
  <weft/backends/mapped/port.hpp> <weft/backends/streams/port.hpp>)

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

# weft_precompiled_kind(program out): which precompiled header a program reads. Its parts: `plain` (the standard
# library) or `fabric` (and weft) or `compiled` (and weft, where a library has the rare work), then `_tests`.
# A program that loads libraries has weft's headers in another form (WEFT_LOADS_LIBRARIES), so it reads the plain one.
function(weft_precompiled_kind program out)
  get_target_property(libraries ${program} LINK_LIBRARIES)
  set(kind plain)
  # A test of what one include gives has no other header.
  if(NOT program MATCHES "^(static\\.|unit\\.compiled$)" OR program MATCHES "^static\\.row\\.")
    foreach(library IN LISTS libraries)
      if(NOT library MATCHES "^weft::" OR NOT TARGET ${library})
        continue()
      endif()
      get_target_property(definitions ${library} INTERFACE_COMPILE_DEFINITIONS)
      if("WEFT_LOADS_LIBRARIES" IN_LIST definitions)
        set(kind plain)
        break()
      elseif("WEFT_COMPILED" IN_LIST definitions)
        set(kind compiled)
      elseif(kind STREQUAL "plain")
        set(kind fabric)
      endif()
    endforeach()
  endif()
  if("${libraries}" MATCHES "GTest::")
    string(APPEND kind _tests)
  endif()
  set(${out} ${kind} PARENT_SCOPE)
endfunction()

# weft_add_precompiled(kind): the target whose precompiled header programs of that kind read.
function(weft_add_precompiled kind)
  set(target weft_precompiled_${kind})
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/precompiled.cpp)
  target_link_libraries(${target} PRIVATE weft::weft weft_build_settings)
  target_precompile_headers(${target} PRIVATE ${weft_precompiled_headers})
  if(NOT kind MATCHES "^plain")
    target_precompile_headers(${target} PRIVATE ${weft_precompiled_fabric_headers})
    if(Libfabric_FOUND)
      target_link_libraries(${target} PRIVATE weft::backend_libfabric)
      target_precompile_headers(${target} PRIVATE <weft/backends/libfabric/port.hpp>)
    endif()
  endif()
  if(kind MATCHES "^compiled")
    target_compile_definitions(${target} PRIVATE WEFT_COMPILED)
  endif()
  if(kind MATCHES "_tests$")
    target_link_libraries(${target} PRIVATE GTest::gtest)
    target_precompile_headers(${target} PRIVATE <gtest/gtest.h>)
  endif()
endfunction()

# weft_precompile(): gives each program, and each library of programs, that is compiled with the common settings alone
# its precompiled header. One with options of its own, and what is position-independent, would need another one.
function(weft_precompile)
  find_package(GTest QUIET)  # what the tests' directory found is not visible here
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
    weft_precompiled_kind(${program} kind)
    if(NOT TARGET weft_precompiled_${kind})
      weft_add_precompiled(${kind})
    endif()
    target_precompile_headers(${program} REUSE_FROM weft_precompiled_${kind})
  endforeach()
endfunction()
