# SPDX-License-Identifier: Apache-2.0
#
# How weft's own tests, benches and examples are compiled; users of weft::weft inherit none of it.
add_library(weft_build_settings INTERFACE)
target_compile_options(weft_build_settings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(WEFT_WERROR)
  target_compile_options(weft_build_settings INTERFACE -Werror)
endif()

set(weft_sanitizer_choices "" "address;undefined" "thread")
if(NOT WEFT_SANITIZE IN_LIST weft_sanitizer_choices AND NOT WEFT_SANITIZE STREQUAL "address;undefined")
  message(FATAL_ERROR "WEFT_SANITIZE is \"${WEFT_SANITIZE}\"; it must be empty, \"address;undefined\" or \"thread\"")
endif()
if(WEFT_SANITIZE)
  list(JOIN WEFT_SANITIZE "," weft_sanitizers)
  target_compile_options(weft_build_settings INTERFACE
    -fsanitize=${weft_sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  target_link_options(weft_build_settings INTERFACE -fsanitize=${weft_sanitizers})
endif()
