/* SPDX-License-Identifier: Apache-2.0
 *
 * What the C tests share: a check that ends the program with a sentence, and waits with a deadline. */
#ifndef WEFT_TESTS_ABI_EXPECT_H
#define WEFT_TESTS_ABI_EXPECT_H

#include <weft/weft.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t second = 1000000000;

#define FAIL(...)                                                \
  do {                                                           \
    fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, program); \
    fprintf(stderr, __VA_ARGS__);                                \
    fprintf(stderr, "\n");                                       \
    exit(1);                                                     \
  } while (0)
#define EXPECT(condition)                     \
  do {                                        \
    if (!(condition)) FAIL("%s", #condition); \
  } while (0)
/** The call answers so; its sentence is printed where it does not. */
#define ANSWERS(wanted, net, call)                                                                        \
  do {                                                                                                    \
    const int answered_ = (call);                                                                         \
    if (answered_ != (wanted))                                                                            \
      FAIL("%s answered %s, not %s: %s", #call, weft_status_name(answered_ < 0 ? answered_ : 0), #wanted, \
           weft_last_sentence(net));                                                                      \
  } while (0)
#define OK(net, call) ANSWERS(WEFT_OK, net, call)

/** Of the process, for sentences. */
static const char* program = "";

/** Waits for one event. */
static inline weft_event one_event(weft_transport net) {
  weft_event e;
  const int found = weft_wait(net, &e, 1, 20 * second);
  if (found != 1) FAIL("no event in 20 s: %s", weft_last_sentence(net));
  return e;
}
/** Waits for an event of this kind, which must be the next one. */
static inline weft_event next_event(weft_transport net, weft_event_kind kind) {
  const weft_event e = one_event(net);
  if (e.kind != (uint32_t)kind)
    FAIL("event %u came, not %u: status %s, %s", e.kind, (unsigned)kind, weft_status_name(e.status),
         e.text == NULL ? "" : e.text);
  return e;
}
/** Repeats a post while it answers WEFT_AGAIN. The end of another post must not come meanwhile. */
#define POST(net, call)                                                       \
  do {                                                                        \
    int posted_ = (call);                                                     \
    for (int turn_ = 0; posted_ == WEFT_AGAIN && turn_ < 10000000; ++turn_) { \
      weft_event none_;                                                       \
      EXPECT(weft_poll(net, &none_, 1) == 0);                                 \
      posted_ = (call);                                                       \
    }                                                                         \
    ANSWERS(WEFT_OK, net, posted_);                                           \
  } while (0)

#endif
