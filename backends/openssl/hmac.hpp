// SPDX-License-Identifier: Apache-2.0
//
// HMAC-SHA-256 and the comparison of its results, both of libcrypto: weft has no cryptography of its own. Only programs
// that answer authentication::shared_secret include this file; they link weft::authentication. Hot path: no.
// Threads: any.
#pragma once

#include "../../core/memory.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <cstddef>

namespace weft::backends::openssl {

using hmac_sha256_result = std::array<std::byte, 32>;

/// Overwrites the bytes; the compiler keeps the call.
inline void cleanse(bytes what) noexcept { ::OPENSSL_cleanse(what.data(), what.size()); }

/// Writes the HMAC of `text`. False: libcrypto refused, for example without memory.
inline bool hmac_sha256(const_bytes key, const_bytes text, hmac_sha256_result& into) noexcept {
  unsigned int size = 0;
  const auto* made = ::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()),
                            reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                            reinterpret_cast<unsigned char*>(into.data()), &size);
  return made != nullptr && size == into.size();
}

/// Compares in a time that does not depend on the bytes.
inline bool equal(const_bytes a, const_bytes b) noexcept {
  return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace weft::backends::openssl
