// Copies of the copy engine that need no tensor map: bytes in a row, on multiples of 16. PTX ISA, cp.async.bulk and
// cp.reduce.async.bulk.
#pragma once

namespace attn::gpu {

// To shared memory; the barrier counts the bytes.
__device__ __forceinline__ void copy_bytes(unsigned to, const void* from, int bytes, unsigned barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}
// From shared memory: fp32 numbers are added to those in device memory, or bytes are stored there.
__device__ __forceinline__ void add_bytes(void* to, unsigned from, int bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to), "r"(from),
               "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void store_bytes(void* to, unsigned from, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes)
               : "memory");
}

}  // namespace attn::gpu
