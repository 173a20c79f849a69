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
// One batch whose parts fit into a cluster takes one launch: flash_splitkv_cluster, whose blocks merge them by themselves
// (splitkv_cluster.cuh).
//
// The idea. A row of one query has too few products to fill a GPU; its keys are plenty. (m, l, O) of any two sets of
// keys merge into that of both (merge.h), so keys are cut wherever it suits the machine: among blocks, so that every
// multiprocessor reads, and among warps, so that none waits for another.
//
// New against flash_mma. Query heads that share keys are rows of one tile: K and V are read once for all of them. Every
// warp has a ring of its own: no barrier in the loop, all warps' copies are on their way at once, and where a part goes
// on to the next batch its keys are on their way while this one's rows are merged and stored. Parts are of equal
// length over all batches (splitkv_parts.h): each block finds its own from the key lengths on the device, so the grid
// does not depend on them, and a captured graph serves any. K and V may lie in pages, which a table finds.
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
__device__ inline void store_merged(const SplitArgs& a, const Place& at, int slot, unsigned char* shared) {
  const float2* const sums = sums_of(shared, 0);
  const float* o[kAt.warps];
#pragma unroll
  for (int w = 0; w < kAt.warps; ++w) o[w] = reinterpret_cast<const float*>(shared + *place_of_o(shared, w));
  const int rows = min(ATTN_BR, a.rows - at.row0);
  for (int n = threadIdx.x; n < rows * ATTN_DV; n += ATTN_THREADS) {
    // @phase O
    const int row = n / ATTN_DV, d = n % ATTN_DV;
    PartSums sum{sums[row].x, sums[row].y};
    float x = o[0][o_at(row, d)];
#pragma unroll
    for (int w = 1; w < kAt.warps; ++w) {
      const float2 next = sums[w * ATTN_BR + row];
      const Merged both = merge(sum, {next.x, next.y}, Exp2());
      sum = both.of_both;
      x = both.first * x + both.second * o[w][o_at(row, d)];
    }
    // @phase normalise
    const bool none = sum.l == 0.0f;
    const float whole = none ? 0.0f : x / sum.l;
    const float lse = none ? minus_infinity() : (sum.m + log2f(sum.l)) * kLn2;
    // @phase store
    const OutRow to(a, at.batch, at.kv, at.row0 + row);
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

// m, l and O of this warp's key tiles among blocks [block, end) of a batch.
__device__ inline void walk(const SplitArgs& a, const Place& at, Ring& ring, int block, int end, unsigned rings,
                            unsigned q_at, WarpRows& rows) {
  Query query;
  float scale = 0;
  bool fresh = true;
  ring.fill();
#pragma unroll 1
  for (int j = block + uniform(static_cast<int>(threadIdx.x) / 32); j < end; j += kAt.warps) {
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

// The part of a line that this block has, or none.
__device__ inline bool find_part(const Line& line, int part, int parts, Part& to) {
  to.begin = part_begin(line.length(), parts, part);
  to.end = part_begin(line.length(), parts, part + 1);
  return part < parts;
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1) flash_splitkv(const SplitArgs a) {
  extern __shared__ __align__(128) unsigned char shared[];
  // @phase setup
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");  // it waits for our end by itself
#endif
  Part part{};
  part.tile = static_cast<int>(blockIdx.x) % a.row_tiles;
  part.kv = static_cast<int>(blockIdx.x) / a.row_tiles % a.kv_heads;
  const int number = static_cast<int>(blockIdx.x) / a.row_tiles / a.kv_heads;
  const unsigned base = shared_address(shared);
  const int warp = uniform(static_cast<int>(threadIdx.x) / 32), row0 = part.tile * ATTN_BR;
  const Line line(a, part.tile, reinterpret_cast<int64*>(shared));
  if (!find_part(line, number, parts_used(line.length(), a.parts), part)) return;
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
    if (count == 0 && at >= part.begin) store_nothing(a, batch, part.kv, row0);
    if (met.first < met.last) {
      const int low = row0 / a.group, high = (min(row0 + ATTN_BR, a.rows) - 1) / a.group;
      const int length = a.problem.key_lengths == nullptr ? a.Lk : static_cast<int>(a.problem.key_lengths[batch]);
      const Place place{batch, part.kv, row0, length, high + a.first_shift, min(length, low + a.last_shift)};
      WarpRows rows;
      const int block0 = static_cast<int>(met.seen.blocks.first);
      walk(a, place, ring, block0 + met.first, block0 + met.last, rings, queries.to, rows);
      hand_over(shared, warp * kAt.ring_bytes + ring.free_place(), rows);
      __syncthreads();
      store_merged(a, place, met.last - met.first == count ? -1 : number + batch, shared);
      __syncthreads();  // before what was read is filled again
    }
    // @phase loop
    at = met.next();
  }
}

#if ATTN_CLUSTERS && __CUDA_ARCH__ >= 900

// The keys of the only batch, cut into as many parts as there are blocks along x, which are a cluster. Blocks along y are
// row tiles, along z heads of keys.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1) flash_splitkv_cluster(const SplitArgs a) {
  extern __shared__ __align__(128) unsigned char shared[];
  // @phase setup
  const int tile = static_cast<int>(blockIdx.y), kv = static_cast<int>(blockIdx.z), row0 = tile * ATTN_BR;
  const Batch seen(a, tile, 0);
  const int count = static_cast<int>(seen.blocks.count), number = static_cast<int>(blockIdx.x);
  const int each = count / static_cast<int>(gridDim.x), more = count % static_cast<int>(gridDim.x);
  const int64 begin = kBatchCost + number * each + min(number, more);
  const Part part{begin, begin + each + (number < more ? 1 : 0), tile, kv};
  const Meeting met(a, part, 0, 0);
  const unsigned base = shared_address(shared);
  const int warp = uniform(static_cast<int>(threadIdx.x) / 32);
  const unsigned rings = base + kAt.rings_at + warp * kAt.ring_bytes;
  const QueryRows queries{base + kAt.q_at + warp * kAt.q_bytes, row0, min(ATTN_BR, a.rows - row0)};
  Ring ring(a, part, met, rings, queries);
  ring.fill();
  queries.clear_the_rest();
  const int low = row0 / a.group, high = (min(row0 + ATTN_BR, a.rows) - 1) / a.group;
  const int length = a.problem.key_lengths == nullptr ? a.Lk : static_cast<int>(a.problem.key_lengths[0]);
  const Place place{0, kv, row0, length, high + a.first_shift, min(length, low + a.last_shift)};
  const int block0 = static_cast<int>(seen.blocks.first);
  WarpRows rows;
  walk(a, place, ring, block0 + met.first, block0 + met.last, rings, queries.to, rows);
  hand_over(shared, warp * kAt.ring_bytes, rows);  // nothing is on its way any more: the first place is free
  merge_in_cluster(a, tile, kv, shared);
}

#endif

// One block a row: the parts of a batch that was cut, in their order. A warp has parts that follow one another, and
// the warps' are merged in theirs.
extern "C" __global__ void flash_splitkv_merge(const SplitArgs a) {
  constexpr int kColumns = (ATTN_DV + 31) / 32, kAtOnce = kColumns > 4 ? 4 : 8, kMostWarps = 16;
  __shared__ int64 scratch[34];
  __shared__ float2 sums[kMostWarps];
  __shared__ float o[kMostWarps][ATTN_DV];
  // @phase setup
  const int heads = a.kv_heads * a.group;
  const int query = static_cast<int>(blockIdx.x) % a.Lq, head = static_cast<int>(blockIdx.x) / a.Lq % heads;
  const int batch = static_cast<int>(blockIdx.x) / a.Lq / heads;
  const int kv = head / a.group, row = query * a.group + head % a.group, tile = row / ATTN_BR;
  const Line line(a, tile, scratch);
  const int64 at = line.batch(batch).begin, count = Batch(a, tile, batch).blocks.count;
  const int parts = parts_used(line.length(), a.parts);
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");  // what the parts have written can be read from here on
#endif
  if (count == 0) return;
  const int first = part_at(line.length(), parts, at + kBatchCost);
  const int last = part_at(line.length(), parts, at + kBatchCost + count - 1);
  if (first == last) return;  // it was not cut

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = static_cast<int>(blockDim.x) / 32;
  const int share = (last + 1 - first + warps - 1) / warps;
  const int from = min(first + warp * share, last + 1), to = min(from + share, last + 1);
  const OutRow out(a, batch, kv, row);
  const int64 slots = a.problem.Hq * a.Lq;
  PartSums sum{minus_infinity(), 0};
  float x[kColumns] = {};
#pragma unroll 1
  for (int p = from; p < to; p += kAtOnce) {
    // @phase loop
    float lse[kAtOnce], y[kAtOnce][kColumns];
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      const int64 of_part = (p + n + batch) * slots + out.of_all;
      lse[n] = p + n < to ? a.part_lse[of_part] : minus_infinity();
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        const int d = lane + 32 * c;
        y[n][c] = p + n < to && d < ATTN_DV ? a.part_o[of_part * ATTN_DV + d] : 0.0f;
      }
    }
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      // @phase l
      const Merged both = merge(sum, {lse[n], lse[n] == minus_infinity() ? 0.0f : 1.0f}, Exp());
      sum = both.of_both;
      // @phase O
#pragma unroll
      for (int c = 0; c < kColumns; ++c) x[c] = both.first * x[c] + both.second * y[n][c];
    }
  }
  // @phase store
  if (lane == 0) sums[warp] = make_float2(sum.m, sum.l);
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    if (lane + 32 * c < ATTN_DV) o[warp][lane + 32 * c] = x[c];
  }
  __syncthreads();
  for (int d = threadIdx.x; d < ATTN_DV; d += static_cast<int>(blockDim.x)) {
    // @phase O
    PartSums all{sums[0].x, sums[0].y};
    float whole = o[0][d];
    for (int w = 1; w < warps; ++w) {
      const Merged both = merge(all, {sums[w].x, sums[w].y}, Exp());
      all = both.of_both;
      whole = both.first * whole + both.second * o[w][d];
    }
    // @phase normalise
    const bool none = all.l == 0.0f;
    // @phase store
    out.out[d] = narrow(none ? 0.0f : whole / all.l);
    if (d == 0) *out.lse = none ? minus_infinity() : all.m + log2f(all.l) * kLn2;
  }
}

}  // namespace attn::gpu
