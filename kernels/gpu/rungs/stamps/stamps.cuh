// The flight recorder of a pipeline: which lane did what when (stamps_layout.h). Hooks are lines of ATTN_STAMP(...)
// alone (kernels/gpu/compile/hooks.h): nothing in the code that is shipped and timed.
//
// A mark is the clock and one store that nobody waits for, at a fixed place behind the lane's pointer: no fence, no
// atomic, no branch. Two registers stay between marks. Stores go straight to global memory: what shared memory has left
// beside the ring does not hold a long tile's records.
#pragma once

#if !ATTN_STAMPED
#define ATTN_STAMP(...)
#define ATTN_LANE(lane, writes)
#define ATTN_STATE(name, tile, slot)
#define ATTN_LANE_DONE(lane)
#else
#define ATTN_STAMP(...) __VA_ARGS__
// For a kernel of one's own (docs/own_kernel.md): a lane begins; it is in that state of the header from now on; it ends.
#define ATTN_LANE(lane, writes) attn::gpu::Stamps attn_lane(lane, writes)
#define ATTN_STATE(name, tile, slot) attn_lane.state(ATTN_STATE_##name, tile, slot)
#define ATTN_LANE_DONE(lane) attn_lane.end(lane)

#include "kernels/gpu/stamps_layout.h"

extern "C" {
__constant__ attn::gpu::StampArgs attn_stamps;  // set by the program before the launch
}

namespace attn::gpu {

class Stamps {
 public:
  // `writes`: of the one thread that stands for the lane.
  __device__ __forceinline__ Stamps(int lane, bool writes) {
    at_ = kNoDetail;
    const int block = this_block();
    if (!writes || block >= attn_stamps.grid || lane >= attn_stamps.lanes) return;
    const bool detail = static_cast<unsigned>(block - attn_stamps.first) < static_cast<unsigned>(attn_stamps.blocks);
    at_ = reinterpret_cast<unsigned long long>(attn_stamps.words + stamp_place(attn_stamps, block, lane)) |
          (detail ? 0u : kNoDetail);
    StampHead& head = attn_stamps.heads[block * attn_stamps.lanes + lane];
    asm volatile("mov.u32 %0, %%smid;" : "=r"(head.sm));
    head.start_clock = clock64();
    head.start_ns = nanoseconds();
  }
  // From now on this lane is in that state of the record that is being written; of several like it the nth.
  template <unsigned RECORD, StampTag TAG, int NTH = 0>
  __device__ __forceinline__ void mark() {
    constexpr int kPlace = stamp_states(RECORD).place(TAG, NTH);
    static_assert(kPlace > 0 || TAG == kStampWaitTurn, "the record has no such state");
    if constexpr (kPlace > 0) {
      unsigned now;
      asm volatile("mov.u32 %0, %%clock;" : "=r"(now));
      store<kPlace>(now);
    }
  }
  // The same once `x` is computed, and before anything is that needs it.
  template <unsigned RECORD, StampTag TAG, int NTH = 0>
  __device__ __forceinline__ void mark_with(float& x) {
    asm volatile("" : "+f"(x)::"memory");
    mark<RECORD, TAG, NTH>();
    asm volatile("" : "+f"(x)::"memory");
  }
  template <unsigned RECORD, StampTag TAG, int NTH = 0>
  __device__ __forceinline__ void mark_with(unsigned& x) {
    asm volatile("" : "+r"(x)::"memory");
    mark<RECORD, TAG, NTH>();
    asm volatile("" : "+r"(x)::"memory");
  }
  // The record is whole; `before`: word 1 of those that have one.
  template <unsigned RECORD>
  __device__ __forceinline__ void close(int tile, int a, int b, unsigned before = 0) {
    constexpr StampStates kStates = stamp_states(RECORD);
    store<0>(stamp_word(RECORD, tile, a, b));
    if constexpr (kStates.words == 2) store<1>(before);
    asm volatile(  // of lanes that are recorded in detail alone: the others' places are for query tiles
        "{ .reg .pred p; .reg .b32 f;\n"
        "cvt.u32.u64 f, %0;\n"
        "and.b32 f, f, 1;\n"
        "setp.eq.u32 p, f, 0;\n"
        "@p add.u64 %0, %0, %1; }"
        : "+l"(at_)
        : "n"(4 * kStates.all_words()));
  }
  // A record of one state that begins now.
  template <StampTag TAG>
  __device__ __forceinline__ void single(int tile, int slot) {
    mark<TAG, TAG>();
    close<TAG>(tile, slot, -1);
  }
  // The same by number, of a kernel of one's own: it may write as many as it likes, so each looks for room.
  __device__ __forceinline__ void state(unsigned record, int tile, int slot) {
    if (at_ & kNoDetail) return;
    if (!has_room(attn_stamps.detail_log2, kOwnWords)) {
      at_ = kNoDetail;
      return;
    }
    word(1) = static_cast<unsigned>(clock64());
    word(0) = stamp_word(record, tile, slot, -1);
    at_ += 8;
  }
  // In every block: which query tile begins, by both clocks.
  __device__ __forceinline__ void tile(int tile) {
    if (at_ >> 32 == 0) return;
    const bool detail = !(at_ & kNoDetail);
    const unsigned log2 = detail ? attn_stamps.detail_log2 : attn_stamps.coarse_log2;
    const unsigned need = detail ? attn_stamps.tile_words : kStampTileWords;
    if (!has_room(log2, need)) {  // no room: it never says that it ended, and is refused
      at_ = kNoDetail;
      return;
    }
    word(0) = stamp_word(kStampTile, tile, -1, -1);
    word(1) = static_cast<unsigned>(clock64());
    word(2) = static_cast<unsigned>(nanoseconds());
    at_ += 4 * kStampTileWords;
  }
  __device__ __forceinline__ void end(int lane) {
    single<kStampDone>(-1, -1);
    if (at_ >> 32 == 0) return;
    const int block = this_block();
    StampHead& head = attn_stamps.heads[block * attn_stamps.lanes + lane];
    head.end_clock = clock64();
    head.end_ns = nanoseconds();
    const auto first = reinterpret_cast<unsigned long long>(attn_stamps.words + stamp_place(attn_stamps, block, lane));
    head.count = static_cast<unsigned>(((at_ & ~1ull) - first) >> 2);
  }

