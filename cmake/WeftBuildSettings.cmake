# SPDX-License-Identifier: Apache-2.0
#
# How weft's own tests, benches and examples are compiled; users of weft::weft inherit none of it.
add_library(weft_build_settings INTERFACE)
target_compile_options(weft_build_settings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(WEFT_WERROR)
  target_compile_options(weft_build_settings INTERFACE -Werror)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ collects its garbage from 128 MB on, which is a twelfth of its time here: from 512 MB on (KiB) most units never do.
  target_compile_options(weft_build_settings INTERFACE --param=ggc-min-heapsize=524288)
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
    # clang 14 compares type information by address, and that of a function in a loaded object is another copy. The other three are a fifth of the time
    # to compile, and say little here: of a null pointer the other sanitizer tells, virtual calls there are next to none, sizes are not known without
    # optimisation.
    target_compile_options(weft_build_settings INTERFACE -fno-sanitize=function,null,vptr,object-size)
  endif()
endif()
