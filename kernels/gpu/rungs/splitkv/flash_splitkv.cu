// flash_splitkv: attention for decoding, few queries against many keys. f16 or bf16 in, sums in fp32.
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
// The idea. A row of one query has too few products to fill a GPU; its keys are plenty. (m, l, O) of any two sets of
// keys merge into that of both (merge.h), so keys are cut wherever it suits the machine: among blocks, so that every
// multiprocessor reads, and among warps, so that none waits for another.
//
// New against flash_mma. Query heads that share keys are rows of one tile: K and V are read once for all of them. Every
// warp has a ring of its own: no barrier in the loop, and all warps' copies are on their way at once. Parts are of equal
// length over all batches (splitkv_parts.h): each block finds its own from the key lengths on the device, so the grid
// does not depend on them, and a captured graph serves any. K and V may lie in pages, which a table finds.
//
// What limits it now. Memory: K and V are read once, and what is computed hides behind it. Of a multiprocessor's time
// the tensor cores take a tenth, most of it for rows that are padding.
#include "kernels/gpu/flash_tile.cuh"  // before device.cuh
#include "kernels/gpu/merge.h"
#include "kernels/gpu/mma.cuh"
#include "kernels/gpu/splitkv_copy.cuh"
#include "kernels/gpu/splitkv_line.cuh"

namespace attn::gpu {

constexpr int kMt = ATTN_BR / 16;  // tiles of 16 rows
constexpr int kDt = kAt.d / 16;    // steps of 16 along D
constexpr int kCt = ATTN_BC / 16;  // steps of 16 keys
constexpr int kOt = kAt.dv / 16;   // steps of 16 along Dv

using Scores = float[kMt][2 * kCt][4];  // S: fragments of 16 x 8
using WarpRows = Rows<kMt, 2 * kOt>;

// ---- one key tile of a warp

// Q's fragments, if they are kept.
constexpr int kStepsKept = kAt.q_in_registers ? kDt : 1;
struct Query {
  unsigned x[kStepsKept][kMt][4];
};

__device__ inline void read_query(const Pieces<kQWidth>& from, int step, unsigned (&x)[kMt][4]) {
  // @phase Q
#pragma unroll
  for (int i = 0; i < kMt; ++i) ldmatrix(x[i], from.at(16 * i, step));
}

// S = Q K_j^T
__device__ inline void find_scores(const Pieces<kQWidth>& q_at, const Query& query, const Pieces<kQWidth>& k_at,
                                   Scores& s) {
  // @phase S
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
#pragma unroll
    for (int n = 0; n < 2 * kCt; ++n) s[i][n][0] = s[i][n][1] = s[i][n][2] = s[i][n][3] = 0;
  }
#pragma unroll
  for (int d = 0; d < kDt; ++d) {
    unsigned x[kMt][4];
    const auto& read = x;
    if constexpr (!kAt.q_in_registers) read_query(q_at, d, x);
    const auto& q = kAt.q_in_registers ? query.x[d % kStepsKept] : read;
#pragma unroll
    for (int c = 0; c < kCt; ++c) {
      unsigned y[4];
      ldmatrix(y, k_at.at(16 * c, d));
#pragma unroll
      for (int i = 0; i < kMt; ++i) {
        mma(s[i][2 * c], q[i], y[0], y[1]);
        mma(s[i][2 * c + 1], q[i], y[2], y[3]);
      }
    }
  }
}

// Where this warp's rows and the key tile lie.
struct Place {
  int batch, kv, row0, length;  // length: keys of the batch
  int all_from, all_to;         // keys that every row sees
};

// -inf where a key is hidden; with a bias, or where a formula changes scores, they become scaled ones in base 2.
__device__ inline void mask_scores(const SplitArgs& a, const Place& at, int block, Scores& s) {
  // @phase mask
  const int key0 = block * ATTN_BC;
  if (!ATTN_BIAS && key0 >= at.all_from && key0 + ATTN_BC <= at.all_to) return;
  const int lane = threadIdx.x % 32, column = key0 + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = at.row0 + lane / 4 + 16 * i + 8 * h, query = row / a.group;
      const int first = query + a.first_shift;
      int last = min(at.length, query + a.last_shift);
      if (row >= a.rows) last = 0;
#if ATTN_BIAS
      const int64 head = int64{at.batch} * a.problem.Hq + at.kv * a.group + row % a.group;
#endif
#pragma unroll
      for (int n = 0; n < 2 * kCt; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int key = column + 8 * n + e;
          float& x = s[i][n][2 * h + e];
          const bool seen = key >= first && key < last;
#if ATTN_BIAS
          const float scaled = __fmul_rn(x, a.problem.scale_log2);
          x = seen ? with_bias(a.problem, head, query, key, scaled, kLog2E) : minus_infinity();
#else
          x = seen ? x : minus_infinity();
#endif
        }
      }
    }
  }
}

