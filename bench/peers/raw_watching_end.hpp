// SPDX-License-Identifier: Apache-2.0
//
// The write that the target watches (watching_end.hpp), by hand against libfabric; and a fetch_add by hand. Hot path:
// post, poll, add. Threads: one owner.
#pragma once

#include "../raw_pingpong/raw_end.hpp"
#include "watching_end.hpp"

#include <rdma/fi_atomic.h>

namespace weft::bench {

template <class F, class Use = tuned_use>
class raw_watching_end : public raw_end<F, false, Use> {
  using base = raw_end<F, false, Use>;

 public:
  static constexpr bool tells_immediate = false;
  raw_watching_end(const channel& to, bool first, std::size_t size) : base(to, first, size + 64) {}
  void expect(std::size_t size) noexcept { expected_ = size; }

  template <ending>
  bool post(std::size_t size, std::uint32_t) {
    put_word_behind(this->outgoing(), size, written_ + 1);
    if (!stream(size + 8)) return false;
    ++written_;
    return true;
  }
  bool stream(std::size_t size) {
    const ssize_t r = size <= this->inject_
                          ? fi_inject_write(this->ep_, this->outgoing(), size, this->peer_, this->address_, this->key_)
                          : fi_write(this->ep_, this->outgoing(), size, this->descriptor_, this->peer_, this->address_,
                                     this->key_, &this->context_);
    if (r == 0) return true;
    if (r != -FI_EAGAIN) base::refuse("writing", static_cast<int>(r));
    return false;
  }
  int poll() {
    if (came() == 0) base::poll();
    const int arrived = came();
    seen_ += static_cast<std::uint64_t>(arrived);
    return arrived;
  }

 private:
  /// How many writes arrived since the last poll: a later number overwrites earlier ones. Old bytes of another transfer
  /// size never equal one of the next few numbers.
  int came() const noexcept {
    const std::uint64_t ahead = word_behind(this->incoming(), expected_) - seen_;
    return ahead <= 2 * window ? static_cast<int>(ahead) : 0;
  }

  std::size_t expected_ = 8;
  std::uint64_t written_ = 0;
  std::uint64_t seen_ = 0;
};

template <class F>
class raw_adding_end : public raw_end<F, true> {
  using base = raw_end<F, true>;

 public:
  using base::base;
  bool add(std::uint64_t operand) {
    const std::uint64_t wanted = this->ended() + 1;
    const fi_ioc what{&operand, 1};
    fi_ioc old{&old_, 1};
    const fi_rma_ioc where{this->address_, 1, this->key_};
    const fi_msg_atomic message{&what, &this->descriptor_, 1,      this->peer_,     &where,
                                1,     FI_UINT64,          FI_SUM, &this->context_, 0};
    ssize_t r;
    while ((r = fi_fetch_atomicmsg(this->ep_, &message, &old, &this->descriptor_, 1, FI_COMPLETION)) == -FI_EAGAIN)
      this->poll();
    if (r != 0) base::refuse("fi_fetch_atomicmsg", static_cast<int>(r));
    while (this->ended() < wanted) this->poll();
    return old_ == added_++;
  }

 private:
  std::uint64_t old_ = 0;
  std::uint64_t added_ = 0;
};

}  // namespace weft::bench
