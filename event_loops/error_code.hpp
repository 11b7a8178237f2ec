// SPDX-License-Identifier: Apache-2.0
//
// A status as a std::error_code, for libraries whose errors are those. The value is the errc; equal kinds of the system
// compare equal: `ec == std::errc::timed_out`. Hot path: ends only. Threads: values.
#pragma once

#include "../core/describe.hpp"

#include <string>
#include <system_error>

namespace weft::event_loops {

namespace detail {
class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "weft"; }
  std::string message(int value) const override { return describe(error(static_cast<errc>(value), "")); }
  std::error_condition default_error_condition(int value) const noexcept override {
    switch (static_cast<errc>(value)) {
      case errc::again:
        return std::errc::resource_unavailable_try_again;
      case errc::truncated:
        return std::errc::message_size;
      case errc::out_of_range:
        return std::errc::bad_address;
      case errc::denied:
        return std::errc::permission_denied;
      case errc::unreachable:
        return std::errc::host_unreachable;
      case errc::rejected:
        return std::errc::connection_refused;
      case errc::incompatible:
        return std::errc::wrong_protocol_type;
      case errc::peer_lost:
        return std::errc::connection_reset;
      case errc::deadline:
        return std::errc::timed_out;
      case errc::closed:
        return std::errc::not_connected;
      case errc::invalid:
        return std::errc::invalid_argument;
      case errc::no_memory:
        return std::errc::not_enough_memory;
      case errc::unsupported:
        return std::errc::operation_not_supported;
      default:
        return {value, *this};
    }
  }
};
}  // namespace detail

inline const std::error_category& status_category() noexcept {
  static const detail::category only;
  return only;
}
/// The number of the library or the system is lost on the way: read it from transport events if you need it.
inline std::error_code to_error_code(const status& s) noexcept {
  return s ? std::error_code() : std::error_code(static_cast<int>(s.code), status_category());
}

}  // namespace weft::event_loops