// P of the key tile and O += P V_j; l takes P before it is rounded.
__device__ inline void weigh_and_add(const Pieces<kVWidth>& v_at, const Scores& s, float scale, WarpRows& rows) {
#pragma unroll
  for (int c = 0; c < kCt; ++c) {
    unsigned p[kMt][4];
#pragma unroll
    for (int i = 0; i < kMt; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          // @phase P
          const float(&pair)[4] = s[i][2 * c + half];
          const float x = exp2_fast(fmaf(pair[2 * h], scale, -rows.m[i][h]));
          const float y = exp2_fast(fmaf(pair[2 * h + 1], scale, -rows.m[i][h]));
          // @phase l
          rows.l[i][h] += x;
          rows.l[i][h] += y;
          // @phase P
          p[i][2 * half + h] = pack(x, y);
        }
      }
    }
    // @phase O
#pragma unroll
    for (int d = 0; d < kOt; ++d) {
      unsigned y[4];
      ldmatrix_transposed(y, v_at.at(16 * c, d));
#pragma unroll
      for (int i = 0; i < kMt; ++i) {
        mma(rows.o[i][2 * d], p[i], y[0], y[1]);
        mma(rows.o[i][2 * d + 1], p[i], y[2], y[3]);
      }
    }
  }
}

// ---- what warps and parts have, merged

struct Exp2 {
  __device__ inline float operator()(float x) const { return exp2_fast(x); }
};
struct Exp {
  __device__ inline float operator()(float x) const { return exp2_fast(x * kLog2E); }
};

// A warp's m, l and O to shared memory. O takes the rings' place.
__device__ inline void hand_over(unsigned char* shared, const WarpRows& rows) {
  // @phase store
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  auto* sums = reinterpret_cast<float2*>(shared + kAt.sums_at) + warp * ATTN_BR;
  auto* o = reinterpret_cast<float*>(shared + kAt.rings_at) + warp * ATTN_BR * kAt.o_row;
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = lane / 4 + 16 * i + 8 * h;
      // @phase l
      const float l = sum_of_row(rows.l[i][h]);
      // @phase store
      if (lane % 4 == 0) sums[row] = make_float2(rows.m[i][h], l);
#pragma unroll
      for (int n = 0; n < 2 * kOt; ++n) {
        *reinterpret_cast<float2*>(o + row * kAt.o_row + 8 * n + lane % 4 * 2) =
            make_float2(rows.o[i][n][2 * h], rows.o[i][n][2 * h + 1]);
      }
    }
  }
}

// Where the answer of a row of a batch and key head goes.
struct OutRow {
  Element* out;
  int64 of_all;  // row of [Hq, Lq]
  float* lse;

  __device__ inline OutRow(const SplitArgs& a, int batch, int kv, int row) {
    const int head = kv * a.group + row % a.group, query = row / a.group;
    out = static_cast<Element*>(a.problem.out) + batch * a.out_b + head * a.out_h + query * a.out_r;
    of_all = int64{head} * a.Lq + query;
    lse = a.problem.lse + batch * a.problem.Hq * a.Lq + of_all;
  }
};

