// The flight recorder of a pipeline: which lane did what when (stamps_layout.h). Hooks are lines of ATTN_STAMP(...)
// alone (kernels/gpu/compile/hooks.h): nothing in the code that is shipped and timed.
//
// A mark is the clock, two integers and one store that nobody waits for: no fence, no atomic, no branch, and one
// register between marks. The store goes straight to global memory: what shared memory has left beside the ring does
// not hold a long tile's events.
#pragma once

#if !ATTN_STAMPED
#define ATTN_STAMP(...)
#else
#define ATTN_STAMP(...) __VA_ARGS__

#include "kernels/gpu/stamps_layout.h"

extern "C" {
__constant__ attn::gpu::StampArgs attn_stamps;  // set by the program before the launch
}

namespace attn::gpu {

class Stamps {
 public:
  // `writes`: of the one thread that stands for the lane.
  __device__ __forceinline__ Stamps(int lane, bool writes) {
    const int block = static_cast<int>(blockIdx.x);
    const bool detail = static_cast<unsigned>(block - attn_stamps.first) < static_cast<unsigned>(attn_stamps.blocks);
    at_ = stamp_place(attn_stamps, block, lane) | (writes ? (detail ? 0u : kCoarse) : kSilent);
    if (!writes) return;
    StampHead& head = attn_stamps.heads[block * attn_stamps.lanes + lane];
    asm volatile("mov.u32 %0, %%smid;" : "=r"(head.sm));
    head.start_clock = clock64();
    head.start_ns = nanoseconds();
  }
  // From now on this lane is in that state.
  __device__ __forceinline__ void mark(StampTag tag, int tile, int slot) {
    write(tag, tile, slot, at_, (1u << attn_stamps.detail_log2) - 1, kCoarse);
  }
  // The same once `x` is computed, and before anything is that needs it.
  __device__ __forceinline__ void mark_with(float (&x)[2], StampTag tag, int tile, int slot) {
    asm volatile("" : "+f"(x[0]), "+f"(x[1])::"memory");
    mark(tag, tile, slot);
    asm volatile("" : "+f"(x[0]), "+f"(x[1])::"memory");
  }
  // In every block: which query tile begins.
  __device__ __forceinline__ void mark_tile(int tile) {
    const bool coarse = at_ & kCoarse;
    const unsigned log2 = coarse ? attn_stamps.coarse_log2 : attn_stamps.detail_log2;
    write(kStampTile, tile, -1, at_, (1u << log2) - 1, kSilent);
  }
  __device__ __forceinline__ void end(int lane) {
    mark(kStampDone, -1, -1);
    if (at_ & kSilent) return;
    const int block = static_cast<int>(blockIdx.x);
    StampHead& head = attn_stamps.heads[block * attn_stamps.lanes + lane];
    head.end_clock = clock64();
    head.end_ns = nanoseconds();
    head.count = (at_ & ~kCoarse) - stamp_place(attn_stamps, block, lane);
  }

 private:
  static constexpr unsigned kSilent = 0x80000000u, kCoarse = 0x40000000u;

  __device__ __forceinline__ static long long nanoseconds() {
    long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
    return ns;
  }
  // By threads whose place is below `limit`; a lane without room stays at its last place.
  __device__ __forceinline__ static void write(StampTag tag, int tile, int slot, unsigned& at, unsigned mask,
                                               unsigned limit) {
    const unsigned word = tag | (static_cast<unsigned>(slot) & kStampNoSlot) << kStampTagBits |
                          static_cast<unsigned>(tile) << (kStampTagBits + kStampSlotBits);
    const StampEvent* const to = attn_stamps.events + (at & ~kCoarse);
    asm volatile(
        "{ .reg .pred p; .reg .b32 c, n, m;\n"
        "setp.lt.u32 p, %0, %4;\n"
        "mov.u32 c, %%clock;\n"
        "@p st.global.v2.b32 [%1], {c, %2};\n"
        "add.u32 n, %0, 1;\n"
        "and.b32 m, n, %3;\n"
        "setp.ne.and.u32 p, m, 0, p;\n"
        "@p mov.b32 %0, n; }"
        : "+r"(at)
        : "l"(to), "r"(word), "r"(mask), "r"(limit)
        : "memory");
  }

  unsigned at_;  // the next event's place; kCoarse: of a block that is not recorded in detail; kSilent: writes nothing
};

}  // namespace attn::gpu
#endif
