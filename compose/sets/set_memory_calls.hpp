// SPDX-License-Identifier: Apache-2.0
//
// The memory of a set, as users call it: the calls of memory/memory_calls.hpp. Descriptions for one peer have the form
// of that peer's fabric. A description without a peer has the key of every fabric, for third parties; it is longer by
// 16 bytes for each fabric after the first. Hot path: memory(). Threads: the owner's.
#pragma once

#include "../words.hpp"
#include "set_state.hpp"

#include <array>
#include <optional>

namespace weft::detail {

/// Base of transport<Set>, where Set is fabric_set<F...>.
template <class Transport, class Set, class... F>
class set_memory_calls {
  using state = set_state<F...>;

 public:
  /// A region's description for peers of any fabric of the set. Peers must have the same set.
  using set_region_bytes =
      std::array<std::byte, wire::region_record_bytes + (sizeof...(F) - 1) * wire::set_region_entry_bytes>;

  result<owned_region> register_region(bytes memory, rights granted) {
    return own<region>([&] { return state_().memory.add(engines(), memory, granted, usual_atomicity<Set>); });
  }
  result<owned_region> allocate(std::size_t size, rights granted) {
    return own<region>([&] { return state_().memory.allocate(engines(), size, granted, usual_atomicity<Set>); });
  }
  template <atomicity Who>
  result<owned_words<Who>> register_words(bytes memory, rights granted) {
    return own<words<Who>>([&] { return state_().memory.add(engines(), memory, granted, asked<Who>()); });
  }
  template <atomicity Who>
  result<owned_words<Who>> allocate_words(std::size_t size, rights granted) {
    return own<words<Who>>([&] { return state_().memory.allocate(engines(), size, granted, asked<Who>()); });
  }
  void release_region(const region& r) { state_().memory.release(engines(), r.number()); }

  /// The bytes that this peer needs to use the region. An empty description, which nobody can parse, where the region
  /// is not registered here or its registration fails.
  region_bytes export_region(peer to, const region& r, progress_owner) {
    return wire::encode(described(r, fabric_of_peer(to)));
  }
  template <class G = Set>
  region_bytes export_region(peer to, const region& r) {
    owner_is_named<G>();
    return export_region(to, r, owner_polls);
  }
  /// The bytes for any peer of the same set. Opens each fabric that waits, and registers the region with each open one.
  set_region_bytes export_region(const region& r, progress_owner) {
    static_cast<Transport&>(*this).open_all();
    set_region_bytes all{};
    wire::region_record first{};
    bool any = false;
    std::array<wire::set_region_entry, sizeof...(F)> each{};
    engines().each_open([&]<std::size_t I>(auto& /*engine*/) {
      const wire::region_record here = described(r, I);
      each[I] = {here.key, here.base};
      if (!std::exchange(any, true)) first = here;
    });
    first.form = wire::address_form::virtual_address;  // of any member
    first.key_bytes = 8;
    first.key = each[0].key;
    first.base = each[0].base;
    first.fingerprint = Set::fingerprint;
    const auto front = wire::encode(first);
    std::copy(front.begin(), front.end(), all.begin());
    wire::writer rest(bytes(all).subspan(front.size()));
    for (std::size_t i = 1; i < sizeof...(F); ++i) {
      rest.number(each[i].key);
      rest.number(each[i].base);
    }
    return all;
  }
  template <class G = Set>
  set_region_bytes export_region(const region& r) {
    owner_is_named<G>();
    return export_region(r, owner_polls);
  }

  /// Reads what a peer of this fabric, or of this set, described. Errors: those of one fabric; incompatible where the
  /// peer has another set: it describes regions for one peer then.
  result<remote_region> parse_region(peer of, const_bytes from) const {
    return parsed(fabric_of_peer(of), from, usual_atomicity<Set>);
  }
  template <atomicity Who>
  result<remote_words<Who>> parse_words(peer of, const_bytes from) const {
    auto plain = parsed(fabric_of_peer(of), from, asked<Who>());
    if (!plain) return std::move(plain).error();
    return remote_words<Who>(*plain);
  }
  template <class G = Set>
  result<remote_region> parse_region(const_bytes /*from*/) const {
    static_assert(
        never<G>,
        "weft: a region has another key on each fabric of a set: name the peer: parse_region(peer, bytes) [WEFT-C035]");
    return remote_region();
  }

