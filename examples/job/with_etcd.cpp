// SPDX-License-Identifier: Apache-2.0
//
// Lets the jobs of a program meet in etcd: WEFT_STORE=etcd://host:port. One unit includes this header; no other
// changes.
#include <weft/job/etcd.hpp>
