// SPDX-License-Identifier: Apache-2.0
//
// A user's program whose peers prove a shared secret. It prints its own name where the transport opens.
#include <weft/compose/authentication.hpp>
#include <weft/compose/selected.hpp>
#include <weft/compose/transport.hpp>

#include <cstdio>

int main() {
  using guarded = weft::with<weft::selected, weft::answers::authentication::shared_secret>;
  weft::transport_options options;
  options.secret = weft::secret("a secret of twenty-six bytes");
  const auto net = weft::open<guarded>(options);
  std::puts(net ? "hello from authentication" : net.error().sentence.c_str());
  return net ? 0 : 1;
}
