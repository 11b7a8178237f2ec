// SPDX-License-Identifier: Apache-2.0
//
// `using namespace weft` together with `using namespace std` and the C library's headers: each name below means what it
// means without weft. The names of a program itself, as they are written today, are free too.
#include <weft/compose/callbacks.hpp>
#include <weft/compose/with.hpp>
#include <weft/weft.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>
#include <string>

using namespace std;   // NOLINT(google-build-using-namespace): the test
using namespace weft;  // NOLINT(google-build-using-namespace): the test

namespace {
int posted = 0, delivered = 0, visible = 0, group = 0, notify = 0, inject = 0, queues = 0, liveness = 0, completion = 0;
int put = 0, endpoint = 0, atomics = 0, threading = 0, framing = 0, coalesce = 0, bootstrap = 0, progress = 0,
    batch = 0;
int state = 0, header = 0, immediate = 0, spin = 0, target = 0, provider = 0;
}  // namespace

int all_mean_the_users(int descriptor) {
  char text[4];
  pollfd watched{descriptor, POLLIN, 0};
  int ended = 0;
  sockaddr address{};
  socklen_t size = sizeof address;
  cout << get<0>(pair(1, 2)) << flush;
  const int calls = static_cast<int>(wait(&ended)) + poll(&watched, 1, 0) +
                    static_cast<int>(send(descriptor, text, sizeof text, 0)) + connect(descriptor, &address, size) +
                    open("/dev/null", O_RDONLY) + accept(descriptor, &address, &size) + listen(descriptor, 1) +
                    static_cast<int>(read(descriptor, text, 1)) + close(descriptor) + bind(descriptor, &address, size);
  return calls + posted + delivered + visible + group + notify + inject + queues + liveness + completion + put +
         endpoint + atomics + threading + framing + coalesce + bootstrap + progress + batch + state + header +
         immediate + spin + target + provider;
}

/// The beginner's header is enough for this.
result<transport<selected>> net() { return weft::open<selected>({.node = "127.0.0.1"}); }
using spinning = with<selected, answers::wait::spin>;
static_assert(policy<answers::notify::immediate> && write_state<states::visible>);
