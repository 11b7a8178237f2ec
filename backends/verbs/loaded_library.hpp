// SPDX-License-Identifier: Apache-2.0
//
// rdma-core, loaded when the first fabric of it opens. A program with WEFT_LOADS_LIBRARIES does not link libibverbs and
// librdmacm, so it starts on machines without them. Here are the functions of both that this backend calls. What
// verbs.h defines inline calls the card's own functions, which need no symbol. The symbol versions are those that
// rdma-core keeps for programs that were linked (its debian/*.symbols). Hot path: no. Threads: any.
#pragma once

#if defined(WEFT_LOADS_LIBRARIES)

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::backends::verbs {

/// A library, and the first of its functions that it lacks.
class loaded_file {
 public:
  explicit loaded_file(const char* name) noexcept : name_(name), handle_(::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) why_ = ::dlerror();  // NOLINT(concurrency-mt-unsafe): glibc's is per thread
  }
  template <class Function>
  void find(Function*& into, const char* function, const char* release) {
    if (handle_ == nullptr) return;
    into = reinterpret_cast<Function*>(::dlvsym(handle_, function, release));
    if (into == nullptr && why_.empty()) why_ = std::string("it has no ") + function + "@" + release;
  }
  /// Empty where every function was found.
  std::string missing() const {
    if (why_.empty()) return {};
    if (handle_ != nullptr) return std::string(name_) + " is older than rdma-core 34, install that or later: " + why_;
    return std::string(name_) +
           " is not on this machine (Debian: apt-get install libibverbs1 librdmacm1 ibverbs-providers; Fedora: dnf "
           "install libibverbs librdmacm): " +
           why_;
  }

 private:
  const char* name_;
  void* handle_;
  std::string why_;
};

// X(library, function, symbol version)
#define WEFT_RDMA_CORE(X)                                  \
  X(cards, ibv_ack_cq_events, "IBVERBS_1.1")               \
  X(cards, ibv_alloc_pd, "IBVERBS_1.1")                    \
  X(cards, ibv_create_comp_channel, "IBVERBS_1.0")         \
  X(cards, ibv_create_cq, "IBVERBS_1.1")                   \
  X(cards, ibv_create_qp, "IBVERBS_1.1")                   \
  X(cards, ibv_create_srq, "IBVERBS_1.1")                  \
  X(cards, ibv_dealloc_pd, "IBVERBS_1.1")                  \
  X(cards, ibv_dereg_mr, "IBVERBS_1.1")                    \
  X(cards, ibv_destroy_comp_channel, "IBVERBS_1.0")        \
  X(cards, ibv_destroy_cq, "IBVERBS_1.1")                  \
  X(cards, ibv_destroy_qp, "IBVERBS_1.1")                  \
  X(cards, ibv_destroy_srq, "IBVERBS_1.1")                 \
  X(cards, ibv_get_cq_event, "IBVERBS_1.1")                \
  X(cards, ibv_get_device_name, "IBVERBS_1.1")             \
  X(cards, ibv_modify_qp, "IBVERBS_1.1")                   \
  X(cards, ibv_query_device, "IBVERBS_1.1")                \
  X(cards, ibv_query_port, "IBVERBS_1.1")                  \
  X(cards, ibv_reg_dmabuf_mr, "IBVERBS_1.12")              \
  X(cards, ibv_reg_mr, "IBVERBS_1.1")                      \
  X(cards, ibv_reg_mr_iova2, "IBVERBS_1.8")                \
  X(cards, ibv_wc_status_str, "IBVERBS_1.1")               \
  X(connections, rdma_accept, "RDMACM_1.0")                \
  X(connections, rdma_ack_cm_event, "RDMACM_1.0")          \
  X(connections, rdma_bind_addr, "RDMACM_1.0")             \
  X(connections, rdma_connect, "RDMACM_1.0")               \
  X(connections, rdma_create_event_channel, "RDMACM_1.0")  \
  X(connections, rdma_create_id, "RDMACM_1.0")             \
  X(connections, rdma_create_qp, "RDMACM_1.0")             \
  X(connections, rdma_destroy_event_channel, "RDMACM_1.0") \
  X(connections, rdma_destroy_id, "RDMACM_1.0")            \
  X(connections, rdma_destroy_qp, "RDMACM_1.0")            \
  X(connections, rdma_disconnect, "RDMACM_1.0")            \
  X(connections, rdma_free_devices, "RDMACM_1.0")          \
  X(connections, rdma_get_cm_event, "RDMACM_1.0")          \
  X(connections, rdma_get_devices, "RDMACM_1.0")           \
  X(connections, rdma_get_src_port, "RDMACM_1.0")          \
  X(connections, rdma_listen, "RDMACM_1.0")                \
  X(connections, rdma_reject, "RDMACM_1.0")                \
  X(connections, rdma_resolve_addr, "RDMACM_1.0")          \
  X(connections, rdma_resolve_route, "RDMACM_1.0")         \
  X(connections, rdma_set_option, "RDMACM_1.0")

