// SPDX-License-Identifier: Apache-2.0
//
// Transports of one fabric as one. Each network card, port or address is a rail; a peer is a connection on each. A
// region has a key on each rail, and transfers are cut into pages that take turns. Policies and backends do not know
// rails. Pages on different rails have no order, so a put_notify brings one notice for each page (notices()). The
// target counts them with a notification_counter. One thread owns all rails. For a thread per rail, give each thread a
// transport of its own: transports share nothing. Hot path: put, get, put_notify, progress. Threads: the owner's.
#pragma once

#include "connecting.hpp"
#include "memory.hpp"
#include "striped_operations.hpp"

#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace weft {

struct rails_options {
  transport_options each{};                     ///< Of every rail; its node is replaced.
  std::vector<std::string> nodes{"127.0.0.1"};  ///< The local address of each rail. One address, one rail.
  std::uint64_t page_bytes = 65536;             ///< Both sides must use the same value.
  std::uint32_t transfers = 64;                 ///< Most striped operations in flight; one more returns `again`.
};

template <complete_fabric F>
class rails {
 public:
  using fabric = F;

  /// Opens a transport for each node. Errors: those of weft::open, with the rail; invalid, for no node or more than 64.
  static result<rails> open(const rails_options& o) {
    if (o.nodes.empty() || o.nodes.size() > wire::most_rails || o.page_bytes == 0 || o.transfers == 0)
      return {error(errc::invalid, "open rails"), "rails need 1 to 64 nodes (these are " +
                                                      std::to_string(o.nodes.size()) +
                                                      "), pages of at least a byte, and room for a transfer"};
    rails made(o);
    for (const std::string& node : o.nodes) {
      transport_options each = o.each;
      each.node = node;
      auto net = transport<F>::open(each);
      if (!net) return {net.error().why, "rail " + std::to_string(made.nets_.size()) + ": " + net.error().sentence};
      made.nets_.push_back(std::move(*net));
    }
    return made;
  }
  rails(rails&&) noexcept = default;
  /// The rails that were here end as a whole: their transports use their memory until they are gone.
  rails& operator=(rails&& other) noexcept {
    rails taken(std::move(other));
    const auto parts = [](rails& of) { return std::tie(of.memory_, of.operations_, of.connecting_, of.nets_); };
    [](auto mine, auto theirs) { mine.swap(theirs); }(parts(*this), parts(taken));
    return *this;
  }
  ~rails() = default;

  std::uint32_t count() const noexcept { return cut().rails; }
  const striping& cut() const noexcept { return operations_.cut(); }
  transport<F>& rail(std::uint32_t n) noexcept { return nets_[n]; }

  // ---- connecting
  /// The address for peers: the addresses of the rails, separated by commas.
  std::string listen_address() const {
    std::string all;
    for (const auto& net : nets_) all += (all.empty() ? "" : ",") + net.listen_address();
    return all;
  }
  /// Connects every rail. Errors: invalid, where the other side has another number of rails; else those of
  /// transport::connect.
  template <class Handler = detail::refuse_events>
  result<striped_peer> connect(std::string_view where, duration timeout, Handler&& on = {}) {
    if (auto wrong = connecting_.begin(nets_, cut(), where, event_filter<Handler>{*this, 0, on}))
      return std::move(*wrong);
    const status waited = until([this] { return connecting_.settled(); }, timeout, on);
    return connecting_.finish(nets_, where, waited, event_filter<Handler>{*this, 0, on});
  }
  /// Waits until the connections of one initiator have come on every rail, and accepts them.
  template <class Handler = detail::refuse_events>
  result<striped_peer> accept_one(duration timeout, Handler&& on = {}) {
    std::optional<std::vector<peer>> all;
    const status s = until([&] { return (all = connecting_.gathered()).has_value(); }, timeout, on);
    if (!all) return {s, "nobody connected all of its " + std::to_string(count()) + " rails in time"};
    return connecting_.accept(nets_, std::move(*all), event_filter<Handler>{*this, 0, on});
  }
  /// Closes the connection on every rail. No event follows for it; transfers in flight are reported as failed.
  template <class Handler = detail::refuse_events>
  status close(const striped_peer& p, duration timeout, Handler&& on = {}) {
    if (!p.present()) return {};
    status worst;
    const instant end = after(now(), timeout);
    for (std::uint32_t i = 0; i < nets_.size(); ++i) {
      event_filter<Handler> through{*this, i, on};
      if (const status s = nets_[i].close(p.on(i), std::max(duration(0), end - now()), through); !s && worst) worst = s;
    }
    connecting_.leave(p);
    return worst;
  }

