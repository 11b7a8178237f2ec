// SPDX-License-Identifier: Apache-2.0
//
// Options of a transport, from a dictionary that weft/transport.py has checked, and failures as exceptions.
// Hot path: no. Threads: under Python's lock.
#pragma once
#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>

#include "weft/weft.h"

namespace weft_python {

/// Raises the exception of weft.errors that belongs to a status of weft.h.
[[noreturn]] inline void refuse_with(int status, const std::string& sentence) {
  const pybind11::object made = pybind11::module_::import("weft.errors").attr("error_of")(status, sentence);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
  throw pybind11::error_already_set();
}

/// Keeps the texts that `options` points to.
class opening {
 public:
  explicit opening(const pybind11::dict& asked) {
    text(asked, "node", node_, options.node);
    text(asked, "service", service_, options.service);
    text(asked, "fabrics", fabrics_, options.fabrics);
    value(asked, "flags", options.flags);
    value(asked, "max_message_bytes", options.max_message_bytes);
    value(asked, "receives", options.receives);
    value(asked, "operations", options.operations);
    value(asked, "peers", options.peers);
    value(asked, "operation_timeout", options.operation_timeout);
    value(asked, "silence_limit", options.silence_limit);
  }
  opening(const opening&) = delete;
  opening& operator=(const opening&) = delete;

  weft_options options = WEFT_OPTIONS;

 private:
  static void text(const pybind11::dict& asked, const char* name, std::string& kept, const char*& into) {
    if (!asked.contains(name)) return;
    kept = asked[name].cast<std::string>();
    into = kept.c_str();
  }
  template <class Value>
  static void value(const pybind11::dict& asked, const char* name, Value& into) {
    if (asked.contains(name)) into = asked[name].cast<Value>();
  }

  std::string node_, service_, fabrics_;
};

}  // namespace weft_python
