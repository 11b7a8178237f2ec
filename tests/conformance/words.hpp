// SPDX-License-Identifier: Apache-2.0
//
// Every atomic operation on every type of word, for each executor and each implementation. Random sequences agree with
// the processor's own arithmetic. Adjacent words do not disturb each other under contention. Words of one executor are
// refused to another. Hot path: no. Threads: one per side.
#pragma once

#include "two_sides.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>

namespace weft::conformance {

/// An operation: its call, and its effect.
struct named_operation {
  operation name;
  atomic_operation does;
  bool fetches;
};
inline constexpr std::array named_operations{
    named_operation{operation::fetch_add, atomic_operation::add, true},
    named_operation{operation::add, atomic_operation::add, false},
    named_operation{operation::swap, atomic_operation::swap, true},
    named_operation{operation::store, atomic_operation::swap, false},
    named_operation{operation::load, atomic_operation::read, true},
    named_operation{operation::fetch_min, atomic_operation::minimum, true},
    named_operation{operation::min, atomic_operation::minimum, false},
    named_operation{operation::fetch_max, atomic_operation::maximum, true},
    named_operation{operation::max, atomic_operation::maximum, false},
    named_operation{operation::compare_swap, atomic_operation::compare_swap, true},
    named_operation{operation::fetch_and, atomic_operation::bit_and, true},
    named_operation{operation::bit_and, atomic_operation::bit_and, false},
    named_operation{operation::fetch_or, atomic_operation::bit_or, true},
    named_operation{operation::bit_or, atomic_operation::bit_or, false},
    named_operation{operation::fetch_xor, atomic_operation::bit_xor, true},
    named_operation{operation::bit_xor, atomic_operation::bit_xor, false},
};
inline constexpr std::size_t operations_of_floating = 9;  // the first ones

template <atomic_number T, class Net, class Place>
status post_named(Net& net, peer to, const Place& at, operation name, T operand, T expected, void* context) {
  switch (name) {
    case operation::fetch_add:
      return net.template fetch_add<T>(to, at, operand, context);
    case operation::add:
      return net.template add<T>(to, at, operand, context);
    case operation::swap:
      return net.template swap<T>(to, at, operand, context);
    case operation::store:
      return net.template store<T>(to, at, operand, context);
    case operation::load:
      return net.template load<T>(to, at, context);
    case operation::fetch_min:
      return net.template fetch_min<T>(to, at, operand, context);
    case operation::min:
      return net.template min<T>(to, at, operand, context);
    case operation::fetch_max:
      return net.template fetch_max<T>(to, at, operand, context);
    case operation::max:
      return net.template max<T>(to, at, operand, context);
    default:
      break;
  }
  if constexpr (atomic_integer<T>) {
    switch (name) {
      case operation::compare_swap:
        return net.template compare_swap<T>(to, at, expected, operand, context);
      case operation::fetch_and:
        return net.template fetch_and<T>(to, at, operand, context);
      case operation::bit_and:
        return net.template bit_and<T>(to, at, operand, context);
      case operation::fetch_or:
        return net.template fetch_or<T>(to, at, operand, context);
      case operation::bit_or:
        return net.template bit_or<T>(to, at, operand, context);
      case operation::fetch_xor:
        return net.template fetch_xor<T>(to, at, operand, context);
      case operation::bit_xor:
        return net.template bit_xor<T>(to, at, operand, context);
      default:
        break;
    }
  }
  return error(errc::unsupported, name_of(name));
}

/// Numbers where arithmetic goes wrong, and others. Floating-point numbers are small and whole, so their sums are
/// exact.
template <atomic_number T>
T draw_number(test_side& side) {
  using bounds = std::numeric_limits<T>;
  if constexpr (!atomic_integer<T>) return static_cast<T>(static_cast<int>(side.below(2001)) - 1000) / T{4};
  else switch (side.below(6)) {
      case 0:
        return bounds::max();
      case 1:
        return bounds::min();
      case 2:
        return static_cast<T>(side.below(3));
      case 3:
        return static_cast<T>(-static_cast<std::int64_t>(side.below(3)));
      default:
        return static_cast<T>(side.draw());
    }
}

/// The processor's own result. The model uses none of weft's arithmetic.
template <atomic_number T>
T by_processor(atomic_operation what, T there, T operand, T expected) {
  std::atomic<T> word{there};
  switch (what) {
    case atomic_operation::add:
      word.fetch_add(operand);
      break;
    case atomic_operation::swap:
      word.store(operand);
      break;
    case atomic_operation::minimum:
      word.store(std::min(there, operand));
      break;
    case atomic_operation::maximum:
      word.store(std::max(there, operand));
      break;
    default:
      break;
  }
  if constexpr (atomic_integer<T>) {
    if (what == atomic_operation::compare_swap) (void)word.compare_exchange_strong(expected, operand);
    if (what == atomic_operation::bit_and) word.fetch_and(operand);
    if (what == atomic_operation::bit_or) word.fetch_or(operand);
    if (what == atomic_operation::bit_xor) word.fetch_xor(operand);
  }
  return word.load();
}

/// Sequences of random operations on a few words, each compared with the model. Afterwards `image` has the model's
/// bytes.
template <class Net, class Place>
struct modelled_words {
  test_side& side;
  Net& net;
  observer& seen;
  peer to;
  Place (*place_of)(const void* region, std::uint64_t offset);
  const void* there;
  std::array<std::byte, 64> image{};

