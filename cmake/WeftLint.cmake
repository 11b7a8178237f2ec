# SPDX-License-Identifier: Apache-2.0
#
# What the linter reads: a unit per folder that includes each of its public headers. A unit per header would parse the same text many times over.
# Never built: compile_commands.json names them, and .ci/run reads that.

# weft_lint_units(library headers...): lint/<library>/<folder>.cpp in the build directory, compiled as users of <library> compile.
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
  endforeach()
endfunction()

weft_lint_units(weft ${WEFT_HEADERS})
if(Libfabric_FOUND)
  weft_lint_units(weft_libfabric ${WEFT_LIBFABRIC_HEADERS})
endif()
if(Ibverbs_FOUND)
  weft_lint_units(weft_verbs ${WEFT_VERBS_HEADERS})
endif()
