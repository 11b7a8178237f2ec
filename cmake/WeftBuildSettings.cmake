# SPDX-License-Identifier: Apache-2.0
#
# The compile options of weft's own tests, benches and examples. Users of weft get none of them.
add_library(weft_build_settings INTERFACE)
# weft_add_per_fabric reads this variable. Its scope is weft's own directories.
# So programs of a project that contains weft get none of these options.
set(weft_own_settings weft_build_settings)
target_compile_options(weft_build_settings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(WEFT_WERROR)
  target_compile_options(weft_build_settings INTERFACE -Werror)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ collects garbage from 128 MB on: a twelfth of the compile time. Few units reach 512 MB (here in KiB).
  target_compile_options(weft_build_settings INTERFACE --param=ggc-min-heapsize=524288)
endif()

# Rare work, such as command lines and meetings: -O3 takes two fifths of its compile time, and no hot path is there.
set(weft_own_rare_options "")
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(weft_own_rare_options -O1)
endif()

# Each post and each poll of a test contains the whole hot path, because its functions ask to be inlined. Without
# optimisation this only multiplies code: a third of the compile time and of the memory of a sanitized suite. So the
# presets with -O0 take the attribute away. Builds that measure, or optimise, keep it.
if(NOT WEFT_FORCED_INLINING)
  target_compile_definitions(weft_build_settings INTERFACE always_inline=unused)
endif()

set(weft_sanitizer_choices "" "address;undefined" "thread")
if(NOT WEFT_SANITIZE IN_LIST weft_sanitizer_choices AND NOT WEFT_SANITIZE STREQUAL "address;undefined")
  message(FATAL_ERROR "WEFT_SANITIZE is \"${WEFT_SANITIZE}\"; it must be empty, \"address;undefined\" or \"thread\"")
endif()
if(WEFT_SANITIZE)
  list(JOIN WEFT_SANITIZE "," weft_sanitizers)
  target_compile_options(weft_build_settings INTERFACE
    -fsanitize=${weft_sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  target_link_options(weft_build_settings INTERFACE -fsanitize=${weft_sanitizers})
  if("address" IN_LIST WEFT_SANITIZE)
    target_compile_definitions(weft_build_settings INTERFACE WEFT_ADDRESS_SANITIZER)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND "undefined" IN_LIST WEFT_SANITIZE)
    # function: clang 14 compares type information by address; a loaded object has its own copy.
    # The other three take a fifth of the compile time and find little here. AddressSanitizer reports null pointers.
    # weft has hardly any virtual call, and object sizes are unknown without optimisation.
    target_compile_options(weft_build_settings INTERFACE -fno-sanitize=function,null,vptr,object-size)
  endif()
endif()
# libFuzzer needs its instrumentation in every unit of a fuzz target, also in libraries that targets share.
if(WEFT_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang" OR NOT "address" IN_LIST WEFT_SANITIZE)
    message(FATAL_ERROR "WEFT_FUZZ needs clang and WEFT_SANITIZE=address;undefined (cmake --preset fuzz)")
  endif()
  target_compile_options(weft_build_settings INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(weft_build_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()
