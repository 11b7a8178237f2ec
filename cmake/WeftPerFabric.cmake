# SPDX-License-Identifier: Apache-2.0
#
# One source text, one binary per fabric. Also installed, for users of the package.
# Two global properties hold what the functions need, so that they work in every directory scope of a project:
#   WEFT_FABRICS            Every fabric that weft has a row for.
#   WEFT_AVAILABLE_FABRICS  The fabrics that this build can use.
# The property WEFT_LEFT_OUT_<fabric> says why a known fabric is not available.
if(POLICY CMP0174)
  cmake_policy(SET CMP0174 NEW)  # an empty value of an option stays empty; CMake 3.31 and later ask
endif()

# weft_add_per_fabric(name SOURCES file... [OPTIONAL] [COMPILED] [TEST] [FABRICS fabric...] [LIBRARIES target...]
#                     [LABELS label...] [ARGS argument...] [TIMEOUT seconds] [PROCESSORS n])
# Adds the executables <name>.<fabric>. FABRICS names the fabrics; the default is every fabric that can be built.
# A fabric that cannot be built here is left out with a message. An unknown name is an error.
# OPTIONAL  permits that no fabric is left; without OPTIONAL an empty result is an error.
# COMPILED  links weft::<fabric>_compiled, and makes it by weft_add_compiled_fabric if it does not exist. Sets have
#           none: they link as without the word.
# TEST      makes each executable a ctest of the same name, with the label fabric.<fabric>. Exit code 77 means skipped.
#           In ARGS, `$fabric` becomes the fabric's name. ctest kills a test after TIMEOUT (120 s).
#           PROCESSORS is the number of processors that one run keeps busy; a test of two processes has 2.
function(weft_add_per_fabric name)
  cmake_parse_arguments(PARSE_ARGV 1 A "TEST;OPTIONAL;COMPILED" "TIMEOUT;PROCESSORS"
    "SOURCES;FABRICS;LIBRARIES;LABELS;ARGS")
  if(NOT A_SOURCES OR A_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR
      "weft_add_per_fabric(${name}): SOURCES is needed; unknown arguments: \"${A_UNPARSED_ARGUMENTS}\"")
  endif()
  get_property(available GLOBAL PROPERTY WEFT_AVAILABLE_FABRICS)
  get_property(considered GLOBAL PROPERTY WEFT_FABRICS)
  if("FABRICS" IN_LIST A_KEYWORDS_MISSING_VALUES AND NOT A_OPTIONAL)
    message(FATAL_ERROR
      "weft_add_per_fabric(${name}): FABRICS is empty. Name fabrics, or omit FABRICS to get every fabric.")
  elseif(A_FABRICS)
    weft_refuse_unknown_fabrics("weft_add_per_fabric(${name}): FABRICS" ${A_FABRICS})
    set(considered ${A_FABRICS})
  elseif("FABRICS" IN_LIST A_KEYWORDS_MISSING_VALUES)
    set(considered "")
  else()
    set(A_FABRICS ${available})
  endif()

  set(added FALSE)
  foreach(fabric IN LISTS A_FABRICS)
    if(NOT TARGET weft::${fabric})
      if(fabric IN_LIST available)
        message(FATAL_ERROR "weft_add_per_fabric(${name}): this directory cannot see the target weft::${fabric}. "
          "Either call find_package(weft) in the directory that calls weft_add_per_fabric, "
          "or add GLOBAL to find_package.")
      endif()
      weft_left_out(${fabric} reason)
      message(STATUS "weft: ${name}.${fabric} is left out: ${reason}")
      continue()
    endif()
    set(added TRUE)
    add_executable(${name}.${fabric} ${A_SOURCES})
    # weft_own_* are set in weft's own directories only: users' programs get none of weft's flags.
    set(library weft::${fabric})
    get_property(sets GLOBAL PROPERTY WEFT_FABRIC_SETS)
    if(A_COMPILED AND NOT fabric IN_LIST sets)
      weft_add_compiled_fabric(${fabric})
      set(library weft::${fabric}_compiled)
    endif()
    target_link_libraries(${name}.${fabric} PRIVATE ${library} ${A_LIBRARIES} ${weft_own_settings})
    if(A_TEST)
      list(TRANSFORM A_ARGS REPLACE "\\$fabric" ${fabric} OUTPUT_VARIABLE arguments)
      add_test(NAME ${name}.${fabric} COMMAND ${name}.${fabric} ${arguments})
      weft_test_properties(${name}.${fabric}
        LABELS fabric.${fabric} ${A_LABELS} TIMEOUT "${A_TIMEOUT}" PROCESSORS "${A_PROCESSORS}")
    endif()
  endforeach()

  if(NOT added AND NOT A_OPTIONAL)
    set(reasons "")
    foreach(fabric IN LISTS considered)
      weft_left_out(${fabric} reason)
      string(APPEND reasons "\n  ${fabric}: ${reason}")
    endforeach()
    message(FATAL_ERROR
      "weft_add_per_fabric(${name}): no fabric is left, so there is no target ${name}.<fabric>.${reasons}")
  endif()
