// SPDX-License-Identifier: Apache-2.0
//
// Memory of rails: registered with each transport, described as one, parsed as one. Keeps what handles and transfers
// point to. Hot path: no. Threads: the rails' owner.
#pragma once

#include "../transport.hpp"
#include "striped_memory.hpp"
#include "striping.hpp"

#include <sys/mman.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weft {

template <complete_fabric F>
class rails_memory {
 public:
  /// Rails have no atomics, so the right is removed: the caller's memory may be unfit for atomics.
  result<striped_region> register_memory(std::vector<transport<F>>& nets, bytes memory, rights granted) {
    auto r = std::make_unique<striped_registration>();
    r->memory = memory;
    for (auto& net : nets) {
      auto one = net.register_region(memory, without_atomics(granted));
      if (!one) {
        release(nets, *r);
        return std::move(one).error();
      }
      r->descriptors.push_back(one->first(0).descriptor);
      r->rails.push_back(one->release());
    }
    regions_.push_back(std::move(r));
    return striped_region(*regions_.back());
  }
  result<striped_region> allocate(std::vector<transport<F>>& nets, std::size_t size, rights granted) {
    if (size == 0) return register_memory(nets, {}, granted);  // which says what is wrong
    void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
      return {error(errc::no_memory, "allocate"), "no memory for " + std::to_string(size) + " bytes"};
    owned_.emplace_back(static_cast<std::byte*>(at), unmap{size});
    auto made = register_memory(nets, {owned_.back().get(), size}, granted);
    if (!made) owned_.pop_back();
    return made;
  }
  std::vector<std::byte> describe(const std::vector<transport<F>>& nets, const striping& cut,
                                  const striped_region& r) const {
    wire::striped_record all{cut.page_bytes, {}};
    for (std::size_t i = 0; i < nets.size(); ++i)
      all.rails.push_back(*wire::parse_region(nets[i].export_region(r.registrations().rails[i], owner_polls)));
    return wire::encode(all);
  }
  result<remote_striped_region> parse(const striping& cut, const_bytes from) {
    const auto record = wire::parse_striped(from);
    if (!record)
      return {error(errc::invalid, "parse region"), "these bytes are not a striped region's description of layout 1"};
    const auto text = [](std::size_t rails, std::uint64_t page) {
      return std::to_string(rails) + " rails and pages of " + std::to_string(page) + " bytes";
    };
    if (record->rails.size() != cut.rails || record->page_bytes != cut.page_bytes)
      return {error(errc::incompatible, "parse region"), "this region has " +
                                                             text(record->rails.size(), record->page_bytes) +
                                                             "; here it is " + text(cut.rails, cut.page_bytes)};
    if (record->rails.front().fingerprint != F::fingerprint)
      return {error(errc::incompatible, "parse region"),
              "this region was made by a transport of another fabric or other rules"};
    return adopt(std::vector<remote_region>(record->rails.begin(), record->rails.end()));
  }
  /// One region from the descriptions of all rails. Errors: incompatible, where the descriptions differ.
  result<remote_striped_region> adopt(std::vector<remote_region> rails) {
    auto all = std::make_unique<striped_target>();
    for (const remote_region& each : rails) {
      if (each.size() != rails.front().size() || each.granted() != rails.front().granted())
        return {error(errc::incompatible, "receive region"), "the rails describe regions of different sizes or rights"};
      all->starts.push_back({each.record().base, each.record().key});
    }
    all->rails = std::move(rails);
    targets_.push_back(std::move(all));
    return remote_striped_region(*targets_.back());
  }

 private:
  /// The rails that registered a memory before another one refused it give it back: its owner may free it now.
  static void release(std::vector<transport<F>>& nets, const striped_registration& r) {
    for (std::size_t i = 0; i < r.rails.size(); ++i) nets[i].release_region(r.rails[i]);
  }

  struct unmap {
    std::size_t size = 0;
    void operator()(std::byte* at) const noexcept { ::munmap(at, size); }
  };
  std::vector<std::unique_ptr<std::byte, unmap>> owned_;
  std::vector<std::unique_ptr<striped_registration>> regions_;
  std::vector<std::unique_ptr<striped_target>> targets_;
};

}  // namespace weft
