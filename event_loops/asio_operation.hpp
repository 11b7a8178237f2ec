// SPDX-License-Identifier: Apache-2.0
//
// One asynchronous operation of Asio over a transport: a request, its wait and its handler in one block of the
// handler's allocator. The block is given back before the handler runs, so a chain of operations reuses one. Hot path:
// yes. Threads: the executor's.
#pragma once

#include "asio_library.hpp"
#include "requests.hpp"

#include <memory>
#include <type_traits>
#include <utility>

namespace weft::event_loops::detail {
inline namespace WEFT_ASIO_OF {

template <class Value>
struct signature {
  using type = void(asio_error_code, Value);
};
template <>
struct signature<no_value_t> {
  using type = void(asio_error_code);
};
template <class Value>
using signature_of = typename signature<Value>::type;

inline asio_error_code error_code_of(const outcome& how) noexcept {
  return how.cancelled ? asio_error_code(asio::error::operation_aborted) : asio_code_of(how.why);
}

/// A handler with its results, as asio::post() takes it.
template <class Handler, class Value>
struct completion {
  Handler handler;
  asio_error_code why;
  Value value;

  using allocator_type = asio::associated_allocator_t<Handler, usual_allocator>;
  allocator_type get_allocator() const noexcept { return asio::get_associated_allocator(handler, usual_allocator()); }
  void operator()() {
    if constexpr (std::is_same_v<Value, no_value_t>) std::move(handler)(why);
    else std::move(handler)(why, std::move(value));
  }
};

template <class Loop, class Request, class Handler>
class asio_operation : pending {
  using value = typename Request::value;
  using allocator = typename std::allocator_traits<
      asio::associated_allocator_t<Handler, usual_allocator>>::template rebind_alloc<asio_operation>;
  using own_executor = asio::associated_executor_t<Handler, asio::any_io_executor>;

 public:
  asio_operation(Loop& loop, Handler handler, Request wanted, operation_options&& options)
      : loop_(&loop),
        request_(std::move(wanted)),
        handler_(std::move(handler)),
        loop_work_(loop_->executor),
        handler_work_(asio::get_associated_executor(handler_, loop_->executor)) {
    ended = [](pending& p) noexcept { static_cast<asio_operation&>(p).finish(); };
    dropped = [](pending& p) noexcept { static_cast<asio_operation&>(p).give_back(); };
    keeps = std::move(options.keeps);
    // After close() there may be no transport: this operation ends at once, without a look at its clock.
    if (loop_->is_open() && options.timeout != duration::max()) due = after(loop_->waits.net().now(), options.timeout);
  }

  static void begin(Loop& loop, Handler handler, Request wanted, operation_options&& options) {
    allocator memory(asio::get_associated_allocator(handler, usual_allocator()));
    asio_operation* const made = memory.allocate(1);
    ::new (static_cast<void*>(made)) asio_operation(loop, std::move(handler), std::move(wanted), std::move(options));
    made->start();
  }

 private:
  void start() {
#ifdef WEFT_ASIO_CANCELS
    if (auto slot = asio::get_associated_cancellation_slot(handler_); slot.is_connected())
      slot.assign([this](asio::cancellation_type type) {
        if (type != asio::cancellation_type::none) loop_->waits.cancel(*this);
      });
#endif
    request_.begin(loop_->waits, *this);
  }
  void finish() noexcept {
#ifdef WEFT_ASIO_CANCELS
    asio::get_associated_cancellation_slot(handler_).clear();
#endif
    const own_executor where = asio::get_associated_executor(handler_, loop_->executor);
    const auto work = std::move(handler_work_);
    completion<Handler, value> ended_with{std::move(handler_), error_code_of(got), request_.take(got)};
    allocator memory(ended_with.get_allocator());
    this->~asio_operation();
    memory.deallocate(this, 1);
    asio::post(where, std::move(ended_with));  // not here: what a handler throws leaves io_context::run()
  }

  /// The loop ended before it could call the handler.
  void give_back() noexcept {
    allocator memory(asio::get_associated_allocator(handler_, usual_allocator()));
    this->~asio_operation();
    memory.deallocate(this, 1);
  }

  Loop* loop_;  ///< It outlives its waits.
  Request request_;
  Handler handler_;
  asio::executor_work_guard<asio::any_io_executor> loop_work_;
  asio::executor_work_guard<own_executor> handler_work_;
};

/// What asio::async_initiate() calls. It goes to the transport's executor first: at once, where it is there already.
template <class Loop, class Request>
struct initiation {
  std::shared_ptr<Loop> loop;
  operation_options options{};

  using executor_type = asio::any_io_executor;
  executor_type get_executor() const noexcept { return loop->executor; }

  template <class Handler>
  void operator()(Handler&& handler, Request request) const {
    using own = std::decay_t<Handler>;
    const asio::any_io_executor executor = loop->executor;
    asio::dispatch(executor, [loop = loop, options = options, handler = own(std::forward<Handler>(handler)),
                              request = std::move(request)]() mutable {
      asio_operation<Loop, Request, own>::begin(*loop, std::move(handler), std::move(request), std::move(options));
    });
  }
};

}  // namespace WEFT_ASIO_OF
}  // namespace weft::event_loops::detail
