# SPDX-License-Identifier: Apache-2.0
#
# The targets that hold weft's headers. Only listed headers are installed; the test static.lists names a missing one.
# `weft` needs no network library. `weft_libfabric` and `weft_verbs` each link one. `weft_authentication` needs
# libcrypto. `weft_job` has PMIx's headers, and loads libpmix when a launcher speaks PMIx. `weft_etcd`
# needs the headers of libcurl and nlohmann's JSON, and loads libcurl.
include(${PROJECT_SOURCE_DIR}/cmake/headers.cmake)

# weft_headers(target set files...): adds headers as a file set of the target. Paths start at the source directory.
function(weft_headers target set)
  list(TRANSFORM ARGN PREPEND ${PROJECT_BINARY_DIR}/include/weft/)
  target_sources(${target} INTERFACE FILE_SET ${set} TYPE HEADERS BASE_DIRS ${PROJECT_BINARY_DIR}/include FILES ${ARGN})
endfunction()

# weft_verified_headers(target files...): adds headers to the set `headers`; static.headers compiles each of them alone.
# A header that is the first include of another header is the first text there too. It goes to the set
# `first_of_others`, which is not compiled again.
function(weft_verified_headers target)
  set(firsts "")
  foreach(header IN LISTS ARGN)
    file(STRINGS ${PROJECT_SOURCE_DIR}/${header} first REGEX "^ *# *(include|define|if)" LIMIT_COUNT 1)
    if(first MATCHES "^#include \"(.*)\"$")
      cmake_path(GET header PARENT_PATH folder)
      cmake_path(APPEND folder "${CMAKE_MATCH_1}" OUTPUT_VARIABLE included)
      cmake_path(NORMAL_PATH included)
      list(APPEND firsts ${included})
    endif()
  endforeach()
  set(alone ${ARGN})
  set(others ${ARGN})
  list(REMOVE_ITEM alone "" ${firsts})
  list(REMOVE_ITEM others "" ${alone})
  weft_headers(${target} headers ${alone})
  weft_headers(${target} first_of_others ${others})
  set_target_properties(${target} PROPERTIES INTERFACE_HEADER_SETS_TO_VERIFY headers)
endfunction()

add_library(weft INTERFACE)
add_library(weft::weft ALIAS weft)
target_compile_features(weft INTERFACE cxx_std_20)
target_link_libraries(weft INTERFACE Threads::Threads)
if(NOT WEFT_PROBES)
  target_compile_definitions(weft INTERFACE WEFT_NO_PROBES)
endif()
# libhwloc is loaded where a program asks for a near device. Without hwloc.h open() refuses such a program.
find_path(HWLOC_INCLUDE_DIR hwloc.h)
mark_as_advanced(HWLOC_INCLUDE_DIR)
if(HWLOC_INCLUDE_DIR)
  weft_verified_headers(weft ${WEFT_HEADERS} ${WEFT_HWLOC_HEADERS})
else()
  weft_verified_headers(weft ${WEFT_HEADERS})
  weft_headers(weft first_of_others ${WEFT_HWLOC_HEADERS})
  message(STATUS "weft: device_near is refused at open: hwloc.h is not installed (Debian: libhwloc-dev)")
endif()
weft_headers(weft selected ${WEFT_SELECTED_HEADERS})
set_target_properties(weft PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)

add_library(weft_libfabric INTERFACE)
add_library(weft::backend_libfabric ALIAS weft_libfabric)
set_target_properties(weft_libfabric PROPERTIES EXPORT_NAME backend_libfabric)
target_link_libraries(weft_libfabric INTERFACE weft ${CMAKE_DL_LIBS})
weft_verified_headers(weft_libfabric ${WEFT_LIBFABRIC_HEADERS})

add_library(weft_verbs INTERFACE)
add_library(weft::backend_verbs ALIAS weft_verbs)
set_target_properties(weft_verbs PROPERTIES EXPORT_NAME backend_verbs)
target_link_libraries(weft_verbs INTERFACE weft ${CMAKE_DL_LIBS})
weft_verified_headers(weft_verbs ${WEFT_VERBS_HEADERS})

