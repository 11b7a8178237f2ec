# SPDX-License-Identifier: Apache-2.0
#
# Installs headers, the CMake package and the pkg-config files: weft.pc, one weft-<fabric>.pc per fabric,
# weft-authentication.pc and weft-c.pc. The component `c` is libweft.so with weft.h, for programs in C.
include(CMakePackageConfigHelpers)
set(weft_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)

install(TARGETS weft EXPORT weftTargets
  FILE_SET headers DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILE_SET first_of_others DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILE_SET selected DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS weft_libfabric weft_verbs weft_authentication weft_job weft_etcd weft_asio weft_threads
  EXPORT weftTargets
  FILE_SET headers DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILE_SET first_of_others DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(fabric IN LISTS WEFT_AVAILABLE_FABRICS)
  install(TARGETS weft_fabric_${fabric} EXPORT weftTargets)
endforeach()
# Its own export: find_package(weft COMPONENTS c) needs neither C++ nor a backend's library.
if(TARGET weft_shared)
  install(TARGETS weft_shared EXPORT weftCTargets COMPONENT c
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} FILE_SET c_header DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT weftCTargets NAMESPACE weft:: DESTINATION ${weft_package_dir} COMPONENT c)
endif()
install(EXPORT weftTargets NAMESPACE weft:: DESTINATION ${weft_package_dir})

set(weft_made ${PROJECT_BINARY_DIR}/package)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/weftConfig.cmake.in ${weft_made}/weftConfig.cmake
  INSTALL_DESTINATION ${weft_package_dir} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${weft_made}/weftConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${weft_made}/weftConfig.cmake ${weft_made}/weftConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindLibfabric.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindIbverbs.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindPMIx.cmake
  ${PROJECT_SOURCE_DIR}/cmake/WeftPerFabric.cmake
  ${PROJECT_SOURCE_DIR}/cmake/compiled_fabric.cpp
  DESTINATION ${weft_package_dir})

# The prefix is relative to the .pc file, because an installed package may be moved.
file(RELATIVE_PATH weft_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)

# weft_pc(package description requires flags [libraries [component]]): makes and installs one pkg-config file.
function(weft_pc package description requires flags)
  set(libraries "${ARGV4}")
  set(component "${ARGV5}")
  if(NOT component)
    set(component ${CMAKE_INSTALL_DEFAULT_COMPONENT_NAME})
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/weft.pc.in ${weft_made}/${package}.pc @ONLY)
  install(FILES ${weft_made}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component})
endfunction()
if(TARGET weft_shared)
  weft_pc(weft-c "weft for C: libweft.so" "" " -I\${includedir}" " -L\${libdir} -lweft" c)
endif()
# Without -std=c++20 g++ 12 and clang 14 compile C++17. A program in a later C++ puts its own -std after these flags.
weft_pc(weft "${PROJECT_DESCRIPTION}" "" " -std=c++20 -I\${includedir} -pthread")
if(TARGET OpenSSL::Crypto)
  weft_pc(weft-authentication "weft's answer authentication::shared_secret" "weft = ${PROJECT_VERSION}, libcrypto" "")
endif()
foreach(fabric IN LISTS WEFT_AVAILABLE_FABRICS)
  set(weft_requires "weft = ${PROJECT_VERSION}")
  if(WEFT_FABRIC_${fabric}_BACKEND STREQUAL "libfabric")
    string(APPEND weft_requires ", libfabric")
  elseif(WEFT_FABRIC_${fabric}_BACKEND STREQUAL "verbs")
    string(APPEND weft_requires ", libibverbs, librdmacm")
  endif()
  weft_pc(weft-${fabric} "weft, built for the fabric ${fabric}" "${weft_requires}" " -DWEFT_FABRIC=${fabric}")
endforeach()