endfunction()

# weft_add_compiled_fabric(fabric)
# Adds the target weft::<fabric>_compiled: weft::<fabric>, and a static library with all of its transport that is not on
# the hot path. Choose it for projects of several units or programs: each then compiles in half of the time, and the
# hot path stays inline. The library is built in the project, with the project's options, once. A second call for the
# fabric does nothing.
function(weft_add_compiled_fabric fabric)
  if(TARGET weft::${fabric}_compiled)
    return()
  endif()
  weft_refuse_unknown_fabrics("weft_add_compiled_fabric" ${fabric})
  if(NOT TARGET weft::${fabric})
    weft_left_out(${fabric} reason)
    message(FATAL_ERROR "weft_add_compiled_fabric(${fabric}): ${reason}")
  endif()
  add_library(weft_compiled_${fabric} STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/compiled_fabric.cpp)
  add_library(weft::${fabric}_compiled ALIAS weft_compiled_${fabric})
  set_target_properties(weft_compiled_${fabric} PROPERTIES OUTPUT_NAME weft-${fabric})
  target_link_libraries(weft_compiled_${fabric} PUBLIC weft::${fabric} PRIVATE ${weft_own_settings})
  target_compile_options(weft_compiled_${fabric} PRIVATE ${weft_own_rare_options})
  target_compile_definitions(weft_compiled_${fabric} INTERFACE WEFT_COMPILED)
endfunction()

