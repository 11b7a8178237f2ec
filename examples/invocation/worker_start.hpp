// SPDX-License-Identifier: Apache-2.0
//
// Start of a worker: it connects to the manager and opens its account, connects to the client and exchanges regions,
// and gets its functions. These are the built-ins, an object in the folder, or one that it reads from the client's
// memory. The manager and the client get any error. Hot path: no. Threads: the worker's.
#pragma once

#include "worker.hpp"

namespace weft::invocation {

template <complete_fabric F>
result<void> worker<F>::start() {
  const instant end = net_.now() + s_.start_limit;
  auto manager = meet(s_.manager, s_.allocation, end);
  if (!manager) return std::move(manager).error();
  manager_ = *manager;
  if (const status s = wait_for([&] { return has_account_; }, end); !s)
    return unmet(s, "the manager at " + s_.manager + " opened no account");
  auto input = net_.allocate(input_stride() * s_.slots, rights::remote_write);
  if (!input) return std::move(input).error();
  input_ = std::move(*input);
  auto staging = net_.allocate(output_stride() * s_.slots, rights::none);
  if (!staging) return std::move(staging).error();
  staging_ = std::move(*staging);
  auto client = meet(s_.client, s_.client_secret, end);
  if (!client) return std::move(client).error();
  client_ = *client;
  if (const status s = wait_for([&] { return welcomed_; }, end); !s)
    return unmet(s, "the client at " + s_.client + " did not accept this worker");
  return introduce(end);
}

template <complete_fabric F>
failure worker<F>::unmet(status s, const std::string& what) const {
  return {s, what + (s.code == errc::deadline ? " in time" : ", and is gone (" + loss_ + ")")};
}

template <complete_fabric F>
result<peer> worker<F>::meet(const std::string& where, const token& secret, instant end) {
  const auto hello = encode(greeting{role::worker, s_.index, secret});
  return net_.connect(where, hello, std::max(duration(1ms), end - net_.now()), events{*this});
}

template <complete_fabric F>
result<void> worker<F>::introduce(instant end) {
  auto table = functions(end);
  if (!table) {
    const refusal_code code = table.why().code == errc::denied ? refusal_code::untrusted : refusal_code::malformed;
    (void)letters_.post(net_, client_,
                        unable_message{code, std::string_view(table.error().sentence).substr(0, largest_text)});
    (void)wait_for([&] { return letters_.idle(); }, net_.now() + 1s);
    return std::move(table).error();
  }
  functions_ = *table;
  const std::string names = functions_->names();
  (void)letters_.post(net_, client_, ready_message{net_.export_region(client_, input_, owner_polls), names});
  return {};
}

template <complete_fabric F>
result<const function_table*> worker<F>::functions(instant end) {
  if (s_.ships) {
    if (auto kept = keep_object(end); !kept) return std::move(kept).error();
    if (auto copied = library_.prepare(s_.object); !copied) return std::move(copied).error();
  }
  if (auto confined = pass(&start_gates::before_objects, end); !confined) return std::move(confined).error();
  result<const function_table*> table = &library_.built_ins();
  if (s_.ships) table = library_.load(s_.object);
  if (!table) return table;
  if (auto closed = pass(&start_gates::before_calls, end); !closed) return std::move(closed).error();
  return table;
}

/// Waits for the other workers of this process, and for the step that the last one runs.
template <complete_fabric F>
result<void> worker<F>::pass(start_gate start_gates::*which, instant end) {
  if (gates_ == nullptr) return {};
  start_gate& gate = gates_->*which;
  if (auto arrived = gate.arrive(); !arrived) return arrived;
  if (const status s = wait_for([&] { return gate.passed(); }, end); !s)
    return unmet(s, "the other workers of this executor did not start");
  return gate.outcome();
}

/// Brings the object into the folder, unless the folder has it. A confined process cannot write files.
template <complete_fabric F>
result<void> worker<F>::keep_object(instant end) {
  if (!library_.trusts(s_.object) || library_.has(s_.object)) return {};  // prepare() says what is wrong
  auto contents = fetch(end);
  if (!contents) return std::move(contents).error();
  return library_.keep(s_.object, *contents);
}

/// Reads the object from the client's memory, piece by piece.
template <complete_fabric F>
result<std::vector<std::byte>> worker<F>::fetch(instant end) {
  constexpr std::size_t piece = std::size_t{64} << 10;
  if (s_.object_bytes == 0 || s_.object_bytes > largest_object || object_.size() < s_.object_bytes)
    return {error(errc::invalid, "fetch functions"), "the client announced an object but did not send its bytes"};
  auto into = net_.allocate(piece, rights::none);
  if (!into) return std::move(into).error();
  std::vector<std::byte> all;
  while (all.size() < s_.object_bytes) {
    const std::size_t size = std::min(piece, s_.object_bytes - all.size());
    fetched_ = fetch_failed_ = false;
    status s = post_until([&] { return net_.get(client_, into->first(size), object_.at(all.size()), &fetched_); }, end,
                          client_lost_);
    if (s) s = wait_for([&] { return fetched_ || fetch_failed_; }, end);
    if (!s || fetch_failed_) {
      (void)into->release();  // the library may still write there
      return {s ? error(errc::peer_lost, "fetch functions") : s, "the object could not be read from the client"};
    }
    all.insert(all.end(), into->data(), into->data() + size);
  }
  return all;
}

}  // namespace weft::invocation
