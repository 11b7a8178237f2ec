// SPDX-License-Identifier: Apache-2.0
//
// A sample shared object: `thumbnail` halves a binary PPM image (P6, 8 bits a channel) in both directions, `negative`
// inverts one.
#include "manifest.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

constexpr std::int64_t output_too_small = -1;
constexpr std::int64_t not_an_image = -2;

struct image {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  const unsigned char* pixels = nullptr;
};

class header_reader {
 public:
  header_reader(const unsigned char* from, std::uint32_t size) : at_(from), end_(from + size) {}
  bool letter(unsigned char c) { return at_ != end_ && *at_++ == c; }
  /// A number of at most five digits, after white space.
  bool number(std::uint32_t& value) {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
    int digits = 0;
    for (value = 0; at_ != end_ && *at_ >= '0' && *at_ <= '9' && digits < 6; ++digits)
      value = value * 10 + (*at_++ - std::uint32_t{'0'});
    return digits > 0 && digits < 6;
  }
  bool space() { return at_ != end_ && (*at_ == ' ' || *at_ == '\n') && ++at_ != nullptr; }
  const unsigned char* rest() const { return at_; }
  std::uint64_t left() const { return static_cast<std::uint64_t>(end_ - at_); }

 private:
  const unsigned char* at_;
  const unsigned char* end_;
};

bool read(const unsigned char* in, std::uint32_t size, image& i) {
  header_reader r(in, size);
  std::uint32_t depth = 0;
  if (!r.letter('P') || !r.letter('6') || !r.number(i.width) || !r.number(i.height) || !r.number(depth) ||
      depth != 255 || !r.space())
    return false;
  i.pixels = r.rest();
  return std::uint64_t{i.width} * i.height * 3 == r.left();
}

/// Writes the header; returns its size, or 0 where the image does not fit.
std::uint32_t start(unsigned char* out, std::uint32_t capacity, std::uint32_t width, std::uint32_t height) {
  char text[32];
  const auto size = static_cast<std::uint32_t>(std::snprintf(text, sizeof text, "P6\n%u %u\n255\n", width, height));
  if (size + std::uint64_t{width} * height * 3 > capacity) return 0;
  std::memcpy(out, text, size);
  return size;
}

std::int64_t thumbnail(const unsigned char* in, std::uint32_t in_bytes, unsigned char* out,
                       std::uint32_t out_capacity) {
  image from;
  if (!read(in, in_bytes, from)) return not_an_image;
  const std::uint32_t width = from.width / 2;
  const std::uint32_t height = from.height / 2;
  const std::uint32_t front = start(out, out_capacity, width, height);
  if (front == 0) return output_too_small;
  unsigned char* to = out + front;
  const std::size_t row = std::size_t{from.width} * 3;
  for (std::uint32_t y = 0; y < height; ++y)
    for (std::uint32_t x = 0; x < width; ++x)
      for (std::uint32_t c = 0; c < 3; ++c) {
        const unsigned char* p = from.pixels + 2 * y * row + std::size_t{2} * x * 3 + c;
        *to++ = static_cast<unsigned char>((p[0] + p[3] + p[row] + p[row + 3] + 2) / 4);
      }
  return to - out;
}

std::int64_t negative(const unsigned char* in, std::uint32_t in_bytes, unsigned char* out, std::uint32_t out_capacity) {
  image from;
  if (!read(in, in_bytes, from)) return not_an_image;
  const std::uint32_t front = start(out, out_capacity, from.width, from.height);
  if (front == 0) return output_too_small;
  const std::uint64_t size = std::uint64_t{from.width} * from.height * 3;
  for (std::uint64_t i = 0; i < size; ++i) out[front + i] = static_cast<unsigned char>(255 - from.pixels[i]);
  return static_cast<std::int64_t>(front + size);
}

constexpr weft_function functions[] = {{"negative", &negative}, {"thumbnail", &thumbnail}};

}  // namespace

extern "C" {
__attribute__((visibility("default"))) extern const weft_functions_manifest weft_functions;
const weft_functions_manifest weft_functions = {WEFT_FUNCTIONS_LAYOUT, 2, functions};
}
