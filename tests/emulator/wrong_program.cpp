// SPDX-License-Identifier: Apache-2.0
//
// wrong_program PROVIDER MISTAKE: two endpoints in one process, and one of eleven mistakes that work on forgiving
// providers. Exit 0: the mistake had no effect. Exit 1: an operation failed or did not complete in time. Plain
// libfabric: these are mistakes of programs without weft.
#include "pair_of_endpoints.hpp"

#include <map>
#include <string>

namespace {

using namespace wrong;

int pointer_for_offset(const char* provider) {
  pair p = open_pair(provider, 0, all_modes);
  meet(p);
  // whatever mr_mode the library returned
  const std::uint64_t pointer = reinterpret_cast<std::uintptr_t>(p.b.memory.data());
  post(
      p, [&] { return write(p, 0, 8, pointer, descriptor(p), context(p, 0)); }, "fi_write");
  until(p, [&] { return p.a.seen == 1; });
  return 0;
}

int no_descriptor(const char* provider) {
  pair p = open_pair(provider, 0, all_modes);
  meet(p);
  post(
      p, [&] { return write(p, 0, 4096, base(p), nullptr, context(p, 0)); }, "fi_write");
  until(p, [&] { return p.a.seen == 1; });
  return 0;
}

int context_in_use(const char* provider) {
  pair p = open_pair(provider, 0, all_modes);
  meet(p);
  struct mine {
    std::uint64_t number;
    std::array<std::byte, 120> rest;
  } request{};
  post(
      p, [&] { return write(p, 0, 8, base(p), descriptor(p), &request); }, "fi_write");
  request.number = 4711;  // the mode gives the context's first bytes to the library
  until(p, [&] { return p.a.seen == 1; });
  return 0;
}

int spins_on_memory(const char* provider) {
  pair p = open_pair(provider, 0, all_modes);
  meet(p);
  std::memset(p.a.memory.data(), 7, size);
  post(
      p, [&] { return write(p, 0, size, base(p), descriptor(p), context(p, 0)); }, "fi_write");
  const volatile std::byte* last = p.b.memory.data() + size - 1;
  until(
      p, [&] { return *last == std::byte{7}; }, &p.a);
  return 0;
}

int last_write_carries_the_id(const char* provider) {
  pair p = open_pair(provider, 0, all_modes);
  meet(p);
  for (std::uint64_t round = 1; round <= 200; ++round) {
    std::memset(p.a.memory.data(), static_cast<int>(round), 8UL * 64);
    p.b.told = false;
    for (std::size_t i = 0; i < 7; ++i)
      post(
          p, [&] { return write(p, 64 * i, 64, base(p) + 64 * i, descriptor(p), context(p, i)); }, "fi_write");
    post(
        p,
        [&] {
          return fi_writedata(p.a.ep, p.a.memory.data() + 448, 64, descriptor(p), round, p.a.other, base(p) + 448,
                              fi_mr_key(p.b.mr), context(p, 7));
        },
        "fi_writedata");
    until(p, [&] { return p.b.told; });
    if (std::memcmp(p.a.memory.data(), p.b.memory.data(), 512) != 0) {
      std::fprintf(stderr, "wrong_program: the id arrived before the bytes\n");
      return 1;
    }
    until(p, [&] { return p.a.seen == static_cast<int>(8 * round); });
  }
  return 0;
}

int immediate_of_64_bits(const char* provider) {
  pair p = open_pair(provider, 0, all_modes);
  meet(p);
  post(
      p,
      [&] {
        return fi_writedata(p.a.ep, p.a.memory.data(), 8, descriptor(p), std::uint64_t{1} << 40U, p.a.other, base(p),
                            fi_mr_key(p.b.mr), context(p, 0));
      },
      "fi_writedata");
  until(p, [&] { return p.b.told; });
  return p.b.data == std::uint64_t{1} << 40U ? 0 : 1;
}

bool has_atomics(const char* provider) {
  fi_info* hints = fi_allocinfo();
  fi_info* found = nullptr;
  hints->caps = FI_ATOMIC;
  hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = all_modes;
  hints->fabric_attr->prov_name = strdup(provider);
  const bool has = fi_getinfo(FI_VERSION(1, 15), nullptr, nullptr, 0, hints, &found) == 0;
  fi_freeinfo(hints);
  if (found != nullptr) fi_freeinfo(found);
  return has;
}

int atomics_taken_for_granted(const char* provider) {
  // Requested where the library has atomics, and used in any case.
  pair p = open_pair(provider, has_atomics(provider) ? FI_ATOMIC : 0, all_modes);
  meet(p);
  const std::uint64_t one = 1;
  std::memcpy(p.a.memory.data(), &one, sizeof one);
  post(
      p,
      [&] {
        return fi_fetch_atomic(p.a.ep, p.a.memory.data(), 1, descriptor(p), p.a.memory.data() + 64, descriptor(p),
                               p.a.other, base(p), fi_mr_key(p.b.mr), FI_UINT64, FI_SUM, context(p, 0));
      },
      "fi_fetch_atomic");
  until(p, [&] { return p.a.seen == 1; });
  return 0;
}

int message_right_behind_a_write(const char* provider) {
  pair p = open_pair(provider, 0, all_modes);
  meet(p);
  for (int round = 1; round <= 200; ++round) {
    std::memset(p.a.memory.data(), round, 4096);
    p.b.told = false;
    need(static_cast<int>(fi_recv(p.b.ep, p.b.memory.data() + size / 2, 64, fi_mr_desc(p.b.mr), FI_ADDR_UNSPEC,
                                  p.b.contexts[0].data())),
         "fi_recv");
    post(
        p, [&] { return write(p, 0, 4096, base(p), descriptor(p), context(p, 0)); }, "fi_write");
    post(
        p, [&] { return fi_send(p.a.ep, p.a.memory.data(), 8, descriptor(p), p.a.other, context(p, 1)); }, "fi_send");
    until(p, [&] { return p.b.told; });
    if (std::memcmp(p.a.memory.data(), p.b.memory.data(), 4096) != 0) {
      std::fprintf(stderr, "wrong_program: the message arrived before the bytes\n");
      return 1;
    }
    until(p, [&] { return p.a.seen == 2 * round; });
  }
  return 0;
}

int messages_taken_in_turn(const char* provider) {
  pair p = open_pair(provider, 0, all_modes);
  meet(p);
  std::byte* const slots = p.b.memory.data() + size / 2;
  for (int round = 1; round <= 100; ++round) {
    for (std::size_t i = 0; i < 8; ++i) {
      need(static_cast<int>(
               fi_recv(p.b.ep, slots + 64 * i, 64, fi_mr_desc(p.b.mr), FI_ADDR_UNSPEC, p.b.contexts[i].data())),
           "fi_recv");
      p.a.memory[64 * i] = std::byte(i);
      post(
          p, [&] { return fi_send(p.a.ep, p.a.memory.data() + 64 * i, 8, descriptor(p), p.a.other, context(p, i)); },
          "fi_send");
    }
    until(p, [&] { return p.a.seen == 8 * round && p.b.seen == 8 * round; });
    for (std::size_t i = 0; i < 8; ++i) {  // takes the i-th received message for the i-th sent one
      if (slots[64 * i] == std::byte(i)) continue;
      std::fprintf(stderr, "wrong_program: the messages arrived in another order\n");
      return 1;
    }
  }
  return 0;
}

int no_receive_for_the_notice(const char* provider) {
  pair p = open_pair(provider, 0, all_modes);
  meet(p);
  post(
      p,
      [&] {
        return fi_writedata(p.a.ep, p.a.memory.data(), 8, descriptor(p), 5, p.a.other, base(p), fi_mr_key(p.b.mr),
                            context(p, 0));
      },
      "fi_writedata");
  until(p, [&] { return p.b.told; });
  return 0;
}

int batch_left_open(const char* provider) {
  pair p = open_pair(provider, 0, all_modes);
  meet(p);
  for (std::size_t i = 0; i < 4; ++i) {
    iovec from{p.a.memory.data() + 64 * i, 64};
    void* desc = descriptor(p);
    fi_rma_iov to{base(p) + 64 * i, 64, fi_mr_key(p.b.mr)};
    fi_msg_rma message{};
    message.msg_iov = &from;
    message.desc = &desc;
    message.iov_count = 1;
    message.addr = p.a.other;
    message.rma_iov = &to;
    message.rma_iov_count = 1;
    message.context = context(p, i);
    post(
        p, [&] { return fi_writemsg(p.a.ep, &message, FI_COMPLETION | FI_MORE); }, "fi_writemsg");
  }
  until(p, [&] { return p.a.seen == 4; });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, int (*)(const char*)> mistakes{
      {"pointer_for_offset", pointer_for_offset},
      {"no_descriptor", no_descriptor},
      {"context_in_use", context_in_use},
      {"spins_on_memory", spins_on_memory},
      {"last_write_carries_the_id", last_write_carries_the_id},
      {"immediate_of_64_bits", immediate_of_64_bits},
      {"atomics_taken_for_granted", atomics_taken_for_granted},
      {"message_right_behind_a_write", message_right_behind_a_write},
      {"no_receive_for_the_notice", no_receive_for_the_notice},
      {"messages_taken_in_turn", messages_taken_in_turn},
      {"batch_left_open", batch_left_open}};
  const auto mistake = argc == 3 ? mistakes.find(argv[2]) : mistakes.end();
  if (mistake == mistakes.end()) {
    std::fprintf(stderr, "usage: wrong_program PROVIDER MISTAKE\n");
    return 2;
  }
  const int code = mistake->second(argv[1]);
  std::fflush(nullptr);
  std::_Exit(code);  // no object is closed: the process ends
}
