# SPDX-License-Identifier: Apache-2.0
#
# Finds libfabric. Sets Libfabric_FOUND and Libfabric_VERSION (the headers' version), and defines Libfabric::Libfabric.
# libfabric ships no CMake package, and some installations lack its pkg-config file. So this module searches both ways.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_Libfabric QUIET libfabric)
endif()
find_path(Libfabric_INCLUDE_DIR rdma/fabric.h HINTS ${PC_Libfabric_INCLUDE_DIRS})
find_library(Libfabric_LIBRARY fabric HINTS ${PC_Libfabric_LIBRARY_DIRS})
mark_as_advanced(Libfabric_INCLUDE_DIR Libfabric_LIBRARY)

if(Libfabric_INCLUDE_DIR)
  file(STRINGS ${Libfabric_INCLUDE_DIR}/rdma/fabric.h weft_lines REGEX "^#define FI_(MAJOR|MINOR|REVISION)_VERSION")
  foreach(part MAJOR MINOR REVISION)
    string(REGEX MATCH "FI_${part}_VERSION[ \t]+([0-9]+)" weft_ignored "${weft_lines}")
    set(Libfabric_${part} ${CMAKE_MATCH_1})
  endforeach()
  set(Libfabric_VERSION ${Libfabric_MAJOR}.${Libfabric_MINOR})
  if(NOT Libfabric_REVISION STREQUAL "")
    string(APPEND Libfabric_VERSION .${Libfabric_REVISION})
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libfabric REQUIRED_VARS Libfabric_LIBRARY Libfabric_INCLUDE_DIR
  VERSION_VAR Libfabric_VERSION)
if(Libfabric_FOUND AND NOT TARGET Libfabric::Libfabric)
  add_library(Libfabric::Libfabric UNKNOWN IMPORTED)
  set_target_properties(Libfabric::Libfabric PROPERTIES
    IMPORTED_LOCATION ${Libfabric_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${Libfabric_INCLUDE_DIR})
endif()
