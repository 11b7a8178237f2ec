// SPDX-License-Identifier: Apache-2.0
//
// Each call of fi_atomic(3), and every type and operation that the provider says it has.
#include "pair.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

namespace weft::calls {
namespace {

class atomics : public pair {
 public:
  /// Elements of one operation that the test uses; 0 where the provider does not have it.
  std::size_t count(fi_datatype type, fi_op operation, std::uint64_t flags) {
    fi_atomic_attr about{};
    if (fi_query_atomic(domain, type, operation, &about, flags) != 0) return 0;
    EXPECT_GT(about.count, 0U);
    return std::min<std::size_t>(about.count, 3);
  }
  template <class Value>
  Value* values(side& of, std::size_t offset = 0) {
    return reinterpret_cast<Value*>(of.at(offset));
  }
};

constexpr std::size_t results = 1024;
constexpr std::size_t expected = 2048;

TEST_F(atomics, each_call_changes_the_target) {
  WEFT_OPEN(.caps = FI_MSG | FI_RMA | FI_ATOMIC, .transmit_flags = FI_DELIVERY_COMPLETE);
  auto* const operand = values<std::uint64_t>(a);
  auto* const result = values<std::uint64_t>(a, results);
  auto* const compared = values<std::uint64_t>(a, expected);
  auto* const target = values<std::uint64_t>(b);
  void* descriptor = a.descriptor();
  fi_ioc one{operand, 1};
  fi_ioc into{result, 1};
  fi_ioc known{compared, 1};
  fi_rma_ioc place{base(b), 1, key(b)};
  fi_msg_atomic message{};
  message.msg_iov = &one;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = a.other;
  message.rma_iov = &place;
  message.rma_iov_count = 1;
  message.datatype = FI_UINT64;
  enum class kind { change, fetch, compare };
  struct call {
    const char* name;
    kind what;
    std::function<ssize_t(void*)> post;
  };
  const fi_addr_t to = a.other;
  const auto message_of = [&](fi_op operation, void* c) -> const fi_msg_atomic* {
    message.op = operation;
    message.context = c;
    return &message;
  };
  constexpr std::uint64_t flags = FI_COMPLETION | FI_DELIVERY_COMPLETE;
  const std::vector<call> calls{
      {"atomic", kind::change,
       [&](void* c) { return fi_atomic(a.ep, operand, 1, descriptor, to, base(b), key(b), FI_UINT64, FI_SUM, c); }},
      {"atomicv", kind::change,
       [&](void* c) { return fi_atomicv(a.ep, &one, &descriptor, 1, to, base(b), key(b), FI_UINT64, FI_SUM, c); }},
      {"atomicmsg", kind::change, [&](void* c) { return fi_atomicmsg(a.ep, message_of(FI_SUM, c), flags); }},
      {"fetch_atomic", kind::fetch,
       [&](void* c) {
         return fi_fetch_atomic(a.ep, operand, 1, descriptor, result, descriptor, to, base(b), key(b), FI_UINT64,
                                FI_SUM, c);
       }},
      {"fetch_atomicv", kind::fetch,
       [&](void* c) {
         return fi_fetch_atomicv(a.ep, &one, &descriptor, 1, &into, &descriptor, 1, to, base(b), key(b), FI_UINT64,
                                 FI_SUM, c);
       }},
      {"fetch_atomicmsg", kind::fetch,
       [&](void* c) { return fi_fetch_atomicmsg(a.ep, message_of(FI_SUM, c), &into, &descriptor, 1, flags); }},
      {"compare_atomic", kind::compare,
       [&](void* c) {
         return fi_compare_atomic(a.ep, operand, 1, descriptor, compared, descriptor, result, descriptor, to, base(b),
                                  key(b), FI_UINT64, FI_CSWAP, c);
       }},
      {"compare_atomicv", kind::compare,
       [&](void* c) {
         return fi_compare_atomicv(a.ep, &one, &descriptor, 1, &known, &descriptor, 1, &into, &descriptor, 1, to,
                                   base(b), key(b), FI_UINT64, FI_CSWAP, c);
       }},
      {"compare_atomicmsg", kind::compare, [&](void* c) {
         return fi_compare_atomicmsg(a.ep, message_of(FI_CSWAP, c), &known, &descriptor, 1, &into, &descriptor, 1,
                                     flags);
       }}};
  for (const call& each : calls) {
    SCOPED_TRACE(each.name);
    *operand = 5;
    *compared = 1000;
    *result = 0;
    *target = 1000;
    void* with = context();
    ASSERT_EQ(post([&] { return each.post(with); }), 0);
    EXPECT_EQ(entry(a).op_context, with);
    EXPECT_TRUE(until([&] { return *target == (each.what == kind::compare ? 5U : 1005U); })) << *target;
    if (each.what != kind::change) {
      EXPECT_EQ(*result, 1000U);
    }
  }
  *operand = 5;
  if (info->tx_attr->inject_size >= sizeof(std::uint64_t)) {
    *target = 1000;
    ASSERT_EQ(post([&] { return fi_inject_atomic(a.ep, operand, 1, to, base(b), key(b), FI_UINT64, FI_SUM); }), 0);
    EXPECT_TRUE(until([&] { return *target == 1005U; }));
  }
  EXPECT_TRUE(quiet());
}

TEST_F(atomics, questions_agree) {
  WEFT_OPEN(.caps = FI_MSG | FI_RMA | FI_ATOMIC);
  for (int type = FI_INT8; type <= FI_LONG_DOUBLE_COMPLEX; ++type)
    for (int operation = FI_MIN; operation <= FI_MSWAP; ++operation) {
      const auto t = static_cast<fi_datatype>(type);
      const auto o = static_cast<fi_op>(operation);
      fi_atomic_attr about{};
      std::size_t valid = 0;
      EXPECT_EQ(fi_query_atomic(domain, t, o, &about, 0) == 0, fi_atomicvalid(a.ep, t, o, &valid) == 0);
      EXPECT_EQ(fi_query_atomic(domain, t, o, &about, FI_FETCH_ATOMIC) == 0,
                fi_fetch_atomicvalid(a.ep, t, o, &valid) == 0);
      EXPECT_EQ(fi_query_atomic(domain, t, o, &about, FI_COMPARE_ATOMIC) == 0,
                fi_compare_atomicvalid(a.ep, t, o, &valid) == 0);
    }
}

/// One type: what each operation makes of 6 (at the target), 3 (operand) and 6 (compared).
template <class Value>
void try_type(atomics& with, fi_datatype type, const std::function<ssize_t(std::function<ssize_t()>)>& post,
              const std::function<void()>& wait) {
  struct outcome {
    fi_op operation;
    Value value;
  };
  std::vector<outcome> all{
      {FI_SUM, Value(9)},      {FI_PROD, Value(18)},       {FI_LOR, Value(1)},          {FI_LAND, Value(1)},
      {FI_LXOR, Value(0)},     {FI_ATOMIC_READ, Value(6)}, {FI_ATOMIC_WRITE, Value(3)}, {FI_CSWAP, Value(3)},
      {FI_CSWAP_NE, Value(6)}, {FI_MIN, Value(3)},         {FI_MAX, Value(6)},          {FI_BOR, Value(7)},
      {FI_BAND, Value(2)},     {FI_BXOR, Value(5)},        {FI_CSWAP_LE, Value(3)},     {FI_CSWAP_LT, Value(6)},
      {FI_CSWAP_GE, Value(3)}, {FI_CSWAP_GT, Value(6)},    {FI_MSWAP, Value(2)}};
  for (const outcome& each : all) {
    const bool compares = each.operation >= FI_CSWAP;
    const std::size_t n = with.count(type, each.operation, compares ? FI_COMPARE_ATOMIC : FI_FETCH_ATOMIC);
    if (n == 0) continue;
    SCOPED_TRACE("operation " + std::to_string(each.operation) + " on type " + std::to_string(type));
    auto* const operand = with.values<Value>(with.a);
    auto* const result = with.values<Value>(with.a, results);
    auto* const compared = with.values<Value>(with.a, expected);
    auto* const target = with.values<Value>(with.b);
    std::fill(operand, operand + n, Value(3));
    std::fill(compared, compared + n, Value(6));
    std::fill(target, target + n, Value(6));
    std::fill(result, result + n, Value(0));
    void* descriptor = with.a.descriptor();
    void* context = with.context();
    const auto call = [&]() -> ssize_t {
      return compares
                 ? fi_compare_atomic(with.a.ep, operand, n, descriptor, compared, descriptor, result, descriptor,
                                     with.a.other, with.base(with.b), with.key(with.b), type, each.operation, context)
                 : fi_fetch_atomic(with.a.ep, operand, n, descriptor, result, descriptor, with.a.other,
                                   with.base(with.b), with.key(with.b), type, each.operation, context);
    };
    ASSERT_EQ(post(call), 0);
    wait();
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(target[i], each.value);
      EXPECT_EQ(result[i], Value(6));
    }
  }
}

TEST_F(atomics, every_type_and_operation_of_the_provider_is_exact) {
  WEFT_OPEN(.caps = FI_MSG | FI_RMA | FI_ATOMIC, .transmit_flags = FI_DELIVERY_COMPLETE);
  const auto poster = [&](const std::function<ssize_t()>& call) { return post(call); };
  const auto wait = [&] { (void)entry(a); };
  try_type<std::int8_t>(*this, FI_INT8, poster, wait);
  try_type<std::uint8_t>(*this, FI_UINT8, poster, wait);
  try_type<std::int16_t>(*this, FI_INT16, poster, wait);
  try_type<std::uint16_t>(*this, FI_UINT16, poster, wait);
  try_type<std::int32_t>(*this, FI_INT32, poster, wait);
  try_type<std::uint32_t>(*this, FI_UINT32, poster, wait);
  try_type<std::int64_t>(*this, FI_INT64, poster, wait);
  try_type<std::uint64_t>(*this, FI_UINT64, poster, wait);
  try_type<float>(*this, FI_FLOAT, poster, wait);
  try_type<double>(*this, FI_DOUBLE, poster, wait);
  try_type<long double>(*this, FI_LONG_DOUBLE, poster, wait);
  try_type<std::complex<float>>(*this, FI_FLOAT_COMPLEX, poster, wait);
  try_type<std::complex<double>>(*this, FI_DOUBLE_COMPLEX, poster, wait);
  try_type<std::complex<long double>>(*this, FI_LONG_DOUBLE_COMPLEX, poster, wait);
}

}  // namespace
}  // namespace weft::calls
