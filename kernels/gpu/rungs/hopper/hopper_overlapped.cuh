// The consumers of form 4: two or three that overlap within themselves. Q K^T of the next key tile is started before
// P V of this one, and both run under the next tile's softmax; S and P live at once. They take turns at starting
// products (ATTN_TURNS), so that one's exponentials meet another's products. One loop goes through the key tiles of all
// query tiles: the last P V of a query tile runs with the first Q K^T of the next. The faster form where D is above 192
// and O fills the registers.
#pragma once

#include "kernels/gpu/hopper_epilogue.cuh"
#include "kernels/gpu/hopper_ring.cuh"
#include "kernels/gpu/hopper_trace.cuh"
#include "kernels/gpu/hopper_wgmma.cuh"
#include "kernels/gpu/stamps.cuh"

namespace attn::gpu {

__device__ __forceinline__ void consume_overlapped(const HopperArgs& a, int consumer) {
  // @phase loop
  constexpr int kSteps = ATTN_BC / 16;
  const bool lead = threadIdx.x % 128 == 0, warp_lead = threadIdx.x % 32 == 0;
  const int first_query = consumer * ATTN_QUERIES, other = (consumer + 1) % kConsumers;
  const Descriptor q0 = by_rows(Shared::queries + first_query * kAt.query_bytes), k0 = by_rows(Shared::ring);
  const Descriptor v0 = by_columns(Shared::ring, ATTN_BC);
  const float scale = ATTN_BIAS ? 1.0f : a.scale_log2;
  float o[kDv / 2], s[ATTN_BC / 2];
  unsigned p[kSteps][4];
  Softmax x;
  Board board;
  Slot slot;
  int buffer = 0, round = 0;
  ATTN_STAMP(constexpr unsigned kRecord = stamp_record(kStampOverlapped, ATTN_TURNS, false));
  ATTN_STAMP(Stamps stamps(kStampCopies + consumer, lead));
  const auto query_comes = [&] {
    barrier_wait(Shared::query_full + 8 * (first_query + buffer), round);
    if (a.query_factor != 1.0f)
      multiply_query(a.query_factor, Shared::queries + (first_query + buffer) * kAt.query_bytes, consumer);
  };
  // The last keys may lie beyond the batch's.
  const auto zero_last = [&](const Work& of, int tile_of_keys, const Slot& at) {
    if (tile_of_keys != of.last - 1 || of.length >= a.Lk) return;
    barrier_wait(Shared::full + 8 * at.at, at.round);
    zero_beyond<ATTN_BC>(a, of, consumer, tile_of_keys * ATTN_BC, Shared::ring + at.at * kAt.slot_bytes);
  };

  ATTN_STAMP(stamps.single<kStampWaitTile>(-1, -1));
  int tile = board.read_together();
  ATTN_STAMP(if (tile >= a.total) stamps.end(kStampCopies + consumer));
  if (tile >= a.total) return;
  ATTN_STAMP(stamps.tile(tile));
  Work work(a, tile);
  Rows rows(a, work, consumer);
  int i = work.last - 1;
  Slot k = slot;
  slot.next();

  if (ATTN_TURNS && consumer == kConsumers - 1) give_turn(0);
  ATTN_STAMP(stamps.single<kStampWaitQ>(tile, first_query));
  query_comes();
  ATTN_STAMP(stamps.single<kStampWaitK>(i, k.at));
  barrier_wait(Shared::full + 8 * k.at, k.round);
  ATTN_STAMP(if (ATTN_TURNS) stamps.single<kStampWaitTurn>(i, -1));
  if (ATTN_TURNS) take_turn(consumer);
  ATTN_STAMP(stamps.single<kStampIssueS>(i, k.at));
  products_begin();
  start_scores<ATTN_BC>(s, q0, further(k0, k.at * kAt.slot_bytes));
  products_end();
  if (ATTN_TURNS) give_turn(other);
  ATTN_STAMP(stamps.single<kStampWaitS>(i, k.at));
  wait_for_products(s);
  ATTN_STAMP(stamps.single<kStampMaximum>(i, k.at));
  barrier_arrive_if(lead, Shared::empty + 8 * k.at);
  barrier_arrive_if(warp_lead && i == work.first, Shared::query_empty + 8 * (first_query + buffer));
  ATTN_TRACE(trace_scores<ATTN_BC>(kTrace.s, a, work, rows, i, s));
  shape<ATTN_BC>(a, work, rows, i * ATTN_BC, s);
  mask<ATTN_BC>(a, work, rows, i * ATTN_BC, s);
  ATTN_TRACE(trace_scores<ATTN_BC>(kTrace.masked, a, work, rows, i, s));
  x.begin();
  ATTN_TRACE(trace_unseen_after(a, work, rows, x, o));
  x.raise(s, scale);
  ATTN_STAMP(stamps.single<kStampP>(i, -1));
  ATTN_TRACE(trace_weights<ATTN_BC>(a, work, rows, i, s, x, scale));
  x.weigh_in_place(s, scale);
  ATTN_TRACE(trace_softmax(a, work, rows, i, x, true));
  Softmax::round(s, p);
  bool keep = false;
#pragma unroll 1
  for (;;) {
    const Work before = work;
    const int i_before = i;
    ATTN_TRACE(const Rows rows_before = rows);
    bool first = false;
    if (i == work.first) {
      ATTN_STAMP(stamps.single<kStampWaitTile>(-1, -1));
      tile = board.read_together();
      if (tile >= a.total) break;
      ATTN_STAMP(stamps.tile(tile));
      work = Work(a, tile);
      i = work.last - 1;
      first = true;
      if (++buffer == ATTN_QUERIES) {
        buffer = 0;
        round ^= 1;
      }
      ATTN_STAMP(stamps.single<kStampWaitQ>(tile, first_query + buffer));
      query_comes();
    } else {
      --i;
    }
    k = slot;
    slot.next();
    const Slot v = slot;
    slot.next();
    zero_last(before, i_before, v);
    ATTN_STAMP(stamps.mark<kRecord, kStampWaitK>());
    barrier_wait(Shared::full + 8 * k.at, k.round);
    ATTN_STAMP(stamps.mark<kRecord, kStampWaitTurn>());
    if (ATTN_TURNS) take_turn(consumer);
    ATTN_STAMP(stamps.mark<kRecord, kStampIssueS>());
    products_begin();
    start_scores<ATTN_BC>(s, further(q0, buffer * kAt.query_bytes), further(k0, k.at * kAt.slot_bytes));
    products_end();
    ATTN_STAMP(stamps.mark<kRecord, kStampWaitV>());
    barrier_wait(Shared::full + 8 * v.at, v.round);
    ATTN_STAMP(stamps.mark<kRecord, kStampIssueO>());
    products_begin();
    start_output<0, kSteps>(o, p, further(v0, v.at * kAt.slot_bytes), keep);
    products_end();
    if (ATTN_TURNS) give_turn(other);
    ATTN_STAMP(stamps.mark<kRecord, kStampWaitS>());
    wait_for_products<1>(s);
    ATTN_STAMP(stamps.mark<kRecord, kStampMaximum>());
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
    ATTN_STAMP(stamps.mark_with<kRecord, kStampP>(x.m[1]));
    ATTN_TRACE(trace_weights<ATTN_BC>(a, work, rows, i, s, x, scale));
    x.weigh_in_place(s, scale);
    ATTN_TRACE(trace_softmax(a, work, rows, i, x, true));
    computed_by_here(x.l[0] + x.l[1], Shared::ring);
    ATTN_STAMP(stamps.mark_with<kRecord, kStampWaitO>(x.l[1]));
    wait_for_products(o);
    ATTN_STAMP(stamps.mark<kRecord, kStampStore>());
    ATTN_STAMP(stamps.close<kRecord>(i, k.at, v.at, i_before | (first ? kStampBegins : 0)));
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
  }
  zero_last(work, i, slot);
  ATTN_STAMP(stamps.single<kStampWaitV>(i, slot.at));
  barrier_wait(Shared::full + 8 * slot.at, slot.round);
  ATTN_STAMP(stamps.single<kStampIssueO>(i, slot.at));
  products_begin();
  start_output<0, kSteps>(o, p, further(v0, slot.at * kAt.slot_bytes), keep);
  products_end();
  ATTN_STAMP(stamps.single<kStampWaitO>(i, slot.at));
  wait_for_products(o);
  ATTN_STAMP(stamps.single<kStampStore>(-1, -1));
  barrier_arrive_if(lead, Shared::empty + 8 * slot.at);
  ATTN_TRACE(trace_output(a, work, rows, i, o, true));
  ATTN_TRACE(trace_unseen_before(a, work, rows, x, o, true));
  if (consumer < work.pieces) finish_straight(a, work, rows, x, o);
  ATTN_STAMP(stamps.end(kStampCopies + consumer));
}

}  // namespace attn::gpu
