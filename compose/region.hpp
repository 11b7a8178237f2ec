// SPDX-License-Identifier: Apache-2.0
//
// Registered memory: regions of this side, and regions that a peer described. Bounds and rights are checked before a
// post, because some providers drop an illegal write in silence (policies/write_fault.hpp). Hot path: at() and first():
// an addition and a comparison. Threads: a region belongs to its transport's owner.
#pragma once

#include "../core/error.hpp"
#include "../core/memory.hpp"
#include "../wire/region_bytes.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace weft {

/// A place in a peer's region, with the bytes that are left of the region from there.
struct remote_place {
  std::uint64_t address = 0;
  std::uint64_t key = 0;
  std::uint64_t room = 0;  ///< Bytes from here to the region's end.
  rights granted{};
};

/// A peer's region, as parsed from its bytes.
class remote_region {
 public:
  remote_region() = default;
  explicit constexpr remote_region(const wire::region_record& record) noexcept : record_(record) {}

  /// Parses the bytes of transport::export_region(). Errors: invalid (garbled bytes), incompatible (another fabric,
  /// other rules, or words of another executor).
  static result<remote_region> parse(const_bytes from, std::uint64_t fingerprint, atomicity executor) {
    const auto record = wire::parse_region(from);
    if (!record) return {error(errc::invalid, "parse region"), "these bytes are not a region description of layout 2"};
    if (record->fingerprint != fingerprint)
      return {error(errc::incompatible, "parse region"),
              "this region was made by a transport of another fabric or other rules"};
    if (record->executor != executor &&
        (grants(record->granted, rights::remote_atomic) || record->executor == atomicity::processor))
      return {error(errc::incompatible, "parse region"), unlike(record->executor, executor)};
    return remote_region(*record);
  }
  constexpr std::uint64_t size() const noexcept { return record_.length; }
  constexpr rights granted() const noexcept { return record_.granted; }
  constexpr const wire::region_record& record() const noexcept { return record_; }

  /// The place `offset` bytes into the region. Past the end the place has no room, so every transfer is refused.
  constexpr remote_place at(std::uint64_t offset) const noexcept {
    return {record_.base + offset, record_.key, offset <= record_.length ? record_.length - offset : 0,
            record_.granted};
  }

 private:
  static std::string unlike(atomicity there, atomicity here) {
    constexpr const char* names[] = {"", "atomicity::provider", "atomicity::target", "atomicity::processor"};
    return std::string("the words of this region were registered with ") + names[static_cast<std::size_t>(there)] +
           " and are parsed for " + names[static_cast<std::size_t>(here)] + ": parse_words<" +
           names[static_cast<std::size_t>(there)] + "> is right";
  }

  wire::region_record record_;
};

/// A region's description, as it travels to peers.
using region_bytes = std::array<std::byte, wire::region_record_bytes>;

template <class View>
class owned;

namespace detail {
template <class>
inline constexpr bool region_ends_here = false;
}  // namespace detail

/// A view of registered memory of this side: for slices, and for passing on. The registration belongs to an
/// owned_region, or after owned_region::release() to the transport.
class region {
 public:
  region() = default;
  region(const region&) = default;
  region& operator=(const region&) = default;
  template <class View>
  region(owned<View>&&) noexcept {  // NOLINT(google-explicit-constructor): refuses
    static_assert(detail::region_ends_here<View>,
                  "weft: this region would be deregistered at the end of the statement: keep it in a "
                  "weft::owned_region, or let the transport keep it: owned_region::release() [WEFT-C019]");
  }
  region(const registration& r, std::uint32_t number) noexcept : registration_(r), number_(number) {}

  std::byte* data() const noexcept { return registration_.base; }
  std::size_t size() const noexcept { return registration_.size; }
  bytes memory() const noexcept { return {registration_.base, registration_.size}; }
  std::uint32_t number() const noexcept { return number_; }

  /// Part of the region as the source or destination of a transfer. A slice past the region's end has a size that every
  /// transfer refuses: out_of_range.
  local_memory slice(std::size_t offset, std::size_t size) const noexcept {
    if (offset > registration_.size || size > registration_.size - offset)
      return {nullptr, no_slice, registration_.descriptor};
    return {registration_.base + offset, size, registration_.descriptor};
  }
  local_memory first(std::size_t size) const noexcept { return slice(0, size); }

 private:
  registration registration_;
  std::uint32_t number_ = 0;
};

namespace detail {
/// Where owned regions are deregistered. It outlives the transport, which then clears `engine`.
struct region_home {
  void* engine = nullptr;
  void (*release)(void* engine, std::uint32_t number) = nullptr;
};
}  // namespace detail

/// A region that deregisters itself: movable, not copyable. It may end after its transport, which deregisters all
/// memory when it ends. Destroy it in the thread of the transport's owner, after the operations that use it ended.
/// Where posts may still be under way, declare the region before the transport: some libraries read a source late, in
/// the polls of the transport's own end.
template <class View>
class owned : public View {
 public:
  owned() = default;
  owned(const View& v, std::shared_ptr<detail::region_home> home) noexcept : View(v), home_(std::move(home)) {}
  owned(owned&& other) noexcept : View(static_cast<const View&>(other)), home_(std::move(other.home_)) {
    static_cast<View&>(other) = View();
  }
  owned& operator=(owned&& other) noexcept {
    if (this == &other) return *this;
    reset();
    View::operator=(static_cast<const View&>(other));
    home_ = std::move(other.home_);
    static_cast<View&>(other) = View();
    return *this;
  }
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
  ~owned() { reset(); }

  /// Deregisters now. Afterwards no peer can reach the memory.
  void reset() noexcept {
    if (home_ && home_->engine != nullptr) home_->release(home_->engine, this->number());
    home_.reset();
    static_cast<View&>(*this) = View();
  }
  /// Leaves the registration to the transport until its end, and returns the view.
  View release() noexcept {
    home_.reset();
    return View(static_cast<const View&>(*this));
  }

 private:
  std::shared_ptr<detail::region_home> home_;
};

/// What register_region() and allocate() return.
using owned_region = owned<region>;

}  // namespace weft
