// flash_splitkv: attention for decoding, few queries against many keys. f16, bf16 or f32 in, sums in fp32.
//
//   for each head of keys, row tile and part of the keys (one block):
//     for each batch that the part meets:
//       Q of the query heads that share the keys, packed as rows, to shared memory
//       each warp by itself: m = -inf, l = 0, O = 0;  for its key tiles, every warps-th of the part's:
//         S = Q K_j^T, masked;  m, alpha;  P = exp(S - m);  l = alpha l + rowsum P;  O = alpha O + P V_j
//       (m, l, O) of the warps merged, in their order
//       a batch that no other part meets: O / l and LSE.  Else: both to the workspace, in fp32
//   for each row of a batch that was cut (a second launch): the parts' (LSE, 1, O / l) merged, in their order
//
// One batch whose parts fit into a cluster takes one launch: flash_splitkv_cluster, whose blocks merge them by
// themselves (splitkv_cluster.cuh).
//
// The idea. A row of one query has too few products to fill a GPU; its keys are plenty. (m, l, O) of any two sets of
// keys merge into that of both (merge.h), so keys are cut wherever it suits the machine: among blocks, so that every
// multiprocessor reads, and among warps, so that none waits for another.
//
// New against flash_mma. Query heads that share keys are rows of one tile: K and V are read once for all of them. Every
// warp has a ring of its own: no barrier in the loop, all warps' copies are on their way at once, and where a part goes
// on to the next batch its keys are on their way while this one's rows are merged and stored. Parts are of equal
// length over all batches, or a single one is dealt out to them (splitkv_parts.h): each block finds its own from the
// key lengths on the device, so the grid does not depend on them, and a captured graph serves any. K and V may lie in
// pages, which a table finds.
//
// What limits it now. Memory: K and V are read once, and what is computed hides behind it. Of a multiprocessor's time
// the tensor cores take a tenth, most of it for rows that are padding.
#include "kernels/gpu/flash_tile.cuh"  // before device.cuh
#include "kernels/gpu/merge.h"
#include "kernels/gpu/splitkv_cluster.cuh"
#include "kernels/gpu/splitkv_line.cuh"
#include "kernels/gpu/splitkv_product.cuh"
#include "kernels/gpu/splitkv_ring.cuh"
#include "kernels/gpu/splitkv_sums.cuh"