/// The functions of both libraries.
struct rdma_core {
  loaded_file cards{"libibverbs.so.1"};
  loaded_file connections{"librdmacm.so.1"};
#define WEFT_POINTER(library, function, release) decltype(::function)* function = nullptr;
  WEFT_RDMA_CORE(WEFT_POINTER)
#undef WEFT_POINTER

  rdma_core() {
#define WEFT_FIND(library, function, release) library.find(this->function, #function, release);
    WEFT_RDMA_CORE(WEFT_FIND)
#undef WEFT_FIND
  }
  static const rdma_core& of_process() {
    static const rdma_core one;
    return one;
  }
};
#undef WEFT_RDMA_CORE

/// The sentence where a library is missing; empty where both are loaded. No function below may be called before.
inline std::string missing_library() {
  const rdma_core& both = rdma_core::of_process();
  std::string missing = both.cards.missing();
  return missing.empty() ? both.connections.missing() : missing;
}

}  // namespace weft::backends::verbs

// Hidden and weak: each object file of the program may have them, and no library sees them. The names are in brackets,
// because verbs.h has macros of some.
#define WEFT_LOADED(result, function, declared, passed)                           \
  extern "C" [[gnu::weak, gnu::visibility("hidden")]] result(function) declared { \
    return (*weft::backends::verbs::rdma_core::of_process().function)passed;      \
  }
WEFT_LOADED(void, ibv_ack_cq_events, (ibv_cq * a, unsigned int b), (a, b))
WEFT_LOADED(ibv_pd*, ibv_alloc_pd, (ibv_context * a), (a))
WEFT_LOADED(ibv_comp_channel*, ibv_create_comp_channel, (ibv_context * a), (a))
WEFT_LOADED(ibv_cq*, ibv_create_cq, (ibv_context * a, int b, void* c, ibv_comp_channel* d, int e), (a, b, c, d, e))
WEFT_LOADED(ibv_qp*, ibv_create_qp, (ibv_pd * a, ibv_qp_init_attr* b), (a, b))
WEFT_LOADED(ibv_srq*, ibv_create_srq, (ibv_pd * a, ibv_srq_init_attr* b), (a, b))
WEFT_LOADED(int, ibv_dealloc_pd, (ibv_pd * a), (a))
WEFT_LOADED(int, ibv_dereg_mr, (ibv_mr * a), (a))
WEFT_LOADED(int, ibv_destroy_comp_channel, (ibv_comp_channel * a), (a))
WEFT_LOADED(int, ibv_destroy_cq, (ibv_cq * a), (a))
WEFT_LOADED(int, ibv_destroy_qp, (ibv_qp * a), (a))
WEFT_LOADED(int, ibv_destroy_srq, (ibv_srq * a), (a))
WEFT_LOADED(int, ibv_get_cq_event, (ibv_comp_channel * a, ibv_cq** b, void** c), (a, b, c))
WEFT_LOADED(const char*, ibv_get_device_name, (ibv_device * a), (a))
WEFT_LOADED(int, ibv_modify_qp, (ibv_qp * a, ibv_qp_attr* b, int c), (a, b, c))
WEFT_LOADED(int, ibv_query_device, (ibv_context * a, ibv_device_attr* b), (a, b))
WEFT_LOADED(int, ibv_query_port, (ibv_context * a, std::uint8_t b, _compat_ibv_port_attr* c), (a, b, c))
WEFT_LOADED(ibv_mr*, ibv_reg_dmabuf_mr, (ibv_pd * a, std::uint64_t b, std::size_t c, std::uint64_t d, int e, int f),
            (a, b, c, d, e, f))
