// SPDX-License-Identifier: Apache-2.0
//
// Device memory: refused with a sentence where library, provider or driver lack it; otherwise a dmabuf is source and
// target of transfers. The device is the kernel's udmabuf, which makes a dmabuf of a process's own pages. Without
// udmabuf a plain file takes its place and must be refused. Hot path: no. Threads: one per side.
#pragma once

#include "two_sides.hpp"

#include <fcntl.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace weft::conformance {

template <class Environment>
class device_memory_of_peers : public suite<Environment> {};
TYPED_TEST_SUITE_P(device_memory_of_peers);

/// Pages that a dmabuf also names.
class udmabuf {
 public:
  static constexpr std::size_t size = 8192;
  udmabuf() : file_(::memfd_create("weft-test", MFD_ALLOW_SEALING)) {
    if (::ftruncate(file_, size) != 0 || ::fcntl(file_, F_ADD_SEALS, F_SEAL_SHRINK) != 0) return;
    void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (mapped != MAP_FAILED) address_ = static_cast<std::byte*>(mapped);
    const int device = ::open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
    if (device < 0) return;
    udmabuf_create wait_for_value{};
    wait_for_value.memfd = static_cast<std::uint32_t>(file_);
    wait_for_value.size = size;
    descriptor_ = ::ioctl(device, UDMABUF_CREATE, &wait_for_value);
    ::close(device);
  }
  ~udmabuf() {
    if (address_ != nullptr) ::munmap(address_, size);
    if (descriptor_ >= 0) ::close(descriptor_);
    ::close(file_);
  }
  udmabuf(const udmabuf&) = delete;
  udmabuf& operator=(const udmabuf&) = delete;

  bool real() const noexcept { return descriptor_ >= 0; }
  bytes memory() const noexcept { return {address_, size}; }
  dmabuf_memory described() const noexcept {
    return {.descriptor = real() ? descriptor_ : file_, .offset = 0, .address = address_, .size = size};
  }

 private:
  int file_;
  int descriptor_ = -1;
  std::byte* address_ = nullptr;
};

/// The text that a child process returns. The supervisor never touches the network library.
template <class Says>
std::string said_by_a_process(Says&& says) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t process = ::fork();
  if (process == 0) {
    const std::string text = says();
    (void)!::write(ends[1], text.data(), text.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text(4096, ' ');
  std::size_t got = 0;
  for (ssize_t more = 0; (more = ::read(ends[0], text.data() + got, text.size() - got)) > 0;)
    got += static_cast<std::size_t>(more);
  ::close(ends[0]);
  int how = 0;
  ::waitpid(process, &how, 0);
  EXPECT_TRUE(WIFEXITED(how)) << "the process died during the registration";
  text.resize(got);
  return text;
}

/// The refusal, or "" where a dmabuf was registered. Without udmabuf a plain file is registered. Then only a driver
/// without dmabuf support refuses for a reason of its own.
template <class F>
std::string refusal_of_a_dmabuf() {
  const udmabuf device;
  auto net = open<F>({.node = home(), .device_memory = true});
  if (!net) return "the library refuses: " + net.error().sentence;
  auto made = net->register_region(device.described(), rights::remote_write);
  if (!made && (device.real() || made.error().why.native() == EOPNOTSUPP))
    return "the library refuses: " + made.error().sentence;
  if (!made) return "here: there is no /dev/udmabuf, and a plain file was refused: " + made.error().sentence;
  return device.real() ? "" : "a plain file was registered as a dmabuf";
}

TYPED_TEST_P(device_memory_of_peers, device_memory_is_registered_or_refused_with_a_sentence) {
  using fabric = typename TestFixture::tested_fabric;
  std::string refused;
  if constexpr (TypeParam::simulated) {
    refused = "row " + std::string(fabric::name) + ": its backend registers memory of the host alone";
    TestFixture::play({.once = true}, [&](test_side&) {
      auto net = open<fabric>({.device_memory = true});
      ASSERT_FALSE(net);
      EXPECT_NE(net.error().sentence.find("memory of the host alone"), std::string::npos) << net.error().sentence;
    });
  } else {
    refused = said_by_a_process(refusal_of_a_dmabuf<fabric>);
    const bool explained = refused.find("device_memory") != std::string::npos ||
                           refused.find("of a device") != std::string::npos ||
                           refused.find("is not what this program was generated for") !=
                               std::string::npos;  // with it the library removes other capabilities
    EXPECT_TRUE(refused.empty() || explained) << "the sentence does not name the requested memory: " << refused;
  }
  if (!refused.empty()) GTEST_SKIP() << refused;
}

TYPED_TEST_P(device_memory_of_peers, device_memory_without_the_option_is_refused) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play({.once = true}, [](test_side& side) {
    auto net = opened<fabric>(side);
    const udmabuf device;
    auto made = net.register_region(device.described(), rights::remote_write);
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().sentence.find("transport_options::device_memory"), std::string::npos)
        << made.error().sentence;
  });
}

TYPED_TEST_P(device_memory_of_peers, device_memory_is_source_and_target_of_puts) {
  using fabric = typename TestFixture::tested_fabric;
  if (TypeParam::simulated || !udmabuf().real())
    GTEST_SKIP() << "here: no dmabuf, because there is no /dev/udmabuf, or because the fabric is simulated";
  TestFixture::play(
      {},
      [](test_side& side) {
        auto net = open<fabric>({.node = home(), .listens = true, .device_memory = true});
        const udmabuf device;
        auto made = net ? net->register_region(device.described(), rights::remote_write)
                        : result<owned_region>(std::move(net).error());
        side.send_value(1, made ? "go" : "no");
        if (!made) return;
        observer seen;
        const peer p = meet_as_listener(side, *net, seen);
        side.send_value(1, const_bytes(net->export_region(*made, owner_polls)));
        serve(side, *net, seen, 1);
        EXPECT_EQ(first_unlike(device.memory().first(4096), 5), 4096U);
        side.ready(1);
        (void)p;
      },
      [](test_side& side) {
        if (side.wait_for_text(0) != "go") return;
        auto net = open<fabric>({.node = home(), .device_memory = true});
        if (!net) throw stopped(net.error().sentence);
        observer seen;
        const udmabuf device;
        paint(device.memory(), 5);
        const peer p = meet_as_caller(side, *net, seen);
        const auto there = net->parse_region(serve_for_value(side, *net, seen, 0)).value();
        const owned_region mine = net->register_region(device.described(), rights::none).value();
        push(side, *net, seen, "put", [&] { return net->put(p, mine.first(4096), there.at(0), &seen); });
        await(side, *net, seen, "its completion", [&] { return seen.ends() == 1; });
        side.ready(0);
        serve(side, *net, seen, 0);
      });
}

REGISTER_TYPED_TEST_SUITE_P(device_memory_of_peers, device_memory_is_registered_or_refused_with_a_sentence,
                            device_memory_without_the_option_is_refused, device_memory_is_source_and_target_of_puts);

}  // namespace weft::conformance
