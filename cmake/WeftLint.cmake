# SPDX-License-Identifier: Apache-2.0
#
# Units for the linter: one for each of the two largest rooms and one for all others. A unit includes each public header
# there. clang-tidy walks through the standard library anew in each unit, which takes more time than weft's own text.
# Nobody builds the units; .ci/run finds them in compile_commands.json.

# weft_lint_units(library suffix headers...): writes lint/<unit><suffix>.cpp in the build directory, where a unit is
# compose, backends or rooms. The units link <library>.
function(weft_lint_units library suffix)
  set(units "")
  foreach(header IN LISTS ARGN)
    string(REGEX REPLACE "/.*" "" unit ${header})
    if(NOT unit MATCHES "^(compose|backends)$")
      set(unit rooms)
    endif()
    list(APPEND units ${unit})
    string(APPEND text_${unit} "#include <weft/${header}>\n")
  endforeach()
  list(REMOVE_DUPLICATES units)
  foreach(unit IN LISTS units)
    set(file ${PROJECT_BINARY_DIR}/lint/${unit}${suffix}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text_${unit}}")
    add_library(lint.${unit}${suffix} OBJECT EXCLUDE_FROM_ALL ${file})
    target_link_libraries(lint.${unit}${suffix} PRIVATE ${library} weft_build_settings)
    target_compile_options(lint.${unit}${suffix} PRIVATE -Ualways_inline)  # the linter reads what users compile
  endforeach()
endfunction()

set(weft_linted ${WEFT_HEADERS})
if(TARGET OpenSSL::Crypto)
  list(APPEND weft_linted ${WEFT_AUTHENTICATION_HEADERS})
endif()
if(HWLOC_INCLUDE_DIR)
  list(APPEND weft_linted ${WEFT_HWLOC_HEADERS})
endif()
if(ASIO_INCLUDE_DIR)
  list(APPEND weft_linted ${WEFT_ASIO_HEADERS})
endif()
if(WEFT_HAS_ETCD)
  list(APPEND weft_linted ${WEFT_ETCD_HEADERS})
endif()
if(WEFT_HAS_BOOST)
  list(APPEND weft_linted ${WEFT_THREADS_HEADERS})
endif()
weft_lint_units("weft_authentication;weft_asio;weft_threads" "" ${weft_linted})
if(TARGET PMIx::headers)
  weft_lint_units(weft_job .pmix ${WEFT_PMIX_HEADERS})
endif()
if(Libfabric_FOUND)
  weft_lint_units(weft_libfabric .libfabric ${WEFT_LIBFABRIC_HEADERS})
endif()
if(Ibverbs_FOUND)
  weft_lint_units(weft_verbs .verbs ${WEFT_VERBS_HEADERS})
endif()