namespace attn::gpu {

// ---- what warps and parts have, merged

// The warps' merged. `slot` < 0: the batch is this part's alone, and its answer goes out; else to that slot.
__device__ inline void store_merged(const SplitArgs& a, int batch, int kv, int row0, int slot, unsigned char* shared) {
  const float2* const sums = sums_of(shared, 0);
  const float* o[kAt.warps];
#pragma unroll
  for (int w = 0; w < kAt.warps; ++w) o[w] = reinterpret_cast<const float*>(shared + *place_of_o(shared, w));
  const int rows = min(ATTN_BR, a.rows - row0);
  for (int n = threadIdx.x; n < rows * ATTN_DV; n += ATTN_THREADS) {
    // @phase O
    const int row = n / ATTN_DV, d = n % ATTN_DV;
    PartSums sum{minus_infinity(), 0};
#pragma unroll
    for (int w = 0; w < kAt.warps; ++w) sum.m = fmaxf(sum.m, sums[w * ATTN_BR + row].x);
    float x = 0;
#pragma unroll
    for (int w = 0; w < kAt.warps; ++w) {
      const float2 of_warp = sums[w * ATTN_BR + row];
      const float by = weight(of_warp.x, sum.m, Exp2());
      sum.l = fmaf(by, of_warp.y, sum.l);
      x = fmaf(by, o[w][o_at(row, d)], x);
    }
    // @phase normalise
    const bool none = sum.l == 0.0f;
    const float whole = none ? 0.0f : x / sum.l;
    const float lse = none ? minus_infinity() : (sum.m + log2f(sum.l)) * kLn2;
    // @phase store
    const OutRow to(a, batch, kv, row0 + row);
    if (slot < 0) {
      to.out[d] = narrow(whole);
      if (d == 0) *to.lse = lse;
    } else {
      const int64 of_part = slot * a.problem.Hq * a.Lq + to.of_all;
      a.part_o[of_part * ATTN_DV + d] = whole;
      if (d == 0) a.part_lse[of_part] = lse;
    }
  }
}

// Nobody sees a key of the batch.
__device__ inline void store_nothing(const SplitArgs& a, int batch, int kv, int row0) {
  // @phase store
  const int rows = min(ATTN_BR, a.rows - row0);
  for (int n = threadIdx.x; n < rows * ATTN_DV; n += ATTN_THREADS) {
    const OutRow to(a, batch, kv, row0 + n / ATTN_DV);
    to.out[n % ATTN_DV] = narrow(0.0f);
    if (n % ATTN_DV == 0) *to.lse = minus_infinity();
  }
}

// ---- the kernels

// m, l and O of this warp's key tiles among blocks [block, end) of a batch, of which a warp has every step-th.
__device__ inline void walk(const SplitArgs& a, const Place& at, Ring& ring, int block, int end, int step,
                            unsigned rings, unsigned q_at, WarpRows& rows) {
  Query query;
  float scale = 0;
  bool fresh = true;
  ring.fill();
#pragma unroll 1
  for (int j = block + uniform(static_cast<int>(threadIdx.x) / 32); j < end; j += step) {
    // @phase loop
    const unsigned tile = rings + ring.take();
    if (fresh) {
      // @phase setup
      scale = scale_of_warp(ATTN_BIAS ? 1.0f : a.problem.scale_log2, q_at);
      query.take(q_at);
      __syncwarp();
      if constexpr (kAt.q_in_registers) ring.leave_queries();
      fresh = false;
    }
    ring.fill();
    Scores s;
    find_scores(query, tile, s);
    mask_scores(a, at, j, s);
    raise_max(s, scale, rows);
    weigh_and_add(tile + kAt.k_bytes, s, scale, rows);
  }
  if (!kAt.q_in_registers && !fresh) ring.leave_queries();
}

// The launch that merges may begin: it takes about as long to do so as this one to end. Where it began with this one,
// it waited beside the loop and then had to fetch its instructions anew. On an H100 (B = 1, a head of 131072 keys) that
// took 36.4 us instead of 31.7.
__device__ inline void let_the_merge_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// What part `number` of a line has of its batches.
__device__ inline void attend_line(const SplitArgs& a, int tile, int kv, int number, unsigned char* shared) {
  // @phase setup
  const unsigned base = shared_address(shared);
  const int warp = uniform(static_cast<int>(threadIdx.x) / 32), row0 = tile * ATTN_BR;
  const Line line(a, tile, reinterpret_cast<int64*>(shared));
  const int parts = parts_used(line.length(), a.parts);
  if (number >= parts) return;
  const Part part{part_begin(line.length(), parts, number), part_begin(line.length(), parts, number + 1), tile, kv};
  const Line::At from = line.batch_at(part.begin);
  const unsigned rings = base + kAt.rings_at + warp * kAt.ring_bytes;
  const QueryRows queries{base + kAt.q_at + warp * kAt.q_bytes, row0, min(ATTN_BR, a.rows - row0)};
  Ring ring(a, part, Meeting(a, part, from.batch, from.begin), rings, queries);
  ring.fill();
  queries.clear_the_rest();
  int64 at = from.begin;
#pragma unroll 1
  for (int batch = from.batch; batch < a.batches && at < part.end; ++batch) {
    // @phase setup
    const Meeting met(a, part, batch, at);
    const int64 count = met.seen.blocks.count;
    if (count == 0 && at >= part.begin) store_nothing(a, batch, kv, row0);
    if (met.first < met.last) {
      const int low = row0 / a.group, high = (min(row0 + ATTN_BR, a.rows) - 1) / a.group;
      const int length = a.problem.key_lengths == nullptr ? a.Lk : static_cast<int>(a.problem.key_lengths[batch]);
      const Place place{batch, kv, row0, length, high + a.first_shift, min(length, low + a.last_shift)};
      WarpRows rows;
      const int block0 = static_cast<int>(met.seen.blocks.first);
      walk(a, place, ring, block0 + met.first, block0 + met.last, part.step, rings, queries.to, rows);
      if (met.next() >= part.end) let_the_merge_begin();
      hand_over(shared, warp * kAt.ring_bytes + ring.free_place(), rows);
      __syncthreads();
      store_merged(a, batch, kv, row0, met.last - met.first < count ? number + batch : -1, shared);
      __syncthreads();  // before what was read is filled again
    }
    // @phase loop
    at = met.next();
  }
}

// What a part of the only batch, which is dealt out, has of it: (m, l, O) of each warp, where its ring begins.
template <bool MERGE_FOLLOWS>
__device__ inline void attend_only(const SplitArgs& a, const Batch& seen, const Part& part, unsigned char* shared) {
  // @phase setup
  const unsigned base = shared_address(shared);
  const int warp = uniform(static_cast<int>(threadIdx.x) / 32), row0 = part.tile * ATTN_BR;
  const unsigned rings = base + kAt.rings_at + warp * kAt.ring_bytes;
  const QueryRows queries{base + kAt.q_at + warp * kAt.q_bytes, row0, min(ATTN_BR, a.rows - row0)};
  const Meeting met(a, part, 0, 0);
  Ring ring(a, part, met, rings, queries);
  ring.fill();
  queries.clear_the_rest();
  const int low = row0 / a.group, high = (min(row0 + ATTN_BR, a.rows) - 1) / a.group;
  const int length = a.problem.key_lengths == nullptr ? a.Lk : static_cast<int>(a.problem.key_lengths[0]);
  const Place place{0, part.kv, row0, length, high + a.first_shift, min(length, low + a.last_shift)};
  const int block0 = static_cast<int>(seen.blocks.first);
  WarpRows rows;
  walk(a, place, ring, block0 + part.skip, block0 + met.last, part.step, rings, queries.to, rows);
  if constexpr (MERGE_FOLLOWS) let_the_merge_begin();
  hand_over(shared, warp * kAt.ring_bytes, rows);  // nothing is on its way any more: the first place is free
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1) flash_splitkv(const SplitArgs a) {
  extern __shared__ __align__(128) unsigned char shared[];
  // @phase setup
  const int tile = static_cast<int>(blockIdx.x) % a.row_tiles;
  const int kv = static_cast<int>(blockIdx.x) / a.row_tiles % a.kv_heads;
  const int number = static_cast<int>(blockIdx.x) / a.row_tiles / a.kv_heads;
#if ATTN_ONE_BATCH
  const Batch seen(a, tile, 0);
  const int64 count = seen.blocks.count;
  const int parts = parts_dealt(count, kAt.warps, a.parts);
  if (count == 0 && number == 0) store_nothing(a, 0, kv, tile * ATTN_BR);
  if (number >= parts) return;
  attend_only<true>(a, seen, dealt_part(count, number, a.parts, tile, kv), shared);
  __syncthreads();
  store_merged(a, 0, kv, tile * ATTN_BR, parts > 1 ? number : -1, shared);
#else
  attend_line(a, tile, kv, number, shared);
#endif
}

#if ATTN_CLUSTERS && __CUDA_ARCH__ >= 900

// The keys of the only batch, dealt out to as many parts as there are blocks along x, which are a cluster. Blocks along
// y are row tiles, along z heads of keys.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1) flash_splitkv_cluster(const SplitArgs a) {
  extern __shared__ __align__(128) unsigned char shared[];
  // @phase setup
  const int tile = static_cast<int>(blockIdx.y), kv = static_cast<int>(blockIdx.z);
  const Batch seen(a, tile, 0);
  const int number = static_cast<int>(blockIdx.x), parts = static_cast<int>(gridDim.x);
  attend_only<false>(a, seen, dealt_part(seen.blocks.count, number, parts, tile, kv), shared);
  merge_in_cluster(a, tile, kv, shared);
}

