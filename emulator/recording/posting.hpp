// SPDX-License-Identifier: Apache-2.0
//
// Posted operations until they complete: which line of the record posted what, so that a completion can name it. A
// program's contexts differ from run to run, and lines do not. Hot path: no. Threads: the caller holds the session's
// lock.
#pragma once

#include "objects.hpp"

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::recording {

/// What a post is to its completion.
struct posted {
  std::size_t line = 0;
  void* context = nullptr;
  const object* endpoint = nullptr;
  const object* queue = nullptr;  ///< Where it completes; null where nobody knows.
  bool receives = false;          ///< A message of a peer ends it.
  bool completes = true;          ///< A success gives an entry.
  bool many = false;              ///< FI_MULTI_RECV: several entries.
  std::vector<iovec> into;        ///< Where its data go.
};

/// The post of an entry with this context and these flags in a queue (null: in any). `line` 0: none is known.
posted post_of(void* context, std::uint64_t flags, const object* queue);
/// The post of this line. `line` 0: none is known.
posted post_of_line(std::size_t line, bool ends);
/// Its posts never complete from now on.
void forget_posts_of(const object& endpoint);
/// Bytes at a position of several buffers.
void gather(const std::vector<iovec>& from, std::size_t size, std::string& into);
void scatter(const std::vector<iovec>& into, const std::string& bytes);
std::size_t size_of(const std::vector<iovec>& all);

/// One call that posts.
class post_call : public call {
 public:
  post_call(fid_ep* endpoint, std::string_view verb) : call(&of(endpoint), verb), endpoint_(of(endpoint)) {
    what_.completes = !endpoint_.selective || (endpoint_.post_flags & FI_COMPLETION) != 0;
  }
  post_call& flags(std::uint64_t flags);
  post_call& buffer(const void* from, std::size_t size, void* descriptor);
  post_call& buffers(const iovec* from, std::size_t count, void** descriptors);
  /// The buffers get data: of a message where `receives`, else of a peer's memory.
  post_call& takes(bool receives);
  post_call& result(void* into, std::size_t size);
  post_call& to(fi_addr_t peer);
  post_call& remote(std::uint64_t address, std::uint64_t key);
  post_call& remotes(const fi_rma_iov* all, std::size_t count);
  post_call& data(std::uint64_t data);
  post_call& tag(std::uint64_t tag);
  post_call& ignore(std::uint64_t ignore);
  post_call& silent() { return silent_ = true, *this; }
  /// Posts: `real` answers while recording.
  template <class Real>
  ssize_t post(void* context, Real real) {
    what_.context = context;
    ssize_t answered = answer(real);
    if (answered == 0) keep();
    return answered;
  }

 private:
  void keep();

  object& endpoint_;
  posted what_;
  std::vector<iovec> buffers_;
  bool silent_ = false;
  bool without_data_ = false;
};

}  // namespace weft::recording