  template <atomic_number T>
  void run(int count) {
    constexpr std::size_t kinds = atomic_integer<T> ? named_operations.size() : operations_of_floating;
    const std::size_t first =
        8 * (static_cast<std::size_t>(type_of<T>) - 1);  // 8 bytes for each type: one word, or two
    T last{};
    for (int i = 0; i < count; ++i) {
      const std::size_t at = first + sizeof(T) * side.below(8 / sizeof(T));
      const named_operation& what =
          named_operations[i < static_cast<int>(2 * kinds) ? static_cast<std::size_t>(i) % kinds : side.below(kinds)];
      T before{};
      std::memcpy(&before, image.data() + at, sizeof before);
      const T operand = draw_number<T>(side);
      const T expected = side.below(2) == 0 ? before : last;
      const std::uint64_t ended = seen.completions;
      push(side, net, seen, name_of(what.name),
           [&] { return post_named<T>(net, to, place_of(there, at), what.name, operand, expected, this); });
      await(side, net, seen, "its completion", [&] { return seen.completions == ended + 1; });
      if (what.fetches) {
        ASSERT_TRUE(seen.old.template holds<T>()) << name_of(what.name);
        ASSERT_EQ(std::memcmp(image.data() + at, std::array{seen.old.template as<T>()}.data(), sizeof(T)), 0)
            << name_of(what.name) << " of type " << static_cast<int>(type_of<T>) << " returned "
            << seen.old.template as<T>() << ", not " << before;
      }
      last = by_processor<T>(what.does, before, operand, expected);
      std::memcpy(image.data() + at, &last, sizeof last);
    }
  }
  void run_all(int count) {
    run<std::int32_t>(count);
    run<std::uint32_t>(count);
    run<std::int64_t>(count);
    run<std::uint64_t>(count);
    run<float>(count);
    run<double>(count);
  }
};

inline std::uint64_t word_bits(const region& r, std::size_t offset) {
  std::uint64_t value = 0;
  std::memcpy(&value, r.data() + offset, std::min<std::size_t>(sizeof value, r.size() - offset));
  return value;
}
inline std::size_t first_difference(const_bytes a, const_bytes b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

template <class Environment>
class words_of_peers : public suite<Environment> {};
TYPED_TEST_SUITE_P(words_of_peers);

TYPED_TEST_P(words_of_peers, each_operation_on_each_type_gives_the_result_of_the_processor) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr int count = 48;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::remote_atomic);
        auto counted = host.net.template allocate_words<atomicity::target>(64, rights::remote_atomic).value();
        side.send_value(1, const_bytes(host.net.export_region(counted, owner_polls)));
        for (const region& r : {host.region, static_cast<const region&>(counted)}) {
          const auto image = serve_for_value(side, host.net, host.seen, 1);
          ASSERT_EQ(image.size(), r.size());
          EXPECT_EQ(first_difference(image, r.memory()), image.size());
        }
        EXPECT_EQ(counted.template word<std::int32_t>(4).fetch_add(0),
                  from_bits<std::int32_t>(word_bits(counted, 4) & 0xffff'ffffU));
        side.ready(1);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64);
        const auto counted =
            guest.net.template parse_words<atomicity::target>(serve_for_value(side, guest.net, guest.seen, 0)).value();
        modelled_words<transport<fabric>, remote_place> usual{
            side,
            guest.net,
            guest.seen,
            guest.other,
            [](const void* r, std::uint64_t o) { return static_cast<const remote_region*>(r)->at(o); },
            &guest.there};
        usual.run_all(count);
        side.send_value(0, const_bytes(usual.image));
        using counted_words = remote_words<atomicity::target>;
        modelled_words<transport<fabric>, remote_word<atomicity::target>> by_target{
            side,
            guest.net,
            guest.seen,
            guest.other,
            [](const void* r, std::uint64_t o) { return static_cast<const counted_words*>(r)->at(o); },
            &counted};
        by_target.run_all(count);
        side.send_value(0, const_bytes(by_target.image));
        (void)serve_for_value(side, guest.net, guest.seen, 0);
      });
}

