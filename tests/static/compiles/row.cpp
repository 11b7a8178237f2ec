// SPDX-License-Identifier: Apache-2.0
//
// A row's transport over its own backend, with every call: compiled for each row, also without its hardware.
#include <weft/compose/selected.hpp>
#include <weft/compose/transport.hpp>

namespace weft {

struct ignore_all {
  template <class Event>
  void operator()(const Event&) {}
};

/// Never run: the test is that it compiles.
[[maybe_unused]] static int use(transport<selected>& net, peer p, local_memory m, remote_place at) {
  ignore_all on;
  const status all[] = {net.send(p, m, &on),
                        net.send(p, m),
                        net.put(p, m, at, &on),
                        net.put(p, m, at),
                        net.put_notify(p, m, at, 1, &on),
                        net.put_notify(p, m, at, 1),
                        net.get(p, m, at, &on),
                        net.fetch_add(p, at, 1, &on),
                        net.compare_swap(p, at, 1, 2, &on),
                        net.wait(1s),
                        net.close(p, 1s, on),
                        net.accept(p)};
  int fine = net.progress(on);
  for (const status& s : all) fine += int{static_cast<bool>(s)};
  return fine + int{static_cast<bool>(net.connect("", 1s, on))} + int{static_cast<bool>(net.accept_one(1s, on))};
}

[[maybe_unused]] static int begin() {
  auto net = open<selected>({});
  return net ? use(*net, {}, {}, {}) : 0;
}

}  // namespace weft

// All that a library of the row has (weft_add_compiled_fabric).
template struct weft::detail::rare_calls<weft::detail::engine<weft::selected>>;
