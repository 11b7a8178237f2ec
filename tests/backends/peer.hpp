// SPDX-License-Identifier: Apache-2.0
//
// Both ends of a port test: `target` runs in a process of its own and follows commands in messages; the test holds
// `initiator`. The target is this program started again with --peer, so that no library state crosses a fork. A shape
// names its port: `template <class Shape> using port = ...`.
#pragma once

#include "../../core/port.hpp"

#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

extern char** environ;

namespace weft::testing {

using namespace std::chrono_literals;

template <class Shape>
using port_of = typename Shape::template port<Shape>;

/// How much slower than an ordinary machine this one is: an emulated guest sets WEFT_TEST_SLOWNESS.
inline int slowness() {
  const char* said = std::getenv("WEFT_TEST_SLOWNESS");
  return said == nullptr ? 1 : std::max(1, std::atoi(said));
}
/// The address that both sides use.
inline std::string home() {
  const char* said = std::getenv("WEFT_TEST_NODE");
  return said == nullptr ? "127.0.0.1" : said;
}

inline constexpr std::size_t max_message_bytes = 2048;
inline constexpr std::size_t slot_count = 32;
inline constexpr std::size_t region_bytes = 1 << 20;
inline constexpr std::uint64_t region_key = 0x1234'5678'9abc'def1;

/// The description of a target's region.
struct region_card {
  char kind = 'R';
  std::uint64_t base = 0;
  std::uint64_t key = 0;
};

/// A port with posted receives, and all its completions in order.
template <class Shape>
struct side {
  using port_type = port_of<Shape>;
  using link = typename port_type::link;
  struct message {
    std::string body;
    std::uint64_t immediate;
  };

  std::unique_ptr<port_type> port;
  link peer{};
  bool established = false, lost = false, refused = false;
  std::vector<std::byte> slots = std::vector<std::byte>(max_message_bytes * slot_count);
  std::vector<std::byte> scratch = std::vector<std::byte>(1 << 20);
  registration slot_memory, scratch_memory;
  std::deque<message> messages;
  std::deque<std::uint64_t> landed;
  std::vector<status> receive_errors;
  std::map<void*, std::vector<status>> ended;

  side() = default;
  side(const side&) = delete;
  side& operator=(const side&) = delete;

  std::string open(port_options options) {
    options.receives = slot_count;
    options.links = 8;
    auto opened = port_type::open(options);
    if (!opened) return opened.error().sentence;
    port = std::move(opened).value();
    slot_memory = port->register_local(slots).value();
    scratch_memory = port->register_local(scratch).value();
    if (!port_type::link_has_receives) post_all({});
    return {};
  }

  void post_slot(link on, std::size_t i) {
    const local_memory into{slots.data() + i * max_message_bytes, max_message_bytes, slot_memory.descriptor};
    if (!port->post_receive(on, into, into.data)) std::abort();
  }
  void post_all(link on) {
    for (std::size_t i = 0; i < slot_count; ++i) post_slot(on, i);
  }

  int pump() {
    port->poll_links([&](link_change change, std::uint32_t, link at) -> std::uint32_t {
      if (change == link_change::arrived) {
        peer = at;
        post_all(at);
      }
      established |= change == link_change::established;
      lost |= change == link_change::lost;
      refused |= change == link_change::refused;
      return 1;
    });
    return port->poll([&](const completion_entry& e) {
      if (e.kind == completion_kind::write_with_immediate) {
        landed.push_back(e.immediate);
      } else if (e.kind == completion_kind::received) {
        const auto* data = static_cast<const char*>(e.context);
        if (!e.outcome) {
          receive_errors.push_back(e.outcome);
          return;
        }
        messages.push_back({std::string(data, e.length), e.immediate});
        post_slot(peer,
                  static_cast<std::size_t>(static_cast<std::byte*>(e.context) - slots.data()) / max_message_bytes);
      } else {
        ended[e.context].push_back(e.outcome);
      }
    });
  }

  /// `limit` is for silence: each completion begins it again, so a busy machine does not end the wait.
  template <class Until>
  bool pump_until(Until&& until, std::chrono::milliseconds limit = 10s) {
    auto end = std::chrono::steady_clock::now() + limit * slowness();
    while (!until()) {
      if (pump() > 0) {
        end = std::chrono::steady_clock::now() + limit * slowness();
        continue;
      }
      if (std::chrono::steady_clock::now() > end) return false;
      sched_yield();  // the other process may need this processor
    }
    return true;
  }
  void pump_for(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time * slowness();
    while (std::chrono::steady_clock::now() <= end)
      if (pump() == 0) sched_yield();
  }

