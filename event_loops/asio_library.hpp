// SPDX-License-Identifier: Apache-2.0
//
// Which Asio: standalone Asio, or Boost.Asio where the program defines WEFT_BOOST_ASIO. The two differ in names and in
// the type of an error code. Older releases of Boost have no cancellation slots and no recycling allocator. What is
// built on either is in an inline namespace of its own, so that units of one program may differ. Hot path: an error
// code at each end. Threads: none.
#pragma once

#include "error_code.hpp"

#ifdef WEFT_BOOST_ASIO
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#define WEFT_ASIO_OF boost_asio
#if __has_include(<boost/asio/associated_cancellation_slot.hpp>)
#include <boost/asio/associated_cancellation_slot.hpp>
#define WEFT_ASIO_CANCELS 1
#endif
#if __has_include(<boost/asio/recycling_allocator.hpp>)
#include <boost/asio/recycling_allocator.hpp>
#define WEFT_ASIO_RECYCLES 1
#endif
#else
#include <asio/any_io_executor.hpp>
#include <asio/associated_allocator.hpp>
#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/dispatch.hpp>
#include <asio/error.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/recycling_allocator.hpp>
#include <asio/steady_timer.hpp>
#define WEFT_ASIO_OF standalone_asio
#define WEFT_ASIO_CANCELS 1
#define WEFT_ASIO_RECYCLES 1
#endif

#include <memory>
#include <string>
#include <system_error>

namespace weft::event_loops::detail {
inline namespace WEFT_ASIO_OF {

#ifdef WEFT_BOOST_ASIO
namespace asio = ::boost::asio;
using asio_error_code = ::boost::system::error_code;

/// status_category() for Boost, whose older releases take no std::error_category.
class boost_category final : public ::boost::system::error_category {
 public:
  const char* name() const noexcept override { return status_category().name(); }
  std::string message(int value) const override { return status_category().message(value); }
  ::boost::system::error_condition default_error_condition(int value) const noexcept override {
    const std::error_condition equal = status_category().default_error_condition(value);
    if (equal.category() != std::generic_category()) return {value, *this};
    return {equal.value(), ::boost::system::generic_category()};
  }
};
inline asio_error_code asio_code_of(const status& s) noexcept {
  static const boost_category only;
  return s ? asio_error_code() : asio_error_code(static_cast<int>(s.code), only);
}
#else
namespace asio = ::asio;
using asio_error_code = ::asio::error_code;
inline asio_error_code asio_code_of(const status& s) noexcept { return to_error_code(s); }
#endif

using asio_executor = asio::any_io_executor;

/// The memory of a handler that has no allocator of its own.
#ifdef WEFT_ASIO_RECYCLES
using usual_allocator = asio::recycling_allocator<void>;
#else
using usual_allocator = std::allocator<void>;
#endif

}  // namespace WEFT_ASIO_OF
}  // namespace weft::event_loops::detail