 private:
  static constexpr unsigned kNoDetail = 1;
  static constexpr unsigned kOwnWords = 8;  // a state's, and those that end the lane

  __device__ __forceinline__ static int this_block() {
    return static_cast<int>(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
  }
  // So many words more lie in the lane's own part.
  __device__ __forceinline__ bool has_room(unsigned log2, unsigned words) const {
    const auto first = reinterpret_cast<unsigned long long>(attn_stamps.words);
    const unsigned next = static_cast<unsigned>((at_ - first) >> 2);
    return next >> log2 == (next + words) >> log2;
  }

  __device__ __forceinline__ static long long nanoseconds() {
    long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
    return ns;
  }
  // Without a branch: one between two products would part them.
  template <int PLACE>
  __device__ __forceinline__ void store(unsigned x) const {
    asm volatile(
        "{ .reg .pred p; .reg .b32 f;\n"
        "cvt.u32.u64 f, %0;\n"
        "and.b32 f, f, 1;\n"
        "setp.eq.u32 p, f, 0;\n"
        "@p st.global.b32 [%0+%1], %2; }" ::"l"(at_),
        "n"(4 * PLACE), "r"(x));
  }
  __device__ __forceinline__ unsigned& word(int n) const {
    return reinterpret_cast<unsigned*>(at_ & ~static_cast<unsigned long long>(kNoDetail))[n];
  }

  // The record that is being written. Bit 0: its states are not recorded, only query tiles; nothing above 32 bits: nor
  // they.
  unsigned long long at_;
};

}  // namespace attn::gpu
#endif