TYPED_TEST_P(words_of_peers, adjacent_words_of_4_bytes_do_not_disturb_each_other) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr int count = 100;
  const auto adder = [](test_side& side) {
    auto net = opened<fabric>(side);
    observer seen;
    const peer p = meet_as_caller(side, net, seen);
    const auto there = net.parse_region(serve_for_value(side, net, seen, 0)).value();
    std::int64_t largest = 0;
    seen.on_completed = [&](const completed& c) {
      if (c.what == operation::fetch_max) largest = std::max<std::int64_t>(largest, c.old.template as<std::int64_t>());
    };
    for (int i = 1; i <= count; ++i) {
      push(side, net, seen, "add", [&] { return net.template add<std::int32_t>(p, there.at(0), -1, &seen); });
      push(side, net, seen, "fetch_add",
           [&] { return net.template fetch_add<std::uint32_t>(p, there.at(4), 3, &seen); });
      push(side, net, seen, "fetch_max",
           [&] { return net.template fetch_max<std::int64_t>(p, there.at(8), i * side.number(), &seen); });
      push(side, net, seen, "add", [&] { return net.template add<double>(p, there.at(16), 0.25, &seen); });
    }
    await(
        side, net, seen, "all completions", [&] { return seen.completions == 4 * count; }, patience * 2);
    EXPECT_LE(largest, 2 * count);
    side.ready(0);
    serve(side, net, seen, 0);
  };
  TestFixture::play(
      {},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        observer seen;
        auto page = net.allocate(24, rights::remote_atomic).value();
        for (int k : {1, 2}) side.send_value(k, net.listen_address());
        seen.on_requested = [&](const requested& r) { EXPECT_TRUE(net.accept(r.peer)); };
        await(side, net, seen, "both initiators", [&] { return seen.requests == 2; });
        for (int k : {1, 2}) side.send_value(k, const_bytes(net.export_region(page, owner_polls)));
        for (int k : {1, 2}) (void)serve_for_value(side, net, seen, k);
        EXPECT_EQ(from_bits<std::int32_t>(word_bits(page, 0) & 0xffff'ffffU), -2 * count);
        EXPECT_EQ(word_bits(page, 0) >> 32, 2U * 3 * count);
        EXPECT_EQ(word_bits(page, 8), 2U * count);
        EXPECT_EQ(from_bits<double>(word_bits(page, 16)), 0.25 * 2 * count);
        for (int k : {1, 2}) side.ready(k);
      },
      adder, adder);
}

