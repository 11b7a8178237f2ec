# SPDX-License-Identifier: Apache-2.0
#
# An overlay port: it builds the checkout that holds it.
# `vcpkg install "weft[libfabric]" --overlay-ports=packaging/vcpkg/ports`
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

set(backends loopback mapped streams)
foreach(feature IN ITEMS libfabric verbs)
  if(feature IN_LIST FEATURES)
    list(APPEND backends ${feature})
  endif()
endforeach()
if("shared" IN_LIST FEATURES)
  vcpkg_check_linkage(ONLY_DYNAMIC_LIBRARY)
endif()
vcpkg_check_features(OUT_FEATURE_OPTIONS options
  FEATURES shared WEFT_BUILD_SHARED
  INVERTED_FEATURES authentication CMAKE_DISABLE_FIND_PACKAGE_OpenSSL)

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS
  ${options} "-DWEFT_BACKENDS=${backends}" -DCMAKE_DISABLE_FIND_PACKAGE_PMIx=ON
  -DWEFT_BUILD_PYTHON=OFF -DWEFT_BUILD_TESTS=OFF -DWEFT_BUILD_BENCH=OFF -DWEFT_BUILD_EXAMPLES=OFF
  MAYBE_UNUSED_VARIABLES CMAKE_DISABLE_FIND_PACKAGE_OpenSSL)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/weft)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")

file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
