# SPDX-License-Identifier: Apache-2.0
#
# Finds PMIx's headers. Sets PMIx_FOUND, and defines PMIx::headers. weft::job loads the library itself at run time.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_PMIx QUIET pmix)
endif()
find_path(PMIx_INCLUDE_DIR pmix.h HINTS ${PC_PMIx_INCLUDE_DIRS} PATH_SUFFIXES pmix2/include pmix)
mark_as_advanced(PMIx_INCLUDE_DIR)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PMIx REQUIRED_VARS PMIx_INCLUDE_DIR)
if(PMIx_FOUND AND NOT TARGET PMIx::headers)
  add_library(PMIx::headers INTERFACE IMPORTED)
  target_include_directories(PMIx::headers SYSTEM INTERFACE ${PMIx_INCLUDE_DIR})
endif()
