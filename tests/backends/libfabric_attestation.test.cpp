// SPDX-License-Identifier: Apache-2.0
//
// Each fact that open() compares is falsified in both directions. The emulator's provider returns one false attribute
// (WEFT_EMULATOR_REPLY), and open() must refuse with the fact and both values, or accept where more is harmless.
// The tests come from the list of compared facts. A new fact without falsifications fails.
#include "../../core/error.hpp"
#include "attested_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

namespace weft::testing {
namespace {

using backends::libfabric::built_with;
using backends::libfabric::compared_facts;
using backends::libfabric::printed;
using backends::libfabric::request;
using backends::libfabric::running_with;

/// Less: the provider offers less than the row, or lacks what the row has. More: it offers more, or needs more.
enum class direction { less, more };

/// How open() ends.
struct ending {
  std::string refusal;      ///< "" where it opened.
  std::string differences;  ///< Accepted ones.
  bool broken = false;
};

template <class Row, std::uint32_t Receives = 64>
ending open_as(const std::string& reply, on_difference chosen) {
  setenv("WEFT_EMULATOR_REPLY", reply.c_str(), 1);
  const auto opened = backends::libfabric::port<Row>::open({.receives = Receives, .on_difference = chosen});
  if (opened) return {"", (*opened)->limits().differences, false};
  return {opened.error().sentence, "", opened.error().why.code == errc::broken};
}
using opener = ending (*)(const std::string& reply, on_difference chosen);

constexpr int finds_nothing = -1;  // The library refuses: no comparison takes place.

struct falsification {
  std::string_view fact;
  direction to;
  opener open;
  std::string truth;  ///< A reply that agrees with the row: it opens. "-": no such reply here.
  std::string lie;
  std::string refused_with;  ///< After the fact's name. "": accepted.
  int others = 0;            ///< Other facts that the same attribute shows, or `finds_nothing`.
};

std::string reply(const char* attribute, std::uint64_t value) {
  return std::string(attribute) + "=" + std::to_string(value);
}
std::string regions(std::uint64_t bits) { return reply("domain_attr.mr_mode", FI_MR_ALLOCATED | bits); }
std::string key_size(std::uint64_t bytes) { return reply("domain_attr.mr_key_size", bytes); }
std::string type(fi_ep_type is) { return reply("ep_attr.type", is); }
std::string largest(std::uint64_t bytes) { return reply("ep_attr.max_msg_size", bytes); }
std::string progress(fi_progress by) { return reply("domain_attr.data_progress", by); }
std::string pieces(std::uint64_t number) { return reply("tx_attr.iov_limit", number); }
std::string flag(bool asked) {
  return asked ? ": asked yes, returned no, baked yes" : ": asked no, returned yes, baked no";
}
std::string least(std::uint64_t asked, std::uint64_t returned) {
  return ": asked at least " + std::to_string(asked) + ", returned " + std::to_string(returned) + ", baked " +
         std::to_string(asked);
}
std::string bits(std::uint64_t asked, std::uint64_t returned) {
  return ": asked " + std::to_string(asked) + ", returned " + std::to_string(returned) + ", baked " +
         std::to_string(asked);
}

constexpr std::uint64_t base_caps = FI_MSG | FI_RMA;
constexpr std::uint64_t all_order = FI_ORDER_SAS | FI_ORDER_SAW | FI_ORDER_WAW;

// Facts with another value than the plain row has.
constexpr auto later = [](fabric_facts f) { return f.since = {99, 0}, f; };
constexpr auto earlier = [](fabric_facts f) { return f.until = {1, 15}, f; };
constexpr auto named = [](fabric_facts f) { return f.fabric_name = "attested-one", f; };
constexpr auto connected = [](fabric_facts f) { return f.endpoint_type = endpoint_type::connected, f; };
constexpr auto by_socket = [](fabric_facts f) { return f.address_resolution = address_resolution::socket, f; };
constexpr auto context_32 = [](fabric_facts f) { return f.context_bytes = 32, f; };
constexpr auto context_64 = [](fabric_facts f) { return f.context_bytes = 64, f; };
constexpr auto takes_turns = [](fabric_facts f) { return f.order_send_after_send = false, f; };
constexpr auto by_thread = [](fabric_facts f) { return f.data_progress = data_progress::thread, f; };
constexpr auto by_hardware = [](fabric_facts f) { return f.data_progress = data_progress::hardware, f; };
constexpr auto small_writes = [](fabric_facts f) { return f.largest_write = 4096, f; };
constexpr auto small_messages = [](fabric_facts f) { return f.largest_message = 4096, f; };
constexpr auto no_bound = [](fabric_facts f) { return f.largest_message = f.largest_write = unlimited, f; };
constexpr auto single_pieces = [](fabric_facts f) { return f.gather_limit = f.rma_gather_limit = 1, f; };

/// libfabric compares the names itself since 2.0, and then finds nothing.
falsification wrong_name(direction to, const std::string& returned, const std::string& printed_as) {
  const std::string known = "fabric_attr.name=attested-one", lie = "fabric_attr.name=" + returned;
  const opener open = open_as<with_facts<named>>;
  if (running_with() >= library_version{2, 0})
    return {"fabric_name", to, open, known, lie, ": \"attested-one\" (it returns " + returned + ")", finds_nothing};
  return {"fabric_name", to, open, known, lie, ": asked attested-one, returned " + printed_as + ", baked attested-one"};
}

std::vector<falsification> of_identity() {
  const auto [less, more] = std::array{direction::less, direction::more};
  const opener plain = open_as<attested_row>;
  const std::string library = ": asked " + printed(built_with) + ", returned " + printed(running_with()) + ", baked ";
  return {
      // No provider decides the library's release, so the row is false here.
      {"library version", less, open_as<with_facts<later>>, "-", "", library + "from 99.0 to before any later"},
      {"library version", more, open_as<with_facts<earlier>>, "-", "", library + "from 1.15 to before 1.15"},
      {"provider", less, plain, "", "fabric_attr.prov_name=", ": asked attested, returned ;attested, baked attested"},
      {"provider", more, plain, "", "fabric_attr.prov_name=layer",
       ": asked attested, returned layer;attested, baked attested"},
      wrong_name(less, "", "none"),
      wrong_name(more, "another", "another"),
      {"fabric_name", more, plain, "", "fabric_attr.name=another", ""},
      {"endpoint_type", less, open_as<with_facts<connected>>, "-", type(FI_EP_RDM),
       ": asked connected, returned addressed, baked connected"},
      {"endpoint_type", more, plain, type(FI_EP_RDM), type(FI_EP_MSG),
       ": asked addressed, returned connected, baked addressed"},
      {"endpoint_type", less, plain, type(FI_EP_RDM), type(FI_EP_DGRAM),
       ": asked addressed, returned datagrams, baked addressed"},
      {"address_resolution socket", less, open_as<with_facts<by_socket>>, reply("addr_format", FI_SOCKADDR_IN),
       reply("addr_format", FI_ADDR_PSMX2), flag(true)},
      {"address_resolution socket", less, open_as<with_facts<by_socket>>, reply("addr_format", FI_SOCKADDR_IN6),
       reply("addr_format", FI_FORMAT_UNSPEC), ""},  // such providers name no format
      {"address_resolution socket", more, plain, reply("addr_format", FI_ADDR_PSMX2),
       reply("addr_format", FI_SOCKADDR_IN), flag(false)},
  };
}

std::vector<falsification> of_memory() {
  const auto [less, more] = std::array{direction::less, direction::more};
  const opener plain = open_as<attested_row>;
  const std::string provider_keys = regions(FI_MR_PROV_KEY) + ",";
  return {
      {"virtual_addressing", less, open_as<by_pointer>, regions(FI_MR_VIRT_ADDR), regions(0), flag(true)},
      {"virtual_addressing", more, plain, regions(0), regions(FI_MR_VIRT_ADDR), flag(false), 1},
      {"key_owner provider", less, open_as<provider_keyed>, regions(FI_MR_PROV_KEY), regions(0), flag(true)},
      {"key_owner provider", more, plain, regions(0), regions(FI_MR_PROV_KEY), flag(false), 1},
      {"local_registration", less, open_as<described>, regions(FI_MR_LOCAL), regions(0), flag(true)},
      {"local_registration", more, plain, regions(0), regions(FI_MR_LOCAL), flag(false), 1},
      {"region_endpoint_binding", less, open_as<bound>, regions(FI_MR_ENDPOINT), regions(0), flag(true)},
      {"region_endpoint_binding", more, plain, regions(0), regions(FI_MR_ENDPOINT), flag(false), 1},
      // A provider that can use any memory needs no allocated one.
      {"mr_mode", less, plain, regions(0), reply("domain_attr.mr_mode", 0), ""},
      {"mr_mode", more, plain, regions(0), regions(FI_MR_RAW), bits(FI_MR_ALLOCATED, FI_MR_ALLOCATED | FI_MR_RAW)},
      {"mr_mode", more, plain, regions(0), regions(1U << 0U),
       ": asked modern bits, returned FI_MR_BASIC, baked modern bits"},
      // Keys of the application must fit into the provider's width.
      {"key_bytes", less, plain, key_size(8), key_size(4), ": asked any, returned 4, baked 8"},
      {"key_bytes", more, plain, key_size(8), key_size(16), ""},
      // Keys of the provider must fit into the width of the wire format.
      {"key_bytes", less, open_as<provider_keyed>, provider_keys + key_size(8), provider_keys + key_size(4), ""},
      {"key_bytes", more, open_as<provider_keyed>, provider_keys + key_size(8), provider_keys + key_size(16),
       ": asked any, returned 16, baked 8"},
  };
}

/// One capability that a row needs and the reply lacks.
template <class Row>
falsification without(std::uint64_t capability) {
  constexpr std::uint64_t asked = request<Row>::caps;
  return {"capabilities",
          direction::less,
          open_as<Row>,
          reply("caps", asked),
          reply("caps", asked & ~capability),
          bits(asked, asked & ~capability)};
}
/// An order that a row needs, and that the reply lacks at the transmitting or at the receiving side.
template <class Row>
void add_order(std::vector<falsification>& all, std::string_view fact, std::uint64_t order, opener without_need) {
  for (const char* side : {"tx_attr.msg_order", "rx_attr.msg_order"})
    all.push_back(
        {fact, direction::less, open_as<Row>, reply(side, all_order), reply(side, all_order & ~order), flag(true)});
  all.push_back({fact, direction::more, without_need, reply("tx_attr.msg_order", all_order & ~order),
                 reply("tx_attr.msg_order", all_order), ""});
}

std::vector<falsification> of_operations() {
  const auto [less, more] = std::array{direction::less, direction::more};
  const opener plain = open_as<attested_row>;
  const auto mode = [](std::uint64_t needs) { return reply("mode", needs); };
  const auto immediates = [](std::uint64_t bytes) { return reply("domain_attr.cq_data_size", bytes); };
  const auto context = [](const char* asked, const char* returned) {
    return std::string(": asked ") + asked + ", returned " + returned + ", baked " + asked;
  };
  std::vector<falsification> all{
      {"mode bits", less, open_as<with_facts<context_64>>, mode(FI_CONTEXT2), mode(0), ""},
      {"mode bits", more, plain, mode(0), mode(FI_MSG_PREFIX), bits(0, FI_MSG_PREFIX)},
      {"mode bits", more, plain, mode(0), mode(FI_ASYNC_IOV), bits(0, FI_ASYNC_IOV)},
      {"mode bits", more, open_as<with_facts<single_pieces>>, mode(0), mode(FI_ASYNC_IOV), ""},
      {"context_bytes", less, open_as<with_facts<context_64>>, mode(FI_CONTEXT2), mode(FI_CONTEXT), ""},
      {"context_bytes", less, open_as<with_facts<context_32>>, mode(FI_CONTEXT), mode(0), ""},
      {"context_bytes", more, plain, mode(0), mode(FI_CONTEXT), context("0", "32"), 1},
      {"context_bytes", more, plain, mode(0), mode(FI_CONTEXT2), context("0", "64"), 1},
      {"context_bytes", more, open_as<with_facts<context_32>>, mode(FI_CONTEXT), mode(FI_CONTEXT2), context("32", "64"),
       1},
      {"write_immediate_consumes_receive", less, open_as<reserving>, mode(FI_RX_CQ_DATA), mode(0), flag(true)},
      {"write_immediate_consumes_receive", more, plain, mode(0), mode(FI_RX_CQ_DATA), flag(false), 1},
      {"immediate bytes", less, plain, immediates(8), immediates(4), least(8, 4)},
      {"immediate bytes", more, plain, immediates(8), immediates(16), ""},
      without<attested_row>(FI_MSG),
      without<attested_row>(FI_RMA),
      without<counting>(FI_RMA_EVENT),
      without<many_in_one>(FI_MULTI_RECV),
      without<atomic_row<plain_atomics>>(FI_ATOMIC),
      {"capabilities", more, plain, reply("caps", base_caps), reply("caps", base_caps | FI_TAGGED | FI_ATOMIC), ""},
      {"shared_receives", less, open_as<pooled>, "-", reply("ep_attr.rx_ctx_cnt", 1), flag(true)},
      // An endpoint that waits for a shared pool takes no receives of its own.
      {"shared_receives", more, plain, reply("ep_attr.rx_ctx_cnt", 1), reply("ep_attr.rx_ctx_cnt", FI_SHARED_CONTEXT),
       flag(false)},
      {"data_progress", less, open_as<with_facts<by_thread>>, progress(FI_PROGRESS_AUTO), progress(FI_PROGRESS_MANUAL),
       ": asked without polling, returned polling, baked thread"},
      {"data_progress", less, open_as<with_facts<by_hardware>>, progress(FI_PROGRESS_AUTO),
       progress(FI_PROGRESS_MANUAL), ": asked without polling, returned polling, baked hardware"},
      {"data_progress", more, plain, progress(FI_PROGRESS_MANUAL), progress(FI_PROGRESS_AUTO), ""},
  };
  add_order<attested_row>(all, "order_send_after_write", FI_ORDER_SAW, open_as<messages_overtake>);
  add_order<writes_ordered>(all, "order_write_after_write", FI_ORDER_WAW, plain);
  add_order<attested_row>(all, "order_send_after_send", FI_ORDER_SAS, open_as<with_facts<takes_turns>>);
  return all;
}

/// A size of the plain row, which the reply falls below or exceeds by one.
void add_bound(std::vector<falsification>& all, std::string_view fact, const char* attribute, std::uint64_t bound,
               opener open = open_as<attested_row>) {
  const std::string truth = reply(attribute, bound);
  all.push_back({fact, direction::less, open, truth, reply(attribute, bound - 1), least(bound, bound - 1)});
  all.push_back({fact, direction::more, open, truth, reply(attribute, bound + 1), ""});
}

std::vector<falsification> of_sizes() {
  const auto [less, more] = std::array{direction::less, direction::more};
  std::vector<falsification> all;
  add_bound(all, "inject_bytes", "tx_attr.inject_size", 128);
  add_bound(all, "queue_depth (transmit)", "tx_attr.size", 256);
  add_bound(all, "queue_depth (receive)", "rx_attr.size", 256);
  add_bound(all, "receives", "rx_attr.size", 300, open_as<attested_row, 300>);
  add_bound(all, "largest_message", "ep_attr.max_msg_size", 65536, open_as<with_facts<small_writes>>);
  add_bound(all, "largest_write", "ep_attr.max_msg_size", 65536, open_as<with_facts<small_messages>>);
  // Half of the number range counts as unlimited.
  for (const std::string_view fact : {"largest_message", "largest_write"}) {
    all.push_back({fact, less, open_as<with_facts<no_bound>>, largest(unlimited), largest(unlimited / 2), ""});
    all.push_back({fact, less, open_as<with_facts<no_bound>>, largest(unlimited), largest(unlimited / 2 - 1),
                   least(unlimited / 2, unlimited / 2 - 1), 1});
  }
  add_bound(all, "gather_limit", "tx_attr.iov_limit", 3);
  add_bound(all, "rma_gather_limit", "tx_attr.rma_iov_limit", 3);
  // A framed message is a header and a payload. Its gather lists count the header.
  all.push_back({"gather_limit (framing)", less, open_as<framed_in<1>>, pieces(2), pieces(1), least(2, 1)});
  all.push_back({"gather_limit (framing)", more, open_as<framed_in<1>>, pieces(2), pieces(4), ""});
  all.push_back({"gather_limit", less, open_as<framed_in<3>>, pieces(3), pieces(2), least(3, 2)});
  return all;
}

std::vector<falsification> of_atomics() {
  const auto [less, more] = std::array{direction::less, direction::more};
  const opener plain = open_as<atomic_row<plain_atomics>>;
  return {
      {"atomic_operations", less, open_as<atomic_row<reading>>, "-", "", " read of uint64 (bytes)" + least(8, 0)},
      {"atomic_operations", less, plain, "", "atomic_attr.size=4", " add of uint64 (bytes)" + least(8, 4), 1},
      {"atomic_operations", less, plain, "", "atomic_attr.size=4", " compare_swap of uint64 (bytes)" + least(8, 4), 1},
      {"atomic_operations", less, plain, "", "atomic_attr.count=0", " add of uint64 (bytes)" + least(8, 0), 1},
      {"atomic_operations", more, open_as<atomic_row<swapping>>, "", "atomic_attr.size=16", ""},
      {"atomic_operations", more, plain, "", "", ""},  // The provider also has swap.
  };
}

std::vector<falsification> falsifications() {
  std::vector<falsification> all;
  for (const auto& part : {of_identity(), of_memory(), of_operations(), of_sizes(), of_atomics()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

int facts_in(const std::string& sentence) {
  int found = 0;
  for (std::size_t at = 0; (at = sentence.find(": asked ", at)) != std::string::npos; ++at) ++found;
  return found;
}

void judge(const falsification& each) {
  SCOPED_TRACE("reply: " + each.lie);
  if (each.truth != "-") {
    const ending true_reply = each.open(each.truth, on_difference::refuse);
    EXPECT_EQ(true_reply.refusal + true_reply.differences, "") << "a reply that agrees: " << each.truth;
  }
  const ending ended = each.open(each.lie, on_difference::refuse);
  if (each.refused_with.empty()) {
    EXPECT_EQ(ended.refusal + ended.differences, "");
    return;
  }
  const std::string said = std::string(each.fact) + each.refused_with;
  EXPECT_NE(ended.refusal.find(said), std::string::npos) << "\"" << said << "\" is missing in: " << ended.refusal;
  if (each.others == finds_nothing) return;
  EXPECT_TRUE(ended.broken);
  EXPECT_EQ(facts_in(ended.refusal), 1 + each.others) << ended.refusal;
  const auto fact = std::find_if(compared_facts.begin(), compared_facts.end(),
                                 [&](const auto& listed) { return listed.name == each.fact; });
  const ending tolerated = each.open(each.lie, on_difference::degrade);
  if (fact->family.empty()) {
    EXPECT_EQ(tolerated.refusal, "");
    EXPECT_NE(tolerated.differences.find(said), std::string::npos) << tolerated.differences;
  } else {
    EXPECT_NE(ended.refusal.find("(" + std::string(fact->family) + " depends on it)"), std::string::npos);
    EXPECT_EQ(tolerated.refusal, ended.refusal);
  }
}

class attestation : public ::testing::TestWithParam<std::tuple<std::size_t, direction>> {
 protected:
  static void SetUpTestSuite() {
    setenv("FI_PROVIDER_PATH", WEFT_TEST_EMULATOR_FOLDER, 1);
    setenv("WEFT_EMULATOR_PROFILE", WEFT_TEST_PROFILE, 1);
    setenv("FI_PROVIDER", "^ofi_rxm,ofi_rxd", 1);  // Their replies on top of a false one would come first.
  }
};

TEST_P(attestation, of) {
  const auto [index, to] = GetParam();
  int judged = 0;
  for (const falsification& each : falsifications()) {
    if (each.fact != compared_facts[index].name || each.to != to) continue;
    judge(each);
    ++judged;
  }
  EXPECT_GT(judged, 0) << "open() compares " << compared_facts[index].name << ", and nothing falsifies it";
}
std::string name_of(const ::testing::TestParamInfo<std::tuple<std::size_t, direction>>& test) {
  const auto [index, to] = test.param;
  std::string name(compared_facts[index].name);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name + (to == direction::less ? "_less" : "_more");
}
INSTANTIATE_TEST_SUITE_P(each, attestation,
                         ::testing::Combine(::testing::Range<std::size_t>(0, compared_facts.size()),
                                            ::testing::Values(direction::less, direction::more)),
                         name_of);

// lnx puts the providers that it links before its own name.
using backends::libfabric::is_provider;
static_assert(is_provider("tcp", "tcp") && is_provider("shm+tcp;ofi_rxm:lnx", "lnx"));
static_assert(!is_provider("tcp;ofi_rxm", "tcp") && !is_provider("xlnx", "lnx") && !is_provider("lnx:shm", "lnx"));
static_assert(!is_provider("", "lnx") && !is_provider("lnx", "shm:lnx"));

TEST(attestation_table, falsifications_are_of_listed_facts) {
  for (const falsification& each : falsifications())
    EXPECT_TRUE(std::any_of(compared_facts.begin(), compared_facts.end(), [&](const auto& listed) {
      return listed.name == each.fact;
    })) << each.fact;
}

}  // namespace
}  // namespace weft::testing
