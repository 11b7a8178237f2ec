// SPDX-License-Identifier: Apache-2.0
//
// The completion queue of a port (two with Shape::two_queues: receive_cq, and what was posted here), and what its
// entries mean. Dispatch is on flags, in this order: FI_REMOTE_WRITE (a write landed; the context is null unless it
// consumed a receive, and `len` is 0 or wrong on several providers), FI_RECV, else an operation of ours ended. Never on
// FI_REMOTE_CQ_DATA, which `sockets`-like providers echo in local completions. The queue is as large as everything that
// can be in flight: it cannot be overrun by what this side posts. Hot path: poll. Threads: one owner.
#pragma once

#include "../../core/poll_spacing.hpp"
#include "domain.hpp"

#include <rdma/fi_eq.h>

#include <algorithm>
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
  /// Without selective completion the library tells of every operation: the lowest bit of a context marks those that
  /// nobody asked about. Requires: contexts are at least 2-aligned, and the library leaves them alone.
  static constexpr bool marks_unsignalled = !Shape::selective_completion;
  static_assert(!marks_unsignalled || Shape::facts.context_bytes == 0,
                "weft: a row without selective completion whose library overwrites contexts needs a context pool that "
                "is not there");

  static result<completion_queue> open(const domain& in, const port_options& options) {
    fi_cq_attr attributes{};
    attributes.format = FI_CQ_FORMAT_DATA;
    attributes.wait_obj = options.sleeps && sleeps_on_descriptor ? FI_WAIT_FD : FI_WAIT_NONE;
    const std::size_t least = least_size(options);
    completion_queue made;
    int returned = -FI_EINVAL;
    // Twice the least where the library lets us: writes that land consume nothing of ours, so their number is the
    // peers'.
    for (attributes.size = 2 * least; returned != 0 && attributes.size >= least; attributes.size -= least) {
      returned = fi_cq_open(in.object.get(), &attributes, made.queue_.slot(), nullptr);
      if constexpr (Shape::two_queues)
        if (returned == 0) returned = fi_cq_open(in.object.get(), &attributes, made.ends_.slot(), nullptr);
    }
    if (returned != 0)
      return refused(returned, "fi_cq_open",
                     "fabric " + std::string(Shape::name) + ": a completion queue of " + std::to_string(least) +
                         " entries (operations + receives of all links; ask for fewer in port_options)");
    return made;
  }

  /// Where what was posted and where receive_cq end: the same queue, unless Shape::two_queues.
  struct handles {
    fid_cq* receive_cq = nullptr;
    fid_cq* ends = nullptr;
  };
  handles get() const noexcept {
    if constexpr (Shape::two_queues) return {queue_.get(), ends_.get()};
    else return {queue_.get(), queue_.get()};
  }

  /// Binds sends apart from receives: one call with both and FI_SELECTIVE_COMPLETION would silence the receives too.
  /// Where they shall be silent, their errors are told all the same (fi_endpoint(3)).
  static int bind(handles queues, fid_ep* endpoint) noexcept {
    const std::uint64_t selective = Shape::selective_completion ? FI_SELECTIVE_COMPLETION : 0;
    if (const int r = fi_ep_bind(endpoint, &queues.ends->fid, FI_TRANSMIT | selective); r != 0) return r;
    return fi_ep_bind(endpoint, &queues.receive_cq->fid,
                      FI_RECV | (Shape::watched_receives ? FI_SELECTIVE_COMPLETION : 0));
  }

  /// The context that an unsignalled operation carries.
  static void* unsignalled(void* context) noexcept {
    if constexpr (!marks_unsignalled) return context;
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(context) | 1u);
  }

  using entries = std::array<fi_cq_data_entry, 16>;
  /// Both processes poll in one host's memory: a look of libfabric's shm is a locked instruction on the line that a
  /// peer's post must lock and write.
  using spacing = std::conditional_t<Shape::facts.same_host && Shape::facts.data_progress == data_progress::polling,
                                     poll_spacing<queue_spacing>, close_polls>;
  /// What a look needs of the queue.
  struct reader_of_one {
    fid_cq* queue = nullptr;
    [[no_unique_address]] spacing looks{};
    /// Above 0: so many entries, and found() comes next.
    [[gnu::always_inline]] ssize_t read(entries& all) noexcept {
      looks.before_poll();
      return fi_cq_read(queue, all.data(), all.size());
    }
    [[gnu::always_inline]] void found() noexcept { looks.found(); }
    /// An error entry is there.
    static constexpr bool failed(ssize_t read) noexcept { return read == -FI_EAVAIL; }
  };
  /// Arrivals take half of the entries at most, so that they never keep ends waiting.
  struct reader_of_two {
    fid_cq* queue = nullptr;
    fid_cq* ends = nullptr;
    [[no_unique_address]] spacing looks{};
    [[gnu::always_inline]] ssize_t read(entries& all) noexcept {
      looks.before_poll();
      const ssize_t came = fi_cq_read(queue, all.data(), all.size() / 2);
      if (failed(came)) [[unlikely]]
        return came;
      const ssize_t before = std::max<ssize_t>(came, 0);
      const ssize_t ended = fi_cq_read(ends, all.data() + before, all.size() - static_cast<std::size_t>(before));
      return ended > 0    ? before + ended
             : before > 0 ? before
                          : ended;  // an error behind arrivals is found by the next look
    }
    [[gnu::always_inline]] void found() noexcept { looks.found(); }
    /// An error entry is there.
    static constexpr bool failed(ssize_t read) noexcept { return read == -FI_EAVAIL; }
  };
  using reader = std::conditional_t<Shape::two_queues, reader_of_two, reader_of_one>;
  reader own_reader() const noexcept {
    if constexpr (Shape::two_queues) return {queue_.get(), ends_.get(), {}};
    else return {queue_.get(), {}};
  }
  /// Tells of what was read: at least one.
  template <class On>
  [[gnu::always_inline]] int tell_all(const entries& all, int count, On&& on) {
    int untold = 0;
    const fi_cq_data_entry* each = all.data();
    const fi_cq_data_entry* const end = each + count;
    do {
      const bool told = tell(*each, on);
      if constexpr (marks_unsignalled) untold += !told;
    } while (++each != end);
    return count - untold;
  }
  template <class On>
  int poll(On&& on) {
    entries all;
    const ssize_t count = own_reader().read(all);
    if (count > 0) return tell_all(all, static_cast<int>(count), on);
    return reader::failed(count) ? poll_error(on) : 0;
  }
  /// The error entry that was announced.
  template <class On>
  [[gnu::cold, gnu::noinline]] int poll_error(On& on) {
    std::optional<queue_error> read = read_error(queue_.get());
    if constexpr (Shape::two_queues)
      if (!read) read = read_error(ends_.get());
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

  /// The last error entry that was read, for sentences: kept because a status has room for one number only.
  const queue_error& last_error() const noexcept { return last_error_; }
  /// What the provider itself says about it.
  std::string last_error_text() const {
    if (last_error_.outcome.code == errc::ok) return "none";
    char text[256] = "";
    const char* said = fi_cq_strerror(queue_.get(), last_error_.provider_number, nullptr, text, sizeof text);
    return std::string(fi_strerror(last_error_.outcome.native_code)) +
           " (provider: " + (said == nullptr ? "nothing" : said) + ")";
  }

 private:
  static std::size_t least_size(const port_options& options) {
    const std::size_t receivers = request<Shape>::connected && !Shape::shared_receives ? options.links : 1;
    const std::size_t control = std::max(64U, options.operations / 2);  // messages of weft's own
    constexpr std::size_t messages =
        Shape::multi_receive ? 64 : 1;  // of one receive: more than a few reads of the queue take
    return options.operations + control + options.receives * receivers * messages;
  }

  template <class On>
  [[gnu::always_inline]] static bool tell(const fi_cq_data_entry& entry, On& on) {
    if constexpr (marks_unsignalled)
      if ((entry.flags & (FI_REMOTE_WRITE | FI_RECV)) == 0 && marked(entry.op_context)) return false;
    if constexpr (Shape::multi_receive)
      if ((entry.flags & (FI_MULTI_RECV | FI_RECV)) != 0) return tell_of_buffer(entry, on);
    // Likely: notices are what comes in numbers, and a message costs a call of the library besides.
    if ((entry.flags & FI_REMOTE_WRITE) != 0) [[likely]]
      on(completion_entry{completion_kind::write_with_immediate,
                          Shape::receive_reserve ? entry.op_context : nullptr,
                          entry.data,
                          0,
                          {}});
    else if ((entry.flags & FI_RECV) != 0)
      on(completion_entry{completion_kind::received, entry.op_context, immediate_of(entry), entry.len, {}});
    else if (landed_unmarked(entry.flags))
      on(completion_entry{completion_kind::write_with_immediate,
                          Shape::receive_reserve ? entry.op_context : nullptr,
                          entry.data,
                          0,
                          {}});
    else on(completion_entry{completion_kind::ended, entry.op_context, 0, entry.len, {}});
    return true;
  }

  /// A message in a buffer of many, or the buffer's end, which some libraries tell with the last message and some apart
  /// (fi_cq(3)).
  template <class On>
  static bool tell_of_buffer(const fi_cq_data_entry& entry, On& on) {
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

  /// Of a message: each has one where they have no header. FI_REMOTE_CQ_DATA is not asked for: of messages that met no
  /// receive sockets tells the immediate and leaves the flag out (libfabric 1.17, sock_pe_progress_buffered_rx).
  static std::uint64_t immediate_of(const fi_cq_data_entry& entry) noexcept { return Shape::framed ? 0 : entry.data; }
  /// shm of libfabric 2 leaves FI_REMOTE_WRITE out. Requires: no FI_RECV.
  static bool landed_unmarked(std::uint64_t flags) noexcept {
    return (flags & (FI_REMOTE_CQ_DATA | FI_WRITE | FI_SEND)) == FI_REMOTE_CQ_DATA;
  }
  static bool marked(void* context) noexcept { return (reinterpret_cast<std::uintptr_t>(context) & 1u) != 0; }

  struct none {};
  owned<fid_cq> queue_;
  [[no_unique_address]] std::conditional_t<Shape::two_queues, owned<fid_cq>, none> ends_;
  queue_error last_error_{};
};

}  // namespace weft::backends::libfabric
