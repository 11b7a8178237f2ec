// SPDX-License-Identifier: Apache-2.0
#include "carrier.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace weft::emulator {
namespace {

constexpr std::size_t most_queued = 8U << 20U;

socklen_t name_of(std::uint64_t number, sockaddr_un& name) {
  name = {};
  name.sun_family = AF_UNIX;
  const int length = std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "weft-emulator-%016llx",
                                   static_cast<unsigned long long>(number));
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(length));
}

}  // namespace

carrier::~carrier() {
  for (const auto& each : paths_) close(each.first);
  if (listener_ >= 0) close(listener_);
  if (epoll_ >= 0) close(epoll_);
}

int carrier::open(std::uint64_t number) {
  number_ = number;
  sockaddr_un name{};
  const socklen_t length = name_of(number, name);
  listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (listener_ < 0 || epoll_ < 0) return errno;
  if (bind(listener_, reinterpret_cast<const sockaddr*>(&name), length) != 0 || listen(listener_, 1024) != 0)
    return errno;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = listener_;
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, listener_, &event) == 0 ? 0 : errno;
}

carrier::path* carrier::add(int descriptor, std::uint64_t peer) {
  auto made = std::make_unique<path>();
  made->descriptor = descriptor;
  made->peer = peer;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) {
    close(descriptor);
    return nullptr;
  }
  return (paths_[descriptor] = std::move(made)).get();
}

carrier::path* carrier::to(std::uint64_t peer) {
  if (const auto known = peers_.find(peer); known != peers_.end()) return known->second;
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return nullptr;
  sockaddr_un name{};
  const socklen_t length = name_of(peer, name);
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&name), length) != 0) {
    close(descriptor);
    return nullptr;
  }
  path* made = add(descriptor, peer);
  if (made == nullptr) return nullptr;
  packet_header hello;
  hello.kind = packet_kind::hello;
  hello.source = number_;
  made->out.append(reinterpret_cast<const char*>(&hello), sizeof hello);
  queued_ += sizeof hello;
  peers_[peer] = made;
  return made;
}

bool carrier::full(std::uint64_t to) const noexcept {
  const auto known = peers_.find(to);
  return known != peers_.end() && known->second->out.size() - known->second->out_begin > most_queued;
}

sent carrier::send(std::uint64_t peer, packet_header head, std::string_view payload) {
  path* way = to(peer);
  if (way == nullptr) return errno == EAGAIN ? sent::full : sent::nobody;
  if (head.kind != packet_kind::answer && full(peer)) return sent::full;
  head.source = number_;
  head.payload = static_cast<std::uint32_t>(payload.size());
  way->out.append(reinterpret_cast<const char*>(&head), sizeof head);
  way->out.append(payload);
  queued_ += sizeof head + payload.size();
  (void)write_to(*way);  // pump reports a lost peer
  return sent::yes;
}

bool carrier::write_to(path& into) {
  while (into.out_begin < into.out.size()) {
    const ssize_t n =
        ::send(into.descriptor, into.out.data() + into.out_begin, into.out.size() - into.out_begin, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN) return false;
    if (n < 0) break;
    into.out_begin += static_cast<std::size_t>(n);
    queued_ -= static_cast<std::size_t>(n);
  }
  const bool left = into.out_begin < into.out.size();
  if (!left) {
    into.out.clear();
    into.out_begin = 0;
  } else if (into.out_begin > (1U << 20U)) {
    into.out.erase(0, into.out_begin);
    into.out_begin = 0;
  }
  if (left != into.watched) {
    epoll_event event{};
    event.events = EPOLLIN | (left ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
    event.data.fd = into.descriptor;
    epoll_ctl(epoll_, EPOLL_CTL_MOD, into.descriptor, &event);
    into.watched = left;
  }
  return true;
}

bool carrier::read_from(path& from, std::deque<packet>& arrived) {
  static thread_local std::array<char, 1U << 16U> block;
  bool open = true;
  for (int rounds = 0; rounds < 16; ++rounds) {
    const ssize_t n = recv(from.descriptor, block.data(), block.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0 || (n < 0 && errno != EAGAIN)) open = false;
    if (n <= 0) break;
    from.in.append(block.data(), static_cast<std::size_t>(n));
    if (static_cast<std::size_t>(n) < block.size()) break;
  }
  const auto now = std::chrono::steady_clock::now();
  std::size_t begin = 0;
  while (from.in.size() - begin >= sizeof(packet_header)) {
    packet one;
    std::memcpy(&one.head, from.in.data() + begin, sizeof one.head);
    if (one.head.magic != packet_header{}.magic) return false;
    if (from.in.size() - begin < sizeof one.head + one.head.payload) break;
    one.payload.assign(from.in, begin + sizeof one.head, one.head.payload);
    begin += sizeof one.head + one.head.payload;
    from.peer = one.head.source;
    if (one.head.kind == packet_kind::hello) {
      peers_.try_emplace(from.peer, &from);
      continue;
    }
    one.arrived = now;
    arrived.push_back(std::move(one));
  }
  from.in.erase(0, begin);
  return open;
}

void carrier::drop(path& lost, std::vector<std::uint64_t>& gone) {
  queued_ -= lost.out.size() - lost.out_begin;
  if (lost.peer != 0) {
    const auto known = peers_.find(lost.peer);
    if (known != peers_.end() && known->second == &lost) {
      peers_.erase(known);
      gone.push_back(lost.peer);
    }
  }
  const int descriptor = lost.descriptor;
  close(descriptor);
  paths_.erase(descriptor);
}

void carrier::pump(std::deque<packet>& arrived, std::vector<std::uint64_t>& gone) {
  std::array<epoll_event, 64> events{};
  const int found = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < found; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == listener_) {
      for (int accepted = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC); accepted >= 0;
           accepted = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC))
        add(accepted, 0);
      continue;
    }
    const auto known = paths_.find(event.data.fd);
    if (known == paths_.end()) continue;
    path& way = *known->second;
    const bool alive = read_from(way, arrived) && write_to(way);
    if (!alive) drop(way, gone);
  }
}

}  // namespace weft::emulator
