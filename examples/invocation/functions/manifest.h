/* SPDX-License-Identifier: Apache-2.0
 *
 * The one symbol that an object of functions exports: `weft_functions`. C, so that any language can make one. */
#ifndef WEFT_INVOCATION_MANIFEST_H
#define WEFT_INVOCATION_MANIFEST_H

#include <stdint.h>

#define WEFT_FUNCTIONS_LAYOUT 1

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the bytes written to out, at most out_capacity, or a negative number that the caller gets. */
typedef int64_t (*weft_function_call)(const unsigned char* in, uint32_t in_bytes, unsigned char* out,
                                      uint32_t out_capacity);

struct weft_function {
  const char* name; /* [a-z0-9_]{1,64} */
  weft_function_call call;
};

struct weft_functions_manifest {
  uint32_t layout; /* WEFT_FUNCTIONS_LAYOUT */
  uint32_t count;
  const struct weft_function* functions;
};

extern const struct weft_functions_manifest weft_functions;

#ifdef __cplusplus
}
#endif
#endif
