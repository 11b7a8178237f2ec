/* SPDX-License-Identifier: Apache-2.0 */
#include <weft/weft.h>

#include <stdio.h>

int main(void) {
  weft_options options = WEFT_OPTIONS;
  options.fabrics = "mapped";
  weft_transport net;
  const int opened = weft_open(&options, &net);
  if (opened != WEFT_OK) return fprintf(stderr, "%s\n", weft_last_sentence(NULL)), 1;
  puts("hello from c");
  return weft_close(net) == WEFT_OK ? 0 : 1;
}
