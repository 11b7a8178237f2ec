# SPDX-License-Identifier: Apache-2.0
#
# Finds rdma-core. Sets Ibverbs_FOUND, and defines Ibverbs::Ibverbs (libibverbs and librdmacm).
# Ibverbs_VERSION is rdma-core's version, if pkg-config is installed. libibverbs of rdma-core 44.0 states 1.14.44.0.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_Ibverbs QUIET libibverbs)
  string(REGEX REPLACE "^[0-9]+\\.[0-9]+\\.([0-9]+\\.[0-9]+).*$" "\\1" Ibverbs_VERSION "${PC_Ibverbs_VERSION}")
endif()
find_path(Ibverbs_INCLUDE_DIR infiniband/verbs.h HINTS ${PC_Ibverbs_INCLUDE_DIRS})
find_library(Ibverbs_LIBRARY ibverbs HINTS ${PC_Ibverbs_LIBRARY_DIRS})
find_library(Ibverbs_RDMACM_LIBRARY rdmacm HINTS ${PC_Ibverbs_LIBRARY_DIRS})
mark_as_advanced(Ibverbs_INCLUDE_DIR Ibverbs_LIBRARY Ibverbs_RDMACM_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Ibverbs REQUIRED_VARS Ibverbs_LIBRARY Ibverbs_RDMACM_LIBRARY Ibverbs_INCLUDE_DIR
  VERSION_VAR Ibverbs_VERSION)
if(Ibverbs_FOUND AND NOT TARGET Ibverbs::Ibverbs)
  add_library(Ibverbs::Ibverbs UNKNOWN IMPORTED)
  set_target_properties(Ibverbs::Ibverbs PROPERTIES
    IMPORTED_LOCATION ${Ibverbs_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${Ibverbs_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES ${Ibverbs_RDMACM_LIBRARY})
endif()
