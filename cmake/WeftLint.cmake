# SPDX-License-Identifier: Apache-2.0
#
# Units for the linter: one per folder, which includes each public header there. A unit per header would parse the same
# text many times. Nobody builds the units; .ci/run finds them in compile_commands.json.

# weft_lint_units(library headers...): writes lint/<folder>.cpp in the build directory; the units link <library>.
function(weft_lint_units library)
  set(folders "")
  foreach(header IN LISTS ARGN)
    cmake_path(GET header PARENT_PATH folder)
    string(REPLACE "/" "." unit ${folder})
    list(APPEND folders ${unit})
    string(APPEND text_${unit} "#include <weft/${header}>\n")
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(unit IN LISTS folders)
    set(file ${PROJECT_BINARY_DIR}/lint/${unit}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text_${unit}}")
    add_library(lint.${unit} OBJECT EXCLUDE_FROM_ALL ${file})
    target_link_libraries(lint.${unit} PRIVATE ${library} weft_build_settings)
    target_compile_options(lint.${unit} PRIVATE -Ualways_inline)  # the linter reads what users compile
  endforeach()
endfunction()

set(weft_linted ${WEFT_HEADERS})
if(TARGET OpenSSL::Crypto)
  list(APPEND weft_linted ${WEFT_AUTHENTICATION_HEADERS})
endif()
if(ASIO_INCLUDE_DIR)
  list(APPEND weft_linted ${WEFT_ASIO_HEADERS})
endif()
if(WEFT_HAS_ETCD)
  list(APPEND weft_linted ${WEFT_ETCD_HEADERS})
endif()
weft_lint_units("weft_authentication;weft_asio" ${weft_linted})
if(TARGET PMIx::headers)
  weft_lint_units(weft_job ${WEFT_PMIX_HEADERS})
endif()
if(Libfabric_FOUND)
  weft_lint_units(weft_libfabric ${WEFT_LIBFABRIC_HEADERS})
endif()
if(Ibverbs_FOUND)
  weft_lint_units(weft_verbs ${WEFT_VERBS_HEADERS})
endif()
