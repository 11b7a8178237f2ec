// SPDX-License-Identifier: Apache-2.0
#include "channel.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>

namespace weft::invocation::warm {

void descriptor::reset() noexcept {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

result<std::pair<descriptor, descriptor>> make_channel() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return {{errc::native, origin::system, errno, "socketpair"},
            "no channel to a warm parent: socketpair failed with errno " + std::to_string(errno)};
  return std::pair(descriptor(ends[0]), descriptor(ends[1]));
}

bool send(const descriptor& channel, std::string_view bytes, int file) noexcept {
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};  // sendmsg does not write to it
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (file >= 0) {
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(head), &file, sizeof file);
  }
  return ::sendmsg(channel.number(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(bytes.size());
}

std::optional<packet> receive(const descriptor& channel, std::optional<std::chrono::milliseconds> at_most,
                              std::size_t most) {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + at_most.value_or(std::chrono::milliseconds(0));
  for (;;) {
    int wait = -1;
    if (at_most) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - clock::now());
      wait = static_cast<int>(std::max(left, std::chrono::milliseconds(0)).count());
    }
    pollfd ready{channel.number(), POLLIN, 0};
    const int found = ::poll(&ready, 1, wait);
    if (found == 0) return std::nullopt;
    if (found > 0) break;
    if (errno != EINTR) return std::nullopt;
  }
  packet got;
  got.bytes.resize(most);
  iovec part{got.bytes.data(), got.bytes.size()};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  const ssize_t size = ::recvmsg(channel.number(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); size >= 0 && head != nullptr; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    int file = -1;
    std::memcpy(&file, CMSG_DATA(head), sizeof file);
    got.file = descriptor(file);
  }
  if (size <= 0 || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return std::nullopt;
  got.bytes.resize(static_cast<std::size_t>(size));
  return got;
}

}  // namespace weft::invocation::warm
