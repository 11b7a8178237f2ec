// SPDX-License-Identifier: Apache-2.0
//
// How calls enter the library, and handles as numbers. Hot path: each call. Threads: under Python's lock at its begin.
#pragma once
#include "transport.hpp"

#include <unistd.h>

#include <atomic>

#include "refusing.hpp"

namespace weft_python {

inline std::atomic<unsigned long> ending_thread = 0;  // the one that ends the program

inline weft_peer peer_of(number handle) { return reinterpret_cast<weft_peer>(handle); }
inline weft_region region_of(number handle) { return reinterpret_cast<weft_region>(handle); }
inline weft_remote remote_of(number handle) { return reinterpret_cast<weft_remote>(handle); }
template <class Handle>
number number_of(Handle handle) {
  return reinterpret_cast<number>(handle);
}

// One thread inside a transport, and Python's lock left meanwhile.
class transport::inside {
 public:
  explicit inside(transport& of) : of_(of) {
    // In a forked child nobody is inside, whatever the parent's other threads did: the library itself refuses there.
    if (of_.busy_ && of_.opened_by_ == getpid())
      refuse("InvalidError",
             "another thread is in a call of this transport: one thread at a time uses a transport; "
             "open one for each thread");
    of_.busy_ = true;
    thread_ = PyEval_SaveThread();
  }
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;
  ~inside() {
    while (ending_thread != 0 && ending_thread != PyThread_get_thread_ident()) pause();
    PyEval_RestoreThread(thread_);
    of_.busy_ = false;
    while (!of_.released_.empty()) {
      const number region = of_.released_.back();
      of_.released_.pop_back();
      of_.let_go(region);
    }
    of_.let_lists_go();
  }

 private:
  transport& of_;
  PyThreadState* thread_ = nullptr;
};

template <class Call>
int transport::call(Call made) {
  const inside in(*this);
  return made();
}

}  // namespace weft_python
