// SPDX-License-Identifier: Apache-2.0
//
// The memory of a transport, as users call it: registering, describing to peers, and the peer's descriptions. Each call
// belongs to set-up. Hot path: memory(). Threads: the owner's.
#pragma once

#include "../engine/engine.hpp"
#include "../engine/rare_calls.hpp"
#include "../peer.hpp"
#include "../progress_owner.hpp"
#include "../region.hpp"
#include "../words.hpp"

#include <utility>

namespace weft::detail {

/// Base of transport<F>.
template <class Transport, class F>
class memory_calls {
  using engine_type = engine<F>;
  using rare = rare_calls<engine_type>;

 public:
  /// Registers memory of the caller, who keeps the memory for longer than the region.
  /// Errors: invalid (no bytes, or words that are not aligned), no_memory, native; each with a sentence.
  result<owned_region> register_region(bytes memory, rights granted) {
    return own(rare::register_memory(e_(), memory, granted, usual_atomicity<F>));
  }
  /// Registers memory of a device, which the caller keeps. Requires transport_options::device_memory. Transfers from
  /// this memory need a context. Errors: unsupported or native; the sentence names the library, provider or driver.
  result<owned_region> register_region(const dmabuf_memory& m, rights granted) {
    return own(rare::register_memory(e_(), device_memory::of(m), granted));
  }
  template <bool Here = built_with_cuda>
  result<owned_region> register_region(const cuda_memory& m, rights granted) {
    static_assert(Here,
                  "weft: this program is built without CUDA: its driver header (cuda.h) was not found; without it, "
                  "register a dmabuf_memory [WEFT-C036]");
    return own(rare::register_memory(e_(), device_memory::of(m), granted));
  }
  /// Registers fresh, zeroed memory of the transport, aligned to a page. The memory ends with the region.
  result<owned_region> allocate(std::size_t size, rights granted) {
    return own(rare::allocate(e_(), size, granted, usual_atomicity<F>));
  }
  /// Registers words whose atomics have this executor (compose/words.hpp).
  /// Errors: those of register_region(), and a region that its executor cannot serve.
  template <atomicity Who>
  result<owned_words<Who>> register_words(bytes memory, rights granted) {
    return own<words<Who>>(rare::register_memory(e_(), memory, granted, executor_asked<Who>()));
  }
  template <atomicity Who>
  result<owned_words<Who>> allocate_words(std::size_t size, rights granted) {
    return own<words<Who>>(rare::allocate(e_(), size, granted, executor_asked<Who>()));
  }
  /// Deregisters now. Afterwards no peer can reach the memory. A region that is not registered here is ignored.
  void release_region(const region& r) { rare::release(e_(), r.number()); }

  /// The bytes that a peer needs to use the region. `owner_polls` says that a loop calls progress().
  region_bytes export_region(const region& r, progress_owner) const noexcept {
    return wire::encode(rare::describe(e_(), r.number()));
  }
  template <class G = F>
  region_bytes export_region(const region& r) const noexcept {
    static_assert(!answer<G, progress_family>::needs_owner,
                  "weft: on this fabric bytes land only while the target polls; name the progress owner: "
                  "export_region(region, weft::owner_polls) [WEFT-C006]");
    return wire::encode(rare::describe(e_(), r.number()));
  }
  /// The same for one peer. A fabric_set needs the peer's name; on one fabric the bytes are those of above.
  region_bytes export_region(peer /*to*/, const region& r, progress_owner) const noexcept {
    return export_region(r, owner_polls);
  }
  template <class G = F>
  region_bytes export_region(peer /*to*/, const region& r) const noexcept {
    return export_region<G>(r);
  }
  /// Reads what export_region() of a peer made. Errors: invalid (not a description), incompatible (another fabric,
  /// other rules, or words of another executor).
  result<remote_region> parse_region(const_bytes from) const {
    return remote_region::parse(from, F::fingerprint, usual_atomicity<F>);
  }
  /// The same for a region that this peer reaches. A fabric_set needs the peer's name.
  result<remote_region> parse_region(peer /*of*/, const_bytes from) const { return parse_region(from); }
  template <atomicity Who>
  result<remote_words<Who>> parse_words(peer /*of*/, const_bytes from) const {
    return parse_words<Who>(from);
  }
  template <atomicity Who>
  result<remote_words<Who>> parse_words(const_bytes from) const {
    auto parsed = remote_region::parse(from, F::fingerprint, executor_asked<Who>());
    if (!parsed) return std::move(parsed).error();
    return remote_words<Who>(*parsed);
  }

  /// Any memory of the caller as the source or destination of a transfer, on fabrics that need no local registration.
  /// On other fabrics use region::slice().
  template <class G = F>
  static local_memory memory(const_bytes any) noexcept {
    static_assert(answer<G, local_descriptor_family>::any_memory,
                  "weft: this fabric wants local buffers registered; use a slice of a region: region.slice(offset, "
                  "size) [WEFT-C007]");
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): sources are only read
    return {const_cast<std::byte*>(any.data()), any.size(), nullptr};
  }

 private:
  engine_type& e_() const noexcept { return *static_cast<const Transport&>(*this).e_; }
  template <atomicity Who>
  static consteval atomicity executor_asked() {
    static_assert(Who != atomicity::provider || usual_atomicity<F> == atomicity::provider,
                  "weft: on this fabric neither card nor library executes atomics: register the region with "
                  "atomicity::target [WEFT-C022]");
    return Who;
  }
  template <class View = region>
  static result<owned<View>> own(result<kept_region> made) {
    if (!made) return std::move(made).error();
    return owned<View>(View(made->view), std::move(made->home));
  }
};

}  // namespace weft::detail
