// SPDX-License-Identifier: Apache-2.0
//
// weft.h: statuses, versions, open, close, counters, the last error.
#include "../core/version.hpp"
#include "calls.hpp"

namespace weft::abi {

static_assert(code_of(errc::native) == WEFT_NATIVE && code_of(errc::again) == WEFT_AGAIN &&
              code_of(errc::truncated) == WEFT_TRUNCATED && code_of(errc::out_of_range) == WEFT_OUT_OF_RANGE &&
              code_of(errc::denied) == WEFT_DENIED && code_of(errc::unreachable) == WEFT_UNREACHABLE &&
              code_of(errc::rejected) == WEFT_REJECTED && code_of(errc::incompatible) == WEFT_INCOMPATIBLE &&
              code_of(errc::peer_lost) == WEFT_PEER_LOST && code_of(errc::deadline) == WEFT_DEADLINE &&
              code_of(errc::closed) == WEFT_CLOSED && code_of(errc::invalid) == WEFT_INVALID &&
              code_of(errc::no_memory) == WEFT_NO_MEMORY && code_of(errc::unsupported) == WEFT_UNSUPPORTED &&
              code_of(errc::broken) == WEFT_BROKEN);

namespace {

constexpr std::uint32_t known_flags =
    WEFT_LISTENS | WEFT_SLEEPS | WEFT_FALLBACK_ALLOWED | WEFT_DEGRADE_ALLOWED | WEFT_WARN | WEFT_COUNTS;
constexpr std::uint32_t most_of_any = 1U << 20;
constexpr std::uint32_t most_message_bytes = 1U << 30;

/// Empty, or what is wrong with the options.
std::string wrong_in(const weft_options& o) {
  if ((o.flags & ~known_flags) != 0) return "options.flags has a bit that this version does not know";
  if (o.reserved != 0) return "options.reserved must be 0";
  for (const auto& [value, name] : {std::pair{o.receives, "receives"}, std::pair{o.operations, "operations"},
                                    std::pair{o.peers, "peers"}, std::pair{o.pending, "pending"}})
    if (value > most_of_any)
      return std::string("options.") + name + " is " + std::to_string(value) + ", and at most " +
             std::to_string(most_of_any) + " is possible";
  if (o.max_message_bytes > most_message_bytes)
    return "options.max_message_bytes is " + std::to_string(o.max_message_bytes) + ", and at most 1 GiB is possible";
  return {};
}

transport_options translated(const weft_options& o) {
  transport_options out;
  const auto text = [](const char* given) { return std::string(given == nullptr ? "" : given); };
  const auto number = [](auto given, auto& into) {
    if (given != 0) into = given;
  };
  const auto time = [](std::uint64_t given, duration& into) {
    if (given != 0) into = time_of(given);
  };
  out.node = text(o.node);
  out.service = text(o.service);
  out.fabrics = text(o.fabrics);
  out.listens = (o.flags & WEFT_LISTENS) != 0;
  out.sleeps = (o.flags & WEFT_SLEEPS) != 0;
  out.fallback = (o.flags & WEFT_FALLBACK_ALLOWED) != 0 ? fallback::allowed : fallback::refused;
  if ((o.flags & WEFT_DEGRADE_ALLOWED) != 0) out.on_difference = on_difference::degrade;
  if ((o.flags & WEFT_WARN) != 0) out.on_difference = on_difference::warn;
  number(o.max_message_bytes, out.max_message_bytes);
  number(o.receives, out.receives);
  number(o.operations, out.operations);
  number(o.peers, out.peers);
  number(o.pending, out.pending);
  number(o.peers_per_host, out.peers_per_host);
  time(o.handshake_limit, out.handshake_limit);
  time(o.operation_timeout, out.operation_timeout);
  time(o.silence_limit, out.silence_limit);
  return out;
}

template <class... F>
std::string names_of(const fabric_set<F...>* /*set*/) {
  std::string all;
  ((all += (all.empty() ? "" : ",") + std::string(F::name)), ...);
  return all;
}

/// WEFT_COUNTS in the environment, for programs that cannot be changed.
bool environment_counts() noexcept {
  const char* const asked = ::secure_getenv("WEFT_COUNTS");
  return asked != nullptr && *asked != 0 && std::string_view(asked) != "0";
}

int open(const weft_options* given, weft_transport* opened) {
  weft_options o = WEFT_OPTIONS;
  if (given != nullptr && (given->size < sizeof(o.size) || given->size > 4096))
    return refuse(errc::invalid, "weft_open",
                  "options.size must be sizeof(weft_options): begin with `weft_options o = WEFT_OPTIONS;`");
  if (given != nullptr && !copied_options(given, o))
    return refuse(errc::invalid, "weft_open", "the options have a field that this version does not know");
  if (const std::string no = wrong_in(o); !no.empty()) return refuse(errc::invalid, "weft_open", no);
  auto net = transport<library_set>::open(translated(o));
  if (!net) return refuse(net.why().code, "weft_open", net.error().sentence);
  auto made = std::make_unique<open_transport>(std::move(net).value());
  made->open_fabrics = made->net.usable_fabrics();
  made->listens_at = made->net.listen_address();
  made->sleeps = (o.flags & WEFT_SLEEPS) != 0;
  if ((o.flags & WEFT_COUNTS) != 0 || environment_counts())
    if (const auto exposed = made->net.expose_counters(); !exposed)
      return refuse(exposed.why().code, "weft_open", exposed.error().sentence);
  *opened = process_table::one().add(std::move(made));
  return *opened != nullptr ? WEFT_OK
                            : refuse(errc::no_memory, "weft_open", "this process has 1024 transports already");
}

}  // namespace
}  // namespace weft::abi