  template <class G = Set>
  static local_memory memory(const_bytes any) noexcept {
    static_assert(answer<G, local_descriptor_family>::any_memory,
                  "weft: a fabric of this set wants local buffers registered; use a slice of a region: "
                  "region.slice(offset, size) [WEFT-C007]");
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): sources are only read
    return {const_cast<std::byte*>(any.data()), any.size(), nullptr};
  }

 protected:
  /// The description of a region on one fabric. Without a length where it cannot be registered there.
  wire::region_record described(const region& r, std::size_t member) {
    wire::region_record record{};
    (void)if_memory([&] {
      if (const region* const there = state_().memory.provided(engines(), r, member))
        engines().each_open([&]<std::size_t I>(auto& engine) {
          if (I == member)
            record = registrar<std::remove_reference_t<decltype(engine)>>(engine).describe(there->number());
        });
    });
    return record;
  }

 private:
  state& state_() const noexcept { return *static_cast<const Transport&>(*this).state_; }
  typename state::engines_type& engines() const noexcept { return state_().engines; }
  /// The number of a peer's fabric; for nobody the first open one.
  std::size_t fabric_of_peer(peer p) const noexcept { return p ? peer_access::member(p) : engines().first_open(); }
  template <class G>
  static consteval void owner_is_named() {
    static_assert(!answer<G, progress_family>::needs_owner,
                  "weft: on a fabric of this set bytes land only while the target polls; name the progress owner: "
                  "export_region(peer, region, weft::owner_polls) [WEFT-C006]");
  }
  template <atomicity Who>
  static consteval atomicity asked() {
    static_assert(Who != atomicity::provider || usual_atomicity<Set> == atomicity::provider,
                  "weft: peers of a set reach a word by several fabrics, and a word has one executor: register the "
                  "region with atomicity::target [WEFT-C024]");
    return Who;
  }
  static constexpr std::array<std::uint64_t, sizeof...(F)> fingerprints{F::fingerprint...};
  static constexpr std::array<wire::address_form, sizeof...(F)> forms{answer<F, region_address_family>::form...};
  static constexpr std::array<std::uint8_t, sizeof...(F)> key_widths{F::facts.key_bytes...};

  /// A region whose words have another executor, as of a program of one fabric, is read without its atomics.
  static result<remote_region> parsed(std::size_t member, const_bytes from, atomicity executor) {
    const bool of_set = sizeof...(F) > 1 && from.size() == sizeof(set_region_bytes);
    auto record = wire::parse_region(of_set ? from.first(wire::region_record_bytes) : from);
    if (!record) return remote_region::parse(from, fingerprints[member], executor);  // which says what is wrong
    if (of_set) {
      if (record->fingerprint != Set::fingerprint)
        return {error(errc::incompatible, "parse region"),
                "this region was described by a set of other fabrics or rules: let its owner describe it for this peer "
                "(export_region(peer, region))"};
      wire::reader rest(from.subspan(wire::region_record_bytes));
      for (std::size_t i = 1; i <= member; ++i) {
        record->key = rest.number<std::uint64_t>();
        record->base = rest.number<std::uint64_t>();
      }
      record->form = forms[member];
      record->key_bytes = key_widths[member];
      record->fingerprint = fingerprints[member];
    }
    if (record->executor != executor && executor == usual_atomicity<Set>) {
      record->granted = without_atomics(record->granted);
      record->executor = executor;
    }
    return remote_region::parse(wire::encode(*record), fingerprints[member], executor);
  }

  template <class View, class Make>
  result<owned<View>> own(Make&& make) {
    std::optional<result<owned<View>>> made;
    if (if_memory([&] { made.emplace(owned_by_home<View>(make())); })) return *std::move(made);
    return {error(errc::no_memory, "register"), "no memory for the registration"};
  }
  template <class View>
  result<owned<View>> owned_by_home(result<region> made) {
    if (!made) return std::move(made).error();
    auto& home = state_().home;
    if (!home)
      home = std::make_shared<region_home>(region_home{&state_(), [](void* of, std::uint32_t number) {
                                                         auto& s = *static_cast<state*>(of);
                                                         s.memory.release(s.engines, number);
                                                       }});
    return owned<View>(View(*made), home);
  }
};

}  // namespace weft::detail
