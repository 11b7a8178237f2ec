// SPDX-License-Identifier: Apache-2.0
//
// A transport of the C interface (weft.h) for Python: it holds the memory of its regions, and lets one thread in at a
// time. Handles are numbers here, and statuses are numbers: weft/transport.py makes objects and exceptions of them.
// Calls leave Python's lock, so another thread could enter: it gets an exception instead (weft.h, "Threads").
// Hot path: posts and poll. Threads: each call is under Python's lock when it begins.
#pragma once
#include <pybind11/pybind11.h>

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "weft/weft.h"

namespace weft_python {

using number = std::uint64_t;                // a handle
using answered = std::pair<int, number>;     // a status and a handle or value
using told = std::pair<int, pybind11::str>;  // a status and text

/// The program ends: a thread that leaves the library stays outside of Python for ever. Python would end it in the
/// middle of C++, which is a crash.
void end();

class transport {
 public:
  /// Errors: an exception of weft.errors.
  explicit transport(const pybind11::dict& options);
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  ~transport();

  int close();
  [[nodiscard]] std::string last_sentence();
  told open_fabrics();
  told listen_address();
  int count(const pybind11::dict& into);

  answered start_connect(const std::string& where, const pybind11::bytes& shown);
  /// Waits, and looks for no signal meanwhile.
  answered connect(const std::string& where, const pybind11::bytes& shown, number timeout);
  int accept(number peer, const pybind11::bytes& shown);
  int reject(number peer, const std::string& reason);
  int close_peer(number peer, number timeout);
  int is_alive(number peer);
  told fabric_of(number peer);
  told explain(number peer);
  answered largest_message(number peer);

  /// Status, handle, size, and whether the memory may only be read.
  pybind11::tuple register_memory(pybind11::handle object, std::uint32_t rights);
  /// Deregisters, then lets the memory go. While another thread is inside: as soon as it leaves.
  int release(number region);
  int send_region(number peer, number region);
  answered receive_region(number peer, number timeout);
  std::pair<int, pybind11::bytes> describe(number peer, number region);
  answered parse(number peer, const pybind11::bytes& description);
  std::pair<int, std::pair<number, std::uint32_t>> remote_size(number remote);
  int forget(number remote);

  int send(number to, number region, number offset, number size, number context);
  int send_copy(number to, pybind11::handle object, number context);
  int send_tagged(number to, number region, number offset, number size, number tag, number context);
  int send_tagged_copy(number to, pybind11::handle object, number tag, number context);
  /// `peer` is 0 for any. Returns status and handle.
  answered receive_tagged(number peer, number tag, number ignore, number region, number offset, number size,
                          number context);
  int cancel_tagged(number receive);
  answered largest_tagged_message(number peer);
  int put(number region, number offset, number size, number remote, number at, number context);
  int put_notify(number region, number offset, number size, number remote, number at, std::uint32_t immediate,
                 number context);
  int get(number region, number offset, number size, number remote, number at, number context);
  int flush(number to, number context);
  int atomic(int what, int type, number remote, number at, number operand, number expected, number context);

  /// 0 is the default of each.
  int limit_lists(std::uint32_t lists, std::uint32_t peers, std::uint32_t in_flight, std::uint32_t at_once);
  /// A group: region, the begin and size of its part, remote region, then offsets here, offsets there and lengths.
  /// Returns status, handle, and the number of transfers.
  pybind11::tuple prepare_list(number peer, bool puts, const pybind11::list& groups);
  void release_prepared(number prepared);
  /// `notify` is None or the immediate.
  answered post_list(number prepared, std::uint32_t priority, pybind11::handle notify, number timeout, number context);
  /// Status of the call, of the list, first failed transfer, transfers, those that are done, their bytes.
  pybind11::tuple list_state(number list);
  int cancel_list(number list);

  /// Up to 64 events, or a negative status. An event is a tuple, or the context of an operation that ended without a
  /// value.
  pybind11::object poll();
  /// The same, and waits. Signals are looked for 20 times a second: their handlers may raise.
  pybind11::object wait(number timeout);
  answered wait_descriptor();
  answered arm();

 private:
  class inside;
  template <class Call>
  int call(Call made);
  pybind11::list taken(int count);
  int let_go(number region);
  void let_lists_go();

  weft_transport net_ = nullptr;
  bool busy_ = false;
  const pid_t opened_by_ = getpid();
  bool closed_ = false;
  std::unordered_map<number, held_memory> memory_;
  std::vector<number> released_;  // by a thread that could not enter
  std::vector<number> prepared_released_;
  std::array<weft_event, 64> events_{};
};

}  // namespace weft_python
