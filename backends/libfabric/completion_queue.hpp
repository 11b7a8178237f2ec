// SPDX-License-Identifier: Apache-2.0
//
// The completion queue of a port, and the meaning of its entries. With Shape::two_queues there are two: receive_cq and
// transmit_cq.
// Dispatch is on flags, in this order: FI_REMOTE_WRITE (a write with an immediate arrived), FI_RECV, else a posted
// operation ended. For FI_REMOTE_WRITE the context is null unless the write consumed a receive, and several providers
// report `len` as 0 or wrong.
// FI_REMOTE_CQ_DATA decides nothing: providers like `sockets` echo it in local completions.
// The queue has room for everything in flight, so posts of this side cannot overrun it.
// Hot path: poll. Threads: one owner.
#pragma once

#include "../../core/poll_spacing.hpp"
#include "domain.hpp"

#include <rdma/fi_eq.h>

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace weft::backends::libfabric {

template <class Shape>
class completion_queue {
 public:
  static constexpr bool sleeps_on_descriptor = Shape::facts.completion_wait == completion_wait::descriptor;
  /// Without selective completion the library reports every operation. The lowest bit of the context marks unsignalled
  /// ones. Requires: contexts are aligned to 2, and the library leaves them alone.
  static constexpr bool marks_unsignalled = !Shape::selective_completion;
  static_assert(!marks_unsignalled || Shape::facts.context_bytes == 0,
                "weft: a row without selective completion whose library overwrites contexts needs a context pool that "
                "is not there [WEFT-C039]");

  static result<completion_queue> open(const domain& in, const port_options& options) {
    fi_cq_attr attributes{};
    attributes.format = FI_CQ_FORMAT_DATA;
    attributes.wait_obj = wants_descriptor(options) ? FI_WAIT_FD : FI_WAIT_NONE;
    const std::size_t least = least_size(options);
    completion_queue made;
    int returned = -FI_EINVAL;
    // Twice the minimum where the library permits it. Arriving writes consume no receive, so their number depends on
    // the peers.
    for (attributes.size = 2 * least; returned != 0 && attributes.size >= least; attributes.size -= least) {
      made.queue_.reset();
      returned = fi_cq_open(in.object.get(), &attributes, made.queue_.slot(), nullptr);
      if constexpr (Shape::two_queues)
        if (returned == 0) returned = fi_cq_open(in.object.get(), &attributes, made.transmit_.slot(), nullptr);
    }
    if (returned != 0)
      return refused(returned, "fi_cq_open",
                     "fabric " + std::string(Shape::name) + ": a completion queue of " + std::to_string(least) +
                         " entries (operations + receives of all links; ask for fewer in port_options)");
    return made;
  }

  /// The queues of transmits and receives: the same queue, unless Shape::two_queues.
  struct handles {
    fid_cq* receive_cq = nullptr;
    fid_cq* transmit_cq = nullptr;
  };
  handles get() const noexcept {
    if constexpr (Shape::two_queues) return {queue_.get(), transmit_.get()};
    else return {queue_.get(), queue_.get()};
  }

  /// Binds transmits and receives in two calls: one call with both and FI_SELECTIVE_COMPLETION would silence the
  /// receives too.
  static int bind(handles queues, fid_ep* endpoint) noexcept {
    const std::uint64_t selective = Shape::selective_completion ? FI_SELECTIVE_COMPLETION : 0;
    if (const int r = fi_ep_bind(endpoint, &queues.transmit_cq->fid, FI_TRANSMIT | selective); r != 0) return r;
    return fi_ep_bind(endpoint, &queues.receive_cq->fid, FI_RECV);
  }

  /// The context of an unsignalled operation.
  static void* unsignalled(void* context) noexcept {
    if constexpr (!marks_unsignalled) return context;
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(context) | 1u);
  }

  using entries = std::array<fi_cq_data_entry, 16>;
  /// Two processes poll memory of one host. A poll of libfabric's shm is a locked instruction on a line that a peer's
  /// post must lock and write.
  using spacing = std::conditional_t<Shape::facts.same_host && Shape::facts.data_progress == data_progress::polling,
                                     poll_spacing<queue_spacing>, close_polls>;
  /// The part of the queue that a poll needs.
  struct reader_of_one {
    fid_cq* queue = nullptr;
    [[no_unique_address]] spacing polls{};
    /// A result above 0 is a number of entries; call found() next.
    [[gnu::always_inline]] ssize_t read(entries& all) noexcept {
      polls.before_poll();
      return fi_cq_read(queue, all.data(), all.size());
    }
    [[gnu::always_inline]] void found() noexcept { polls.found(); }
    /// Whether an error entry is waiting.
    static constexpr bool failed(ssize_t read) noexcept { return read == -FI_EAVAIL; }
  };
  /// Receives take half of the entries at most, so they never delay transmit completions.
  struct reader_of_two {
    fid_cq* queue = nullptr;
    fid_cq* transmit_cq = nullptr;
    [[no_unique_address]] spacing polls{};
    [[gnu::always_inline]] ssize_t read(entries& all) noexcept {
      polls.before_poll();
      const ssize_t came = fi_cq_read(queue, all.data(), all.size() / 2);
      if (failed(came)) [[unlikely]]
        return came;
      const ssize_t before = std::max<ssize_t>(came, 0);
      const ssize_t ended = fi_cq_read(transmit_cq, all.data() + before, all.size() - static_cast<std::size_t>(before));
      // The next poll finds an error that follows receives.
      return ended > 0 ? before + ended : before > 0 ? before : ended;
    }
    [[gnu::always_inline]] void found() noexcept { polls.found(); }
    /// Whether an error entry is waiting.
    static constexpr bool failed(ssize_t read) noexcept { return read == -FI_EAVAIL; }
  };
  using reader = std::conditional_t<Shape::two_queues, reader_of_two, reader_of_one>;
  reader own_reader() const noexcept {
    if constexpr (Shape::two_queues) return {queue_.get(), transmit_.get(), {}};
    else return {queue_.get(), {}};
  }
  /// Reports entries that were read. Requires: at least one.
  template <class On>
  [[gnu::always_inline]] int report_all(const entries& all, int count, On&& on) {
    int unreported = 0;
    const fi_cq_data_entry* each = all.data();
    const fi_cq_data_entry* const end = each + count;
    do {
      const bool reported = report(*each, on);
      if constexpr (marks_unsignalled) unreported += !reported;
    } while (++each != end);
    return count - unreported;
  }
  template <class On>
  int poll(On&& on) {
    entries all;
    const ssize_t count = own_reader().read(all);
    if (count > 0) return report_all(all, static_cast<int>(count), on);
    return reader::failed(count) ? poll_error(on) : 0;
  }
  /// Reads and reports the announced error entry.
  template <class On>
  [[gnu::cold, gnu::noinline]] int poll_error(On& on) {
    std::optional<queue_error> read = read_error(queue_.get());
    if constexpr (Shape::two_queues)
      if (!read) read = read_error(transmit_.get());
    if (!read) return 0;
    last_error_ = *read;
    const bool received = (read->flags & FI_RECV) != 0;
    void* context = read->context;
    if constexpr (marks_unsignalled)
      if (!received) context = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(context) & ~std::uintptr_t{1});
    on(completion_entry{received ? completion_kind::received : completion_kind::ended, context, read->data,
                        read->length + read->overflow, read->outcome, nullptr, (read->flags & FI_MULTI_RECV) != 0});
    return 1;
  }

  /// The last error entry, for messages. A status has room for one number only.
  const queue_error& last_error() const noexcept { return last_error_; }
  /// The provider's own text for it.
  std::string last_error_text() const {
    if (last_error_.outcome.code == errc::ok) return "none";
    char text[256] = "";
    const char* said = fi_cq_strerror(queue_.get(), last_error_.provider_number, nullptr, text, sizeof text);
    return std::string(fi_strerror(last_error_.outcome.native_code)) +
           " (provider: " + (said == nullptr ? "nothing" : said) + ")";
  }

 private:
  /// Over a descriptor the kernel finds what is ready. Without one, tcp calls poll(2) over the descriptors of all links
  /// (FI_WAIT_POLLFD in tcpx_cq_open): an idle poll of 256 links costs ten times as much. A message costs some percent
  /// more over a descriptor, so few links go without one (bench-many-peers, with this limit at 0 and as it is).
  static bool wants_descriptor(const port_options& options) noexcept {
    constexpr std::uint32_t few_links = 64;
    constexpr bool polls_each_link = Shape::facts.endpoint_type == endpoint_type::connected;
    return sleeps_on_descriptor && (options.sleeps || (polls_each_link && options.links > few_links));
  }

  static std::size_t least_size(const port_options& options) {
    const std::size_t receivers = request<Shape>::connected && !Shape::shared_receives ? options.links : 1;
    const std::size_t control = std::max(64U, options.operations / 2);  // weft's own messages
    // Messages per receive: more than a few reads of the queue take.
    constexpr std::size_t messages = Shape::multi_receive ? 64 : 1;
    return options.operations + control + options.receives * receivers * messages;
  }

  template <class On>
  [[gnu::always_inline]] static bool report(const fi_cq_data_entry& entry, On& on) {
    if constexpr (marks_unsignalled)
      if ((entry.flags & (FI_REMOTE_WRITE | FI_RECV)) == 0 && marked(entry.op_context)) return false;
    if constexpr (Shape::multi_receive)
      if ((entry.flags & (FI_MULTI_RECV | FI_RECV)) != 0) return report_buffer(entry, on);
    // Likely: notices come in large numbers, and a message costs another call of the library anyway.
    if ((entry.flags & FI_REMOTE_WRITE) != 0) [[likely]]
      on(completion_entry{completion_kind::write_with_immediate,
                          Shape::receive_reserve ? entry.op_context : nullptr,
                          entry.data,
                          0,
                          {}});
    else if ((entry.flags & FI_RECV) != 0)
      on(completion_entry{completion_kind::received, entry.op_context, immediate_of(entry), entry.len, {}});
    else if (is_unflagged_notice(entry.flags))
      on(completion_entry{completion_kind::write_with_immediate,
                          Shape::receive_reserve ? entry.op_context : nullptr,
                          entry.data,
                          0,
                          {}});
    else on(completion_entry{completion_kind::ended, entry.op_context, 0, entry.len, {}});
    return true;
  }

  /// A message in a multi-receive buffer, or the buffer's release. Some libraries report the release with the last
  /// message, some separately (fi_cq(3)).
  template <class On>
  static bool report_buffer(const fi_cq_data_entry& entry, On& on) {
    const bool over = (entry.flags & FI_MULTI_RECV) != 0;
    if ((entry.flags & FI_RECV) == 0) on(completion_entry{completion_kind::released, entry.op_context, 0, 0, {}});
    else
      on(completion_entry{completion_kind::received,
                          entry.op_context,
                          immediate_of(entry),
                          entry.len,
                          {},
                          static_cast<std::byte*>(entry.buf),
                          over});
    return true;
  }

  /// Each message without a header has an immediate, so FI_REMOTE_CQ_DATA is not checked. sockets leaves the flag out
  /// for messages that found no posted receive (libfabric 1.17, sock_pe_progress_buffered_rx).
  static std::uint64_t immediate_of(const fi_cq_data_entry& entry) noexcept { return Shape::framed ? 0 : entry.data; }
  /// shm of libfabric 2 leaves FI_REMOTE_WRITE out. Requires: no FI_RECV.
  static bool is_unflagged_notice(std::uint64_t flags) noexcept {
    return (flags & (FI_REMOTE_CQ_DATA | FI_WRITE | FI_SEND)) == FI_REMOTE_CQ_DATA;
  }
  static bool marked(void* context) noexcept { return (reinterpret_cast<std::uintptr_t>(context) & 1u) != 0; }

  struct none {};
  owned<fid_cq> queue_;
  [[no_unique_address]] std::conditional_t<Shape::two_queues, owned<fid_cq>, none> transmit_;
  queue_error last_error_{};
};

}  // namespace weft::backends::libfabric
