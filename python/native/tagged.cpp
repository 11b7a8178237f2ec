// SPDX-License-Identifier: Apache-2.0
//
// Tagged messages: weft/tagged.py has the classes.
#include "inside.hpp"
#include "memory.hpp"

namespace py = pybind11;

namespace weft_python {

int transport::send_tagged(number to, number region, number offset, number size, number tag, number context) {
  return call([&] { return weft_send_tagged(net_, peer_of(to), {region_of(region), offset, size}, tag, context, 0); });
}

int transport::send_tagged_copy(number to, py::handle object, number tag, number context) {
  const held_memory memory(object);
  return call([&] { return weft_send_tagged_copy(net_, peer_of(to), memory.begin(), memory.size(), tag, context, 0); });
}

answered transport::receive_tagged(number peer, number tag, number ignore, number region, number offset, number size,
                                   number context) {
  weft_tagged receive = nullptr;
  const int status = call([&] {
    return weft_receive_tagged(net_, peer_of(peer), tag, ignore, {region_of(region), offset, size}, context, &receive);
  });
  return {status, number_of(receive)};
}

int transport::cancel_tagged(number receive) {
  return call([&] { return weft_cancel_tagged(net_, reinterpret_cast<weft_tagged>(receive)); });
}

answered transport::largest_tagged_message(number peer) {
  number size = 0;
  const int status = call([&] { return weft_largest_tagged_message(net_, peer_of(peer), &size); });
  return {status, size};
}

}  // namespace weft_python
