// SPDX-License-Identifier: Apache-2.0
//
// A user of jobs. Without a launcher it is alone.
#include <weft/job/job.hpp>

#include <cstdio>

int main() {
  auto job = weft::join_job();
  std::puts(job ? "hello from job" : job.error().sentence.c_str());
  return job && job->size() == 1 ? 0 : 1;
}
