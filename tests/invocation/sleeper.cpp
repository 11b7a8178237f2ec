// SPDX-License-Identifier: Apache-2.0
//
// Stands for an executor that hangs before it opens its transport.
#include <unistd.h>

int main() {
  for (;;) ::pause();
}
