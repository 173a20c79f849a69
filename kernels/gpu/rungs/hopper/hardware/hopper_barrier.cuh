// Barriers of Hopper: how a copy that nobody waits for says that it has come, and how its reader says that the place is
// free. PTX ISA, mbarrier; setmaxnreg; fence.proxy.async.
//
// An mbarrier counts arrivals, and bytes that copies still owe. When both are through, its phase ends: the parity of the
// phase flips, and it counts anew. A reader waits for the phase of a parity: it keeps that bit itself and flips it
// whenever it comes round. A wait for the parity *before* the first returns at once, which is how the writer of a ring
// finds every place free in the first round.
#pragma once

namespace attn::gpu {

__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// ---- mbarriers, by their address in shared memory
__device__ __forceinline__ void barrier_init(unsigned at, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(arrivals) : "memory");
}
// Then __syncthreads(): the copies' hardware sees them too.
__device__ __forceinline__ void barriers_are_made() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// Arrives, and says how many bytes of copies belong to the phase.
__device__ __forceinline__ void barrier_expect(unsigned at, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
}
__device__ __forceinline__ void barrier_arrive(unsigned at) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
}
// The same for the threads of which `on` holds, without a branch: one between two products would part them.
__device__ __forceinline__ void barrier_arrive_if(bool on, unsigned at) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %1, 0; @p mbarrier.arrive.shared::cta.b64 _, [%0]; }" ::"r"(at),
               "r"(static_cast<int>(on))
               : "memory");
}
__device__ __forceinline__ bool barrier_passed(unsigned at, int parity) {
  int passed;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
               : "=r"(passed)
               : "r"(at), "r"(parity)
               : "memory");
  return passed != 0;
}
__device__ __forceinline__ void barrier_wait(unsigned at, int parity) {
  // @phase barrier
  while (!barrier_passed(at, parity)) {
  }
}

// ---- a warpgroup waits for itself. 0 is __syncthreads'.
__device__ __forceinline__ void warpgroup_sync(int warpgroup) {
  // @phase barrier
  asm volatile("bar.sync %0, 128;" ::"r"(1 + warpgroup) : "memory");
}

// Whether x is true of any of its threads. They wait for one another.
__device__ __forceinline__ bool any_of_warpgroup(bool x, int warpgroup) {
  // @phase barrier
  int any;
  asm volatile("{ .reg .pred p, q; setp.ne.b32 p, %1, 0; bar.red.or.pred q, %2, 128, p; selp.b32 %0, 1, 0, q; }"
               : "=r"(any)
               : "r"(static_cast<int>(x)), "r"(1 + warpgroup)
               : "memory");
  return __any_sync(~0u, any != 0);  // a number of the warp, said so
}

// ---- warpgroups take turns, two at a time: who has the turn, and who gets it
__device__ __forceinline__ void take_turn(int warpgroup) {
  // @phase barrier
  asm volatile("bar.sync %0, 256;" ::"r"(5 + warpgroup) : "memory");
}
__device__ __forceinline__ void give_turn(int warpgroup) {
  asm volatile("bar.arrive %0, 256;" ::"r"(5 + warpgroup) : "memory");
}

// What threads have stored in shared memory before is seen by products and copies after.
__device__ __forceinline__ void publish_stores() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// ---- registers move from the warpgroup that copies to those that compute
template <int N>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}
template <int N>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}

}  // namespace attn::gpu