# weft_add_fabric_set(name [LOADED] FABRICS fabric...)
# Adds the target weft::<name>: one binary for several fabrics (compose/sets/fabric_set.hpp). In it, weft::selected is
# fabric_set<fabric...>, and weft_add_per_fabric takes the name. A fabric that cannot be built here is left out with a
# message; with none left there is no target, and weft_left_out says why. The order of the fabrics decides where the
# matrix does not.
# LOADED  the program loads libfabric and rdma-core when it opens, instead of linking them, so it starts on machines
#         without them.
function(weft_add_fabric_set name)
  cmake_parse_arguments(PARSE_ARGV 1 A "LOADED" "" "FABRICS")
  if(NOT A_FABRICS OR A_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR
      "weft_add_fabric_set(${name}): FABRICS is needed; unknown arguments: \"${A_UNPARSED_ARGUMENTS}\"")
  endif()
  if(NOT name MATCHES "^[a-z][a-z0-9_]*$" OR TARGET weft::${name})
    message(FATAL_ERROR
      "weft_add_fabric_set(${name}): a set's name has small letters, digits and _, and is no fabric's")
  endif()
  weft_refuse_unknown_fabrics("weft_add_fabric_set(${name}): FABRICS" ${A_FABRICS})
  set_property(GLOBAL APPEND PROPERTY WEFT_FABRIC_SETS ${name})
  set(includes "")
  set(members "")
  set(libraries "")
  foreach(fabric IN LISTS A_FABRICS)
    if(NOT TARGET weft::${fabric})
      weft_left_out(${fabric} reason)
      message(STATUS "weft: the set ${name} is without ${fabric}: ${reason}")
      continue()
    endif()
    get_target_property(backend weft::${fabric} INTERFACE_LINK_LIBRARIES)
    list(APPEND libraries ${backend})
    list(APPEND members ${fabric})
    string(APPEND includes "#include <weft/generated/${fabric}.hpp>\n")
  endforeach()
  if(NOT members)
    set_property(GLOBAL PROPERTY WEFT_LEFT_OUT_${name} "none of its fabrics can be built here")
    message(STATUS "weft: the set ${name} is left out: none of its fabrics can be built here")
    return()
  endif()
  list(JOIN members ", " members)
  set(header ${CMAKE_CURRENT_BINARY_DIR}/weft_sets/${name}.hpp)
  file(CONFIGURE OUTPUT ${header} @ONLY CONTENT "// Written by weft_add_fabric_set(${name}).
#pragma once
#include <weft/compose/sets/fabric_set.hpp>
@includes@
namespace weft::fabrics {
using @name@ = fabric_set<@members@>;
}
")
  list(REMOVE_DUPLICATES libraries)
  add_library(weft_set_${name} INTERFACE)
  add_library(weft::${name} ALIAS weft_set_${name})
  if(A_LOADED)
    set(directories "")
    foreach(library IN ITEMS Libfabric::Libfabric Ibverbs::Ibverbs)
      if(TARGET ${library})
        list(APPEND directories $<TARGET_PROPERTY:${library},INTERFACE_INCLUDE_DIRECTORIES>)
      endif()
    endforeach()
    target_link_libraries(weft_set_${name} INTERFACE weft::weft ${CMAKE_DL_LIBS})
    target_include_directories(weft_set_${name} SYSTEM INTERFACE ${directories})
    target_compile_definitions(weft_set_${name} INTERFACE WEFT_LOADS_LIBRARIES)
  else()
    target_link_libraries(weft_set_${name} INTERFACE ${libraries})
  endif()
  target_compile_definitions(weft_set_${name} INTERFACE WEFT_FABRIC=${name} "WEFT_SET_HEADER=\"${header}\"")
endfunction()

# weft_left_out(fabric out): the reason why a known fabric has no target, as the end of a sentence.
function(weft_left_out fabric out)
  get_property(reason GLOBAL PROPERTY WEFT_LEFT_OUT_${fabric})
  if(NOT reason)
    set(reason "this build of weft does not contain it")
  endif()
  set(${out} "${reason}" PARENT_SCOPE)
endfunction()

# weft_refuse_unknown_fabrics(subject name...): ends the configuration if a name is no fabric of weft.
# The message begins with the subject, and names near fabrics.
function(weft_refuse_unknown_fabrics subject)
  get_property(known GLOBAL PROPERTY WEFT_FABRICS)
  get_property(sets GLOBAL PROPERTY WEFT_FABRIC_SETS)
  foreach(name IN LISTS ARGN)
    if(name IN_LIST known OR name IN_LIST sets)
      continue()
    endif()
    weft_near_names(near ${name} ${known})
    if(near)
      list(JOIN near " or " near)
      message(FATAL_ERROR "${subject} has \"${name}\", which is no fabric of weft; did you mean ${near}?")
    endif()
    list(JOIN known ", " known)
    message(FATAL_ERROR "${subject} has \"${name}\", which is no fabric of weft; weft has ${known}.")
  endforeach()
endfunction()

# weft_near_names(out name candidate...): out has the candidates with the fewest edits to the name.
# More than one edit per three letters, rounded up, is too far.
# An edit inserts, removes or replaces one letter, or swaps two neighbours (optimal string alignment).
function(weft_near_names out name)
  string(LENGTH "${name}" length)
  math(EXPR best "(${length} + 2) / 3")
  set(near "")
  foreach(candidate IN LISTS ARGN)
    string(LENGTH "${candidate}" width)
    foreach(i RANGE ${length})
      foreach(j RANGE ${width})
        if(i EQUAL 0 OR j EQUAL 0)
          math(EXPR edits_${i}_${j} "${i} + ${j}")
          continue()
        endif()
        math(EXPR up "${i} - 1")
        math(EXPR left "${j} - 1")
        string(SUBSTRING "${name}" ${up} 1 letter)
        string(SUBSTRING "${candidate}" ${left} 1 other)
        set(differ 1)
        if(letter STREQUAL other)
          set(differ 0)
        endif()
        math(EXPR fewest "${edits_${up}_${left}} + ${differ}")
        math(EXPR removed "${edits_${up}_${j}} + 1")
        math(EXPR inserted "${edits_${i}_${left}} + 1")
        set(choices ${removed} ${inserted})
        if(i GREATER 1 AND j GREATER 1)
          math(EXPR up2 "${i} - 2")
          math(EXPR left2 "${j} - 2")
          string(SUBSTRING "${name}" ${up2} 2 pair)
          string(SUBSTRING "${candidate}" ${left2} 2 mirrored)
          string(SUBSTRING "${mirrored}" 1 1 first)
          string(SUBSTRING "${mirrored}" 0 1 second)
          if(pair STREQUAL "${first}${second}")
            math(EXPR swapped "${edits_${up2}_${left2}} + 1")
            list(APPEND choices ${swapped})
          endif()
        endif()
        foreach(choice IN LISTS choices)
          if(choice LESS fewest)
            set(fewest ${choice})
          endif()
        endforeach()
        set(edits_${i}_${j} ${fewest})
      endforeach()
    endforeach()
    set(edits ${edits_${length}_${width}})
    if(edits LESS best)
      set(best ${edits})
      set(near ${candidate})
    elseif(edits EQUAL best)
      list(APPEND near ${candidate})
    endif()
  endforeach()
  set(${out} ${near} PARENT_SCOPE)
endfunction()

# weft_test_properties(test [LABELS label...] [TIMEOUT seconds] [PROCESSORS n]): sets what every ctest of weft has.
# The first part of the name, up to a dot, is a label too: unit, conformance, ...
# ctest waits TIMEOUT times WEFT_TEST_PATIENCE, where a project sets that: a busy machine is no failure.
function(weft_test_properties test)
  cmake_parse_arguments(PARSE_ARGV 1 A "" "TIMEOUT;PROCESSORS" "LABELS")
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 120)
  endif()
  if(NOT A_PROCESSORS)
    set(A_PROCESSORS 1)
  endif()
  if(NOT WEFT_TEST_PATIENCE)
    set(WEFT_TEST_PATIENCE 1)
  endif()
  math(EXPR limit "${WEFT_TEST_PATIENCE} * ${A_TIMEOUT}")
  string(REGEX REPLACE "\\..*" "" kind ${test})
  set_tests_properties(${test} PROPERTIES
    LABELS "${kind};${A_LABELS}" TIMEOUT ${limit} PROCESSORS ${A_PROCESSORS} SKIP_RETURN_CODE 77)
endfunction()
