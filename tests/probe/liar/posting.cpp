// SPDX-License-Identifier: Apache-2.0
//
// Lies of the side that posts: it holds a post back behind later ones, changes one, does it twice or never returns.
// Hot path: no. Threads: one owner.
#include "lies.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

namespace weft::liar {

namespace {

/// A post with all that its lists point to, for later.
struct held_write {
  fid_ep* endpoint;
  std::vector<iovec> from;
  std::vector<void*> described;
  std::vector<fi_rma_iov> to;
  fi_msg_rma message;
  std::uint64_t flags;

  held_write(fid_ep* at, const fi_msg_rma& given, std::uint64_t with)
      : endpoint(at),
        from(given.msg_iov, given.msg_iov + given.iov_count),
        described(given.iov_count, given.desc == nullptr ? nullptr : given.desc[0]),
        to(given.rma_iov, given.rma_iov + given.rma_iov_count),
        message(given),
        flags(with) {}
  ssize_t post() {
    message.msg_iov = from.data();
    message.desc = described.data();
    message.rma_iov = to.data();
    return real().writes.writemsg(endpoint, &message, flags);
  }
};

std::deque<std::function<ssize_t()>>& held() {
  static std::deque<std::function<ssize_t()>> posts;
  return posts;
}

std::chrono::steady_clock::time_point& last_held() {
  static std::chrono::steady_clock::time_point when;
  return when;
}

void hold(std::function<ssize_t()> post) {
  held().push_back(std::move(post));
  last_held() = std::chrono::steady_clock::now();
}

std::size_t bytes_of(const fi_msg_rma& message) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < message.iov_count; ++i) size += message.msg_iov[i].iov_len;
  return size;
}

/// Ends the process, or the call, at the 200th post of a kind.
void end_at_200() {
  static every two_hundred(200);
  if (!two_hundred.now()) return;
  if (tells("crashes")) std::raise(SIGSEGV);
  if (tells("exits")) std::exit(0);  // NOLINT(concurrency-mt-unsafe): that is the lie
  if (tells("hangs"))
    for (;;) pause();
}

/// One piece of a write.
fi_msg_rma part_of(const fi_msg_rma& whole, iovec& from, fi_rma_iov& to, std::size_t at, std::size_t size) {
  from = {static_cast<char*>(whole.msg_iov[0].iov_base) + at, size};
  to = {whole.rma_iov[0].addr + at, size, whole.rma_iov[0].key};
  fi_msg_rma part = whole;
  part.msg_iov = &from;
  part.rma_iov = &to;
  return part;
}

ssize_t split_write(fid_ep* endpoint, const fi_msg_rma& message, std::uint64_t flags) {
  iovec from{};
  fi_rma_iov to{};
  const std::size_t size = bytes_of(message);
  if (tells("shows_the_last_byte_first") && size >= 4096) {
    const fi_msg_rma tail = part_of(message, from, to, size / 2, size - size / 2);
    if (const ssize_t returned = real().writes.writemsg(endpoint, &tail, 0); returned != 0) return returned;
    iovec first{};
    fi_rma_iov place{};
    hold([late = held_write(endpoint, part_of(message, first, place, 0, size / 2), flags)]() mutable {
      return late.post();
    });
    return 0;
  }
  if (tells("tells_before_the_bytes") && (flags & FI_REMOTE_CQ_DATA) != 0 && size > 8) {
    const fi_msg_rma early = part_of(message, from, to, 0, 8);
    if (const ssize_t returned = real().writes.writemsg(endpoint, &early, flags); returned != 0) return returned;
    hold([late = held_write(endpoint, message, 0)]() mutable { return late.post(); });
    return 0;
  }
  return 1;
}

bool holds_write(std::size_t size) {
  static every second(2);
  return (tells("message_overtakes_write") && size >= 4096) ||
         (tells("write_overtakes_write") && size >= 4096 && second.now());
}

ssize_t write_message(fid_ep* endpoint, const fi_msg_rma* given, std::uint64_t flags) {
  end_at_200();
  fi_msg_rma message = *given;
  const std::size_t size = bytes_of(message);
  if (tells("takes_few_posts") && unpolled() >= 100) return -FI_EAGAIN;
  static const auto first = std::chrono::steady_clock::now();
  if (tells("takes_no_first_post") && std::chrono::steady_clock::now() - first < std::chrono::milliseconds(800))
    return -FI_EAGAIN;
  if (tells("claims_more_places") && message.rma_iov_count > 4) message.rma_iov_count = 4;
  if (tells("delivers_early")) flags &= ~FI_DELIVERY_COMPLETE;
  if (tells("tells_every_end")) flags |= FI_COMPLETION;
  if (tells("writes_into_contexts") && message.context != nullptr) std::memset(message.context, 0, 32);
  static every twentieth(20);
  if (tells("drops_in_bursts") && (flags & FI_REMOTE_CQ_DATA) != 0 && unpolled() >= 20 && twentieth.now())
    flags &= ~FI_REMOTE_CQ_DATA;
  static std::vector<char> changed;
  static every hundredth(100);
  iovec one{};
  if (tells("flips_a_byte") && size >= 4096 && hundredth.now()) {
    const auto* bytes = static_cast<const char*>(message.msg_iov[0].iov_base);
    changed.assign(bytes, bytes + size);
    changed[size / 2] = static_cast<char>(changed[size / 2] ^ 1);
    one = {changed.data(), size};
    message.msg_iov = &one;
  }
  fi_rma_iov shorter = message.rma_iov[0];
  if (tells("cuts_large_writes") && size > (std::size_t{1} << 20) && message.iov_count == 1) {
    one = {message.msg_iov[0].iov_base, size - 1};
    --shorter.len;
    message.msg_iov = &one;
    message.rma_iov = &shorter;
  }
  if (const ssize_t returned = split_write(endpoint, message, flags); returned <= 0) return returned;
  if (holds_write(size)) {
    hold([late = held_write(endpoint, message, flags)]() mutable { return late.post(); });
    return 0;
  }
  const ssize_t returned = real().writes.writemsg(endpoint, &message, flags);
  if (returned == 0) ++unpolled();
  return returned;
}

