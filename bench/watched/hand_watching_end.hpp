// SPDX-License-Identifier: Apache-2.0
//
// By hand against libfabric: an end that writes, and watches its own memory for the other end's write. Payload and
// sequence word are one write. The word has the same place for every payload size, as in a ring of one cell. Hot path:
// post, poll. Threads: one owner.
#pragma once

#include "../raw_pingpong/raw_end.hpp"

namespace weft::bench {

/// A plain write, the sequence word right after the payload, and no queue entry on either side. One transfer is under
/// way at a time.
template <class F>
class watching_end : public raw_end<F> {
  using base = raw_end<F>;

 public:
  static constexpr bool tells_immediate = false;
  watching_end(const channel& to, bool first, std::size_t size) : base(to, first, size + 64), room_(size) {}

  std::byte* outgoing() noexcept { return base::outgoing(); }
  const std::byte* incoming() const noexcept { return this->memory_.data() + room_ - last_; }

  template <ending M>
  bool post(std::size_t size, std::uint32_t /*immediate*/) {
    static_assert(M == ending::unsignalled);
    std::byte* const from = outgoing();
    const std::uint32_t word = sent_ + 1;
    std::memcpy(from + size, &word, sizeof word);
    last_ = size;
    const std::size_t total = size + sizeof word;
    const std::uint64_t at = this->address_ + room_ - size;
    const ssize_t r = total <= this->inject_ ? fi_inject_write(this->ep_, from, total, this->peer_, at, this->key_)
                                             : fi_write(this->ep_, from, total, this->descriptor_, this->peer_, at,
                                                        this->key_, &this->context_);
    if (r == 0) {
      ++sent_;
      return true;
    }
    if (r != -FI_EAGAIN) this->refuse("posting", static_cast<int>(r));
    return false;
  }

  int poll() {
    std::array<fi_cq_data_entry, 16> entries;
    if (fi_cq_read(this->cq_, entries.data(), entries.size()) < -FI_EAGAIN) this->failed();
    std::uint32_t word = 0;
    std::memcpy(&word, const_cast<const std::byte*>(this->memory_.data()) + room_, sizeof word);
    asm volatile("" ::: "memory");
    if (word != seen_ + 1) return 0;
    ++seen_;
    return 1;
  }
  /// Sets the size on both sides before it is measured: the payload ends where the word begins.
  void prepare(std::size_t size) noexcept { last_ = size; }

 private:
  std::size_t room_;
  std::size_t last_ = 0;
  std::uint32_t sent_ = 0;
  std::uint32_t seen_ = 0;
};

}  // namespace weft::bench
