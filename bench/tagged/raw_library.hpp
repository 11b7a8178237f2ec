// SPDX-License-Identifier: Apache-2.0
//
// Tagged messages that the library matches (fi_tagged(3)), as a program for one addressed fabric would write them: the
// contender of bench-tagged. One queue, injected messages where they fit. Hot path: ping(). Threads: one owner.
#pragma once

#include "../harness.hpp"
#include "../peers/plain_end.hpp"

#include <rdma/fi_tagged.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace weft::bench {

struct tagged_use : tuned_use {
  static constexpr bool remote_memory = false;
  static constexpr bool tags = true;
  static constexpr std::size_t receives = 1;  // plain messages take no tagged receive
};

/// Resident memory of this process, in KiB.
inline std::uint64_t resident_kib() {
  unsigned long pages = 0, resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%lu %lu", &pages, &resident) != 2) throw std::runtime_error("no statm");
  std::fclose(file);
  return resident * 4;
}

template <class F>
class library_end : public raw_end<by_messages<F>, false, tagged_use> {
  using base = raw_end<by_messages<F>, false, tagged_use>;

 public:
  using base::base;

  /// Full round trips. `masked`: the receive ignores two bits, and a hundred posted ones that do not fit are before it.
  void ping(bool first, bool masked, std::uint32_t rounds, samples& into) {
    if (masked)
      for (fi_context2& each : others_) receive(1, 6, &each);
    arrived_ = 0;
    receive(8, masked ? 6 : 0, &wanted_);
    std::uint64_t before = now_ns();
    for (std::uint32_t i = 0; i < rounds; ++i) {
      if (first) send(8, i);
      while (arrived_ <= i) turn();
      std::uint64_t number = 0;
      std::memcpy(&number, this->memory_.data(), sizeof number);
      if (number != i) throw std::runtime_error("another message came than was sent");
      if (i + 1 < rounds) receive(8, masked ? 6 : 0, &wanted_);
      if (!first) send(8, i);
      const std::uint64_t now = now_ns();
      into.add(now - before);
      before = now;
    }
    if (masked) cancel_others();
  }
  /// Sends up to `count` messages that no receive awaits. Returns how many the library took before it refused for a
  /// second.
  std::uint32_t send_unexpected(std::uint32_t count) {
    for (std::uint32_t sent = 0; sent < count; ++sent) {
      const std::uint64_t end = now_ns() + 1'000'000'000;
      while (!try_send(99, sent)) {
        turn();
        if (now_ns() > end) return sent;
      }
    }
    return count;
  }
  void turn() { spin_.polled(poll_tagged() > 0); }

 private:
  void receive(std::uint64_t tag, std::uint64_t ignore, fi_context2* context) {
    const ssize_t r =
        fi_trecv(this->ep_, this->memory_.data(), this->size_, this->descriptor_, FI_ADDR_UNSPEC, tag, ignore, context);
    if (r != 0) base::refuse("fi_trecv", static_cast<int>(r));
  }
  bool try_send(std::uint64_t tag, std::uint64_t number) {
    std::byte* const from = this->outgoing();
    std::memcpy(from, &number, sizeof number);
    const ssize_t r = this->size_ <= this->inject_
                          ? fi_tinject(this->ep_, from, this->size_, this->peer_, tag)
                          : fi_tsend(this->ep_, from, this->size_, this->descriptor_, this->peer_, tag, &sending_);
    if (r != 0 && r != -FI_EAGAIN) base::refuse("fi_tsend", static_cast<int>(r));
    return r == 0;
  }
  void send(std::uint64_t tag, std::uint64_t number) {
    while (!try_send(tag, number)) turn();
  }
  int poll_tagged() {
    std::array<fi_cq_data_entry, 16> entries;
    const ssize_t count = fi_cq_read(this->cq_, entries.data(), entries.size());
    if (count == -FI_EAGAIN) return 0;
    if (count == -FI_EAVAIL) {
      fi_cq_err_entry e{};
      fi_cq_readerr(this->cq_, &e, 0);
      if (e.err != FI_ECANCELED) base::refuse("completion", e.err);
      ++cancelled_;
      return 1;
    }
    if (count < 0) base::refuse("fi_cq_read", static_cast<int>(count));
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      if (entries[i].op_context == &wanted_) ++arrived_;
    return static_cast<int>(count);
  }
  void cancel_others() {
    cancelled_ = 0;
    for (fi_context2& each : others_) fi_cancel(&this->ep_->fid, &each);
    while (cancelled_ < others_.size()) turn();
  }

  std::array<fi_context2, 100> others_{};
  fi_context2 wanted_{}, sending_{};
  std::uint64_t arrived_ = 0;
  std::size_t cancelled_ = 0;
  spinner spin_{{F::facts.data_progress == data_progress::thread ? fruitless::nap : fruitless::yield, 16}};
};

}  // namespace weft::bench
