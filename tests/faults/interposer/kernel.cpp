// SPDX-License-Identifier: Apache-2.0
//
// Calls into the kernel, by their functions in the C library. Calls within that library are not seen, nor those of
// fortified functions (__read_chk).
#include "decision.hpp"

#include <poll.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cerrno>
#include <ctime>

// A function under the name of the C library. `failed` is its answer, where `wrong` is the number of the error.
#define WEFT_CALL_AS(symbol, point_name, returns, parameters, arguments, failed)                         \
  extern "C" __attribute__((visibility("default"))) returns faulty_##symbol parameters __asm__(#symbol); \
  extern "C" returns faulty_##symbol parameters {                                                        \
    static const auto real = faults::next<returns parameters>(#symbol);                                  \
    if (const int wrong = faults::decide(faults::point_of<point_name>, WEFT_CALLER)) return failed;      \
    return real arguments;                                                                               \
  }
#define WEFT_CALL(name, returns, parameters, arguments) \
  WEFT_CALL_AS(name, #name, returns, parameters, arguments, (errno = wrong, static_cast<returns>(-1)))
#define WEFT_MAPPING(name)                                                                                \
  WEFT_CALL_AS(name, "mmap", void*, (void* at, size_t bytes, int how, int flags, int file, off_t offset), \
               (at, bytes, how, flags, file, offset), (errno = wrong, reinterpret_cast<void*>(-1)))
// Closed all the same, as close(2) says of Linux.
#define WEFT_CLOSING(name, returns, parameters, arguments)  \
  WEFT_CALL_AS(name, #name, returns, parameters, arguments, \
               ((void)real arguments, errno = wrong, static_cast<returns>(-1)))

WEFT_CALL(socket, int, (int a, int b, int c), (a, b, c))
WEFT_CALL(socketpair, int, (int a, int b, int c, int* d), (a, b, c, d))
WEFT_CALL(bind, int, (int a, const sockaddr* b, socklen_t c), (a, b, c))
WEFT_CALL(listen, int, (int a, int b), (a, b))
WEFT_CALL(accept, int, (int a, sockaddr* b, socklen_t* c), (a, b, c))
WEFT_CALL(accept4, int, (int a, sockaddr* b, socklen_t* c, int d), (a, b, c, d))
WEFT_CALL(connect, int, (int a, const sockaddr* b, socklen_t c), (a, b, c))
WEFT_CALL(getsockname, int, (int a, sockaddr* b, socklen_t* c), (a, b, c))
WEFT_CALL(getsockopt, int, (int a, int b, int c, void* d, socklen_t* e), (a, b, c, d, e))
WEFT_CALL(setsockopt, int, (int a, int b, int c, const void* d, socklen_t e), (a, b, c, d, e))
WEFT_CALL(shutdown, int, (int a, int b), (a, b))
WEFT_CALL(send, ssize_t, (int a, const void* b, size_t c, int d), (a, b, c, d))
WEFT_CALL(sendto, ssize_t, (int a, const void* b, size_t c, int d, const sockaddr* e, socklen_t f), (a, b, c, d, e, f))
WEFT_CALL(sendmsg, ssize_t, (int a, const msghdr* b, int c), (a, b, c))
WEFT_CALL(recv, ssize_t, (int a, void* b, size_t c, int d), (a, b, c, d))
WEFT_CALL(recvfrom, ssize_t, (int a, void* b, size_t c, int d, sockaddr* e, socklen_t* f), (a, b, c, d, e, f))
WEFT_CALL(recvmsg, ssize_t, (int a, msghdr* b, int c), (a, b, c))
WEFT_CALL(read, ssize_t, (int a, void* b, size_t c), (a, b, c))
WEFT_CALL(write, ssize_t, (int a, const void* b, size_t c), (a, b, c))
WEFT_CALL(writev, ssize_t, (int a, const iovec* b, int c), (a, b, c))
WEFT_CALL(epoll_create1, int, (int a), (a))
WEFT_CALL(epoll_create, int, (int a), (a))
WEFT_CALL(epoll_ctl, int, (int a, int b, int c, epoll_event* d), (a, b, c, d))
WEFT_CALL(epoll_wait, int, (int a, epoll_event* b, int c, int d), (a, b, c, d))
WEFT_CALL(poll, int, (pollfd * a, nfds_t b, int c), (a, b, c))
WEFT_CALL(ppoll, int, (pollfd * a, nfds_t b, const timespec* c, const sigset_t* d), (a, b, c, d))
WEFT_CALL(eventfd, int, (unsigned a, int b), (a, b))
WEFT_CALL(timerfd_create, int, (int a, int b), (a, b))
WEFT_CALL(timerfd_settime, int, (int a, int b, const itimerspec* c, itimerspec* d), (a, b, c, d))
WEFT_CALL(pipe, int, (int* a), (a))
WEFT_CALL(pipe2, int, (int* a, int b), (a, b))
WEFT_CALL(dup, int, (int a), (a))
WEFT_CALL(memfd_create, int, (const char* a, unsigned b), (a, b))
WEFT_CALL(ftruncate, int, (int a, off_t b), (a, b))
WEFT_CALL_AS(ftruncate64, "ftruncate", int, (int a, off_t b), (a, b), (errno = wrong, -1))
WEFT_CALL(shm_open, int, (const char* a, int b, mode_t c), (a, b, c))
WEFT_CALL(mlock, int, (const void* a, size_t b), (a, b))
WEFT_MAPPING(mmap)
WEFT_MAPPING(mmap64)
WEFT_CALL(munmap, int, (void* a, size_t b), (a, b))
WEFT_CALL(getrandom, ssize_t, (void* a, size_t b, unsigned c), (a, b, c))
WEFT_CALL(fork, pid_t, (), ())
WEFT_CALL(pidfd_open, int, (pid_t a, unsigned b), (a, b))
WEFT_CALL(process_vm_readv, ssize_t,
          (pid_t a, const iovec* b, unsigned long c, const iovec* d, unsigned long e, unsigned long f),
          (a, b, c, d, e, f))
WEFT_CALL(process_vm_writev, ssize_t,
          (pid_t a, const iovec* b, unsigned long c, const iovec* d, unsigned long e, unsigned long f),
          (a, b, c, d, e, f))
WEFT_CLOSING(close, int, (int a), (a))
// Functions with `...`: on every machine of weft the last arguments are in registers, whether declared or not.
WEFT_CALL(open, int, (const char* a, int b, unsigned long c), (a, b, c))
WEFT_CALL_AS(open64, "open", int, (const char* a, int b, unsigned long c), (a, b, c), (errno = wrong, -1))
WEFT_CALL(openat, int, (int a, const char* b, int c, unsigned long d), (a, b, c, d))
WEFT_CALL(fcntl, int, (int a, int b, unsigned long c), (a, b, c))
WEFT_CALL_AS(fcntl64, "fcntl", int, (int a, int b, unsigned long c), (a, b, c), (errno = wrong, -1))
WEFT_CALL(ioctl, int, (int a, unsigned long b, unsigned long c), (a, b, c))
WEFT_CALL(syscall, long, (long a, long b, long c, long d, long e, long f, long g), (a, b, c, d, e, f, g))
// Functions that return the number of the error.
WEFT_CALL_AS(posix_spawn, "posix_spawn", int,
             (pid_t * a, const char* b, const posix_spawn_file_actions_t* c, const posix_spawnattr_t* d, char* const* e,
              char* const* f),
             (a, b, c, d, e, f), wrong)
WEFT_CALL_AS(pthread_create, "pthread_create", int,
             (pthread_t * a, const pthread_attr_t* b, void* (*c)(void*), void* d), (a, b, c, d), wrong)
// Its errors are negative (netdb.h).
WEFT_CALL_AS(getaddrinfo, "getaddrinfo", int, (const char* a, const char* b, const void* c, void** d), (a, b, c, d),
             -wrong)

// Sleeps before main() return at once: a library that is only linked may sleep for 0.2 s in its constructor.
#define WEFT_SLEEP(name, parameters, arguments)                                                  \
  extern "C" __attribute__((visibility("default"))) int faulty_##name parameters __asm__(#name); \
  extern "C" int faulty_##name parameters {                                                      \
    static const auto real = faults::next<int parameters>(#name);                                \
    return faults::in_main() ? real arguments : 0;                                               \
  }
WEFT_SLEEP(nanosleep, (const timespec* a, timespec* b), (a, b))
WEFT_SLEEP(usleep, (unsigned a), (a))