  // ---- memory
  /// Registers memory of the caller with every rail; the caller keeps it for the rails' life.
  result<striped_region> register_region(bytes memory, rights granted) {
    return memory_.register_memory(nets_, memory, granted);
  }
  /// The same with fresh, zeroed memory of the rails' own.
  result<striped_region> allocate(std::size_t size, rights granted) { return memory_.allocate(nets_, size, granted); }
  /// What a peer needs to use the region: one description with all keys, wire::parse_striped() reads it.
  std::vector<std::byte> export_region(const striped_region& r, progress_owner) const {
    return memory_.describe(nets_, cut(), r);
  }
  template <class G = F>
  std::vector<std::byte> export_region(const striped_region& r) const {
    static_assert(!answer<G, progress_family>::needs_owner,
                  "weft: on this fabric bytes land only while the target polls; name the progress owner: "
                  "export_region(region, weft::owner_polls) [WEFT-C006]");
    return export_region(r, owner_polls);
  }
  /// Errors: garbled bytes; another fabric, number of rails or page size.
  result<remote_striped_region> parse_region(const_bytes from) { return memory_.parse(cut(), from); }
  /// Sends a region's descriptions, one on each rail; the other side takes them with receive_region(). Set-up: waits
  /// until all are sent.
  template <class Handler = detail::refuse_events>
  status send_region(const striped_peer& to, const striped_region& r, progress_owner, duration timeout = 10s,
                     Handler&& on = {}) {
    if (!to.alive()) return error(errc::peer_lost, "send_region");
    std::uint32_t next = 0;
    status s;
    const auto post = [&] {
      while (next < nets_.size() && to.alive()) {
        s = nets_[next].send_region(to.on(next), r.registrations().rails[next], owner_polls);
        if (!s) return !s.is_again();
        ++next;
      }
      return true;
    };
    const status waited = until(post, timeout, on);
    if (!to.alive()) return error(errc::peer_lost, "send_region");
    return s.is_again() ? waited : s;
  }
  template <class Handler = detail::refuse_events, class G = F>
  status send_region(const striped_peer& to, const striped_region& r, duration timeout = 10s, Handler&& on = {}) {
    static_assert(!answer<G, progress_family>::needs_owner,
                  "weft: on this fabric bytes land only while the target polls; name the progress owner: "
                  "send_region(peer, region, weft::owner_polls) [WEFT-C006]");
    return send_region(to, r, owner_polls, timeout, on);
  }
  /// Waits for the descriptions of a region, one on each rail. Errors: deadline, peer_lost, incompatible.
  template <class Handler = detail::refuse_events>
  result<remote_striped_region> receive_region(const striped_peer& from, duration timeout, Handler&& on = {}) {
    std::vector<remote_region> all;
    const instant end = after(now(), timeout);
    for (std::uint32_t i = 0; i < nets_.size(); ++i) {
      if (!from.alive()) break;
      event_filter<Handler> through{*this, i, on};
      // Other rails make progress too: their peer may wait for it.
      result<remote_region> taken(error(errc::deadline, "receive region"),
                                  "the peer did not describe its region in time");
      const auto came = [&] {
        if (!from.alive()) return true;
        taken = nets_[i].receive_region(from.on(i), duration(0), through);
        return bool(taken) || taken.why().code != errc::deadline;
      };
      (void)until(came, std::max(duration(0), end - now()), on);
      if (!taken) return std::move(taken).error();
      all.push_back(*taken);
    }
    if (all.size() < nets_.size())
      return {error(errc::peer_lost, "receive region"), "the peer was lost before it described its region"};
    return memory_.adopt(std::move(all));
  }

  // ---- posting
  // As a transport, always with a context: one `completed` or `failed` reports the end, with the connection on rail 0.
  // progress() posts the pieces that a full queue refused. `again`: rails_options::transfers are in flight.
  [[gnu::always_inline]] status put(const striped_peer& to, const striped_slice& from, const striped_place& at,
                                    void* context) noexcept {
    return begin<operation::put>(to, from, at, 0, context);
  }
  /// Gives the target one notice with this immediate for each page: notices() in all.
  [[gnu::always_inline]] status put_notify(const striped_peer& to, const striped_slice& from, const striped_place& at,
                                           std::uint32_t immediate, void* context) noexcept {
    return begin<operation::put_notify>(to, from, at, immediate, context);
  }
  template <detail::wide_immediate Number>
  status put_notify(const striped_peer&, const striped_slice&, const striped_place&, Number, void*) noexcept {
    return detail::refuse_immediate<Number>();
  }
  [[gnu::always_inline]] status get(const striped_peer& from, const striped_slice& into, const striped_place& at,
                                    void* context) noexcept {
    return begin<operation::get>(from, into, at, 0, context);
  }
  /// The number of notices of a put_notify of `size` bytes at `offset`. The target can compute it too.
  std::uint64_t notices(std::uint64_t offset, std::uint64_t size) const noexcept { return cut().pieces(offset, size); }
  std::uint32_t in_flight() const noexcept { return operations_.in_flight(); }

