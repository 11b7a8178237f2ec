// SPDX-License-Identifier: Apache-2.0
//
// An OpenSHMEM program: puts and gets of many sizes around a ring, fetch-add and compare-swap at one word, a reduction.
// It checks every byte. docs/reference/clients.md says how to build it with Sandia OpenSHMEM, and what was run.
#include <shmem.h>
#include <stdio.h>
#include <string.h>

enum { most = 1 << 20, additions = 200 };
static unsigned char target[most];
static unsigned char own[most];
static long word, one, sum;
static long barrier[SHMEM_REDUCE_SYNC_SIZE], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static int differs(const unsigned char* bytes, size_t size, int value) {
  for (size_t i = 0; i < size; ++i)
    if (bytes[i] != (unsigned char)value) return 1;
  return 0;
}

int main(void) {
  int wrong = 0;
  shmem_init();
  const int me = shmem_my_pe(), all = shmem_n_pes(), before = (me + all - 1) % all;
  for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) barrier[i] = SHMEM_SYNC_VALUE;
  for (size_t size = 1; size <= most; size *= 4) {
    const int round = (int)(size % 251);
    memset(own, round + me, size);
    shmem_barrier_all();
    shmem_putmem(target, own, size, (me + 1) % all);
    shmem_barrier_all();
    wrong += differs(target, size, round + before);
    shmem_barrier_all();
    memset(target, me, size);
    shmem_barrier_all();
    shmem_getmem(own, target, size, before);
    wrong += differs(own, size, before);
    shmem_barrier_all();
  }
  for (int i = 0; i < additions; ++i) (void)shmem_long_atomic_fetch_add(&word, 1, 0);
  shmem_barrier_all();
  if (me == 0) wrong += shmem_long_atomic_compare_swap(&word, (long)additions * all, 7, 0) != (long)additions * all;
  one = me + 1;
  shmem_barrier_all();
  shmem_long_sum_to_all(&sum, &one, 1, 0, 0, all, work, barrier);
  wrong += sum != (long)all * (all + 1) / 2;
  printf("process %d of %d: %d wrong\n", me, all, wrong);
  shmem_finalize();
  return wrong != 0;
}
