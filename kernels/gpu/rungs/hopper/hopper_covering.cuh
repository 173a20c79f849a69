// The consumers of form 5: several that cover each other. Each has one product or one softmax at work, never both but
// for the two parts of P V; while it computes exponentials another has the matrix pipe.
//
// Where P V is one product, the exponentials begin as soon as S is there, with the m of the tile before. Only where that
// was too small is S multiplied once more, and then the maximum comes first. Since nothing else holds them apart then,
// consumers take turns at S: each starts it when the one before has it, and so they stay a product apart.
#pragma once

#include "kernels/gpu/hopper_epilogue.cuh"
#include "kernels/gpu/hopper_ring.cuh"
#include "kernels/gpu/hopper_trace.cuh"
#include "kernels/gpu/hopper_wgmma.cuh"
#include "kernels/gpu/stamps.cuh"

namespace attn::gpu {

template <int N>
struct Width {
  static constexpr int keys = N;
};

// 64 rows of every tile that the block takes.
__device__ __forceinline__ void consume_covering(const HopperArgs& a, const HopperMap& out, int consumer) {
  // @phase loop
  const bool lead = threadIdx.x % 128 == 0;
  const Descriptor k0 = by_rows(Shared::ring), v0 = by_columns(Shared::ring, ATTN_BC);
  const float scale = ATTN_BIAS ? 1.0f : a.scale_log2;  // that scores still lack when the softmax takes them
  Board board;
  Slot slot;
  int buffer = 0, query_round = 0;
  unsigned left = 0;  // the barrier of the rows that the tile before left through; 0: handed back
  const auto hand_back_left = [&] {
    if (left == 0) return;
    if (threadIdx.x % 32 == 0) hand_back(left);
    __syncwarp();
    left = 0;
  };
  float o[kDv / 2];
  Softmax x;
  const int other = (consumer + 1) % kConsumers;
  if (kTurns && other == 0) give_turn(0);
  ATTN_STAMP(Stamps stamps(kStampCopies + consumer, lead));
#pragma unroll 1
  for (;;) {
    ATTN_STAMP(stamps.single<kStampWaitTile>(-1, -1));
    const int tile = board.read_together();
    if (tile >= a.total) break;
    ATTN_STAMP(stamps.tile(tile));
    const Work work(a, tile);
    const Rows rows(a, work, consumer);
    const bool mine = consumer < work.pieces;
    const int at_query = consumer * ATTN_QUERIES + buffer;
    const unsigned query = Shared::queries + at_query * kAt.query_bytes;
    const Descriptor q = by_rows(query);
    if (mine) {
      ATTN_STAMP(stamps.single<kStampWaitQ>(tile, at_query));
      barrier_wait(Shared::query_full + 8 * at_query, query_round);
      if (++buffer == ATTN_QUERIES) {
        buffer = 0;
        query_round ^= 1;
      }
      if (a.query_factor != 1.0f) multiply_query(a.query_factor, query, consumer);
    }
    x.begin();
    bool begun = false, known = false;  // O; an m of every row
    ATTN_TRACE(trace_unseen_after(a, work, rows, x, o));
#pragma unroll 1
    for (int i = work.last - 1; i >= work.first; --i) {
      const int key = i * ATTN_BC;
      const Slot k = slot;
      slot.next();
      const Slot v = slot;
      slot.next();
      const auto step = [&](auto width) {
        constexpr int N = decltype(width)::keys, kSteps = N / 16, kFirst = kSteps * ATTN_SPLIT / 8;
        float s[N / 2];
        unsigned p[kSteps][4];
        ATTN_STAMP(constexpr unsigned kRecord = stamp_record(kStampCovering, kTurns, kFirst > 0));
        ATTN_STAMP(stamps.mark<kRecord, kStampWaitTurn>());
        if constexpr (kGuesses) {
          float sum[2];
          bool careful = !known, again = false;
          const auto scores = [&] {
            if (kTurns && !again) take_turn(consumer);
            ATTN_STAMP(stamps.mark<kRecord, kStampIssueS>());
            products_begin();
            start_scores<N>(s, q, further(k0, k.at * kAt.slot_bytes));
            products_end();
            ATTN_STAMP(stamps.mark<kRecord, kStampWaitS>());
            wait_for_products(s);
            if (kTurns && !again) give_turn(other);
            ATTN_STAMP(stamps.mark<kRecord, kStampMaximum>());
            ATTN_TRACE(trace_scores<N>(kTrace.s, a, work, rows, i, s));
            shape<N>(a, work, rows, key, s);
            mask<N>(a, work, rows, key, s);
            ATTN_TRACE(trace_scores<N>(kTrace.masked, a, work, rows, i, s));
          };
          for (;;) {
            scores();
            again = true;
            ATTN_TRACE(x.alpha[0] = x.alpha[1] = 1.0f);
            if (careful) {
              x.raise(s, scale);
              if (begun) x.rescale(o);
            }
            ATTN_STAMP(stamps.mark_with<kRecord, kStampP>(x.m[1]));
            ATTN_TRACE(trace_weights<N>(a, work, rows, i, s, x, scale));
            const bool over = x.guess(s, p, scale, sum);
            if (careful || !any_of_warpgroup(over, consumer)) break;
            careful = true;
          }
          barrier_arrive_if(lead, Shared::empty + 8 * k.at);
          x.l[0] += sum[0];
          x.l[1] += sum[1];
          ATTN_STAMP(stamps.mark_with<kRecord, kStampWaitV>(p[kSteps - 1][3]));
          barrier_wait(Shared::full + 8 * v.at, v.round);
          ATTN_STAMP(stamps.mark<kRecord, kStampIssueO>());
          zero_beyond<N>(a, work, consumer, key, Shared::ring + v.at * kAt.slot_bytes);
          products_begin();
          start_output<0, kSteps>(o, p, further(v0, v.at * kAt.slot_bytes), begun);
          products_end();
          known = key < rows.seen_by_all;
          ATTN_STAMP(stamps.mark<kRecord, kStampWaitO>());
          ATTN_STAMP(stamps.close<kRecord>(i, k.at, v.at));
          wait_for_products(o);
          barrier_arrive_if(lead, Shared::empty + 8 * v.at);
          begun = true;
          ATTN_TRACE(trace_softmax(a, work, rows, i, x, true));
          ATTN_TRACE(trace_output(a, work, rows, i, o, true));
          return;
        }
        if (kTurns) take_turn(consumer);
        ATTN_STAMP(stamps.mark<kRecord, kStampIssueS>());
        products_begin();
        start_scores<N>(s, q, further(k0, k.at * kAt.slot_bytes));
        products_end();
        if (kTurns) give_turn(other);
        ATTN_STAMP(stamps.mark<kRecord, kStampWaitS>());
        wait_for_products(s);
        ATTN_STAMP(stamps.mark<kRecord, kStampMaximum>());
        barrier_arrive_if(lead, Shared::empty + 8 * k.at);
        ATTN_TRACE(trace_scores<N>(kTrace.s, a, work, rows, i, s));
        shape<N>(a, work, rows, key, s);
        mask<N>(a, work, rows, key, s);
        ATTN_TRACE(trace_scores<N>(kTrace.masked, a, work, rows, i, s));
        x.raise(s, scale);
        ATTN_STAMP(stamps.mark_with<kRecord, kStampP>(x.m[1]));
        ATTN_TRACE(trace_weights<N>(a, work, rows, i, s, x, scale));
        const Descriptor values = further(v0, v.at * kAt.slot_bytes);
        const auto values_have_come = [&] {
          if (begun) x.rescale(o);
          ATTN_STAMP(stamps.mark_with<kRecord, kStampWaitV>(p[(kFirst > 0 ? kFirst : kSteps) - 1][3]));
          barrier_wait(Shared::full + 8 * v.at, v.round);
          ATTN_STAMP(stamps.mark<kRecord, kStampIssueO>());
          zero_beyond<N>(a, work, consumer, key, Shared::ring + v.at * kAt.slot_bytes);
          products_begin();
        };
        if constexpr (kFirst > 0) {
          x.weigh<0, kFirst>(s, p, scale);
          values_have_come();
          start_output<0, kFirst>(o, p, values, begun);
          products_end();
          ATTN_STAMP(stamps.mark<kRecord, kStampP, 1>());
        }
        x.weigh<kFirst, kSteps>(s, p, scale);
        if constexpr (kFirst == 0) {
          values_have_come();
        } else {
          ATTN_STAMP(stamps.mark_with<kRecord, kStampIssueO, 1>(p[kSteps - 1][3]));
          products_begin();
        }
        start_output<kFirst, kSteps>(o, p, values, begun);
        products_end();
        ATTN_STAMP(stamps.mark<kRecord, kStampWaitO>());
        ATTN_STAMP(stamps.close<kRecord>(i, k.at, v.at));
        wait_for_products(o);
        barrier_arrive_if(lead, Shared::empty + 8 * v.at);
        begun = true;
        ATTN_TRACE(trace_softmax(a, work, rows, i, x, true));
        ATTN_TRACE(trace_output(a, work, rows, i, o, true));
      };
      if (kHandsBackLate && i != work.last - 1) hand_back_left();
      ATTN_STAMP(stamps.mark<kStampSkipped, kStampWaitK>());
      barrier_wait(Shared::full + 8 * k.at, k.round);
      if (!mine || (kSkips && rows.see_nothing(key))) {  // hand the tiles on
        ATTN_TRACE(trace_unseen(a, work, rows, i, i + 1, x, o, begun));
        ATTN_STAMP(stamps.mark<kStampSkipped, kStampWaitV>());
        barrier_wait(Shared::full + 8 * v.at, v.round);
        ATTN_STAMP(stamps.mark<kStampSkipped, kStampHandOn>());
        ATTN_STAMP(stamps.close<kStampSkipped>(i, k.at, v.at));
        warpgroup_sync(consumer);  // no product keeps the four warps together: one that lags two rounds waits for ever
        barrier_arrive_if(lead, Shared::empty + 8 * k.at);
        barrier_arrive_if(lead, Shared::empty + 8 * v.at);
        if (kTurns) {
          take_turn(consumer);
          give_turn(other);
        }
      } else if (kSkips && kHalf < ATTN_BC && key + kHalf >= rows.seen_by_any) {
        step(Width<kHalf>());
      } else {
        step(Width<ATTN_BC>());
      }
    }
    ATTN_TRACE(trace_unseen_before(a, work, rows, x, o, begun));
    ATTN_STAMP(stamps.single<kStampStore>(tile, -1));
    if (kHandsBackLate && mine) hand_back_left();
    if (mine) finish(a, out, work, rows, x, o, query, Shared::query_empty + 8 * at_query);
    if (kHandsBackLate && mine) left = Shared::query_empty + 8 * at_query;
  }
  stores_are_done();
  ATTN_STAMP(stamps.end(kStampCopies + consumer));
}

}  // namespace attn::gpu
