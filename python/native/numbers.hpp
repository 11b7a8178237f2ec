// SPDX-License-Identifier: Apache-2.0
//
// Offsets and lengths of a list: one number for all transfers, an array of whole numbers, or a sequence. An array is
// read in place, without a Python object for each number. Hot path: of preparing lists. Threads: under Python's lock.
#pragma once
#include <pybind11/pybind11.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "refusing.hpp"

namespace weft_python {

class numbers {
 public:
  /// `name` is for sentences. Errors: TypeError (no whole numbers), InvalidError (a negative one, more dimensions).
  numbers(pybind11::handle given, const char* name) : name_(name) {
    if (PyIndex_Check(given.ptr()) != 0 && PyObject_CheckBuffer(given.ptr()) == 0) one_ = whole(given, 0);
    else if (PyObject_CheckBuffer(given.ptr()) != 0) read_buffer(given);
    else read_sequence(given);
  }
  /// Whether one number stands for all transfers.
  [[nodiscard]] bool is_one() const { return is_one_; }
  [[nodiscard]] std::size_t count() const { return all_.size(); }
  [[nodiscard]] const char* name() const { return name_; }
  std::uint64_t operator[](std::size_t at) const { return is_one_ ? one_ : all_[at]; }

 private:
  struct held_buffer : Py_buffer {
    explicit held_buffer(PyObject* of) : Py_buffer() {
      if (PyObject_GetBuffer(of, this, PyBUF_STRIDES | PyBUF_FORMAT) != 0) throw pybind11::error_already_set();
    }
    held_buffer(const held_buffer&) = delete;
    held_buffer& operator=(const held_buffer&) = delete;
    ~held_buffer() { PyBuffer_Release(this); }
  };

  [[noreturn]] void no_numbers(const std::string& what) const {
    PyErr_SetString(PyExc_TypeError, (std::string(name_) + " are whole numbers: an array of integers, a sequence, or " +
                                      "one number for all transfers; not " + what)
                                         .c_str());
    throw pybind11::error_already_set();
  }
  [[noreturn]] void negative(std::size_t at) const {
    refuse("InvalidError", std::string(name_) + "[" + std::to_string(at) + "] is below 0, or above 64 bits");
  }
  std::uint64_t whole(pybind11::handle given, std::size_t at) const {
    if (PyIndex_Check(given.ptr()) == 0 || PyBool_Check(given.ptr())) no_numbers(Py_TYPE(given.ptr())->tp_name);
    const auto index = pybind11::reinterpret_steal<pybind11::object>(PyNumber_Index(given.ptr()));
    if (!index) throw pybind11::error_already_set();
    const std::uint64_t value = PyLong_AsUnsignedLongLong(index.ptr());
    if (value == ~std::uint64_t{0} && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      negative(at);
    }
    return value;
  }
  void read_sequence(pybind11::handle given) {
    is_one_ = false;
    if (PySequence_Check(given.ptr()) == 0 || PyUnicode_Check(given.ptr()) != 0)
      no_numbers(Py_TYPE(given.ptr())->tp_name);
    const auto fast = pybind11::reinterpret_steal<pybind11::object>(PySequence_Fast(given.ptr(), "no sequence"));
    if (!fast) throw pybind11::error_already_set();
    all_.reserve(static_cast<std::size_t>(PySequence_Fast_GET_SIZE(fast.ptr())));
    // An element's __index__ may shorten the list, so its size is asked in each turn, and the element is kept.
    for (Py_ssize_t at = 0; at < PySequence_Fast_GET_SIZE(fast.ptr()); ++at) {
      const auto one = pybind11::reinterpret_borrow<pybind11::object>(PySequence_Fast_GET_ITEM(fast.ptr(), at));
      all_.push_back(whole(one, static_cast<std::size_t>(at)));
    }
  }
  template <class Word>
  void read(const held_buffer& from) {
    const auto* at = static_cast<const char*>(from.buf);
    const auto size = static_cast<std::size_t>(from.shape[0]);
    all_.resize(size);
    for (std::size_t i = 0; i < size; ++i, at += from.strides[0]) {
      Word word;
      std::memcpy(&word, at, sizeof word);
      if constexpr (static_cast<Word>(-1) < 0)
        if (word < 0) negative(i);
      all_[i] = static_cast<std::uint64_t>(word);
    }
  }
  void read_buffer(pybind11::handle given) {
    const held_buffer held(given.ptr());
    std::string_view format = held.format == nullptr ? "B" : held.format;
    if (!format.empty() && (format[0] == '@' || format[0] == '=' || format[0] == '<')) format.remove_prefix(1);
    if (format.size() != 1) no_numbers("elements of format " + std::string(held.format));
    const bool is_signed = std::string_view("bhilqn").find(format[0]) != std::string_view::npos;
    if (!is_signed && std::string_view("BHILQN").find(format[0]) == std::string_view::npos)
      no_numbers("elements of format " + std::string(format));
    if (held.ndim == 0) {
      all_.clear();
      return read_one(given);
    }
    is_one_ = false;
    if (held.ndim != 1) no_numbers("an array of " + std::to_string(held.ndim) + " dimensions");
    switch (held.itemsize) {
      case 1:
        return is_signed ? read<std::int8_t>(held) : read<std::uint8_t>(held);
      case 2:
        return is_signed ? read<std::int16_t>(held) : read<std::uint16_t>(held);
      case 4:
        return is_signed ? read<std::int32_t>(held) : read<std::uint32_t>(held);
      default:
        return is_signed ? read<std::int64_t>(held) : read<std::uint64_t>(held);
    }
  }
  // A number of NumPy has a buffer too.
  void read_one(pybind11::handle given) { one_ = whole(given, 0); }

  const char* name_;
  bool is_one_ = true;
  std::uint64_t one_ = 0;
  std::vector<std::uint64_t> all_;
};

}  // namespace weft_python
