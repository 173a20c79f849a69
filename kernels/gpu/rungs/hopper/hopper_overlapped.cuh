// The consumers of form 4: two that overlap within themselves. Q K^T of the next key tile is started before P V of this
// one, and both run under the next tile's softmax; S and P live at once. The two take turns at starting products, so that
// one's exponentials meet the other's products. One loop goes through the key tiles of all query tiles: the last P V of
// a query tile runs with the first Q K^T of the next. The faster form where D is above 192 and O fills the registers.
#pragma once

#include "kernels/gpu/hopper_epilogue.cuh"
#include "kernels/gpu/hopper_ring.cuh"
#include "kernels/gpu/hopper_trace.cuh"
#include "kernels/gpu/hopper_wgmma.cuh"

namespace attn::gpu {

__device__ __forceinline__ void consume_overlapped(const HopperArgs& a, int consumer) {
  // @phase loop
  constexpr int kSteps = ATTN_BC / 16;
  const bool lead = threadIdx.x % 128 == 0, warp_lead = threadIdx.x % 32 == 0;
  const int first_query = consumer * ATTN_QUERIES, other = 1 - consumer;
  const Descriptor q0 = by_rows(Shared::queries + first_query * kAt.query_bytes), k0 = by_rows(Shared::ring);
  const Descriptor v0 = by_columns(Shared::ring, ATTN_BC);
  const float scale = ATTN_BIAS ? 1.0f : a.scale_log2;
  float o[kDv / 2], s[ATTN_BC / 2];
  unsigned p[kSteps][4];
  Softmax x;
  Board board;
  Slot slot;
  int buffer = 0, round = 0;
  const auto query_comes = [&] {
    barrier_wait(Shared::query_full + 8 * (first_query + buffer), round);
    if (a.query_factor != 1.0f)
      multiply_query(a.query_factor, Shared::queries + (first_query + buffer) * kAt.query_bytes, consumer);
  };

  int tile = board.read_together();
  if (tile >= a.total) return;
  Work work(a, tile);
  Rows rows(a, work, consumer);
  int i = work.last - 1;
  Slot k = slot;
  slot.next();
  Slot v = slot;
  slot.next();

  if (consumer == 1) give_turn(0);
  query_comes();
  barrier_wait(Shared::full + 8 * k.at, k.round);
  take_turn(consumer);
  products_begin();
  start_scores<ATTN_BC>(s, q0, further(k0, k.at * kAt.slot_bytes));
  products_end();
  give_turn(other);
  wait_for_products(s);
  barrier_arrive_if(lead, Shared::empty + 8 * k.at);
  barrier_arrive_if(warp_lead && i == work.first, Shared::query_empty + 8 * (first_query + buffer));
  ATTN_TRACE(trace_scores<ATTN_BC>(kTrace.s, a, work, rows, i, s));
  shape<ATTN_BC>(a, work, rows, i * ATTN_BC, s);
  mask<ATTN_BC>(a, work, rows, i * ATTN_BC, s);
  ATTN_TRACE(trace_scores<ATTN_BC>(kTrace.masked, a, work, rows, i, s));
  x.begin();
  ATTN_TRACE(trace_unseen_after(a, work, rows, x, o));
  x.raise(s, scale);
  ATTN_TRACE(trace_weights<ATTN_BC>(a, work, rows, i, s, x, scale));
  x.weigh_in_place(s, scale);
  ATTN_TRACE(trace_softmax(a, work, rows, i, x, true));
  Softmax::round(s, p);
  bool keep = false;
#pragma unroll 1
  for (;;) {
    if (i == work.last - 1 && work.length < a.Lk) {  // the last keys may lie beyond the batch's
      barrier_wait(Shared::full + 8 * v.at, v.round);
      zero_beyond<ATTN_BC>(a, work, consumer, i * ATTN_BC, Shared::ring + v.at * kAt.slot_bytes);
    }
    const Work before = work;
    ATTN_TRACE(const Rows rows_before = rows);
    ATTN_TRACE(const int i_before = i);
    bool first = false;
    if (i == work.first) {
      tile = board.read_together();
      if (tile >= a.total) break;
      work = Work(a, tile);
      i = work.last - 1;
      first = true;
      if (++buffer == ATTN_QUERIES) {
        buffer = 0;
        round ^= 1;
      }
      query_comes();
    } else {
      --i;
    }
    k = slot;
    slot.next();
    const Slot next_v = slot;
    slot.next();
    barrier_wait(Shared::full + 8 * k.at, k.round);
    take_turn(consumer);
    products_begin();
    start_scores<ATTN_BC>(s, further(q0, buffer * kAt.query_bytes), further(k0, k.at * kAt.slot_bytes));
    products_end();
    barrier_wait(Shared::full + 8 * v.at, v.round);
    products_begin();
    start_output<0, kSteps>(o, p, further(v0, v.at * kAt.slot_bytes), keep);
    products_end();
    give_turn(other);
    wait_for_products<1>(s);
    barrier_arrive_if(lead, Shared::empty + 8 * k.at);
    barrier_arrive_if(warp_lead && i == work.first, Shared::query_empty + 8 * (first_query + buffer));
    const Softmax past = x;
    if (first) {
      x.begin();
      rows = Rows(a, work, consumer);
    }
    ATTN_TRACE(trace_scores<ATTN_BC>(kTrace.s, a, work, rows, i, s));
    shape<ATTN_BC>(a, work, rows, i * ATTN_BC, s);
    mask<ATTN_BC>(a, work, rows, i * ATTN_BC, s);
    ATTN_TRACE(trace_scores<ATTN_BC>(kTrace.masked, a, work, rows, i, s));
    x.raise(s, scale);
    ATTN_TRACE(trace_weights<ATTN_BC>(a, work, rows, i, s, x, scale));
    x.weigh_in_place(s, scale);
    ATTN_TRACE(trace_softmax(a, work, rows, i, x, true));
    wait_for_products(o);
    ATTN_TRACE(trace_output(a, before, rows_before, i_before, o, true));
    barrier_arrive_if(lead, Shared::empty + 8 * v.at);
    if (first) {
      ATTN_TRACE(trace_unseen_before(a, before, rows_before, past, o, true));
      ATTN_TRACE(Softmax trace_begins);
      ATTN_TRACE(trace_begins.begin());
      ATTN_TRACE(trace_unseen_after(a, work, rows, trace_begins, o));
      if (consumer < before.pieces) finish_straight(a, before, Rows(a, before, consumer), past, o);
    } else {
      x.rescale(o);
    }
    keep = !first;
    Softmax::round(s, p);
    v = next_v;
  }
  barrier_wait(Shared::full + 8 * v.at, v.round);
  products_begin();
  start_output<0, kSteps>(o, p, further(v0, v.at * kAt.slot_bytes), keep);
  products_end();
  wait_for_products(o);
  barrier_arrive_if(lead, Shared::empty + 8 * v.at);
  ATTN_TRACE(trace_output(a, work, rows, i, o, true));
  ATTN_TRACE(trace_unseen_before(a, work, rows, x, o, true));
  if (consumer < work.pieces) finish_straight(a, work, rows, x, o);
}

}  // namespace attn::gpu
