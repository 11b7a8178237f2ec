// SPDX-License-Identifier: Apache-2.0
//
// backends/mapped/ring.hpp and peer_memory.hpp: memory that a peer writes at any time. The input is the peer's entries,
// its table of regions, and its counts of taken room. No place leads out of the mapped bytes.
#include "../../backends/mapped/peer_memory.hpp"
#include "../../backends/mapped/ring.hpp"
#include "../target.hpp"

#include <vector>

namespace weft::fuzz::mapped_memory {

namespace mapped = backends::mapped;

constexpr std::uint64_t payload = mapped::ring_memory::least_payload;
constexpr std::uint64_t arena_bytes = std::uint64_t{64} << 20;

/// Memory of one ring, and the peer's arena; kept, because mapping costs more than a run.
struct memory {
  mapped::file ring_file, arena_file;
  mapped::mapping ring, arena;

  memory()
      : ring_file(mapped::sealed_memory(mapped::ring_memory::file_bytes(payload), "fuzz").value()),
        arena_file(mapped::sealed_memory(arena_bytes, "fuzz").value()),
        ring(mapped::mapping::of(ring_file, mapped::ring_memory::file_bytes(payload), "fuzz").value()),
        arena(mapped::mapping::of(arena_file, arena_bytes, "fuzz").value()) {}
  mapped::ring_memory& entries() { return *reinterpret_cast<mapped::ring_memory*>(ring.start()); }
  mapped::region_row& row(std::uint64_t key) {
    return reinterpret_cast<mapped::arena_head*>(arena.start())->table[key % mapped::arena_head::rows];
  }
};

void read_ring(memory& m, choices& from) {
  mapped::ring_memory& shared = m.entries();
  mapped::incoming_ring in(&shared, payload);
  const auto* area = reinterpret_cast<const std::byte*>(&shared + 1);
  for (std::uint32_t i = from.below(64); i > 0; --i) {
    auto& e = const_cast<mapped::ring_entry&>(in.front());  // as the peer writes it
    const auto size = from.flag() ? from.number<std::uint32_t>() : from.number<std::uint16_t>();
    e.size = size;
    mapped::payload_place place{from.flag() ? from.number<std::uint64_t>() : from.number<std::uint16_t>(),
                                from.number<std::uint64_t>()};
    std::memcpy(e.inside.data(), &place, sizeof place);
    if ((size & mapped::ring_entry::notice) == 0)
      if (const auto message = in.message(e, size)) {
        require(message->size() == size, "a message has its announced size");
        const bool in_entry = size <= mapped::ring_entry::room && message->data() == e.inside.data();
        require(in_entry || inside(*message, const_bytes(area, payload)), "a message lies in the ring");
      }
    in.pop();
  }
}

void write_ring(memory& m, choices& from) {
  mapped::ring_memory& shared = m.entries();
  mapped::outgoing_ring out(&shared, payload);
  std::vector<std::byte> text(out.largest(), std::byte{0x5a});
  for (std::uint32_t i = from.below(64); i > 0; --i) {
    shared.taken.store(from.flag() ? from.number<std::uint64_t>() : i, std::memory_order_relaxed);
    shared.freed.store(from.flag() ? from.number<std::uint64_t>() : 0, std::memory_order_relaxed);
    const std::size_t size = from.number<std::uint16_t>() + (from.flag() ? payload : 0);
    if (!out.has_room(size)) continue;
    require(size <= out.largest(), "a message fits into the area, whatever the receiver counts as freed");
    const local_memory piece{text.data(), size, nullptr};
    out.send(gather_list(&piece, 1), i);
  }
}

void find_places(memory& m, choices& from) {
  auto there = mapped::peer_memory::of(m.arena_file, arena_bytes, "fuzz");
  require(bool(there), "the arena is mapped");
  constexpr std::uint64_t whole_arena = mapped::arena_head::rows + 9;
  mapped::region_row& all = m.row(whole_arena);
  all.place.store(0, std::memory_order_relaxed);
  all.length.store(arena_bytes, std::memory_order_relaxed);
  all.flags.store(mapped::region_row::in_arena | static_cast<std::uint32_t>(rights::all), std::memory_order_relaxed);
  all.key.store(whole_arena, std::memory_order_release);
  const std::byte* const start = there->find({0, whole_arena}, 1, rights::remote_read);
  require(start != nullptr, "a region of the whole arena is found");
  for (std::uint32_t i = from.below(32); i > 0; --i) {
    const std::uint64_t key = (from.number<std::uint64_t>() << 16 | from.below(4)) | 1U << 20;
    mapped::region_row& row = m.row(key);
    const auto place = from.flag() ? from.number<std::uint64_t>() : from.number<std::uint32_t>();
    const auto length = from.flag() ? from.number<std::uint64_t>() : from.number<std::uint16_t>();
    row.place.store(place, std::memory_order_relaxed);
    row.length.store(length, std::memory_order_relaxed);
    row.flags.store(from.number<std::uint8_t>(), std::memory_order_relaxed);
    row.key.store(key, std::memory_order_release);
    const remote_memory at{from.flag() ? from.number<std::uint64_t>() : from.number<std::uint8_t>(), key};
    const std::size_t size = from.number<std::uint16_t>();
    const rights asked = std::array{rights::remote_write, rights::remote_read, rights::remote_atomic}[from.below(3)];
    if (const std::byte* const lent = there->lent(at.address, size)) {
      const auto offset = static_cast<std::uint64_t>(lent - start);
      require(offset <= arena_bytes && size <= arena_bytes - offset, "a lent message lies in the mapped arena");
    }
    std::byte* const found = there->find(at, size, asked);
    if (found == nullptr) {
      (void)there->missing(at, size, asked);
      continue;
    }
    const auto offset = static_cast<std::uint64_t>(found - start);
    require(offset <= arena_bytes && size <= arena_bytes - offset, "a place lies in the mapped arena");
  }
}

void check(const_bytes input) {
  static memory shared;
  choices from(input);
  read_ring(shared, from);
  write_ring(shared, from);
  find_places(shared, from);
}

}  // namespace weft::fuzz::mapped_memory
WEFT_FUZZ_TARGET(mapped_memory)
