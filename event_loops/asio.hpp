// SPDX-License-Identifier: Apache-2.0
//
// A transport in an Asio event loop: its operations with any completion token, next to sockets and timers. It takes
// standalone Asio 1.22 or later. Where the program defines WEFT_BOOST_ASIO, it takes Boost.Asio of Boost 1.74 or later.
// The loop sleeps in its own system call: the transport is armed only after a poll found nothing, and polled when its
// descriptor becomes readable or its timer is due. Hot path: yes; an operation takes one block of its handler's
// allocator, and the loop's handlers take memory that Asio keeps for reuse. Threads: see asio_transport.
#pragma once

#include "asio_calls.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace weft::event_loops {
namespace detail {
inline namespace WEFT_ASIO_OF {

/// The part of asio_transport that its handlers keep alive.
template <complete_fabric F>
class asio_loop : public std::enable_shared_from_this<asio_loop<F>> {
  static constexpr int polls_at_once = 64;  ///< Then other handlers of the loop run.

 public:
  asio_loop(asio::any_io_executor on, transport<F>& net, const dispatcher_options& o)
      : waits(net, o), executor(std::move(on)), watch_(executor), timer_(executor) {
    waits.on_use([](void* self) { static_cast<asio_loop*>(self)->wake(); }, this);
  }
  asio_loop(const asio_loop&) = delete;
  asio_loop& operator=(const asio_loop&) = delete;

  void open() {
    if (const int descriptor = waits.net().loop_descriptor(); descriptor >= 0) watch_.assign(descriptor);
    wake();
  }
  void close() {
    if (!open_) return;
    disarm();
    open_ = false;
    if (watch_.is_open()) (void)watch_.release();  // the transport closes it
    timer_.cancel();
    waits.stop();
    wake();
  }
  bool is_open() const noexcept { return open_; }
  /// The transport may be used at once, and is polled soon.
  void wake() {
    disarm();
    if (std::exchange(scheduled_, true)) return;
    asio::post(executor, [self = this->shared_from_this()] { self->poll(); });
  }

  dispatcher<F> waits;
  const asio::any_io_executor executor;

 private:
  void poll() {
    scheduled_ = false;
    if (!open_) return waits.deliver();
    disarm();
    for (int polls = 0; open_ && polls < polls_at_once; ++polls) {
      const int found = waits.progress();
      const bool any = waits.has_ready();
      waits.deliver();
      if (open_ && found == 0 && !any) return sleep();
    }
    wake();  // closed meanwhile, or much to do
  }
  void sleep() {
    const duration most = waits.longest_sleep();
    if (scheduled_ || most <= duration(0)) return wake();
    const auto due = waits.net().arm();
    if (!due) return wake();
    armed_ = true;
    timer_.expires_after(std::min(most, *due));
    timer_.async_wait([self = this->shared_from_this()](const asio_error_code& why) {
      if (!why) self->came();
    });
    if (!watch_.is_open() || std::exchange(watching_, true)) return;
    watch_.async_wait(asio::posix::stream_descriptor::wait_read,
                      [self = this->shared_from_this()](const asio_error_code& why) {
                        self->watching_ = false;
                        if (!why) self->came();
                      });
  }
  /// The sleep ended. If a poll is on its way already, it comes soon enough.
  void came() {
    if (open_ && !scheduled_) poll();
  }
  void disarm() noexcept {
    if (std::exchange(armed_, false)) waits.net().disarm();
  }

  asio::posix::stream_descriptor watch_;
  asio::steady_timer timer_;
  bool open_ = true, scheduled_ = false, armed_ = false, watching_ = false;
};

}  // namespace WEFT_ASIO_OF
}  // namespace detail

inline namespace WEFT_ASIO_OF {

template <complete_fabric F>
class asio_transport;

/// What asio_transport::with() returns. Choose it for deadlines of single operations.
template <complete_fabric F>
class asio_calls_with : public detail::asio_calls<asio_calls_with<F>, F> {
  friend detail::asio_calls<asio_calls_with, F>;
  friend class asio_transport<F>;
  using loop = detail::asio_loop<F>;
  asio_calls_with(std::shared_ptr<loop> of, const request_maker<F>& requests, operation_options options)
      : loop_(std::move(of)), requests_(requests), options_(std::move(options)) {}
  const operation_options& options() const noexcept { return options_; }

  std::shared_ptr<loop> loop_;
  request_maker<F> requests_;
  operation_options options_;
};

/// The operations of one transport as asynchronous operations of Asio:
/// `co_await net.async_put(peer, from, at, asio::use_awaitable)`. Any completion token fits. Errors are error codes of
/// status_category(); after a cancellation asio::error::operation_aborted.
/// Threads: all of it runs on `executor`. If several threads run that context, give a strand. Initiating calls may come
/// from any thread: they are dispatched to the executor. close() and the transport belong to the executor's thread.
/// Cancellation: each operation takes the slot of its handler, for every type of cancellation. Boost before 1.77 has no
/// slots. It ends the wait and not the transfer: until in_flight() is 0, the library uses the memory of a put, get or
/// send. with({.keeps = owner}) keeps the memory so long. The transport keeps io_context::run() running until close()
/// or the destructor.
template <complete_fabric F>
class asio_transport : public detail::asio_calls<asio_transport<F>, F> {
  using loop = detail::asio_loop<F>;

 public:
  using executor_type = detail::asio_executor;

  /// Requires: `net` outlives this object, does not move, and was opened with `.sleeps = true` (otherwise the loop
  /// polls without a pause).
  asio_transport(detail::asio_executor executor, transport<F>& net, const dispatcher_options& options = {})
      : loop_(std::make_shared<loop>(std::move(executor), net, options)), requests_(net) {
    loop_->open();
  }
  asio_transport(const asio_transport&) = delete;
  asio_transport& operator=(const asio_transport&) = delete;
  ~asio_transport() { loop_->close(); }

  executor_type get_executor() const noexcept { return loop_->executor; }
  transport<F>& net() noexcept { return loop_->waits.net(); }

  /// The calls with these options: `net.with({.timeout = 1s, .keeps = buffer}).async_put(peer, from, at, token)`. A
  /// time that is over is std::errc::timed_out. The operation ends once; `keeps` is released when the library has let
  /// go of the memory.
  asio_calls_with<F> with(operation_options options) const { return {loop_, requests_, std::move(options)}; }

  /// Closes a peer in order, and blocks for at most `timeout` while operations to it end. Waits for it end with
  /// std::errc::not_connected.
  status close(peer p, duration timeout) { return loop_->waits.close(p, timeout); }
  /// Calls `call` for each lost peer. It must not begin operations.
  void on_lost(std::function<void(const lost&)> call) { loop_->waits.on_lost(std::move(call)); }
  /// Ends every wait with std::errc::not_connected, and leaves the loop. The transport may be destroyed afterwards.
  void close() { loop_->close(); }

  std::uint32_t in_flight() const noexcept { return loop_->waits.in_flight(); }
  const std::string& last_refusal() const noexcept { return loop_->waits.last_refusal(); }
  /// For requests of a program's own, and for senders over the same loop.
  dispatcher<F>& waits() noexcept { return loop_->waits; }

 private:
  friend detail::asio_calls<asio_transport, F>;
  static operation_options options() noexcept { return {}; }

  std::shared_ptr<loop> loop_;
  request_maker<F> requests_;
};

}  // namespace WEFT_ASIO_OF
}  // namespace weft::event_loops