  /// Posts, with progress while the port answers again. Counts these answers.
  std::size_t agains = 0;
  template <class Post>
  status post(Post&& call) {
    auto end = std::chrono::steady_clock::now() + 10s * slowness();
    status s = call();
    while (s.is_again() && std::chrono::steady_clock::now() < end) {
      ++agains;
      if (pump() > 0) end = std::chrono::steady_clock::now() + 10s * slowness();
      s = call();
    }
    return s;
  }

  local_memory staged(const void* data, std::size_t size, std::size_t at = 0) {
    std::memcpy(scratch.data() + at, data, size);
    return {scratch.data() + at, size, scratch_memory.descriptor};
  }
  /// Sends and waits for the completion.
  status say(const std::string& text, std::uint32_t immediate = 0, std::chrono::milliseconds limit = 10s) {
    int token = 0;
    const local_memory from = staged(text.data(), text.size(), scratch.size() - max_message_bytes);
    const status s = post([&] {
      if constexpr (Shape::framed) {  // the first byte is the header
        const std::size_t header = std::min<std::size_t>(1, from.size);
        return port->template send_framed<post_mode::signalled>(
            peer, {from.data, header, from.descriptor}, {from.data + header, from.size - header, from.descriptor},
            &token);
      } else {
        return port->template send<post_mode::signalled>(peer, from, immediate, &token);
      }
    });
    if (!s) return s;
    if (!pump_until([&] { return ended.contains(&token); }, limit)) return error(errc::deadline, "say");
    const status end = ended[&token].front();
    ended.erase(&token);
    return end;
  }
  /// Sends and waits; a connection that broke meanwhile is no failure of this side.
  bool answer(const std::string& text, std::uint32_t immediate = 0) {
    const status s = say(text, immediate);
    return s || s.code == errc::peer_lost || s.code == errc::closed;
  }
  /// Sends twice the size of a receive.
  status say_large() {
    int token = 0;
    const local_memory from{scratch.data(), 2 * max_message_bytes, scratch_memory.descriptor};
    if (const status s = post([&] { return port->template send<post_mode::signalled>(peer, from, 0, &token); }); !s)
      return s;
    pump_until([&] { return ended.contains(&token); }, 2s);
    ended.erase(&token);
    return {};
  }
  message hear(std::chrono::milliseconds limit = 10s) {
    if (!pump_until([&] { return !messages.empty(); }, limit)) return {"(silence)", 0};
    message first = std::move(messages.front());
    messages.pop_front();
    return first;
  }
};

/// The pattern of the 64-byte block that belongs to an immediate.
inline std::byte pattern(std::uint64_t immediate) { return static_cast<std::byte>(0x5a ^ (immediate * 7)); }

/// The target process: opens, writes its address to `out`, serves until the command to quit. Ends by itself after a
/// minute without a completion.
template <class Shape>
int target_main(int out, const std::string& node) {
  const auto give_up_after_silence = [] { alarm(static_cast<unsigned>(60 * slowness())); };
  give_up_after_silence();
  side<Shape> self;
  port_options options;
  options.node = node;
  options.listens = true;
  if (const std::string why = self.open(options); !why.empty()) {
    std::fprintf(stderr, "target: %s\n", why.c_str());
    return 1;
  }
  std::vector<std::byte> region(region_bytes);
  registration card = self.port->register_memory(region, rights::all, region_key).value();
  const address_bytes own = self.port->address();
  if (write(out, own.data(), own.size()) != static_cast<ssize_t>(own.size())) return 1;
  close(out);
  for (;;) {
    if (self.pump() > 0) give_up_after_silence();
    while (!self.landed.empty()) {
      const std::uint64_t immediate = self.landed.front();
      self.landed.pop_front();
      std::string reported = "n" + std::to_string(immediate) + " ";
      for (std::size_t i = 0; i < 64; ++i)
        if (region[immediate * 64 + i] != pattern(immediate)) reported += "bad";
      if (!self.answer(reported)) return 2;
    }
    if (self.messages.empty()) continue;
    const auto [body, immediate] = self.hear();
    switch (body.empty() ? 'E' : body[0]) {
      case 'H': {
        if (!port_of<Shape>::link_has_receives) {
          const auto* from = reinterpret_cast<const std::byte*>(body.data()) + 1;
          auto dialled = self.port->dial(address_bytes(from, from + body.size() - 1), 1);
          if (!dialled) return 3;
          self.peer = *dialled;
        }
        region_card mine{'R', Shape::virtual_address ? reinterpret_cast<std::uint64_t>(region.data()) : 0, card.key};
        std::string text(sizeof mine, '\0');
        std::memcpy(text.data(), &mine, sizeof mine);
        if (!self.answer(text)) return 4;
        break;
      }
      case 'E':
        if (!self.answer(body, static_cast<std::uint32_t>(immediate) + 1)) return 5;
        break;
      case 'L':  // read: 256 bytes of the region
        if (!self.answer(std::string(reinterpret_cast<const char*>(region.data()) + std::stoul(body.substr(1)), 256)))
          return 6;
        break;
      case 'W':  // wait, then echo
        usleep(static_cast<useconds_t>(std::stoul(body.substr(1)) * 1000));
        if (!self.answer(body)) return 7;
        break;
      case 'C':  // how many writes were counted
        if constexpr (Shape::remote_counter)
          if (!self.answer(std::to_string(self.port->counted_writes()))) return 9;
        break;
      case 'X':  // a message larger than a receive
        if (!self.say_large()) return 10;
        break;
      case 'D':  // end silently, where the shape supports it
        if constexpr (requires { Shape::vanish(self.peer); }) Shape::vanish(self.peer);
        break;
      case 'S':  // stop polling for a while
        usleep(static_cast<useconds_t>(std::stoul(body.substr(1)) * 1000));
        break;
      case 'B':  // stop polling for a while, then hang up; what came meanwhile is still in the queue
        usleep(static_cast<useconds_t>(std::stoul(body.substr(1)) * 1000));
        self.port->hang_up(self.peer);
        self.pump_for(200ms);
        return 0;
      case 'Q':
        self.pump_for(100ms);
        self.port->deregister(card);
        self.port->hang_up(self.peer);
        return 0;
      default:
        return 8;
    }
  }
}

/// A target process, killed with its owner.
class target_process {
 public:
  target_process(const char* shape, const std::string& node) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    const std::string out = std::to_string(ends[1]);
    std::array<std::string, 5> words{"self", "--peer", shape, out, node};
    std::array<char*, 6> arguments{};
    for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    if (posix_spawn(&id_, "/proc/self/exe", &actions, nullptr, arguments.data(), environ) != 0) std::abort();
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::byte piece[256];
    for (ssize_t got; (got = read(ends[0], piece, sizeof piece)) > 0;)
      address_.insert(address_.end(), piece, piece + got);
    close(ends[0]);
  }
  target_process(const target_process&) = delete;
  target_process& operator=(const target_process&) = delete;
  ~target_process() { kill_now(); }

