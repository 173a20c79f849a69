// The ring of K and V tiles in shared memory, tile after tile of a query tile, for rungs that may let their warps drift
// apart.
//
// Together: all threads meet before each tile. It has come for all, and nobody reads the tile before any more, so its
// place takes the next.
// Apart: two counters (mbarrier) a place. `full` counts the threads whose copies have come, `free` those that have read.
// The next tile is asked for between the two products, so that one warp may be half a tile ahead of another: it takes its
// exponentials while the other is at its products.
#pragma once

#include "kernels/gpu/flash_tile.cuh"

namespace attn::gpu {

// ---- counters in shared memory, of 8 bytes: the phase of one ends when as many have arrived as it was set to

constexpr int kCounter = 8;

__device__ inline void set_counter(unsigned at, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(count) : "memory");
}
__device__ inline void arrive(unsigned at) {
  asm volatile("{\n\t.reg .b64 state;\n\tmbarrier.arrive.shared.b64 state, [%0];\n\t}" ::"r"(at) : "memory");
}
// Once this thread's copies so far have come.
__device__ inline void arrive_with_copies(unsigned at) {
#if ATTN_ALIGNED
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at) : "memory");
#else
  arrive(at);  // they went through registers, and are there
#endif
}
// Until the phase of this parity has ended.
__device__ inline void wait_for_phase(unsigned at, unsigned parity) {
#if __CUDA_ARCH__ >= 900
#define ATTN_MBARRIER_WAIT "mbarrier.try_wait.parity.shared.b64"  // sleeps a while
#else
#define ATTN_MBARRIER_WAIT "mbarrier.test_wait.parity.shared.b64"
#endif
  unsigned ended;
  do {
    asm volatile("{\n\t.reg .pred p;\n\t" ATTN_MBARRIER_WAIT " p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
                 : "=r"(ended)
                 : "r"(at), "r"(parity)
                 : "memory");
  } while (ended == 0);
#undef ATTN_MBARRIER_WAIT
}

// ---- the ring

// Each tile: await() before K is read, ask() when K was read and V was not, done() after V. All threads of the block
// call them alike. `stage` is where the tile begins, in bytes from the ring's first.
template <class Feed, int STAGE_BYTES, bool APART>
struct KeyRing {
  Feed feed;
  unsigned counters;  // apart: `full` of each place, then `free` of each
  unsigned stage = 0;
  unsigned place = 0, parity = 0;                    // of the tile that is read
  unsigned next = ATTN_STAGES - 1, next_parity = 1;  // of the tile that is asked for

  static constexpr unsigned kBytes = ATTN_STAGES * STAGE_BYTES;

  // The first tiles are on their way.
  __device__ inline KeyRing(const Feed& of, unsigned at) : feed(of), counters(at) {
    // @phase setup
    if constexpr (APART) {
      if (threadIdx.x == 0) {
#pragma unroll
        for (int n = 0; n < ATTN_STAGES; ++n) {
          set_counter(full(n), ATTN_THREADS);
          set_counter(free(n), ATTN_THREADS);
        }
      }
      // @phase barrier
      __syncthreads();
    }
    // @phase loop
#pragma unroll
    for (int n = 0; n < ATTN_STAGES - 1; ++n) {
      feed.fetch(n * STAGE_BYTES);
      feed.next();
      sent(n);
    }
  }

  __device__ inline void await() {
    // @phase barrier
    if constexpr (APART) {
      wait_for_phase(full(place), parity);
    } else if constexpr (ATTN_STAGES == 1) {
      __syncthreads();  // nobody reads the tile before any more
      feed.fetch(0);
      commit_copies();
      wait_for_copies<0>();
      __syncthreads();
    } else {
      wait_for_copies<(ATTN_STAGES > 1 ? ATTN_STAGES - 2 : 0)>();
      __syncthreads();  // the tile has come for all, and nobody reads the tile before: its place is free
      // @phase loop
      feed.fetch(place_before());
      commit_copies();
    }
  }

  __device__ inline void ask() {
    if constexpr (!APART) return;
    // @phase barrier
    wait_for_phase(free(next), next_parity);  // of a place that nobody has read yet the phase before counts as ended
    // @phase loop
    feed.fetch(place_before());
    sent(next);
  }

  __device__ inline void done() {
    // @phase loop
    if constexpr (APART) {
      arrive(free(place));
      if (++place == ATTN_STAGES) place = 0, parity ^= 1;
      if (++next == ATTN_STAGES) next = 0, next_parity ^= 1;
    }
    feed.next();
    stage = stage + STAGE_BYTES == kBytes ? 0 : stage + STAGE_BYTES;
  }

 private:
  __device__ inline unsigned full(unsigned n) const {
    return counters + kCounter * n;
  }
  __device__ inline unsigned free(unsigned n) const {
    return counters + kCounter * (ATTN_STAGES + n);
  }
  // Where the tile before this one was, and the one to come goes.
  __device__ inline unsigned place_before() const {
    return stage == 0 ? kBytes - STAGE_BYTES : stage - STAGE_BYTES;
  }
  __device__ inline void sent(unsigned n) const {
    if constexpr (APART) {
      arrive_with_copies(full(n));
    } else {
      commit_copies();
    }
  }
};

}  // namespace attn::gpu