TYPED_TEST_P(words_of_peers, each_word_has_one_executor) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        target_side<fabric> host(side, 64, rights::all);
        auto counted = host.net.template allocate_words<atomicity::target>(64, rights::all).value();
        auto own = host.net.template allocate_words<atomicity::processor>(64, rights::remote_read).value();
        side.send_value(1, const_bytes(host.net.export_region(counted, owner_polls)));
        side.send_value(1, const_bytes(host.net.export_region(own, owner_polls)));
        own.template word<std::uint64_t>(8).store(7);
        const auto refused = host.net.template allocate_words<atomicity::processor>(64, rights::remote_atomic);
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().sentence.find("counted by their owner alone"), std::string::npos)
            << refused.error().sentence;
        alignas(8) std::array<std::byte, 32> odd{};
        const auto crooked = host.net.register_region(bytes(odd).subspan(4, 16), rights::remote_atomic);
        ASSERT_FALSE(crooked);
        EXPECT_NE(crooked.error().sentence.find("multiple of 8"), std::string::npos) << crooked.error().sentence;
        (void)serve_for_value(side, host.net, host.seen, 1);
        for (const std::byte b : host.region.memory()) EXPECT_EQ(b, std::byte{});
        for (const std::byte b : counted.memory()) EXPECT_EQ(b, std::byte{});
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 64);
        auto& net = guest.net;
        const auto raw = serve_for_value(side, net, guest.seen, 0);
        const auto own = serve_for_value(side, net, guest.seen, 0);
        const auto counted = net.template parse_words<atomicity::target>(raw).value();
        if constexpr (usual_atomicity<fabric> == atomicity::provider) {
          const auto other = net.parse_region(raw);
          ASSERT_FALSE(other);
          EXPECT_NE(other.error().sentence.find("parse_words<atomicity::target> is right"), std::string::npos)
              << other.error().sentence;
        }
        EXPECT_FALSE(net.parse_region(own));
        EXPECT_FALSE(net.template parse_words<atomicity::target>(own));
        EXPECT_TRUE(net.template parse_words<atomicity::processor>(own));
        const remote_place bytes_only = counted.at(0);
        EXPECT_EQ(net.fetch_add(guest.other, bytes_only, 1, &guest).code, errc::denied);
        for (const std::uint64_t offset : {1U, 2U, 6U}) {
          EXPECT_EQ(net.template add<std::int32_t>(guest.other, counted.at(offset), 1, &guest).code, errc::invalid)
              << offset;
          EXPECT_EQ(net.template add<float>(guest.other, guest.there.at(offset), 1, &guest).code, errc::invalid)
              << offset;
        }
        EXPECT_EQ(net.template add<double>(guest.other, counted.at(4), 1, &guest).code, errc::invalid);
        EXPECT_EQ(net.template add<std::int32_t>(guest.other, counted.at(64), 1, &guest).code, errc::out_of_range);
        EXPECT_EQ(net.template add<std::int32_t>(guest.other, guest.there.at(64), 1, &guest).code, errc::out_of_range);
        EXPECT_EQ(net.store(guest.other, counted.at(60), 1, &guest).code, errc::out_of_range);
        await(side, net, guest.seen, "nothing in flight", [&] { return net.in_flight() == 0; });
        side.ready(0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(words_of_peers, each_operation_on_each_type_gives_the_result_of_the_processor,
                            adjacent_words_of_4_bytes_do_not_disturb_each_other, each_word_has_one_executor);

}  // namespace weft::conformance
