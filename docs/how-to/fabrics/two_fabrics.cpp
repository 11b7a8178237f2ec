// SPDX-License-Identifier: Apache-2.0
//
// The code of two_fabrics.md: one program, two fabrics, chosen when it runs.
#include <weft/compose/transport.hpp>
#include <weft/generated/mapped.hpp>
#include <weft/generated/tcp.hpp>

#include <cstdio>
#include <cstring>

using namespace weft;

template <complete_fabric F>
int serve(const char* node) {
  auto net = open<F>({.node = node, .listens = true});
  if (!net) {
    std::fprintf(stderr, "%s\n", net.error().sentence.c_str());
    return 1;
  }
  std::printf("%s\n", net->listen_address().c_str());
  return 0;
}

int main(int argc, char** argv) {
  const bool near = argc < 2 || std::strcmp(argv[1], "near") == 0;
  return near ? serve<fabrics::mapped>("127.0.0.1") : serve<fabrics::tcp>("127.0.0.1");
}
