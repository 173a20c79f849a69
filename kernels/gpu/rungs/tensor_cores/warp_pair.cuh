// Two warps that share the rows of a query tile: each has half of the keys of S and half of the columns of O. What one
// needs of the other goes through shared memory lane to lane, as it lies in registers.
#pragma once

#include "kernels/gpu/device.cuh"

namespace attn::gpu {

__device__ inline float4 read_shared4(unsigned at) {
  float4 x;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
               : "r"(at)
               : "memory");
  return x;
}
__device__ inline void store_shared4(unsigned to, float4 x) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(x.x), "f"(x.y), "f"(x.z), "f"(x.w) : "memory");
}

// Of warp `warp`; BYTES of shared memory a warp begin at `at`. Where no rows are shared nothing of it is asked for.
template <int BYTES>
struct WarpPair {
  int barrier;             // of the pair; 0 is the block's
  unsigned own, to_other;  // this lane's place, and from there to that of its like

  __device__ inline WarpPair(int warp, unsigned at)
      : barrier(1 + warp / 2), own(at + warp * BYTES + 16 * (threadIdx.x % 32)), to_other((1 - warp % 2 * 2) * BYTES) {}

  // Waits until both are here.
  __device__ inline void meet() const {
    // @phase barrier
    asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory");
  }
  // The same; whether some lane of the two says yes.
  __device__ inline bool any(bool yes) const {
    // @phase barrier
    int some;
    asm volatile(
        "{\n\t.reg .pred x, y;\n\tsetp.ne.s32 x, %1, 0;\n\tbar.red.or.pred y, %2, 64, x;\n\tselp.s32 %0, 1, 0, y;\n\t}"
        : "=r"(some)
        : "r"(static_cast<int>(yes)), "r"(barrier)
        : "memory");
    return some != 0;
  }
  // Four numbers of this lane for those of its like. Neither may still read what the other put there before.
  __device__ inline float4 swap(float4 x) const {
    store_shared4(own, x);
    meet();
    const float4 y = read_shared4(own + to_other);
    meet();  // the place is free again
    return y;
  }
  // The n-th four numbers of this lane to its like, and of its like.
  __device__ inline void put(int n, float4 x) const { store_shared4(own + 512 * n, x); }
  __device__ inline float4 get(int n) const { return read_shared4(own + to_other + 512 * n); }
};

}  // namespace attn::gpu