ssize_t send_message(fid_ep* endpoint, const fi_msg* given, std::uint64_t flags) {
  fi_msg message = *given;
  if (tells("tells_every_end")) flags |= FI_COMPLETION;
  if (tells("claims_more_pieces") && message.iov_count > 4) message.iov_count = 4;
  if (tells("writes_into_contexts") && message.context != nullptr) std::memset(message.context, 0, 32);
  iovec one = message.msg_iov[0];
  if (tells("cuts_large_messages") && one.iov_len > (std::size_t{1} << 20)) {
    std::memset(static_cast<char*>(one.iov_base) + one.iov_len - 1, 0, 1);
    message.msg_iov = &one;
  }
  static every third(3);
  if (tells("message_overtakes_message") && third.now() && message.iov_count == 1) {
    hold([=, copy = message, from = one, described = message.desc == nullptr ? nullptr : message.desc[0]]() mutable {
      copy.msg_iov = &from;
      copy.desc = &described;
      return real().messages.sendmsg(endpoint, &copy, flags);
    });
    return 0;
  }
  return real().messages.sendmsg(endpoint, &message, flags);
}

ssize_t receive_message(fid_ep* endpoint, const fi_msg* message, std::uint64_t flags) {
  if (tells("claims_multi_receive")) flags &= ~FI_MULTI_RECV;
  return real().messages.recvmsg(endpoint, message, flags);
}

ssize_t inject(fid_ep* endpoint, const void* from, std::size_t size, fi_addr_t to) {
  if (tells("injects_later")) {
    hold([=] { return real().messages.inject(endpoint, from, size, to); });
    return 0;
  }
  return real().messages.inject(endpoint, from, size, to);
}

ssize_t fetch(fid_ep* endpoint, const fi_msg_atomic* given, fi_ioc* result, void** described, std::size_t count,
              std::uint64_t flags) {
  fi_msg_atomic message = *given;
  if (tells("adds_wrongly") && message.op == FI_SUM) message.op = FI_ATOMIC_WRITE;
  if (tells("adds_wrongly_to_floats") && message.op == FI_SUM && message.datatype == FI_FLOAT)
    message.op = FI_ATOMIC_WRITE;
  return real().atomics.readwritemsg(endpoint, &message, result, described, count, flags);
}

ssize_t compare(fid_ep* endpoint, const fi_msg_atomic* given, const fi_ioc* compared, void** compare_described,
                std::size_t compare_count, fi_ioc* result, void** described, std::size_t count, std::uint64_t flags) {
  fi_msg_atomic message = *given;
  if (tells("swaps_always")) {
    message.op = FI_ATOMIC_WRITE;
    return real().atomics.readwritemsg(endpoint, &message, result, described, count, flags);
  }
  return real().atomics.compwritemsg(endpoint, &message, compared, compare_described, compare_count, result, described,
                                     count, flags);
}

void wrap_posts(fid_ep* endpoint) {
  wrap(endpoint->msg, real().messages, [](fi_ops_msg& ours) {
    ours.sendmsg = send_message;
    ours.recvmsg = receive_message;
    ours.inject = inject;
  });
  wrap(endpoint->rma, real().writes, [](fi_ops_rma& ours) { ours.writemsg = write_message; });
  wrap(endpoint->atomic, real().atomics, [](fi_ops_atomic& ours) {
    ours.readwritemsg = fetch;
    ours.compwritemsg = compare;
  });
}

int control(fid* endpoint, int command, void* argument) {
  const int returned = real().endpoint.control(endpoint, command, argument);
  if (command == FI_ENABLE) wrap_posts(reinterpret_cast<fid_ep*>(endpoint));
  return returned;
}

}  // namespace

std::size_t& unpolled() {
  static std::size_t posts = 0;
  return posts;
}

void release_held() {
  if (std::chrono::steady_clock::now() - last_held() < std::chrono::milliseconds(2)) return;
  while (!held().empty() && held().front()() != -FI_EAGAIN) held().pop_front();
}

void wrap_endpoint(fid_ep* endpoint) {
  wrap_posts(endpoint);
  wrap(endpoint->fid.ops, real().endpoint, [](fi_ops& ours) { ours.control = control; });
}

}  // namespace weft::liar
