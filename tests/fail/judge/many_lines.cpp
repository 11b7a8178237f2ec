// SPDX-License-Identifier: Apache-2.0
// EXPECT: the right sentence
template <int N>
struct nested : nested<N - 1> {
  static_assert(N < 0, "the right sentence");
};
template <>
struct nested<0> {};
int main() { return sizeof(nested<12>) == 1 ? 0 : 1; }
