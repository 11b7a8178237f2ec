// SPDX-License-Identifier: Apache-2.0
//
// A libpmix of a version that weft refuses.
extern "C" const char* PMIx_Get_version();
extern "C" const char* PMIx_Get_version() { return "PMIx 2.1.4"; }