  const address_bytes& address() const { return address_; }
  pid_t id() const { return id_; }
  void kill_now() {
    if (id_ <= 0) return;
    kill(id_, SIGKILL);
    int how = 0;
    waitpid(id_, &how, 0);
    id_ = -1;
    // A shared-memory provider leaves its memory behind when its process is killed: 16 MiB each time.
    const std::string scheme = "fi_shm://", name(reinterpret_cast<const char*>(address_.data()), address_.size());
    if (name.starts_with(scheme)) unlink(("/dev/shm/" + std::string(name.c_str() + scheme.size())).c_str());
  }
  /// Waits for the target's own end. Returns its exit code, -1 if it was killed.
  int join() {
    int how = 0;
    waitpid(id_, &how, 0);
    id_ = -1;
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
  }

 private:
  pid_t id_ = -1;
  address_bytes address_;
};

/// The test's side, connected with a target.
template <class Shape>
struct initiator : side<Shape> {
  target_process target;
  remote_memory there{};

  explicit initiator(const std::string& node = home()) : target(Shape::name.data(), node) {}

  /// Empty when both are connected.
  std::string meet(bool sleeps = false, const std::string& node = home()) {
    port_options options;
    options.node = node;
    options.sleeps = sleeps;
    if (target.address().empty()) return "the target did not open";
    if (std::string why = this->open(options); !why.empty()) return why;
    return connect();
  }
  /// A link to the target, also a second one; traffic uses the newest.
  std::string connect() {
    this->established = this->lost = this->refused = false;
    auto dialled = this->port->dial(target.address(), 7);
    if (!dialled) return dialled.error().sentence;
    this->peer = *dialled;
    if (port_of<Shape>::link_has_receives) this->post_all(this->peer);
    if (!this->pump_until([&] { return this->established || this->refused; })) return "not established in time";
    if (this->refused) return "refused";
    std::string hello = "H";
    for (const std::byte each : this->port->address()) hello += static_cast<char>(each);
    if (const status s = this->say(hello); !s)
      return std::string("hello was not sent: ") + this->port->last_error_text();
    const std::string body = this->hear().body;
    region_card card;
    if (body.size() != sizeof card) return "no region card: " + body;
    std::memcpy(static_cast<void*>(&card), body.data(), sizeof card);
    there = {card.base, card.key};
    return {};
  }
  /// The completion of the operation with this context; deadline if there was none.
  status end_of(void* context, std::chrono::milliseconds limit = std::chrono::seconds(10)) {
    if (!this->pump_until([&] { return this->ended.contains(context); }, limit))
      return error(errc::deadline, "nothing came");
    const status first = this->ended[context].front();
    this->ended.erase(context);
    return first;
  }
  bool part() { return this->say("Q") && target.join() == 0; }
};

}  // namespace weft::testing
