# SPDX-License-Identifier: Apache-2.0
#
# Every public header by name. A header that is not listed is not installed; the test static.lists names it.
# `weft` has what needs no network library; `weft_libfabric` and `weft_verbs` have what needs one, and the library.
include(${PROJECT_SOURCE_DIR}/cmake/headers.cmake)

# weft_headers(target set files...): adds headers, spelled from the source directory, as a file set of the target.
function(weft_headers target set)
  list(TRANSFORM ARGN PREPEND ${PROJECT_BINARY_DIR}/include/weft/)
  target_sources(${target} INTERFACE FILE_SET ${set} TYPE HEADERS BASE_DIRS ${PROJECT_BINARY_DIR}/include FILES ${ARGN})
endfunction()

add_library(weft INTERFACE)
add_library(weft::weft ALIAS weft)
target_compile_features(weft INTERFACE cxx_std_20)
target_link_libraries(weft INTERFACE Threads::Threads)
weft_headers(weft headers ${WEFT_HEADERS})
# selected.hpp means something only where WEFT_FABRIC is set: installed, not compiled alone.
weft_headers(weft selected compose/selected.hpp)
set_target_properties(weft PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON INTERFACE_HEADER_SETS_TO_VERIFY headers)

add_library(weft_libfabric INTERFACE)
add_library(weft::backend_libfabric ALIAS weft_libfabric)
set_target_properties(weft_libfabric PROPERTIES EXPORT_NAME backend_libfabric)
target_link_libraries(weft_libfabric INTERFACE weft)
weft_headers(weft_libfabric headers ${WEFT_LIBFABRIC_HEADERS})

add_library(weft_verbs INTERFACE)
add_library(weft::backend_verbs ALIAS weft_verbs)
set_target_properties(weft_verbs PROPERTIES EXPORT_NAME backend_verbs)
target_link_libraries(weft_verbs INTERFACE weft)
weft_headers(weft_verbs headers ${WEFT_VERBS_HEADERS})
