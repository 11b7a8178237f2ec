// SPDX-License-Identifier: Apache-2.0
#include "library.hpp"

#include "functions/manifest.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace weft::invocation {
namespace {

/// A file descriptor that closes itself.
class descriptor {
 public:
  explicit descriptor(int fd) noexcept : fd_(fd) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

status system_error(const char* operation) noexcept { return {errc::native, origin::system, errno, operation}; }
std::string reason() { return std::strerror(errno); }  // NOLINT(concurrency-mt-unsafe): cold, and only text

bool write_all(int fd, const_bytes from) {
  while (!from.empty()) {
    const ssize_t n = ::write(fd, from.data(), from.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    from = from.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

/// The whole file, or nothing where it is unreadable or too large.
std::optional<std::vector<std::byte>> read_all(int fd) {
  std::vector<std::byte> all;
  std::vector<std::byte> chunk(std::size_t{64} << 10);
  for (;;) {
    const ssize_t n = ::read(fd, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 || all.size() > largest_object) return std::nullopt;
    if (n == 0) return all;
    all.insert(all.end(), chunk.begin(), chunk.begin() + n);
  }
}

template <std::size_t N>
std::optional<std::array<std::byte, N>> parse_hex(std::string_view text) {
  if (text.size() != 2 * N) return std::nullopt;
  std::array<std::byte, N> value{};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    unsigned digit = 0;
    if (c >= '0' && c <= '9') digit = static_cast<unsigned>(c - '0');
    else if (c >= 'a' && c <= 'f') digit = static_cast<unsigned>(c - 'a') + 10;
    else if (c >= 'A' && c <= 'F') digit = static_cast<unsigned>(c - 'A') + 10;
    else return std::nullopt;
    value[i / 2] = value[i / 2] << 4 | std::byte(digit);
  }
  return value;
}

}  // namespace

digest sha256(const_bytes of) {
  digest sum{};
  unsigned size = 0;
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  if (context == nullptr || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1 ||
      EVP_DigestUpdate(context.get(), of.data(), of.size()) != 1 ||
      EVP_DigestFinal_ex(context.get(), reinterpret_cast<unsigned char*>(sum.data()), &size) != 1 || size != sum.size())
    std::abort();  // without a hash no object can be trusted, and no caller could continue
  return sum;
}

std::string hex(const_bytes of) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte b : of) {
    text += digits[std::to_integer<unsigned>(b) >> 4];
    text += digits[std::to_integer<unsigned>(b) & 15U];
  }
  return text;
}

std::optional<digest> parse_digest(std::string_view text) { return parse_hex<32>(text); }
std::optional<token> parse_token(std::string_view text) { return parse_hex<16>(text); }

token random_token() {
  token t{};
  if (::getrandom(t.data(), t.size(), 0) != static_cast<ssize_t>(t.size()))
    std::abort();  // a guessable token would be worse
  return t;
}

bool function_library::trusts(const digest& object) const noexcept {
  return !trust_.folder.empty() && std::ranges::find(trust_.objects, object) != trust_.objects.end();
}

bool function_library::has(const digest& object) const noexcept {
  const descriptor folder(::open(trust_.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return folder && ::faccessat(folder.get(), (hex(object) + ".so").c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

result<void> function_library::prepare(const digest& object) {
  const std::lock_guard hold(lock_);
  if (auto found = prepared(object); !found) return std::move(found).error();
  return {};
}

result<const function_table*> function_library::load(const digest& object) {
  const std::lock_guard hold(lock_);
  auto found = prepared(object);
  if (!found) return std::move(found).error();
  loaded& l = **found;
  if (l.handle == nullptr)
    if (auto good = read_manifest(l); !good) return std::move(good).error();
  return &l.functions;
}

result<function_library::loaded*> function_library::prepared(const digest& object) {
  if (!trusts(object))
    return {error(errc::denied, "load functions"),
            "the object " + hex(object) + " is not trusted here; the executor trusts only what --trust names"};
  for (loaded& l : loaded_)
    if (l.object == object) return &l;
  auto memory = sealed_copy(object);
  if (!memory) return std::move(memory).error();
  loaded_.push_back({object, *memory, nullptr, {}});
  return &loaded_.back();
}

result<int> function_library::sealed_copy(const digest& object) const {
  const descriptor folder(::open(trust_.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder)
    return {system_error("open folder"),
            "the folder of functions, " + trust_.folder + ", cannot be opened: " + reason()};
  const std::string name = hex(object) + ".so";
  const descriptor file(::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat about {};
  if (!file || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode))
    return {error(errc::unreachable, "load functions"), name + " is not in the folder of functions"};
  const auto contents = read_all(file.get());
  if (!contents) return {error(errc::invalid, "load functions"), name + " cannot be read, or has more than 16 MiB"};

  descriptor memory(::memfd_create("weft_functions", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory || !write_all(memory.get(), *contents) ||
      ::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return {system_error("memfd_create"), "no sealed memory for the object: " + reason()};
  // Hashed after sealing, through the sealed file: the bytes cannot change between this and the load.
  if (::lseek(memory.get(), 0, SEEK_SET) != 0) return {system_error("lseek"), reason()};
  const auto sealed = read_all(memory.get());
  if (!sealed || sha256(*sealed) != object)
    return {error(errc::invalid, "load functions"),
            name + " in the folder of functions has contents that do not match its name"};
  return memory.release();
}

result<void> function_library::read_manifest(loaded& l) {
  const std::string path = "/proc/self/fd/" + std::to_string(l.memory);
  l.handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const std::string name = hex(l.object).substr(0, 12);
  if (l.handle == nullptr)
    return {error(errc::invalid, "load functions"),
            "the object " + name + " cannot be loaded: " + std::string(::dlerror())};
  const auto* manifest = static_cast<const weft_functions_manifest*>(::dlsym(l.handle, "weft_functions"));
  std::string wrong;
  if (manifest == nullptr) wrong = "it has no symbol weft_functions (functions/manifest.h)";
  else if (manifest->layout != WEFT_FUNCTIONS_LAYOUT)
    wrong = "its manifest has layout " + std::to_string(manifest->layout) + "; this executor reads " +
            std::to_string(WEFT_FUNCTIONS_LAYOUT);
  else if (manifest->count == 0 || manifest->count > most_functions)
    wrong = "it has " + std::to_string(manifest->count) + " functions; 1 to " + std::to_string(most_functions) +
            " are possible";
  for (std::uint32_t i = 0; wrong.empty() && i < manifest->count; ++i) {
    const weft_function& f = manifest->functions[i];
    if (!l.functions.add(f.name == nullptr ? "" : f.name, reinterpret_cast<function_call>(f.call)))
      wrong =
          "function " + std::to_string(i) + " has no code, or a name that is not [a-z0-9_]{1,64} or that occurs twice";
  }
  if (wrong.empty()) return {};
  ::dlclose(std::exchange(l.handle, nullptr));
  l.functions = {};
  return {error(errc::invalid, "load functions"), "the object " + name + " is not an object of functions: " + wrong};
}

result<void> function_library::keep(const digest& object, const_bytes contents) {
  if (!trusts(object))
    return {error(errc::denied, "keep functions"),
            "the object " + hex(object) + " is not trusted here; the executor trusts only what --trust names"};
  if (sha256(contents) != object)
    return {error(errc::denied, "keep functions"), "the received bytes do not have the announced hash, " + hex(object)};
  const std::lock_guard hold(lock_);
  const descriptor folder(::open(trust_.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder)
    return {system_error("open folder"),
            "the folder of functions, " + trust_.folder + ", cannot be opened: " + reason()};
  const std::string name = hex(object) + ".so";
  const std::string draft = name + "." + std::to_string(::getpid()) + ".part";
  const descriptor file(
      ::openat(folder.get(), draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return {system_error("create"), draft + " cannot be made in the folder of functions: " + reason()};
  if (!write_all(file.get(), contents) || ::renameat(folder.get(), draft.c_str(), folder.get(), name.c_str()) != 0) {
    const failure why{system_error("write"), name + " cannot be written in the folder of functions: " + reason()};
    (void)::unlinkat(folder.get(), draft.c_str(), 0);
    return why;
  }
  return {};
}

}  // namespace weft::invocation
