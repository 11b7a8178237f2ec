// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: this fabric cannot tell when the writes of a list are visible, so no notice may follow them
// EXPECT: [WEFT-C042]
#include "made_fabric.hpp"

#include <weft/transfers/engine.hpp>

struct unsure : weft::fabrics::loopback {
  static constexpr weft::fabric_facts facts = [] {
    weft::fabric_facts f = weft::fabrics::loopback::facts;
#ifndef WEFT_FIXED
    f.delivery_complete = false;
#endif
    return f;
  }();
  using policies = mistake::answers<weft::answers::notify::immediate>;
};

int main() {
  auto& net = mistake::opened<unsure>();
  auto lists = weft::transfers::make_engine(net).value();
  const weft::transfers::transfer pages[1]{};
  return lists.put_list(weft::peer(), pages, weft::transfers::notice{1}) ? 0 : 1;
}
