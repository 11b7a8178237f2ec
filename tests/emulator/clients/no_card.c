// SPDX-License-Identifier: Apache-2.0
//
// A libcudart.so of a machine without memory of a card: what aws-ofi-nccl asks when it starts. All memory is the
// host's.
int cudaRuntimeGetVersion(int* version) { return *version = 11080, 0; }
int cudaDriverGetVersion(int* version) { return *version = 11080, 0; }
int cudaGetDeviceCount(int* count) { return *count = 1, 0; }
int cudaGetDevice(int* device) { return *device = 0, 0; }
int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return (void)attribute, (void)device, *value = 0, 0;
}
int cudaPointerGetAttributes(void* attributes, const void* pointer) { return (void)attributes, (void)pointer, 1; }
int cudaDeviceFlushGPUDirectRDMAWrites(int target, int scope) { return (void)target, (void)scope, 0; }
