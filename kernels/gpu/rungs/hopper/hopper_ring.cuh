// The ring of K and V tiles: they take the next slot in the order in which they are read. A slot is free -> asked for -> landed -> read by every
// consumer -> free; `full` is the barrier of the third state, `empty` of the last.
#pragma once

#include "kernels/gpu/hopper_map.cuh"
#include "kernels/gpu/hopper_schedule.cuh"
#include "kernels/gpu/stamps.cuh"

namespace attn::gpu {

struct Slot {
  int at = 0, round = 0;  // which slot; the parity of its round

  __device__ __forceinline__ void next() {
    if (++at == ATTN_STAGES) {
      at = 0;
      round ^= 1;
    }
  }
};

// A key tile that is asked for: rows of one head's K or V.
struct KeyRows {
  int batch = 0, head = 0, row = -1;
};

// The ring's next slot is free.
__device__ __forceinline__ void wait_for_place(const Slot& slot) {
  barrier_wait(Shared::empty + 8 * slot.at, slot.round ^ 1);
}
// A tile into it.
__device__ __forceinline__ void ask(const HopperMap& map, int panels, const KeyRows& rows, Slot& slot) {
  const unsigned full = Shared::full + 8 * slot.at;
  barrier_expect(full, panels * kPanel);
#pragma unroll
  for (int p = 0; p < panels; ++p) {
    load_keys(Shared::ring + slot.at * kAt.slot_bytes + p * kPanel, map, full, 64 * p, rows.row, rows.head, rows.batch);
  }
  slot.next();
}

// One lane: K and V of every tile, from the last keys to the first, so that the tiles that a mask cuts come first. In
// the order in which they are read: form 4 reads K of a tile before V of the tile before, also where a query tile ends.
__device__ __forceinline__ void feed_keys(const HopperArgs& a, const HopperMap& k, const HopperMap& v) {
  // @phase loop
  Board board;
  Slot slot;
  KeyRows before;
  ATTN_STAMP(Stamps stamps(0, true));
#pragma unroll 1
  for (int n = 0;; ++n) {
    ATTN_STAMP(stamps.single<kStampNext>(-1, -1));
    const int tile = next_tile(a, n);
    board.write(tile);
    if (tile >= a.total) break;
    ATTN_STAMP(stamps.tile(tile));
    const Work work(a, tile);
    KeyRows rows{work.batch(a), work.head(a) / a.share};
#pragma unroll 1
    for (int i = work.last - 1; i >= work.first; --i) {
      rows.row = i * ATTN_BC;
      // @phase K
      ATTN_STAMP(stamps.single<kStampWaitPlaceK>(i, slot.at));
      wait_for_place(slot);
      ATTN_STAMP(stamps.single<kStampAskK>(i, slot.at));
      ask(k, kAt.d_panels, rows, slot);
      // @phase V
      if (!kOverlapped) {
        ATTN_STAMP(stamps.single<kStampWaitPlaceV>(i, slot.at));
        wait_for_place(slot);
        ATTN_STAMP(stamps.single<kStampAskV>(i, slot.at));
        ask(v, kAt.v_panels, rows, slot);
      } else {
        if (before.row >= 0) {
          ATTN_STAMP(stamps.single<kStampWaitPlaceV>(before.row / ATTN_BC, slot.at));
          wait_for_place(slot);
          ATTN_STAMP(stamps.single<kStampAskV>(before.row / ATTN_BC, slot.at));
          ask(v, kAt.v_panels, before, slot);
        }
        before = rows;
      }
      // @phase loop
    }
  }
  if (kOverlapped && before.row >= 0) {
    ATTN_STAMP(stamps.single<kStampWaitPlaceV>(before.row / ATTN_BC, slot.at));
    wait_for_place(slot);
    ATTN_STAMP(stamps.single<kStampAskV>(before.row / ATTN_BC, slot.at));
    ask(v, kAt.v_panels, before, slot);
  }
  leave(a);
  ATTN_STAMP(stamps.end(0));
}

// One lane of another warp: each consumer's rows of Q as soon as their place is free. Alone in its warp: lanes that spin
// beside it would keep it from running.
__device__ __forceinline__ void feed_queries(const HopperArgs& a, const HopperMap& q) {
  // @phase Q
  Board board;
  unsigned round = ~0u, turn = 0;  // a bit a buffer, a bit a consumer
  ATTN_STAMP(Stamps stamps(1, true));
#pragma unroll 1
  for (;;) {
    ATTN_STAMP(stamps.single<kStampWaitTile>(-1, -1));
    const int tile = board.read();
    if (tile >= a.total) break;
    ATTN_STAMP(stamps.tile(tile));
    const Work work(a, tile);
    const int batch = work.batch(a), head = work.head(a);
#pragma unroll 1
    for (int c = 0; c < (kOverlapped ? kConsumers : work.pieces); ++c) {
      const int buffer = c * ATTN_QUERIES + (ATTN_QUERIES == 2 ? turn >> c & 1 : 0);
      ATTN_STAMP(stamps.single<kStampWaitPlaceQ>(tile, buffer));
      barrier_wait(Shared::query_empty + 8 * buffer, round >> buffer & 1);
      ATTN_STAMP(stamps.single<kStampAskQ>(tile, buffer));
      barrier_expect(Shared::query_full + 8 * buffer, kAt.d_panels * 8192);
#pragma unroll
      for (int p = 0; p < kAt.d_panels; ++p) {
        load_queries(Shared::queries + buffer * kAt.query_bytes + p * 8192, q, Shared::query_full + 8 * buffer, 64 * p,
                     query_of(work.row + 64 * c), head, batch);
      }
      round ^= 1u << buffer;
      turn ^= 1u << c;
    }
  }
  ATTN_STAMP(stamps.end(1));
}

}  // namespace attn::gpu