  // ---- progress
  /// Makes one step of progress on every rail. The handler gets one event for each ended transfer and each lost striped
  /// peer. Other events come as their rail reports them.
  template <event_handler Handler>
  int progress(Handler&& on) {
    int found = 0;
    for (std::uint32_t i = 0; i < nets_.size(); ++i) {
      operations_.post(nets_[i], i);
      found += nets_[i].progress(event_filter<Handler>{*this, i, on});
    }
    while (operations_.any_ended()) report_end(operations_.take(), on);
    return found;
  }
  template <class Done, class Handler>
  status until(Done&& done, duration timeout, Handler&& on) {
    const instant end = after(now(), timeout);
    for (std::uint32_t idle = 0; !done();) {
      idle = progress(on) > 0 ? 0 : idle + 1;
      if (done()) return {};
      if (const char* seen = interrupted(on)) return error(errc::broken, seen);
      if (idle % 16 == 15 && now() >= end) return error(errc::deadline, "until");
      if (idle % 32 == 31) std::this_thread::yield();
    }
    return {};
  }
  instant now() const noexcept { return nets_.front().now(); }

 private:
  explicit rails(const rails_options& o)
      : operations_(o.transfers, striping{o.page_bytes, static_cast<std::uint32_t>(o.nodes.size())}) {}

  /// Events of one rail, on their way to the owner's handler.
  template <class Handler>
  struct event_filter {
    rails& all;
    std::uint32_t rail;
    std::remove_reference_t<Handler>& on;

    void operator()(const completed& e) const {
      if (!all.operations_.mine(e.context)) on(e);
      else all.operations_.piece_ended(e.context, {});
    }
    void operator()(const failed& e) const {
      if (!all.operations_.mine(e.context)) on(e);
      else all.operations_.piece_ended(e.context, e.why);
    }
    /// Messages that come before all rails are connected stay unread until connect() returns.
    bool operator()(const received& e) const { return !all.connecting_.connects(rail, e.peer) && offer(on, e); }
    void operator()(const notified& e) const { on(e); }
    void operator()(const requested& e) const { all.connecting_.requested_on(all.nets_[rail], rail, all.cut(), e); }
    void operator()(const connected& e) const {
      if (!all.connecting_.stands(rail, e.peer)) on(e);
    }
    void operator()(const lost& e) const {
      if (const std::optional<lost> reported_loss = all.connecting_.lose(rail, e, all.nets_[rail].reason()))
        on(std::as_const(*reported_loss));
    }
  };

  template <operation What>
  [[gnu::always_inline]] status begin(const striped_peer& to, const striped_slice& from, const striped_place& at,
                                      std::uint32_t immediate, void* context) noexcept {
    constexpr rights asked = What == operation::get ? rights::remote_read : rights::remote_write;
    if (!to.alive()) [[unlikely]]
      return error(to ? errc::peer_lost : errc::invalid, name_of(What));
    if (from.whole == nullptr || at.whole == nullptr) [[unlikely]]
      return error(errc::invalid, name_of(What));
    const std::size_t here = from.whole->memory.size();
    const remote_region& there = at.whole->rails.front();
    if (from.offset > here || from.size > here - from.offset || at.offset > there.size() ||
        from.size > there.size() - at.offset) [[unlikely]]
      return error(errc::out_of_range, name_of(What));
    if (!grants(there.granted(), asked)) [[unlikely]]
      return error(errc::denied, name_of(What));
    if (operations_.full()) [[unlikely]]
      return again(waits_for::operation_slot, name_of(What));
    operations_.template begin<What>(nets_, to, from, at, immediate, context);
    return {};
  }
  template <class Handler>
  static void report_end(const striped_operation& o, Handler& on) {
    const peer first = o.to.present() ? o.to.on(0) : peer();
    // As const lvalues: an rvalue would prefer a catch-all `[](auto&&) {}` to the overload for its kind.
    const completed well{o.what, first, o.user, 0};
    const failed badly{o.what, first, o.user, o.fault};
    if (o.fault) on(well);
    else on(badly);
  }

  template <class Handler>
  static const char* interrupted(const Handler& on) noexcept {
    if constexpr (requires { on.seen; }) return on.seen;
    else return nullptr;
  }

  rails_memory<F> memory_;  // declared before the transports, which are destroyed first
  striped_operations<F> operations_;
  rails_connecting<F> connecting_;
  std::vector<transport<F>> nets_;
};

}  // namespace weft