WEFT_LOADED(ibv_mr*, ibv_reg_mr, (ibv_pd * a, void* b, std::size_t c, int d), (a, b, c, d))
WEFT_LOADED(ibv_mr*, ibv_reg_mr_iova2, (ibv_pd * a, void* b, std::size_t c, std::uint64_t d, unsigned int e),
            (a, b, c, d, e))
WEFT_LOADED(const char*, ibv_wc_status_str, (ibv_wc_status a), (a))
WEFT_LOADED(int, rdma_accept, (rdma_cm_id * a, rdma_conn_param* b), (a, b))
WEFT_LOADED(int, rdma_ack_cm_event, (rdma_cm_event * a), (a))
WEFT_LOADED(int, rdma_bind_addr, (rdma_cm_id * a, sockaddr* b), (a, b))
WEFT_LOADED(int, rdma_connect, (rdma_cm_id * a, rdma_conn_param* b), (a, b))
WEFT_LOADED(rdma_event_channel*, rdma_create_event_channel, (), ())
WEFT_LOADED(int, rdma_create_id, (rdma_event_channel * a, rdma_cm_id** b, void* c, rdma_port_space d), (a, b, c, d))
WEFT_LOADED(int, rdma_create_qp, (rdma_cm_id * a, ibv_pd* b, ibv_qp_init_attr* c), (a, b, c))
WEFT_LOADED(void, rdma_destroy_event_channel, (rdma_event_channel * a), (a))
WEFT_LOADED(int, rdma_destroy_id, (rdma_cm_id * a), (a))
WEFT_LOADED(void, rdma_destroy_qp, (rdma_cm_id * a), (a))
WEFT_LOADED(int, rdma_disconnect, (rdma_cm_id * a), (a))
WEFT_LOADED(void, rdma_free_devices, (ibv_context * *a), (a))
WEFT_LOADED(int, rdma_get_cm_event, (rdma_event_channel * a, rdma_cm_event** b), (a, b))
WEFT_LOADED(ibv_context**, rdma_get_devices, (int* a), (a))
WEFT_LOADED(__be16, rdma_get_src_port, (rdma_cm_id * a), (a))
WEFT_LOADED(int, rdma_listen, (rdma_cm_id * a, int b), (a, b))
WEFT_LOADED(int, rdma_reject, (rdma_cm_id * a, const void* b, std::uint8_t c), (a, b, c))
WEFT_LOADED(int, rdma_resolve_addr, (rdma_cm_id * a, sockaddr* b, sockaddr* c, int d), (a, b, c, d))
WEFT_LOADED(int, rdma_resolve_route, (rdma_cm_id * a, int b), (a, b))
WEFT_LOADED(int, rdma_set_option, (rdma_cm_id * a, int b, int c, void* d, std::size_t e), (a, b, c, d, e))
#undef WEFT_LOADED

#else

#include <string>

namespace weft::backends::verbs {
/// The program is linked with the libraries.
inline std::string missing_library() { return {}; }
}  // namespace weft::backends::verbs

#endif
