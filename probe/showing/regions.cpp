// SPDX-License-Identifier: Apache-2.0
//
// Regions: is a remote address an offset or a virtual address, and who makes the keys? The form that the reply promises
// is tried first: a wrong address may end a connection. Hot path: no. Threads: one owner per process.
#include "../behaviours.hpp"
#include "../endpoint_pair.hpp"

#include <bit>
#include <cstring>
#include <utility>

namespace weft::probe {

namespace {

constexpr std::size_t first_place = 4096, second_place = 8192;
constexpr std::byte mark{0x77};

/// One write. Returns whether the target saw it.
bool lands(endpoint_pair& net, const role& self, std::size_t to, std::size_t context) {
  std::memset(net.page(), 0x77, 8);
  if (net.insist([&] { return net.write({.to = to, .context = context}); }) == 0)
    net.until([&] { return net.ended(context) > 0; });
  self.side.send_value(1);
  return self.side.wait_for_value() != 0;
}

void addressing_initiator(const role& self) {
  endpoint_pair net(self.about, {}, self.side, true);
  net.warm_up();
  const bool pointers = (net.info().domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
  self.report.fact("returned_pointers", pointers);
  self.report.fact("returned_form_landed", lands(net, self, first_place, 1));
  net.peer.address = pointers ? 0 : net.peer.pointer;
  self.report.fact("other_form_landed", lands(net, self, second_place, 2));
  self.side.send_value(0);
}

void addressing_target(const role& self) {
  endpoint_pair net(self.about, {}, self.side, false);
  // A write that should arrive gets time, on a busy machine too; one that should not always costs its whole time.
  for (const auto& [landing, most] :
       {std::pair{first_place, milliseconds(2000)}, std::pair{second_place, milliseconds(300)}}) {
    net.serve();
    const volatile std::byte* watched = net.page() + landing;
    self.side.send_value(net.until([&] { return *watched == mark; }, most) ? 1 : 0);
  }
  net.serve();
}

/// The library's answer to a registration with this key: "accepted", or the error's name. Accepted ones stay as long as
/// `kept`.
std::string registering(const endpoint_pair& net, void* where, std::uint64_t key, std::vector<owner<fid_mr>>& kept) {
  try {
    kept.push_back(net.register_memory(where, 4096, key));
    return "accepted";
  } catch (const refused& why) {
    return error_name(why.code);
  }
}

unsigned bytes_of(std::uint64_t key) { return static_cast<unsigned>((std::bit_width(key) + 7) / 8); }

void keys_initiator(const role& self) {
  endpoint_pair net(self.about, {}, self.side, true);
  const std::size_t width = std::min<std::size_t>(net.info().domain_attr->mr_key_size, 8);
  const bool own = net.used_key() == net.requested_key();
  self.report.fact("requested_key_used", own);
  std::vector<owner<fid_mr>> kept;
  std::vector<std::byte> spare(4096);
  if (own) {
    self.report.fact("same_key_twice", registering(net, spare.data(), net.requested_key(), kept));
    self.report.fact("key_zero", registering(net, spare.data(), 0, kept));
    if (width < 8)
      self.report.fact("key_too_wide", registering(net, spare.data(), std::uint64_t{1} << (8 * width), kept));
  }
  kept.clear();
  net.warm_up();
  self.side.send_value(width);
  net.peer.key = self.side.wait_for_value();
  net.peer.address = self.side.wait_for_value();
  const bool landed = lands(net, self, 0, 1);
  self.report.fact("widest_key_bytes", bytes_of(net.peer.key));
  self.report.fact("widest_key_landed", landed);
  self.side.send_value(0);
}

void keys_target(const role& self) {
  endpoint_pair net(self.about, {}, self.side, false);
  const std::size_t width = net.serve();
  // All ones but the last bit: all ones means "no key" to the library.
  const std::uint64_t widest = (~std::uint64_t{0} >> (8 * (8 - width))) - 1;
  std::vector<std::byte> memory(4096);
  const owner<fid_mr> region = net.register_memory(memory.data(), memory.size(), widest);
  self.side.send_value(fi_mr_key(region.get()));
  self.side.send_value(net.address_of(memory.data(), memory.data()));
  net.serve();
  const volatile std::byte* watched = memory.data();
  self.side.send_value(net.until([&] { return *watched == mark; }) ? 1 : 0);
  net.serve();
}

}  // namespace

const behaviour addressing{"addressing", "is a remote address an offset or a virtual address?", addressing_initiator,
                           addressing_target};
const behaviour keys{"keys", "who makes the keys, how wide are they, and may a key be zero or used twice?",
                     keys_initiator, keys_target};

}  // namespace weft::probe
