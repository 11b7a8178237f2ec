// SPDX-License-Identifier: Apache-2.0
//
// Errors that the extension finds itself, before the library is called: exceptions of weft.errors.
// Hot path: no. Threads: under Python's lock.
#pragma once
#include <pybind11/pybind11.h>

#include <string>

namespace weft_python {

/// Raises the exception `kind` of weft.errors, such as "InvalidError".
[[noreturn]] inline void refuse(const char* kind, const std::string& sentence) {
  const pybind11::object raised = pybind11::module_::import("weft.errors").attr(kind);
  PyErr_SetString(raised.ptr(), sentence.c_str());
  throw pybind11::error_already_set();
}

}  // namespace weft_python
