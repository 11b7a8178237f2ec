// SPDX-License-Identifier: Apache-2.0
//
// backends/mapped/handshake.hpp and connection.hpp: the packet of a local process with its files. Only files that have
// the announced size and cannot shrink are mapped, and no descriptor stays open.
#include "../../backends/mapped/connection.hpp"
#include "../target.hpp"

#include <sys/socket.h>

#include <vector>

namespace weft::fuzz::mapped_hello {

namespace mapped = backends::mapped;

/// A file as a peer may pass it: with or without a seal, of any size.
mapped::file made(choices& from) {
  constexpr std::uint64_t sizes[] = {0, 4096, sizeof(mapped::arena_head), mapped::arena::least_bytes,
                                     mapped::ring_memory::file_bytes(mapped::ring_memory::least_payload)};
  mapped::file one(::memfd_create("weft_fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  (void)!::ftruncate(one.get(), static_cast<off_t>(sizes[from.below(std::size(sizes))]));
  if (from.below(4) != 0) (void)::fcntl(one.get(), F_ADD_SEALS, F_SEAL_SHRINK);
  return one;
}

void send(int socket, const_bytes text, const std::vector<int>& files) {
  iovec piece{const_cast<std::byte*>(text.data()), text.size()};  // only read
  alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * sizeof(int))> room{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (!files.empty()) {
    message.msg_control = room.data();
    message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
    std::memcpy(CMSG_DATA(head), files.data(), files.size() * sizeof(int));
  }
  (void)::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// The open descriptors below 64, one bit each.
std::uint64_t open_descriptors() {
  std::uint64_t open = 0;
  for (int i = 0; i < 64; ++i) open |= std::uint64_t{::fcntl(i, F_GETFD) >= 0} << i;
  return open;
}

void meet(const_bytes input) {
  choices from(input);
  int ends[2];
  require(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0, "the sockets open");
  const mapped::file ours(ends[0]), theirs(ends[1]);
  std::vector<mapped::file> files;
  std::vector<int> numbers;
  for (std::uint32_t left = from.below(5); left > 0; --left) {
    files.push_back(made(from));
    numbers.push_back(files.back().get());
  }
  const const_bytes text = from.take(from.left());
  send(theirs.get(), text, numbers);
  const mapped::packet came = mapped::receive_packet(ours);
  if (text.empty()) return;
  require(came.what != mapped::packet::kind::nothing, "a packet is there");
  require((came.what == mapped::packet::kind::wake) == (text.size() == 1), "one byte wakes");
  if (came.what != mapped::packet::kind::hello) return;
  require(text.size() == sizeof(mapped::hello_packet) && came.hello.magic == mapped::hello_packet{}.magic,
          "a hello has its size and its magic number");
  require(came.arena && came.ring, "a hello has two files");
  mapped::connection link(4);
  if (!link.map_peer(came, "fuzz")) return;
  require(came.hello.entries == mapped::ring_memory::entries, "the ring has the entries of this build");
  require(mapped::keeps(came.arena, came.hello.arena), "the arena has the announced size and cannot shrink");
  require(mapped::keeps(came.ring, mapped::ring_memory::file_bytes(came.hello.payload)),
          "the ring has the announced size and cannot shrink");
  require(link.out.largest() <= came.hello.payload, "no message is larger than the ring");
  require(!link.there.asleep(), "the first page of the arena can be read");
}

void check(const_bytes input) {
  const std::uint64_t before = open_descriptors();
  meet(input);
  require(open_descriptors() == before, "no descriptor stays open");
}

}  // namespace weft::fuzz::mapped_hello
WEFT_FUZZ_TARGET(mapped_hello)