#endif

// One block a row along x and 32 columns along y: the parts of a batch that was cut, in their order. A warp has parts
// that follow one another, and the warps' are merged in theirs.
extern "C" __global__ void __launch_bounds__(32 * kMostMergingWarps) flash_splitkv_merge(const SplitArgs a) {
  __shared__ float2 sums[kMostMergingWarps];
  __shared__ float o[kMostMergingWarps][32];
  // @phase setup
  const int heads = a.kv_heads * a.group;
  const int query = static_cast<int>(blockIdx.x) % a.Lq, head = static_cast<int>(blockIdx.x) / a.Lq % heads;
  const int batch = static_cast<int>(blockIdx.x) / a.Lq / heads;
  const int kv = head / a.group, row = query * a.group + head % a.group, tile = row / ATTN_BR;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = static_cast<int>(blockDim.x) / 32;
  const int d = static_cast<int>(blockIdx.y) * 32 + lane;
  const int64 count = Batch(a, tile, batch).blocks.count;
#if ATTN_ONE_BATCH
  const int first = 0, last = parts_dealt(count, kAt.warps, a.parts) - 1;
#else
  __shared__ int64 scratch[34];
  const Line line(a, tile, scratch);
  const int64 at = line.batch(batch).begin + kBatchCost;
  const int parts = parts_used(line.length(), a.parts);
  const int first = part_at(line.length(), parts, at), last = part_at(line.length(), parts, at + count - 1);
#endif
  const int share = (last + 1 - first + warps - 1) / warps;
  const int from = first + warp * share, to = min(from + share, last + 1);
  const OutRow out(a, batch, kv, row);
  const int64 slots = a.problem.Hq * a.Lq;
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");  // what the parts have written can be read from here on
#endif
  if (count == 0 || first == last) return;  // it was not cut

  PartSums sum{minus_infinity(), 0};
  float x = 0;
#pragma unroll 1
  for (int p = from; p < to; p += kPartsAtOnce) {
    // @phase loop
    float lse[kPartsAtOnce], y[kPartsAtOnce];
#pragma unroll
    for (int n = 0; n < kPartsAtOnce; ++n) {
      const int64 of_part = (p + n + batch) * slots + out.of_all;
      lse[n] = p + n < to ? a.part_lse[of_part] : minus_infinity();
      y[n] = p + n < to && d < ATTN_DV ? a.part_o[of_part * ATTN_DV + d] : 0.0f;
    }
    // @phase m
    float m = sum.m;
#pragma unroll
    for (int n = 0; n < kPartsAtOnce; ++n) m = fmaxf(m, lse[n]);
    const float before = weight(sum.m, m, Exp());
    sum = {m, sum.l * before};
    x *= before;
#pragma unroll
    for (int n = 0; n < kPartsAtOnce; ++n) {
      // @phase l
      const float by = lse[n] == minus_infinity() ? 0.0f : weight(lse[n], m, Exp());
      sum.l += by;
      // @phase O
      x = fmaf(by, y[n], x);
    }
  }
  // @phase store
  if (lane == 0) sums[warp] = make_float2(sum.m, sum.l);
  o[warp][lane] = x;
  __syncthreads();
  if (warp > 0 || d >= ATTN_DV) return;
  // @phase m
  float m = minus_infinity();
  for (int w = 0; w < warps; ++w) m = fmaxf(m, sums[w].x);
  float l = 0, whole = 0;
#pragma unroll 4
  for (int w = 0; w < warps; ++w) {
    // @phase O
    const float by = weight(sums[w].x, m, Exp());
    l = fmaf(by, sums[w].y, l);
    whole = fmaf(by, o[w][lane], whole);
  }
  // @phase normalise
  const bool none = l == 0.0f;
  // @phase store
  out.out[d] = narrow(none ? 0.0f : whole / l);
  if (d == 0) *out.lse = none ? minus_infinity() : m + log2f(l) * kLn2;
}

}  // namespace attn::gpu
