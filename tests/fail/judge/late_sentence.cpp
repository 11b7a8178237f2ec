// SPDX-License-Identifier: Apache-2.0
// EXPECT: the right sentence
static_assert(sizeof(char) == 2, "another sentence");
static_assert(sizeof(char) == 2, "the right sentence");
int main() {}
