// SPDX-License-Identifier: Apache-2.0
// EXPECT: a sentence that no compiler has a reason to say
static_assert(sizeof(char) == 2, "another sentence");
int main() {}
