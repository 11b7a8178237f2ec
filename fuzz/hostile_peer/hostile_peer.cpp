// SPDX-License-Identifier: Apache-2.0
//
// A hostile peer against a whole transport, in virtual time. The input is a sequence of steps: calls of the victim's
// application, messages of two hostile peers, faults, and time. One hostile peer is a transport's engine that was
// accepted and then lies. The other is a bare port: it says hello by itself, answers calls, and writes where it likes.
// An honest peer sends numbered messages all the time.
// Properties: victim.hpp, and: the honest messages arrive once each, everything ends when the attack stops, memory
// stays bounded. Hot path: no. Threads: one.
#include "victim.hpp"

#include <bit>
#include <optional>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/allocator_interface.h>
#define WEFT_FUZZ_COUNTS_MEMORY 1
#endif
#endif

namespace weft::fuzz {

/// A link or a proof says who sent a message. Elsewhere the connection's number alone says it (SECURITY.md), so the
/// hostile peers leave the honest peer's number alone.
template <class F>
constexpr bool senders_are_proven =
    weft::detail::engine<F>::links_have_receives || weft::detail::engine<F>::notices_name_links ||
    weft::detail::engine<F>::proves_sender;
/// The bits of the victim's connection numbers that hold an index.
inline const auto index_bits = static_cast<std::uint32_t>(std::bit_width(small_limits("victim").peers));

template <class F>
class play {
  using engine_type = weft::detail::engine<F>;
  using waiting = weft::detail::blocking_calls<engine_type>;
  using connecting = weft::detail::connect_calls<engine_type, waiting>;
  using initiator_type = weft::detail::initiator<engine_type>;

