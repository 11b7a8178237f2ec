// SPDX-License-Identifier: Apache-2.0
//
// The code of examples/invocation/README.md, word for word (static.snippets). The test is that it compiles.
#include <invocation/client.hpp>

#include <weft/compose/selected.hpp>

namespace {

using namespace std::chrono_literals;
using weft::bytes;
using weft::const_bytes;

template <class OnEnd>
bool calls(const_bytes input, bytes output, int mine, OnEnd&& on_end) {
  auto c = weft::invocation::client<weft::selected>::connect("127.0.0.1:7471").value();
  auto workers = c->allocate({.workers = 2, .input_bytes = 4096, .output_bytes = 4096});
  auto done = c->invoke("echo", input, output, 2s);                // blocks; done.why says what went wrong, if anything
  auto posted = c->submit(0, *c->find("echo"), input, &mine, 2s);  // or post, and get the result in the handler
  c->progress([&](const weft::invocation::finished& f) { on_end(f.context, f.why, f.output); });
  auto bill = c->release();  // the costs, and whether client and manager agree
  return workers && done.why == posted && bill;
}

}  // namespace

bool called(const_bytes input, bytes output) {
  return calls(input, output, 0, [](auto&&...) {});
}