# Without libcrypto the target stays empty, and a program that asks for authentication::shared_secret does not compile.
add_library(weft_authentication INTERFACE)
add_library(weft::authentication ALIAS weft_authentication)
set_target_properties(weft_authentication PROPERTIES EXPORT_NAME authentication)
target_link_libraries(weft_authentication INTERFACE weft)
weft_verified_headers(weft_authentication ${WEFT_AUTHENTICATION_HEADERS})
find_package(OpenSSL QUIET COMPONENTS Crypto)
if(TARGET OpenSSL::Crypto)
  target_link_libraries(weft_authentication INTERFACE OpenSSL::Crypto)
  set_target_properties(weft_authentication PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
else()
  message(STATUS "weft: authentication::shared_secret is left out: libcrypto is not installed (Debian: libssl-dev)")
endif()

# Without pmix.h a job meets by variables only, and refuses a launcher that speaks PMIx alone.
add_library(weft_job INTERFACE)
add_library(weft::job ALIAS weft_job)
set_target_properties(weft_job PROPERTIES EXPORT_NAME job)
target_link_libraries(weft_job INTERFACE weft ${CMAKE_DL_LIBS})
weft_verified_headers(weft_job ${WEFT_PMIX_HEADERS})
find_package(PMIx QUIET)
if(TARGET PMIx::headers)
  target_link_libraries(weft_job INTERFACE PMIx::headers)
  set_target_properties(weft_job PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
else()
  message(STATUS "weft: jobs without PMIx: pmix.h is not installed (Debian: libpmix-dev)")
endif()

# Programs bring the headers of libcurl and nlohmann's JSON that they use; weft's own take Debian's.
add_library(weft_etcd INTERFACE)
add_library(weft::etcd ALIAS weft_etcd)
set_target_properties(weft_etcd PROPERTIES EXPORT_NAME etcd)
target_link_libraries(weft_etcd INTERFACE weft_job)
weft_verified_headers(weft_etcd ${WEFT_ETCD_HEADERS})
find_path(WEFT_CURL_INCLUDE_DIR curl/curl.h)
find_path(WEFT_JSON_INCLUDE_DIR nlohmann/json.hpp)
mark_as_advanced(WEFT_CURL_INCLUDE_DIR WEFT_JSON_INCLUDE_DIR)
if(WEFT_CURL_INCLUDE_DIR AND WEFT_JSON_INCLUDE_DIR)
  target_include_directories(weft_etcd SYSTEM INTERFACE
    $<BUILD_INTERFACE:${WEFT_CURL_INCLUDE_DIR}> $<BUILD_INTERFACE:${WEFT_JSON_INCLUDE_DIR}>)
  set_target_properties(weft_etcd PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  set(WEFT_HAS_ETCD TRUE)
else()
  set(WEFT_HAS_ETCD FALSE)
  message(STATUS "weft: weft's own programs with etcd are left out: curl/curl.h or nlohmann/json.hpp is not installed "
    "(Debian: libcurl4-openssl-dev nlohmann-json3-dev)")
endif()

# Programs bring the Boost that they use; weft's own take Debian's.
add_library(weft_threads INTERFACE)
add_library(weft::threads ALIAS weft_threads)
set_target_properties(weft_threads PROPERTIES EXPORT_NAME threads)
target_link_libraries(weft_threads INTERFACE weft)
weft_verified_headers(weft_threads ${WEFT_THREADS_HEADERS})
find_path(WEFT_BOOST_INCLUDE_DIR boost/lockfree/queue.hpp)
mark_as_advanced(WEFT_BOOST_INCLUDE_DIR)
if(WEFT_BOOST_INCLUDE_DIR)
  target_include_directories(weft_threads SYSTEM INTERFACE $<BUILD_INTERFACE:${WEFT_BOOST_INCLUDE_DIR}>)
  set_target_properties(weft_threads PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  set(WEFT_HAS_BOOST TRUE)
else()
  set(WEFT_HAS_BOOST FALSE)
  message(STATUS "weft: weft's own programs with queues of submissions are left out: boost/lockfree/queue.hpp is not "
    "installed (Debian: libboost-dev)")
endif()

# Programs bring the Asio that they use; weft's own take Debian's.
add_library(weft_asio INTERFACE)
add_library(weft::asio ALIAS weft_asio)
set_target_properties(weft_asio PROPERTIES EXPORT_NAME asio)
target_link_libraries(weft_asio INTERFACE weft)
weft_verified_headers(weft_asio ${WEFT_ASIO_HEADERS})
find_path(ASIO_INCLUDE_DIR asio.hpp)
mark_as_advanced(ASIO_INCLUDE_DIR)
if(ASIO_INCLUDE_DIR)
  target_include_directories(weft_asio SYSTEM INTERFACE $<BUILD_INTERFACE:${ASIO_INCLUDE_DIR}>)
  # Asio 1.22 looks for <experimental/coroutine> where clang compiles, and libstdc++ has <coroutine>.
  target_compile_definitions(weft_asio INTERFACE $<BUILD_INTERFACE:$<$<CXX_COMPILER_ID:Clang>:ASIO_HAS_CO_AWAIT=1>>)
  set_target_properties(weft_asio PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
else()
  message(STATUS "weft: weft's own programs with Asio are left out: asio.hpp is not installed (Debian: libasio-dev)")
endif()
