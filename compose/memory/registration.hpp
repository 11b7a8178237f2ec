// SPDX-License-Identifier: Apache-2.0
//
// Registers memory and describes it to peers. It draws the key where weft chooses keys, calls the port, and records the
// rights of peers. Hot path: no. Threads: the owner's.
#pragma once

#include "../../core/device_memory.hpp"
#include "../engine/engine.hpp"
#include "../engine/key_source.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace weft::detail {

template <class Engine>
class registrar {
 public:
  using key_answer = answer<typename Engine::fabric, region_key_family>;
  using address_answer = answer<typename Engine::fabric, region_address_family>;

  explicit registrar(Engine& e) noexcept : e_(e) {}

  result<region> register_memory(bytes memory, rights granted, std::unique_ptr<std::byte[]> owned,
                                 atomicity executor = usual_atomicity<typename Engine::fabric>) {
    if (memory.empty()) return {error(errc::invalid, "register"), "a region needs at least one byte"};
    if (auto wrong = unfit_for_atomics(memory, granted, executor); !wrong.empty())
      return {error(errc::invalid, "register"), std::move(wrong)};
    auto r = with_key(memory, given_to_port(granted, executor));
    if (!r) return std::move(r).error();
    return keep(*r, granted, executor, std::move(owned));
  }

  static constexpr bool takes_device_memory = requires(typename Engine::port_type & p, const device_memory& m) {
    p.register_device(m, rights::all, std::uint64_t{});
  };

  result<region> register_memory(const device_memory& memory, rights granted) {
    if (auto wrong = unfit_device(memory, granted); !wrong.empty())
      return {error(errc::invalid, "register"), std::move(wrong)};
    if constexpr (!takes_device_memory) {
      return {error(errc::unsupported, "register"), "the backend of this fabric registers memory of the host alone"};
    } else {
      auto r = by_key([&](std::uint64_t key) { return e_.port->register_device(memory, granted, key); });
      if (!r) return std::move(r).error();
      return keep(*r, granted, usual_atomicity<typename Engine::fabric>, nullptr);
    }
  }

  result<region> allocate(std::size_t size, rights granted,
                          atomicity executor = usual_atomicity<typename Engine::fabric>) {
    if (size == 0) return {error(errc::invalid, "register"), "a region needs at least one byte"};
    if constexpr (makes_memory)
      if (given_to_port(granted, executor) != rights::none || lends_sources<typename Engine::port_type>)
        return allocate_there(size, granted, executor);
    constexpr std::size_t page = 4096;
    auto owned = std::unique_ptr<std::byte[]>(new (std::nothrow) std::byte[size + page]());
    if (!owned)
      return {error(errc::no_memory, "register"), "no memory for a region of " + std::to_string(size) + " bytes"};
    auto* start = owned.get() + (page - reinterpret_cast<std::uintptr_t>(owned.get()) % page) % page;
    return register_memory({start, size}, granted, std::move(owned), executor);
  }

  void release(std::uint32_t number) {
    const auto found =
        std::find_if(e_.regions.begin(), e_.regions.end(), [&](const region_entry& x) { return x.number == number; });
    if (found == e_.regions.end()) return;
    e_.port->deregister(found->registered);
    e_.regions.erase(found);
  }

  /// Where owned regions end. The first one makes it.
  const std::shared_ptr<region_home>& home() {
    if (!e_.home)
      e_.home = std::make_shared<region_home>(region_home{
          &e_, [](void* engine, std::uint32_t number) { registrar(*static_cast<Engine*>(engine)).release(number); }});
    return e_.home;
  }

  result<registration> with_key(bytes memory, rights granted) {
    return by_key([&](std::uint64_t key) { return e_.port->register_memory(memory, granted, key); });
  }
  /// Registers by `make(key)`. The key is 0 unless weft chooses keys.
  template <class Make>
  result<registration> by_key(Make&& make) {
    std::uint64_t wanted = 0;
    if constexpr (key_answer::made_here) {
      const auto key = draw_key(*e_.port, Engine::fabric::facts.key_bytes, [this] { return e_.entropy(); });
      if (!key)
        return {error(errc::no_memory, "register"),
                "this process has used every key of " + std::to_string(Engine::fabric::facts.key_bytes) +
                    " bytes that fabric " + std::string(Engine::fabric::name) +
                    " allows, or the kernel gives no random numbers (getrandom(2))"};
      wanted = *key;
    }
    result<registration> r = make(wanted);
    if (r && key_answer::made_here && r->key != wanted)
      return {error(errc::broken, "register"), "the library did not use the key that it was given"};
    return r;
  }

  wire::region_record describe(std::uint32_t number) const noexcept {
    wire::region_record record{address_answer::form,
                               rights::none,
                               usual_atomicity<typename Engine::fabric>,
                               Engine::fabric::facts.key_bytes,
                               0,
                               0,
                               0,
                               Engine::fabric::fingerprint};
    for (const region_entry& x : e_.regions)
      if (x.number == number) {
        record.granted = x.granted;
        record.executor = x.executor;
        record.key = x.registered.key;
        record.base = x.base;
        record.length = x.registered.size;
      }
    return record;
  }

 private:
  /// Whether the port allocates memory for peers, because it demands or prefers that.
  static constexpr bool makes_memory = requires(typename Engine::port_type & p) {
    p.register_fresh(std::size_t{}, rights::all, std::uint64_t{});
  };
  result<region> allocate_there(std::size_t size, rights granted, atomicity executor) {
    if (auto wrong = unfit_for_atomics({}, granted, executor); !wrong.empty())
      return {error(errc::invalid, "register"), std::move(wrong)};
    auto r =
        by_key([&](std::uint64_t key) { return e_.port->register_fresh(size, given_to_port(granted, executor), key); });
    if (!r) return std::move(r).error();
    return keep(*r, granted, executor, nullptr);
  }
  /// Only the executor may change a word: where cards execute, words of other executors are closed to cards.
  static rights given_to_port(rights granted, atomicity executor) noexcept {
    return Engine::shape::native_atomics && executor != atomicity::provider ? without_atomics(granted) : granted;
  }
  region keep(const registration& r, rights granted, atomicity executor, std::unique_ptr<std::byte[]> owned) {
    const std::uint32_t number = e_.next_region++;
    e_.regions.push_back({r, granted, executor, address_answer::base_of(r.base), number, std::move(owned)});
    return {r, number};
  }
  std::string unfit_device(const device_memory& memory, rights granted) const {
    if (memory.size == 0) return "a region needs at least one byte";
    if (!e_.options.device_memory)
      return "memory of a device: open the transport with transport_options::device_memory first";
    if (grants(granted, rights::remote_atomic) && !Engine::shape::native_atomics)
      return "memory of a device cannot grant remote_atomic on fabric " + std::string(Engine::fabric::name) +
             ": this processor would execute them";
    return {};
  }
  static std::string unfit_for_atomics(bytes memory, rights granted, atomicity executor) {
    if (!grants(granted, rights::remote_atomic)) return {};
    if (executor == atomicity::processor)
      return "a region with atomicity::processor cannot grant remote_atomic: its words are counted by their owner "
             "alone";
    if (reinterpret_cast<std::uintptr_t>(memory.data()) % 8 != 0)
      return "a region that grants remote_atomic must begin at a multiple of 8: its words would not be aligned";
    return {};
  }

  Engine& e_;
};

}  // namespace weft::detail
