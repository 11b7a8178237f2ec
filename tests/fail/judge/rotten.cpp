// SPDX-License-Identifier: Apache-2.0
// EXPECT: the right sentence
static_assert(sizeof(char) == 2, "the right sentence");
#ifdef WEFT_FIXED
#error "and yet the corrected form is as wrong"
#endif
int main() {}