 public:
  explicit play(choices& from)
      : from_(from),
        liar_knows_(!is_guarded<F> || from.flag()),
        world_(1 + from.number<std::uint8_t>(), weather(from)),
        outside_(world_, "outside"),
        victim_(world_),
        honest_(opened("honest")),
        stranger_(world_, "stranger", "7472") {
    // Polls cost more virtual time than usual, so that waiting calls need few of them.
    world_.inside().cost.poll_least = 1us;
    world_.inside().cost.poll_most = 3us;
    world_.inside().cost.clock = 300ns;
    texts_ = honest_.allocate(victim<F>::honest_messages * victim<F>::honest_bytes, rights::all).value();
    (void)honest_.start_connect("victim:7471");
    for (int i = 0; i < 20'000 && !(met_ && victim_.honest.alive()); ++i) rounds(1, 20us);
    require(met_ && victim_.honest.alive(), "an honest peer connects");
    known_ = victim_.known();
    victim_.strangers_may_ask = liar_knows_;
    open_liar();
  }

  void run() {
    for (int steps = 0; steps < 200 && !from_.empty(); ++steps) {
      step();
      poll_all();
    }
    settle();
    // Orderly ends wait in virtual time. Dear polls make that short.
    world_.inside().cost.poll_least = world_.inside().cost.poll_most = 100us;
  }

 private:
  static loopback::faults weather(choices& from) {
    loopback::faults f;
    // A test of this target plants a bug in the simulated library: a write may end past its region.
    if (std::getenv("WEFT_FUZZ_PLANT") != nullptr) f.bug = loopback::planted_bug::skipped_bound_check;
    if (!from.flag()) return f;
    f.delay_most = duration(30'000);
    f.loss = 0.02;
    f.reorder = 0.3;
    f.tear = 0.3;
    f.full_queue = 0.02;
    f.spurious_wake = 0.05;
    return f;
  }
  transport_options limits(const std::string& node) {
    transport_options o;
    o.node = node;
    o.sleeps = true;
    o.max_message_bytes = 1024;
    o.operations = 64;
    o.silence_limit = 400ms;
    give_secret<F>(o, node != "liar" || liar_knows_);
    return o;
  }
  transport<F> opened(const std::string& node) {
    const loopback::guest there(world_, node);
    return open<F>(limits(node)).value();
  }
  void open_liar() {
    const loopback::guest there(world_, "liar");
    liar_ = std::move(weft::detail::opening<engine_type>::open(limits("liar"))).value();
    dial_victim();
  }
  void dial_victim() {
    if (!liar_) return;
    if (auto p = connecting(*liar_).start("victim:7471", {}, false)) liar_at_ = *p;
  }

  // ---- time
  void poll_all() {
    victim_.poll();
    honest_.progress(overloaded{[this](const connected& c) {
                                  met_ = true;
                                  honest_to_ = c.peer;
                                },
                                [](const lost&) { require(false, "an honest peer is not cut off"); },
                                [](const failed&) { require(false, "an honest operation does not fail"); },
                                [](auto&&) {}});
    if (liar_) {
      const auto ignore = [](auto&&) {};
      waiting(*liar_).step(ignore);
    }
    stranger_.turn([this](const_bytes body) { overhear(body); });
  }
  void rounds(int count, duration each) {
    for (; count > 0; --count) {
      for (int polls = 4; polls > 0; --polls) poll_all();
      loopback::sleep_for(each);
    }
  }
  /// The stranger learns from hellos and accepts: numbers, nonces, the place of a ring.
  void overhear(const_bytes body) {
    if (const auto refused = wire::parse_refusal(body); refused)
      if (const auto asked = wire::parse_challenge(*refused); asked) challenge_ = asked;
    wire::introduction i;
    if (wire::parse(body, i) != wire::parse_verdict::good) return;
    overheard_.keep(i);
    if constexpr (!engine_type::connected)
      if (!i.address.empty()) stranger_.dial_address(address_bytes(i.address.begin(), i.address.end()));
  }

  // ---- one step
  void step() {
    switch (from_.below(30)) {
      case 0:
        return rounds(1, 10us);
      case 1:
        return rounds(2, 500us);
      case 2:
        return rounds(4, 5ms);
      case 3:
        return rounds(30, 10ms);
      case 4:
        return rounds(120, 10ms);
      case 5:
        return loopback::sleep_for(40ms);  // the victim's owner is away
      case 6:
      case 7:
        return send_honest();
      case 8:
        return post_to(some_peer());
      case 9:
        return post_to(some_peer());
      case 10:
        return victim_.close(some_peer());
      case 11:
        return victim_.answer(from_.flag());
      case 12:
        victim_.accepts_at_once = from_.flag();
        return;
      case 13:
        return call_out();
      case 14:
        victim_.leaves = from_.below(6);
        return;
      case 15:
        return exchange_region(some_peer());
      case 16:
        return dial_victim();
      case 17:
      case 18:
        return tell_as_liar();
      case 19:
        return write_as_liar();
      case 20:
        return stranger_.dial("victim", "7471");
      case 21:
      case 22:
        return greet();
      case 23:
      case 24:
        return send_as_stranger();
      case 25:
        return write_as_stranger();
      case 26:
        return write_cell();
      case 27:
        return stranger_.hang_up(from_.below(4));
      case 28:
        return cut_or_heal();
      default:
        return crash_liar();
    }
  }

  peer some_peer() {
    if (victim_.peers.empty() || from_.below(5) == 0) return victim_.honest;
    return victim_.peers[from_.below(static_cast<std::uint32_t>(victim_.peers.size()))];
  }

  // ---- the honest peer
  void send_honest() {
    if (posted_ == victim<F>::honest_messages) return;
    const std::uint64_t number = posted_, again = ~number;
    std::byte* const at = texts_.data() + number * victim<F>::honest_bytes;
    std::memcpy(at, &number, 8);
    std::memcpy(at + 8, &again, 8);
    if (honest_.send(honest_to_, texts_.slice(number * victim<F>::honest_bytes, victim<F>::honest_bytes), &posted_))
      ++posted_;
  }

  // ---- the victim's application
  void post_to(peer to) {
    const remote_region there(record_of_some_region());
    const local_memory text = victim_.own.slice(from_.below(64), from_.number<std::uint16_t>() % 1200);
    const remote_place at = there.at(from_.flag() ? from_.below(64) * 8U : from_.number<std::uint16_t>());
    auto& net = victim_.net;
    switch (from_.below(10)) {
      case 0:
        return victim_.post(to, [&](void* c) { return net.send(to, text, c); });
      case 1:
        return victim_.post(to, [&](void* c) { return net.put(to, text, at, c); });
      case 2:
        return victim_.post(to, [&](void* c) { return net.put_notify(to, text, at, 7U, c); });
      case 3:
        return victim_.post(to, [&](void* c) { return net.get(to, text, at, c); });
      case 4:
        return victim_.post(to, [&](void* c) { return net.fetch_add(to, at, 3, c); });
      case 5:
        return victim_.post(to, [&](void* c) { return net.flush(to, c); });
      case 6:
        (void)net.send(to, text);
        return;
      case 7:
        (void)net.put_notify(to, text, at, 9U);
        return;
      case 8: {
        auto group = net.coalesce(to);
        (void)group.send(victim_.own.slice(0, 24));
        (void)group.put(victim_.own.slice(0, 8), at);
        (void)group.close();
        return;
      }
      default:
        return victim_.post(to, [&](void* c) { return net.compare_swap(to, at, 0, 1, c); });
    }
  }
  wire::region_record record_of_some_region() {
    switch (from_.below(3)) {
      case 0:
        return wire::parse_region(honest_.export_region(texts_, owner_polls)).value();
      case 1: {
        wire::region_record r = known_.open;
        r.key = stranger_.memory_held.key;
        r.base = engine_type::shape::virtual_address ? reinterpret_cast<std::uintptr_t>(stranger_.memory.data()) : 0;
        return r;
      }
      default:
        return known_.open;  // no peer has this key
    }
  }
  void call_out() {
    if (auto p = victim_.net.start_connect(from_.flag() ? "stranger:7472" : "honest:1")) victim_.dialled.push_back(*p);
  }
  void exchange_region(peer with) {
    // An honest peer ends the connection of a side that sends more than 64 regions, so only hostile peers get them.
    if (from_.flag() && with != victim_.honest) (void)victim_.net.send_region(with, victim_.readable, owner_polls);
    else stranger_.read(from_.below(4), some_place(from_, known_), from_.number<std::uint16_t>());
  }

  // ---- the hostile peers
  wire::message_kind some_kind() { return static_cast<wire::message_kind>(from_.below(wire::message_kinds)); }
  /// The honest peer is the first one that the victim met: its record has index 0.
  wire::connection_word permitted(wire::connection_word w) const {
    const std::uint32_t number = w.number().value, generation = number >> index_bits;
    if (senders_are_proven<F> || number != generation << index_bits) return w;
    return wire::connection_word::of(wire::connection_number::of(1, generation, index_bits), w.proof());
  }
  wire::message_tag some_tag(wire::message_kind kind) {
    const wire::connection_word theirs = overheard_.words.own_word();
    switch (from_.below(5)) {
      case 0: {  // another record, or an earlier or later connection
        const std::uint32_t index = from_.below(8);
        const std::uint32_t generation = (theirs.number().value >> index_bits) + from_.below(3) - 1;
        const auto near = wire::connection_number::of(index, generation, index_bits);
        return wire::message_tag::of(kind, permitted(wire::connection_word::of(near, theirs.proof())));
      }
      case 1: {
        const wire::message_tag any{from_.number<std::uint64_t>()};
        return wire::message_tag::of(any.kind(), permitted(any.connection()));
      }
      case 2:  // a wrong proof
        return wire::message_tag::of(kind, {theirs.value ^ 1ULL << (32 + from_.below(32))});
      default:
        return wire::message_tag::of(kind, permitted(theirs));
    }
  }
  std::uint64_t some_nonce() {
    return from_.below(4) != 0 ? overheard_.words.nonce : from_.number<std::uint64_t>() | 1;
  }

  auto* liars_record() {
    typename engine_type::record* none = nullptr;
    return liar_ && liar_at_.alive() ? initiator_type::living(liar_at_) : none;
  }
  void tell_as_liar() {
    auto* const r = liars_record();
    if (r == nullptr) return;
    const wire::message_kind kind = some_kind();
    const auto body = some_body<F>(kind, from_, known_, liar_->own_address, some_nonce());
    if (body.size() > 700) return;  // a control buffer holds no more
    (void)liar_->tell(*r, kind, body);
  }
  void write_as_liar() {
    auto* const r = liars_record();
    if (r == nullptr) return;
    const remote_memory at = some_place(from_, known_);
    const std::size_t size = from_.below(64);
    std::byte* const text = stranger_.texts.data();  // never changed while it is read: the bytes do not matter
    if constexpr (engine_type::shape::local_descriptor) return;
    else if (engine_type::shape::write_immediate && from_.flag())
      (void)liar_->port->template write_immediate<post_mode::unsignalled>(r->link, {text, size, nullptr}, at,
                                                                          some_immediate(), nullptr);
    else (void)liar_->port->template write<post_mode::unsignalled>(r->link, {text, size, nullptr}, at, nullptr);
  }
  std::uint64_t some_immediate() {
    const auto tag = some_tag(wire::message_kind::user);
    return tag.word << 32 | from_.number<std::uint32_t>();
  }

  void greet() {
    const auto kind = from_.below(4) == 0 ? wire::message_kind::accept : wire::message_kind::hello;
    const auto body = some_introduction<F>(kind, from_, stranger_.net->address(), some_nonce(), challenge_);
    const bool tagged = kind == wire::message_kind::accept || from_.flag();
    stranger_.send(from_.below(4), tagged ? some_tag(kind) : wire::message_tag::of(kind, {}), body);
  }
  void send_as_stranger() {
    const wire::message_kind kind = some_kind();
    const auto body = some_body<F>(kind, from_, known_, stranger_.net->address(), some_nonce());
    stranger_.send(from_.below(4), some_tag(kind), body);
  }
  void write_as_stranger() {
    const std::uint32_t which = from_.below(4);
    const remote_memory at = some_place(from_, known_);
    const bool notifies = engine_type::shape::write_immediate && from_.flag();
    const std::uint64_t immediate = notifies ? some_immediate() : 0;
    stranger_.write(which, at, from_.take(from_.below(64)), notifies, immediate);
  }
  /// Into a ring whose place the victim gave: a watched cell, or an entry of a notification ring.
  void write_cell() {
    const wire::ring_place ring = overheard_.words.ring;
    const std::uint32_t number = from_.below(4) == 0 ? from_.below(64) : cells_++;
    const std::uint32_t which = from_.below(4);
    if constexpr (engine_type::watches_cells) {
      const auto cell = some_cell(from_, known_, overheard_.words.connection.value, number);
      const std::uint64_t end = wire::cell_ring_front + (number % wire::ring_cells + 1) * wire::cell_bytes;
      stranger_.write(which, {ring.address + end - cell.size(), ring.key}, cell, false, 0);
    } else if (ring.entries != 0) {
      const std::uint32_t words[] = {number + (from_.below(4) == 0 ? 0U : 1U), from_.number<std::uint32_t>()};
      stranger_.write(which, {ring.address + std::uint64_t{8} * (number % ring.entries), ring.key},
                      std::as_bytes(std::span(words)), false, 0);
    }
  }

  // ---- faults
  void cut_or_heal() {
    const char* const who = from_.flag() ? "liar" : "stranger";
    if (from_.flag()) world_.cut(who, "victim");
    else world_.heal(who, "victim");
  }
  void crash_liar() {
    if (!liar_ || from_.below(4) != 0) return;
    world_.crash("liar");
    liar_.reset();
    liar_at_ = {};
  }

  // ---- the end
  void settle() {
    world_.heal("liar", "victim");
    world_.heal("stranger", "victim");
    victim_.leaves = 0;
    for (int i = 0; i < 400 && !(i > 3 && victim_.all_ended() && victim_.has_all(posted_)); ++i) rounds(1, 5ms);
    require(victim_.has_all(posted_), "each message of the honest peer arrives");
    victim_.judge();
#if defined(WEFT_FUZZ_COUNTS_MEMORY)
    constexpr std::size_t most = std::size_t{64} << 20;
    require(__sanitizer_get_current_allocated_bytes() < most, "memory stays bounded");
#endif
  }

  choices& from_;
  bool liar_knows_;  ///< The secret, where this row has one.
  loopback::world world_;
  loopback::guest outside_;
  owned_region texts_;
  victim<F> victim_;
  transport<F> honest_;
  raw_port<F> stranger_;
  std::unique_ptr<engine_type> liar_;
  peer liar_at_;
  peer honest_to_;
  targets known_{};
  kept_introduction overheard_;
  std::optional<wire::challenge_nonce> challenge_;  ///< The last one that the stranger got.
  bool met_ = false;
  std::size_t posted_ = 0;
  std::uint32_t cells_ = 0;
};

template <class F>
void attack(const_bytes input) {
  (void)greeting_of<F>();
  choices from(input);
  play<F>(from).run();
}

}  // namespace weft::fuzz

#define WEFT_FUZZ_ATTACK(NAME, FABRIC)                     \
  namespace weft::fuzz::NAME {                             \
  void check(const_bytes input) { attack<FABRIC>(input); } \
  }                                                        \
  WEFT_FUZZ_TARGET(NAME)
#define WEFT_FUZZ_ATTACK_ON(ROW) WEFT_FUZZ_ATTACK(hostile_peer_##ROW, ROW##_row)
#define WEFT_FUZZ_ATTACK_ON_ROW(ROW) WEFT_FUZZ_ATTACK_ON(ROW)
WEFT_FUZZ_ATTACK_ON_ROW(WEFT_FUZZ_ROW)