// The warps' merged. `slot` < 0: the batch is this part's alone, and its answer goes out; else to that slot.
__device__ inline void store_merged(const SplitArgs& a, const Place& at, int slot, const unsigned char* shared) {
  const auto* sums = reinterpret_cast<const float2*>(shared + kAt.sums_at);
  const auto* o = reinterpret_cast<const float*>(shared + kAt.rings_at);
  const int rows = min(ATTN_BR, a.rows - at.row0);
  for (int n = threadIdx.x; n < rows * ATTN_DV; n += ATTN_THREADS) {
    // @phase O
    const int row = n / ATTN_DV, d = n % ATTN_DV;
    PartSums sum{sums[row].x, sums[row].y};
    float x = o[row * kAt.o_row + d];
#pragma unroll
    for (int w = 1; w < kAt.warps; ++w) {
      const float2 next = sums[w * ATTN_BR + row];
      const Merged both = merge(sum, {next.x, next.y}, Exp2());
      sum = both.of_both;
      x = both.first * x + both.second * o[(w * ATTN_BR + row) * kAt.o_row + d];
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

// m, l and O of this warp's key tiles among blocks [block, end); for all warps of the block, which has Q's copies on
// their way.
__device__ inline void walk(const SplitArgs& a, const Place& at, const Source& from, int block, int end,
                            unsigned char* shared, WarpRows& rows) {
  // @phase setup
  const int lane = threadIdx.x % 32, warp = uniform(static_cast<int>(threadIdx.x) / 32);
  const unsigned base = shared_address(shared), ring = base + kAt.rings_at + warp * kAt.ring_bytes;
  int j = block + warp, fetched = j, page = from.page_of(j);
  // @phase loop
#pragma unroll
  for (int n = 0; n < ATTN_STAGES - 1; ++n) {
    const int now = page;
    page = from.page_of(fetched + kAt.warps);
    if (fetched < end) from.fetch(a, fetched, now, ring + n * kAt.stage_bytes);
    fetched += kAt.warps;
    commit_copies();
  }
  // @phase barrier
  wait_for_copies<ATTN_STAGES - 1>();  // of Q, which came before
  __syncthreads();
  // @phase setup
  auto* const q = reinterpret_cast<Element*>(shared + kAt.q_at);
  const float scale = with_positive_scale(ATTN_BIAS ? 1.0f : a.problem.scale_log2, q, ATTN_BR * kAt.d);
  const Pieces<kQWidth> q_at(base + kAt.q_at + Pieces<kQWidth>::lane(ldmatrix_row(lane), ldmatrix_chunk(lane)));
  Query query;
  if constexpr (kAt.q_in_registers) {
#pragma unroll
    for (int d = 0; d < kDt; ++d) read_query(q_at, d, query.x[d]);
  }
  const unsigned k_lane = ring + Pieces<kQWidth>::lane(ldmatrix_row_of_k(lane), ldmatrix_chunk_of_k(lane));
  const unsigned v_lane = ring + kAt.k_bytes + Pieces<kVWidth>::lane(ldmatrix_row(lane), ldmatrix_chunk(lane));
  unsigned stage = 0;  // of tile j in the ring
  // @phase loop
#pragma unroll 1
  for (; j < end; j += kAt.warps) {
    // @phase barrier
    wait_for_copies<ATTN_STAGES - 2>();
    __syncwarp();  // the tile has come for all lanes, and none reads the one before any more: its place is free
    // @phase loop
    const unsigned before = stage == 0 ? kAt.ring_bytes - kAt.stage_bytes : stage - kAt.stage_bytes;
    const int now = page;
    page = from.page_of(fetched + kAt.warps);
    if (fetched < end) from.fetch(a, fetched, now, ring + before);
    fetched += kAt.warps;
    commit_copies();
    Scores s;
    find_scores(q_at, query, Pieces<kQWidth>(k_lane + stage), s);
    mask_scores(a, at, j, s);
    raise_max(s, scale, rows);
    weigh_and_add(Pieces<kVWidth>(v_lane + stage), s, scale, rows);
    // @phase loop
    stage = stage + kAt.stage_bytes == kAt.ring_bytes ? 0 : stage + kAt.stage_bytes;
  }
  // @phase barrier
  wait_for_copies<0>();
  __syncthreads();  // nobody reads a ring or Q any more
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1) flash_splitkv(const SplitArgs a) {
  extern __shared__ __align__(128) unsigned char shared[];
  // @phase setup
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");  // it waits for our end by itself
#endif
  const int tile = static_cast<int>(blockIdx.x) % a.row_tiles;
  const int kv = static_cast<int>(blockIdx.x) / a.row_tiles % a.kv_heads;
  const int part = static_cast<int>(blockIdx.x) / a.row_tiles / a.kv_heads;
  const Line line(a, tile, reinterpret_cast<int64*>(shared));
  const int parts = parts_used(line.length(), a.parts);
  if (part >= parts) return;
  const int64 begin = part_begin(line.length(), parts, part), end = part_begin(line.length(), parts, part + 1);
  const Line::At from = line.batch_at(begin);
  int64 at = from.begin;
#pragma unroll 1
  for (int batch = from.batch; batch < a.batches && at < end; ++batch) {
    // @phase setup
    const Batch seen(a, tile, batch);
    const int64 count = seen.blocks.count;
    const int first = static_cast<int>(blocks_before(begin, at, count));
    const int last = static_cast<int>(blocks_before(end, at, count));
    const int row0 = tile * ATTN_BR;
    if (count == 0 && at >= begin) store_nothing(a, batch, kv, row0);
    if (first < last) {
      const int low = row0 / a.group, high = (min(row0 + ATTN_BR, a.rows) - 1) / a.group;
      const int length = a.problem.key_lengths == nullptr ? a.Lk : static_cast<int>(a.problem.key_lengths[batch]);
      const Place place{batch, kv, row0, length, high + a.first_shift, min(length, low + a.last_shift)};
      copy_queries(a, shared_address(shared) + kAt.q_at, batch, kv, row0);
      commit_copies();
      WarpRows rows;
      const int block0 = static_cast<int>(seen.blocks.first);
      walk(a, place, Source(a, seen, batch, kv), block0 + first, block0 + last, shared, rows);
      hand_over(shared, rows);
      __syncthreads();
      store_merged(a, place, last - first == count ? -1 : part + batch, shared);
      __syncthreads();  // before the rings are filled again
    }
    // @phase loop
    at += seen.cost();
  }
}

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
