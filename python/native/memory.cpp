// SPDX-License-Identifier: Apache-2.0
//
// Takes and holds the memory of Python objects.
#include "memory.hpp"

#include <memory>
#include <string_view>

#include "tensor.hpp"

namespace py = pybind11;

namespace weft_python {
namespace {

std::string name_of(py::handle object) { return Py_TYPE(object.ptr())->tp_name; }

// A format such as "T{O:owner:}" has type codes outside of `:name:`.
bool has_python_objects(const char* format) {
  bool inside = false;
  for (const char* at = format; at != nullptr && *at != '\0'; ++at) {
    if (*at == ':') inside = !inside;
    if (*at == 'O' && !inside) return true;
  }
  return false;
}

bool contiguous(const dlpack::tensor& held) {
  std::int64_t step = 1;
  for (std::int32_t at = held.dimensions; held.strides != nullptr && at-- > 0;) {
    if (held.shape[at] != 1 && held.strides[at] != step) return false;
    step *= held.shape[at];
  }
  return true;
}

}  // namespace

held_memory::held_memory(py::handle object) {
  if (PyObject_CheckBuffer(object.ptr()) != 0) hold_buffer(object);
  else if (py::hasattr(object, "__dlpack__") && py::hasattr(object, "__dlpack_device__")) hold_tensor(object);
  else
    refuse("InvalidError", "memory: " + name_of(object) +
                               " has no buffer and is no DLPack tensor: give a bytearray, a "
                               "memoryview, an array, or a tensor of the processor");
  if (size_ == 0) refuse("InvalidError", "memory: this " + name_of(object) + " is empty");
}

void held_memory::hold_buffer(py::handle object) {
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), view.get(), PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    const py::error_already_set why;
    refuse("InvalidError",
           "memory: this " + name_of(object) + " gives no buffer: " + py::str(why.value()).cast<std::string>());
  }
  owner_ = py::capsule(view.get(), [](void* held) {
    PyBuffer_Release(static_cast<Py_buffer*>(held));
    delete static_cast<Py_buffer*>(held);
  });
  const Py_buffer& held = *view.release();
  if (PyBuffer_IsContiguous(&held, 'A') == 0)
    refuse("InvalidError", "memory: this " + name_of(object) +
                               " is not contiguous: copy it first, as by "
                               "numpy.ascontiguousarray()");
  if (has_python_objects(held.format))
    refuse("InvalidError", "memory: this " + name_of(object) +
                               " holds Python objects, which mean nothing in another "
                               "process: use a type of numbers or bytes");
  begin_ = held.buf;
  size_ = static_cast<std::uint64_t>(held.len);
  readonly_ = held.readonly != 0;
}

void held_memory::hold_tensor(py::handle object) {
  const auto device = object.attr("__dlpack_device__")().cast<std::pair<std::int32_t, std::int32_t>>();
  if (device.first != dlpack::processor && device.first != dlpack::pinned_for_cuda)
    refuse("UnsupportedError", "memory: this " + name_of(object) + " lies on a device (DLPack type " +
                                   std::to_string(device.first) +
                                   "), and this library moves memory of the processor "
                                   "only: copy it there first, as by tensor.cpu()");
  py::object capsule = object.attr("__dlpack__")();
  auto* tensor = static_cast<dlpack::managed_tensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (tensor == nullptr) throw py::error_already_set();
  // The name says that the tensor is taken: the capsule does not delete it any more.
  if (PyCapsule_SetName(capsule.ptr(), "used_dltensor") != 0) throw py::error_already_set();
  owner_ = py::capsule(tensor, [](void* held) {
    auto* const taken = static_cast<dlpack::managed_tensor*>(held);
    if (taken->deleter != nullptr) taken->deleter(taken);
  });
  if (!contiguous(tensor->held))
    refuse("InvalidError", "memory: this " + name_of(object) +
                               " is not contiguous: copy it first, as by "
                               "tensor.contiguous()");
  size_ = (static_cast<std::uint64_t>(tensor->held.element.bits) * tensor->held.element.count + 7) / 8;
  for (std::int32_t at = 0; at < tensor->held.dimensions; ++at)
    size_ *= static_cast<std::uint64_t>(tensor->held.shape[at]);
  begin_ = static_cast<char*>(tensor->held.data) + tensor->held.byte_offset;
}

}  // namespace weft_python