using namespace weft::abi;
using weft::errc;

extern "C" {

const char* weft_status_text(int status) {
  // The texts of C++ name a call of C++ here.
  if (status == WEFT_TRUNCATED) return "the message is larger than the peer takes; weft_largest_message() is the bound";
  const unsigned code = status <= 0 ? 0U - static_cast<unsigned>(status) : ~0U;
  return weft::detail::meaning_of(code <= 15 ? static_cast<errc>(code) : static_cast<errc>(0xff)).data();
}

const char* weft_status_name(int status) {
  static constexpr const char* names[] = {"WEFT_OK",        "WEFT_AGAIN",       "WEFT_TRUNCATED", "WEFT_OUT_OF_RANGE",
                                          "WEFT_DENIED",    "WEFT_UNREACHABLE", "WEFT_REJECTED",  "WEFT_INCOMPATIBLE",
                                          "WEFT_PEER_LOST", "WEFT_DEADLINE",    "WEFT_CLOSED",    "WEFT_INVALID",
                                          "WEFT_NO_MEMORY", "WEFT_UNSUPPORTED", "WEFT_BROKEN",    "WEFT_NATIVE"};
  return status <= 0 && status >= WEFT_NATIVE ? names[-status] : "no status of weft";
}

uint32_t weft_version(void) { return WEFT_VERSION; }

#define WEFT_TEXT_OF_NUMBER(number) #number
#define WEFT_TEXT_OF_VERSION(major, minor, patch) \
  WEFT_TEXT_OF_NUMBER(major) "." WEFT_TEXT_OF_NUMBER(minor) "." WEFT_TEXT_OF_NUMBER(patch)
const char* weft_version_text(void) {
  return WEFT_TEXT_OF_VERSION(WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR, WEFT_VERSION_PATCH);
}

const char* weft_built_fabrics(void) {
  try {
    static const std::string all = names_of(static_cast<const library_set*>(nullptr));
    return all.c_str();
  } catch (...) {
    return "";
  }
}

int weft_open(const weft_options* options, weft_transport* opened) {
  if (opened == nullptr) return refuse(errc::invalid, "weft_open", "the place for the transport is NULL");
  *opened = nullptr;
  try {
    return open(options, opened);
  } catch (const std::bad_alloc&) {
    return refuse(errc::no_memory, "weft_open", "no memory for a transport");
  } catch (const std::exception& e) {
    return refuse(errc::broken, "weft_open", e.what());
  } catch (...) {
    return refuse(errc::broken, "weft_open", "an error without a name");
  }
}

int weft_close(weft_transport net) {
  const int answered = call(net, "weft_close", [](open_transport& /*t*/) { return WEFT_OK; });
  if (answered == WEFT_OK) process_table::one().remove(net).reset();
  return answered;
}

const char* weft_last_sentence(weft_transport net) {
  open_transport* const t = process_table::one().find(net);
  if (t == nullptr) return sentence_of_thread.data();
  try {
    return t->last_sentence();
  } catch (...) {
    return "no memory for the sentence";
  }
}

int weft_open_fabrics(weft_transport net, const char** names) {
  return call(net, "weft_open_fabrics", [&](open_transport& t) {
    if (names == nullptr) return wrong(t, "weft_open_fabrics", "the place for the names is NULL");
    *names = t.open_fabrics.c_str();
    return int{WEFT_OK};
  });
}

int weft_listen_address(weft_transport net, const char** address) {
  return call(net, "weft_listen_address", [&](open_transport& t) {
    if (address == nullptr) return wrong(t, "weft_listen_address", "the place for the address is NULL");
    *address = t.listens_at.c_str();
    return int{WEFT_OK};
  });
}

int weft_count(weft_transport net, weft_counters* counters) {
  return call(net, "weft_count", [&](open_transport& t) {
    if (counters == nullptr) return wrong(t, "weft_count", "the place for the counters is NULL");
    if (counters->size < sizeof(counters->size))
      return wrong(t, "weft_count", "counters.size must be sizeof(weft_counters)");
    const weft_counters now{counters->size,  t.net.in_flight(),   t.net.stale(),
                            t.net.garbled(), t.net.turned_away(), t.net.fallbacks()};
    std::memcpy(counters, &now, std::min<std::uint64_t>(counters->size, sizeof now));
    return int{WEFT_OK};
  });
}

}  // extern "C"
