// SPDX-License-Identifier: Apache-2.0
//
// The part of DLPack's binary interface (dlpack.h, version 0) that a consumer of tensors reads. No package of Debian 12
// has that header. Source: https://dmlc.github.io/dlpack/latest/c_api.html.
// Hot path: no. Threads: any.
#pragma once
#include <cstdint>

namespace weft_python::dlpack {

struct device {
  std::int32_t type;
  std::int32_t number;
};
inline constexpr std::int32_t processor = 1;
inline constexpr std::int32_t pinned_for_cuda = 3;  // memory of the processor too

struct element {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t count;  // of numbers in one element
};

struct tensor {
  void* data;
  dlpack::device device;
  std::int32_t dimensions;
  dlpack::element element;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: contiguous
  std::uint64_t byte_offset;
};

struct managed_tensor {
  tensor held;
  void* context;
  void (*deleter)(managed_tensor*);
};

}  // namespace weft_python::dlpack
