// SPDX-License-Identifier: Apache-2.0
//
// The secret that peers share (policies/authentication.hpp). The type has no text form and no comparison, so that no
// log, sentence or test report shows its bytes. Hot path: no. Threads: values.
#pragma once

#include "memory.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace weft {

/// Bytes that both sides of a meeting know, and nobody else. Draw them at random: `openssl rand -hex 32` makes a text
/// of 64 bytes. A copy overwrites its bytes when it ends; the caller's own text stays, so overwrite it too.
/// A transport keeps its copy out of core files (core/secret_page.hpp).
/// transport_options::secret takes one, where the fabric answers authentication::shared_secret.
class secret {
 public:
  static constexpr std::size_t least_bytes = 16;
  static constexpr std::size_t most_bytes = 64;  ///< HMAC-SHA-256 uses no more without hashing them first.

  /// No secret.
  constexpr secret() = default;
  /// Copies the bytes. open() refuses a secret of fewer than least_bytes or of more than most_bytes.
  explicit secret(const_bytes from) noexcept : size_(from.size()) {
    if (size_ <= most_bytes) std::copy(from.begin(), from.end(), bytes_.begin());
  }
  explicit secret(std::string_view text) noexcept : secret(std::as_bytes(std::span(text.data(), text.size()))) {}
  constexpr secret(const secret&) = default;
  constexpr secret& operator=(const secret&) = default;
  /// Overwrites the bytes. constexpr, so that options without a secret may be constants.
  constexpr ~secret() {
    if (!std::is_constant_evaluated()) ::explicit_bzero(bytes_.data(), bytes_.size());  // the compiler keeps this call
  }

  /// In bytes; 0: no secret.
  constexpr std::size_t size() const noexcept { return size_; }
  /// Whether open() takes it.
  bool has_good_size() const noexcept { return size_ >= least_bytes && size_ <= most_bytes; }
  /// The bytes, for the library that computes with them. Requires: has_good_size().
  const_bytes revealed() const noexcept { return const_bytes(bytes_).first(size_); }

 private:
  std::array<std::byte, most_bytes> bytes_{};
  std::size_t size_ = 0;
};

}  // namespace weft
