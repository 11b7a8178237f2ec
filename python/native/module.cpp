// SPDX-License-Identifier: Apache-2.0
//
// The extension weft._weft: its one class, and what a program asks without a transport. python/weft/_weft.pyi says the
// same for Python. Its users are the modules of package weft, which check arguments.
#include <pybind11/pybind11.h>

#include "transport.hpp"

namespace py = pybind11;
using weft_python::transport;

PYBIND11_MODULE(_weft, module) {
  module.doc() = "Calls of libweft (weft.h). Use package weft, which makes objects and exceptions of them.";
  module.def("version", &weft_version_text);
  module.def("built_fabrics", &weft_built_fabrics);
  module.def("status_text", &weft_status_text);
  module.def("end", &weft_python::end);
  py::class_<transport>(module, "Transport")
      .def(py::init<const py::dict&>())
      .def("close", &transport::close)
      .def("last_sentence", &transport::last_sentence)
      .def("open_fabrics", &transport::open_fabrics)
      .def("listen_address", &transport::listen_address)
      .def("count", &transport::count)
      .def("start_connect", &transport::start_connect)
      .def("connect", &transport::connect)
      .def("accept", &transport::accept)
      .def("reject", &transport::reject)
      .def("close_peer", &transport::close_peer)
      .def("is_alive", &transport::is_alive)
      .def("fabric_of", &transport::fabric_of)
      .def("explain", &transport::explain)
      .def("largest_message", &transport::largest_message)
      .def("register_memory", &transport::register_memory)
      .def("release", &transport::release)
      .def("send_region", &transport::send_region)
      .def("receive_region", &transport::receive_region)
      .def("describe", &transport::describe)
      .def("parse", &transport::parse)
      .def("remote_size", &transport::remote_size)
      .def("forget", &transport::forget)
      .def("send", &transport::send)
      .def("send_copy", &transport::send_copy)
      .def("send_tagged", &transport::send_tagged)
      .def("send_tagged_copy", &transport::send_tagged_copy)
      .def("receive_tagged", &transport::receive_tagged)
      .def("cancel_tagged", &transport::cancel_tagged)
      .def("largest_tagged_message", &transport::largest_tagged_message)
      .def("put", &transport::put)
      .def("put_notify", &transport::put_notify)
      .def("get", &transport::get)
      .def("flush", &transport::flush)
      .def("atomic", &transport::atomic)
      .def("limit_lists", &transport::limit_lists)
      .def("prepare_list", &transport::prepare_list)
      .def("release_prepared", &transport::release_prepared)
      .def("post_list", &transport::post_list)
      .def("list_state", &transport::list_state)
      .def("cancel_list", &transport::cancel_list)
      .def("poll", &transport::poll)
      .def("wait", &transport::wait)
      .def("wait_descriptor", &transport::wait_descriptor)
      .def("arm", &transport::arm);
}
