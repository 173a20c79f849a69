// flash_bwd_hopper: the backward on Hopper's own hardware. f16 or bf16 in, sums in fp32, D = Dv = 64 or 128.
//
//   flash_bwd_hopper_rows   delta = rowsum(dO * O), LSE in base 2      a warpgroup 64 rows
//     the first heads' dQ = 0; those of the others are zeroed about a wave before their blocks begin (with
//     `deterministic`, the first block to come stores its sums in place of adding them)
//   flash_bwd_hopper_keys   for each tile of 128 keys (one block): one warpgroup copies, by TMA: K, V; then Q_i, dO_i
//     and sends dQ away; the two others compute, 64 keys each; for each query tile i that sees them:
//       S^T = K Q_i^T;  dP^T = V dO_i^T                                started together
//       P^T = exp(scale S^T - LSE)                                     in registers, under dP^T
//       dS^T = P^T (dP^T - delta)                                      in registers; and to shared memory
//       dV += P^T dO_i;  dK += dS^T Q_i                                P^T and dS^T from registers
//       dQ_i-1 = dS K, half of it each                                 dS of both from shared memory
//       dQ_i-1 is added up in device memory, by the copy engine        under the next tile
//     dK = scale dK
//   flash_bwd_hopper_dq     dQ = scale dQ, rounded
//
// The idea. S and dP are computed transposed, keys as rows: then P^T and dS^T leave the tensor cores as the left
// factors of dV and dK are wanted, in registers. Of what one warpgroup computes the other needs dS alone, for dQ sums
// over all 128 keys; wgmma reads it turned, as it stands. A warpgroup that starts a product waits until the tensor
// cores take it, so only the other one fills its gaps. Hence dQ is computed a tile late: nobody waits for the other's
// dS, and the exponentials of one run under the products of the other.
//
// New against the rung before (flash_bwd). Whole tiles by TMA, products that read shared memory themselves, and one
// bulk reduction of a tile of dQ in place of a thousand small ones. Sums of dQ that are zeroed while others compute
// (backward_ahead.cuh). Each launch starts while the one before ends.
//
// What limits it now. The registers: dK, dV, S, dP and dQ of a warpgroup take 224 of 240 a thread at D = 128, so a tile
// has 64 queries, and each product reads more shared memory than one of 128 would. At D = 64 it has 128.
#undef ATTN_MASKED
#define ATTN_MASKED 1  // one build for every mask and for none: before device.cuh
#define ATTN_QUERIES 1
#define ATTN_FORM 5
#define ATTN_LATE 0
#define ATTN_HALF 0
#define ATTN_PACK 1
#define ATTN_SPLIT 0
#include "kernels/gpu/backward.cuh"
#include "kernels/gpu/backward_ahead.cuh"
#include "kernels/gpu/backward_turns.cuh"
#include "kernels/gpu/flash_bwd_hopper_layout.h"
#include "kernels/gpu/hopper_barrier.cuh"
#include "kernels/gpu/hopper_map.cuh"
#include "kernels/gpu/hopper_wgmma.cuh"

namespace attn::gpu {

constexpr FlashBwdHopperLayout kBwd = flash_bwd_hopper_layout(ATTN_D);
constexpr int kBwdQueries = kBwd.queries, kBwdBuffers = kBwd.buffers;
constexpr int kKeyPanel = kBwdKeys * 128, kQueryPanel = kBwdQueries * 128;  // bytes
constexpr int kSteps = ATTN_D / 16, kQuerySteps = kBwdQueries / 16, kKeySteps = kBwdKeys / 16;
constexpr bool kByRows = kBwdQueries == 128;      // each warpgroup computes 64 rows of dQ, else half its columns
constexpr int kOwn = 64;                          // columns of dQ of a warpgroup
constexpr int kScores = kBwdQueries / 2;          // of a tile in a thread
constexpr bool kValuesFirst = kBwdQueries == 64;  // dV starts before dS is computed: registers allow it
constexpr unsigned kKFull = kBase, kVFull = kBase + 8;
constexpr unsigned kQFull = kBase + 16, kOFull = kQFull + 8 * kBwdStages, kEmpty = kOFull + 8 * kBwdStages;
constexpr unsigned kDsFull = kEmpty + 8 * kBwdStages, kDsEmpty = kDsFull + 8 * kBwdBuffers;
constexpr unsigned kSumsFull = kDsEmpty + 8 * kBwdBuffers, kSumsEmpty = kSumsFull + 32;  // one a warpgroup
constexpr unsigned kK = kBase + kBwd.k_at, kV = kBase + kBwd.v_at, kRing = kBase + kBwd.ring_at;
constexpr unsigned kRows = kBase + kBwd.rows_at, kDs = kBase + kBwd.d_s_at, kDq = kBase + kBwd.d_q_at;
constexpr unsigned kStage = 2 * kBwd.query_bytes, kRowsStage = 2 * kBwdQueries * 4;
constexpr unsigned kDsBytes = kBwdKeys * kBwdQueries * 2;
constexpr bool kDown = ATTN_DETERMINISTIC != 0;
constexpr int64 kStride = kDown ? -kBwdQueries : kBwdQueries;  // to the next query tile

__device__ __forceinline__ int near(int64 x) {
  constexpr int64 kFar = 1 << 30;
  return static_cast<int>(x > kFar ? kFar : x < -kFar ? -kFar : x);
}

// d = a b + (keep ? d : 0), the sum running down the rows of both: dS and K as they stand.
#define ATTN_MULTIPLY_TURNED(N)                                                                             \
  __device__ __forceinline__ void multiply_turned(float(&d)[N / 2], Descriptor a, Descriptor b, int keep) { \
    int x = 0, y = 0, z = 0;                                                                                \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; wgmma.mma_async.sync.aligned.m64n" #N               \
                 "k16.f32." ATTN_HALF_TYPE "." ATTN_HALF_TYPE " {" ATTN_D_##N "}, %0, %1, p, 1, 1, 1, 1; }" \
                 : "+l"(a), "+l"(b), "+r"(keep), "+r"(x), "+r"(y), "+r"(z), ATTN_O_##N);                    \
  }
ATTN_MULTIPLY_TURNED(64)

__device__ __forceinline__ void copy_bytes(unsigned to, const void* from, int bytes, unsigned barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}
__device__ __forceinline__ void add_bytes(void* to, unsigned from, int bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to), "r"(from),
               "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void store_bytes(void* to, unsigned from, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ float2 shared_pair(unsigned at) {
  float2 x;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x.x), "=f"(x.y) : "r"(at));
  return x;
}
// Both warpgroups that compute.
__device__ __forceinline__ void computers_sync() {
  // @phase barrier
  asm volatile("bar.sync 5, 256;" ::: "memory");
}

// What a block does: a tile of keys, and the query tiles that see some key of it.
struct Work {
  int64 c0, length;        // its first key; keys of the batch
  int kv, batch, tile;     // head of keys, of all; batch; number of the tile
  int64 head;              // the first query head
  int64 turns;             // query tiles of all its heads
  int64 start_r0, end_r0;  // of each head from here until there, by kStride

  __device__ __forceinline__ Work(const Args& a, const KeyTile& mine) {
    kv = static_cast<int>(mine.kv), tile = static_cast<int>(mine.tile);
    batch = kv / static_cast<int>(a.Hkv);
    const int64 group = a.Hq / a.Hkv;
    head = batch * a.Hq + (kv - batch * a.Hkv) * group;
    c0 = int64{mine.tile} * kBwdKeys;
    length = key_length(a, head);
    int64 begin = 0, many = 0;
    if (c0 < length) {
      const int64 c_last = (c0 + kBwdKeys < length ? c0 + kBwdKeys : length) - 1;
      const int64 first = first_row(a, c0), last = last_row(a, length, c_last);
      begin = first / kBwdQueries;
      many = last > first ? (last + kBwdQueries - 1) / kBwdQueries - begin : 0;
    }
    turns = group * many;
    start_r0 = (kDown ? begin + many - 1 : begin) * kBwdQueries;
    end_r0 = start_r0 + many * kStride;
  }
  // Whether the query tile from row r0 on sees some key of it.
  __device__ __forceinline__ bool takes(int64 r0) const {
    return kDown ? r0 > end_r0 && r0 <= start_r0 : r0 >= start_r0 && r0 < end_r0;
  }
  __device__ __forceinline__ void next(int64& head, int64& r0) const {
    r0 += kStride;
    if (r0 == end_r0) {
      r0 = start_r0;
      ++head;
    }
  }
};

// ---- the warpgroup that copies: one thread of it

__device__ __forceinline__ void feed(const Args& a, const BackwardArgs& g, const Work& work, const HopperMap& q,
                                     const HopperMap& k, const HopperMap& v, const HopperMap& d_o) {
  // @phase K
  if (work.turns == 0) return;
  const int key = static_cast<int>(work.c0), of_keys = work.kv - work.batch * static_cast<int>(a.Hkv);
  barrier_expect(kKFull, kBwd.key_bytes);
#pragma unroll
  for (int i = 0; i < kBwd.panels; ++i) load_keys(kK + i * kKeyPanel, k, kKFull, 64 * i, key, of_keys, work.batch);
  int64 head = work.head, r0 = work.start_r0;
  int parity = 1;
  unsigned stage = 0;
#pragma unroll 1
  for (int64 turn = 0; turn < work.turns; ++turn) {
    const unsigned to = kRing + stage * kStage, rows = kRows + stage * kRowsStage;
    const unsigned q_full = kQFull + 8 * stage, o_full = kOFull + 8 * stage;
    const int row = static_cast<int>(r0), of_batch = static_cast<int>(head - work.batch * a.Hq);
    barrier_wait(kEmpty + 8 * stage, parity);
    // @phase Q
    if (turn == 0) wait_for_launch_before();  // LSE and delta
    barrier_expect(q_full, kBwd.query_bytes + kBwdQueries * 4);
#pragma unroll
    for (int i = 0; i < kBwd.panels; ++i) load_keys(to + i * kQueryPanel, q, q_full, 64 * i, row, of_batch, work.batch);
    copy_bytes(rows, g.shift + head * g.rows + r0, kBwdQueries * 4, q_full);
    // @phase V
    if (turn == 0) {
      barrier_expect(kVFull, kBwd.key_bytes);
#pragma unroll
      for (int i = 0; i < kBwd.panels; ++i) load_keys(kV + i * kKeyPanel, v, kVFull, 64 * i, key, of_keys, work.batch);
    }
    // @phase dO
    barrier_expect(o_full, kBwd.query_bytes + kBwdQueries * 4);
#pragma unroll
    for (int i = 0; i < kBwd.panels; ++i)
      load_keys(to + kBwd.query_bytes + i * kQueryPanel, d_o, o_full, 64 * i, row, of_batch, work.batch);
    copy_bytes(rows + kBwdQueries * 4, g.delta + head * g.rows + r0, kBwdQueries * 4, o_full);
    work.next(head, r0);
    stage ^= 1;
    if (stage == 0) parity ^= 1;
  }
}

// ---- two threads that send dQ away

#if ATTN_DETERMINISTIC
// Each sends every second tile: while its sums are still on their way, the other sends.
__device__ __forceinline__ void send_sums(const Args& a, const BackwardArgs& g, const Work& work, unsigned, int of) {
  // @phase dQ
  int64 head = work.head, r0 = work.start_r0;
  int parity = 0;
  if (of == 1 && work.turns > 0) work.next(head, r0);
#pragma unroll 1
  for (int64 turn = of; turn < work.turns; turn += 2) {
    const int64 tile = (head * g.rows + r0) / kBwdQueries;
    const int before = key_tiles_before(a, r0, work.tile, kBwdKeys);
    await_turn(g.turns + 1 + tile, before);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      barrier_wait(kSumsFull + 16 * of + 8 * half, parity);
      float* const to = g.d_q_sum + tile * (kBwdQueries * ATTN_D) + half * (kBwdQueries * ATTN_D / 2);
      const unsigned from = kDq + half * kBwd.sums_bytes / 2;
      if (before == 0)
        store_bytes(to, from, kBwd.sums_bytes / 2);
      else
        add_bytes(to, from, kBwd.sums_bytes / 2);
      commit_stores();
    }
    stores_have_read();
    barrier_arrive(kSumsEmpty);
    barrier_arrive(kSumsEmpty + 8);
    stores_are_done();
    tell_added(g.turns + 1 + tile);
    work.next(head, r0);
    work.next(head, r0);
    parity ^= 1;
  }
}
#else
// Each sends what one warpgroup computed.
__device__ __forceinline__ void send_sums(const Args&, const BackwardArgs& g, const Work& work, unsigned tiles, int of) {
  // @phase dQ
  wait_for_launch_before();
  int64 head = work.head, r0 = work.start_r0;
  int parity = 0;
  if (work.turns == 0) return;
  await_zeros(g, work.kv, tiles);
#pragma unroll 1
  for (int64 turn = 0; turn < work.turns; ++turn) {
    const int64 tile = (head * g.rows + r0) / kBwdQueries;
    barrier_wait(kSumsFull + 8 * of, parity);
    add_bytes(g.d_q_sum + tile * (kBwdQueries * ATTN_D) + of * (kBwdQueries * ATTN_D / 2),
              kDq + of * kBwd.sums_bytes / 2, kBwd.sums_bytes / 2);
    commit_stores();
    stores_have_read();
    barrier_arrive(kSumsEmpty + 8 * of);
    work.next(head, r0);
    parity ^= 1;
  }
  stores_are_done();
}
#endif

// ---- the warpgroups that compute

// Rows of K and V beyond the batch's length may hold anything, and 0 times NaN is NaN: zero this warpgroup's.
__device__ __forceinline__ void zero_beyond(const Work& work, int mine) {
  // @phase K
  const int from = near(work.length - work.c0) - 64 * mine;  // the first of the 64 rows that is beyond
  if (from >= 64) return;
  barrier_wait(kVFull, 0);
#pragma unroll 1
  for (int i = threadIdx.x % 128; i < 64 * 8 * kBwd.panels; i += 128) {
    const int row = i / 8 % 64;
    const unsigned to = kK + i / 512 * kKeyPanel + (64 * mine + row) * 128 + i % 8 * 16;
    if (row < from) continue;
    asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(to), "r"(0) : "memory");
    asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(to + kBwd.key_bytes), "r"(0) : "memory");
  }
  publish_stores();
  warpgroup_sync(mine);
}

// X Y^T of this warpgroup's 64 keys and the stage's queries.
__device__ __forceinline__ void start_rows(float (&s)[kScores], Descriptor x, Descriptor y) {
#pragma unroll
  for (int i = 0; i < kSteps; ++i)
    multiply(s, further(x, i / 4 * kKeyPanel + i % 4 * 32), further(y, i / 4 * kQueryPanel + i % 4 * 32), i != 0);
}

// P^T of S^T. The lane's keys are rows, and its queries 8 t + 2 (lane % 4) + {0, 1}. Row r of the tile sees its keys
// from r + first to r + last, the last not among them, and none from `end`.
__device__ __forceinline__ void weigh(float scale, int first, int last, int end, int mine, unsigned rows,
                                      float (&s)[kScores]) {
  // @phase mask
  const bool whole = end >= kBwdKeys && first + kBwdQueries - 1 <= 0 && last >= kBwdKeys;
  const int key = 64 * mine + static_cast<int>(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4);
  const int query = static_cast<int>(threadIdx.x % 4) * 2;
  // @phase P
#pragma unroll
  for (int t = 0; t < kBwdQueries / 8; ++t) {
    const float2 shift = shared_pair(rows + query * 4 + 32 * t);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float& x = s[4 * t + i];
      x = exp2_fast(fmaf(x, scale, i % 2 == 0 ? -shift.x : -shift.y));
    }
  }
  if (whole) return;
    // @phase mask
#pragma unroll
  for (int t = 0; t < kBwdQueries / 8; ++t) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int c = key + i / 2 * 8, r = query + 8 * t + i % 2;
      if (c - r < first || c - r >= last || c >= end) s[4 * t + i] = 0;
    }
  }
}

// dS^T of P^T, in the place of dP^T.
__device__ __forceinline__ void slope(unsigned rows, const float (&s)[kScores], float (&d_p)[kScores]) {
  // @phase dS
#pragma unroll
  for (int t = 0; t < kBwdQueries / 8; ++t) {
    const float2 delta = shared_pair(rows + kBwdQueries * 4 + threadIdx.x % 4 * 8 + 32 * t);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float& x = d_p[4 * t + i];
      x = s[4 * t + i] * (x - (i % 2 == 0 ? delta.x : delta.y));
    }
  }
}

// Left factors of 16 queries each.
__device__ __forceinline__ void pack(const float (&s)[kScores], unsigned (&p)[kQuerySteps][4]) {
#pragma unroll
  for (int c = 0; c < kQuerySteps; ++c) {
#pragma unroll
    for (int i = 0; i < 4; ++i) p[c][i] = packed(s[8 * c + 2 * i], s[8 * c + 2 * i + 1]);
  }
}

// dS^T to shared memory: rows are keys.
__device__ __forceinline__ void keep(const unsigned (&p)[kQuerySteps][4], int mine, unsigned to) {
  const int lane = threadIdx.x % 32, part = lane / 8;
  const int row = 64 * mine + static_cast<int>(threadIdx.x % 128 / 32) * 16 + part % 2 * 8 + lane % 8;
#pragma unroll
  for (int c = 0; c < kQuerySteps; ++c)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     to + c / 4 * kKeyPanel + swizzled_chunk(row, 2 * c % 8 + part / 2)),
                 "r"(p[c][0]), "r"(p[c][1]), "r"(p[c][2]), "r"(p[c][3])
                 : "memory");
}

// This warpgroup's 64 keys of dK or dV, through the rows where K or V stood: whole rows leave at once.
__device__ __forceinline__ void store(Element* to, unsigned at, const Args& a, const Work& work, int mine, float factor,
                                      const float (&sum)[ATTN_D / 2]) {
  // @phase store
  const int lane = threadIdx.x % 32, part = lane / 8, own = 64 * mine + static_cast<int>(threadIdx.x % 128 / 32) * 16;
  const int row = own + part % 2 * 8 + lane % 8;
#pragma unroll
  for (int c = 0; c < kSteps; ++c)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     at + c / 4 * kKeyPanel + swizzled_chunk(row, 2 * c % 8 + part / 2)),
                 "r"(packed(sum[8 * c] * factor, sum[8 * c + 1] * factor)),
                 "r"(packed(sum[8 * c + 2] * factor, sum[8 * c + 3] * factor)),
                 "r"(packed(sum[8 * c + 4] * factor, sum[8 * c + 5] * factor)),
                 "r"(packed(sum[8 * c + 6] * factor, sum[8 * c + 7] * factor))
                 : "memory");
  __syncwarp();
  constexpr int kChunks = ATTN_D / 8;  // of a row, 16 bytes each
#pragma unroll
  for (int i = 0; i < kChunks / 2; ++i) {
    const int n = 32 * i + lane, r = own + n / kChunks, chunk = n % kChunks;
    if (work.c0 + r >= a.Lk) continue;
    uint4 x;
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                 : "r"(at + chunk / 8 * kKeyPanel + swizzled_chunk(r, chunk % 8)));
    *reinterpret_cast<uint4*>(to + (work.kv * a.Lk + work.c0 + r) * ATTN_D + 8 * chunk) = x;
  }
}

// D += X^T Y of the tile's queries: X^T from registers, Y of the ring.
__device__ __forceinline__ void start_gradient(float (&d)[ATTN_D / 2], const unsigned (&x)[kQuerySteps][4],
                                               unsigned y) {
  // @phase caller
#pragma unroll
  for (int c = 0; c < kQuerySteps; ++c) multiply(d, x[c], further(by_columns(y, kBwdQueries), c * 2048), 1);
}

// dQ of the n-th tile, this warpgroup's part: once both have left their dS.
__device__ __forceinline__ void start_sums(int n, int mine, float (&d_q)[kOwn / 2]) {
  // @phase dQ
  const int buffer = n % kBwdBuffers;
  const unsigned d_s = kDs + buffer * kDsBytes + (kByRows ? mine * kKeyPanel : 0);
  const unsigned k = kK + (kByRows ? 0 : mine * kKeyPanel);
  barrier_wait(kDsFull + 8 * buffer, n / kBwdBuffers & 1);
  products_begin();
#pragma unroll
  for (int c = 0; c < kKeySteps; ++c)
    multiply_turned(d_q, further(by_columns(d_s, kBwdKeys), c * 2048), further(by_columns(k, kBwdKeys), c * 2048),
                    c != 0);
  products_end();
}
__device__ __forceinline__ void leave_sums(int n, int mine, const float (&d_q)[kOwn / 2]) {
  // @phase dQ
  if (kBwdBuffers < 4) barrier_arrive_if(threadIdx.x % 32 == 0, kDsEmpty + 8 * (n % kBwdBuffers));
  barrier_wait(kSumsEmpty + 8 * mine, (n & 1) ^ 1);  // the rows before have left
  const unsigned to = kDq + mine * kBwd.sums_bytes / 2 + threadIdx.x % 128 * 16;
#pragma unroll
  for (int t = 0; t < kOwn / 8; ++t)
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to + t * 2048), "f"(d_q[4 * t]), "f"(d_q[4 * t + 1]),
                 "f"(d_q[4 * t + 2]), "f"(d_q[4 * t + 3])
                 : "memory");
  publish_stores();
  __syncwarp();
  barrier_arrive_if(threadIdx.x % 32 == 0, kSumsFull + 8 * mine + (kDown ? 16 * (n & 1) : 0));
}

// The n-th tile, and what is left to do of the tile before: its dQ.
template <bool FIRST>
__device__ __forceinline__ void take_tile(float scale, int n, int first, int last, int end, int mine, Descriptor k,
                                          Descriptor v, float (&d_k)[ATTN_D / 2], float (&d_v)[ATTN_D / 2]) {
  const int stage = n & 1, parity = n >> 1 & 1, buffer = n % kBwdBuffers;
  const unsigned q = kRing + stage * kStage, d_o = q + kBwd.query_bytes, rows = kRows + stage * kRowsStage;
  float s[kScores], d_p[kScores];
  // @phase S
  barrier_wait(kQFull + 8 * stage, parity);
  products_begin();
  start_rows(s, k, by_rows(q));
  products_end();
  // @phase dP
  if (FIRST) barrier_wait(kVFull, 0);
  barrier_wait(kOFull + 8 * stage, parity);
  start_rows(d_p, v, by_rows(d_o));
  products_end();
  unsigned p[kQuerySteps][4], d_s[kQuerySteps][4];
  // Four buffers need no word that one is free: who left dS in this one last has since waited for the other's dS of a
  // later tile, and the other leaves it after all that read this buffer.
  if (kBwdBuffers < 4) barrier_wait(kDsEmpty + 8 * buffer, n / kBwdBuffers & 1 ^ 1);
  // @phase S
  wait_for_products<1>(s);
  weigh(scale, first, last, end, mine, rows, s);
  if (kValuesFirst) {
    // @phase dV
    pack(s, p);
    wait_for_products<0>(d_p);
    products_begin();
    start_gradient(d_v, p, d_o);
    products_end();
    slope(rows, s, d_p);
  } else {
    // @phase dP
    wait_for_products<0>(d_p);
    slope(rows, s, d_p);
    pack(s, p);
  }
  // @phase dS
  pack(d_p, d_s);
  keep(d_s, mine, kDs + buffer * kDsBytes);
  if (!kValuesFirst) {
    // @phase dV
    products_begin();
    start_gradient(d_v, p, d_o);
    products_end();
  }
  // @phase dS
  publish_stores();
  __syncwarp();
  barrier_arrive_if(threadIdx.x % 32 == 0, kDsFull + 8 * buffer);
  // @phase dQ
  float d_q[kOwn / 2];
  if (!FIRST) start_sums(n - 1, mine, d_q);
  // @phase dK
  products_begin();
  start_gradient(d_k, d_s, q);
  products_end();
  // @phase dQ
  if (!FIRST) {
    wait_for_products<1>(d_q);
    leave_sums(n - 1, mine, d_q);
  }
  // @phase dK
  wait_for_products<0>(d_k);
  wait_for_products<0>(d_v);
  barrier_arrive_if(threadIdx.x % 32 == 0, kEmpty + 8 * stage);
}

__device__ __forceinline__ void compute(const Args& a, const BackwardArgs& g, const Work& work, int mine) {
  float d_k[ATTN_D / 2], d_v[ATTN_D / 2];
#pragma unroll
  for (int i = 0; i < ATTN_D / 2; ++i) d_k[i] = d_v[i] = 0;
  const Descriptor k = by_rows(kK + mine * 64 * 128), v = by_rows(kV + mine * 64 * 128);
  if (work.turns > 0) {
    // Rows from here on are counted from the tile's first key.
    const int start = near(work.start_r0 - work.c0), stop = near(work.end_r0 - work.c0);
    const int first = near(a.first_shift), last = near(a.last_shift), end = near(work.length - work.c0);
    const int turns = static_cast<int>(work.turns);
    barrier_wait(kKFull, 0);
    zero_beyond(work, mine);
    take_tile<true>(a.scale_log2, 0, start + first, start + last, end, mine, k, v, d_k, d_v);
    int r0 = start;
    // @phase loop
#pragma unroll 1
    for (int n = 1; n < turns; ++n) {
      r0 += static_cast<int>(kStride);
      if (r0 == stop) r0 = start;
      take_tile<false>(a.scale_log2, n, r0 + first, r0 + last, end, mine, k, v, d_k, d_v);
    }
    float d_q[kOwn / 2];
    start_sums(turns - 1, mine, d_q);
    wait_for_products<0>(d_q);
    leave_sums(turns - 1, mine, d_q);
  }
  computers_sync();  // nobody reads K any more
  store(static_cast<Element*>(g.d_k), kK, a, work, mine, a.scale, d_k);
  store(static_cast<Element*>(g.d_v), kV, a, work, mine, 1.0f, d_v);
}

// ---- kernels

// delta is the diagonal of O dO^T, by the very products that make dP of V and dO.
extern "C" __global__ void __launch_bounds__(2 * kBwdQueries)
    flash_bwd_hopper_rows(const __grid_constant__ HopperMap q, const __grid_constant__ HopperMap k,
                          const __grid_constant__ HopperMap v, const __grid_constant__ HopperMap d_o,
                          const __grid_constant__ HopperMap o, const Args a, const BackwardArgs g) {
  // @phase delta
  extern __shared__ __align__(1024) unsigned char bytes[];
  if (shared_address(bytes) != kBase) return;
  constexpr unsigned kO = kBase + 1024, kDo = kO + kBwd.query_bytes;
  const int64 n = int64{blockIdx.x} * kBwdQueries, head = n / g.rows, r0 = n - head * g.rows;
  const int batch = static_cast<int>(head / a.Hq), of_batch = static_cast<int>(head - batch * a.Hq);
  if (threadIdx.x == 0) {
    barrier_init(kBase, 1);
    barriers_are_made();
    barrier_expect(kBase, 2 * kBwd.query_bytes);
    for (int i = 0; i < kBwd.panels; ++i) {
      load_keys(kO + i * kQueryPanel, o, kBase, 64 * i, static_cast<int>(r0), of_batch, batch);
      load_keys(kDo + i * kQueryPanel, d_o, kBase, 64 * i, static_cast<int>(r0), of_batch, batch);
    }
  }
  // @phase dQ
#if ATTN_DETERMINISTIC
  const KeyTile first{static_cast<unsigned>(head / (a.Hq / a.Hkv)),
                      static_cast<unsigned>(first_key(a, r0) / kBwdKeys)};
  const bool zeroes = !Work(a, first).takes(r0);  // nobody adds to them: the first one stores
  if (threadIdx.x == 0) {
    if (n == 0) g.turns[0] = 0;
    g.turns[1 + blockIdx.x] = 0;
  }
#else
  const unsigned tiles = static_cast<unsigned>((a.Lk + kBwdKeys - 1) / kBwdKeys);
  const int64 group = a.Hq / a.Hkv, kv = head / group;
  const bool zeroes = kv < heads_ahead(tiles);
  if (threadIdx.x == 0 && r0 == 0 && head == kv * group) g.turns[1 + kv] = zeroes ? tiles : 0;
#endif
  float4* d_q = reinterpret_cast<float4*>(g.d_q_sum + n * ATTN_D);
#pragma unroll 4
  for (int i = threadIdx.x; zeroes && i < kBwdQueries * ATTN_D / 4; i += 2 * kBwdQueries)
    d_q[i] = make_float4(0, 0, 0, 0);
  let_next_launch_start();
  // @phase delta
  __syncthreads();
  barrier_wait(kBase, 0);
  const int own = __shfl_sync(~0u, threadIdx.x / 128, 0) * 64;  // the warpgroup's rows
  float s[32];
  products_begin();
#pragma unroll
  for (int i = 0; i < kSteps; ++i)
    multiply(s, further(by_rows(kO + own * 128), i / 4 * kQueryPanel + i % 4 * 32),
             further(by_rows(kDo + own * 128), i / 4 * kQueryPanel + i % 4 * 32), i != 0);
  products_end();
  wait_for_products<0>(s);
  // Row and column are the same in one lane of each four.
  const int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int t = 0; t < 8; ++t) {
    const int h = t % 2;
    if (t / 2 != warp || lane % 4 != lane / 8) continue;
    keep_row(a, g, n + own + 8 * t + lane / 4, lane / 4 % 2 == 0 ? s[4 * t + 2 * h] : s[4 * t + 2 * h + 1], kLog2E);
  }
}

#if ATTN_DETERMINISTIC
// Heads side by side, as in backward_turns.cuh, but no more than the second-level cache has room for: all their blocks
// add to sums that they come back to.
__device__ inline KeyTile tile_of(const Args& a, unsigned ticket, unsigned tiles) {
  constexpr unsigned kLeast = 8, kMost = 64;
  constexpr int64 kBytes = int64{16} << 20, kOfRow = 8 * ATTN_D;  // Q, dO, and dQ in fp32
  const unsigned heads = static_cast<unsigned>(a.B * a.Hkv);
  const int64 fit = kBytes / ((a.Lq > 0 ? a.Lq : 1) * (a.Hq / a.Hkv) * kOfRow);
  const unsigned side = fit < kLeast ? kLeast : fit > kMost ? kMost : static_cast<unsigned>(fit);
  const unsigned first = ticket / (side * tiles) * side, rest = ticket - first * tiles;
  const unsigned together = heads - first < side ? heads - first : side;
  return {first + rest % together, rest / together};
}
#endif

extern "C" __global__ void __launch_bounds__(kBwdThreads, 1)
    flash_bwd_hopper_keys(const __grid_constant__ HopperMap q, const __grid_constant__ HopperMap k,
                          const __grid_constant__ HopperMap v, const __grid_constant__ HopperMap d_o,
                          const __grid_constant__ HopperMap o, const Args a, const BackwardArgs g) {
  // @phase setup
  extern __shared__ __align__(1024) unsigned char bytes[];
  if (shared_address(bytes) != kBase) return;
  const unsigned tiles = static_cast<unsigned>((a.Lk + kBwdKeys - 1) / kBwdKeys);
  let_next_launch_start();
#if ATTN_DETERMINISTIC
  wait_for_launch_before();  // tickets and turns
  const KeyTile mine = tile_of(a, take_ticket(g.turns, reinterpret_cast<int*>(bytes)), tiles);
#else
  const KeyTile mine{blockIdx.x / tiles, blockIdx.x % tiles};
#endif
  if (threadIdx.x == 0) {
    barrier_init(kKFull, 1);
    barrier_init(kVFull, 1);
    for (int i = 0; i < kBwdStages; ++i) {
      barrier_init(kQFull + 8 * i, 1);
      barrier_init(kOFull + 8 * i, 1);
      barrier_init(kEmpty + 8 * i, 8);  // all warps that compute
    }
    for (int i = 0; i < kBwdBuffers; ++i) {
      barrier_init(kDsFull + 8 * i, 8);
      barrier_init(kDsEmpty + 8 * i, 8);
    }
    for (int i = 0; i < 4; ++i) barrier_init(kSumsFull + 8 * i, 4);  // the warps of its warpgroup
    for (int i = 0; i < 2; ++i) barrier_init(kSumsEmpty + 8 * i, 1);
    barriers_are_made();
  }
  __syncthreads();
  const Work work(a, mine);
  const int warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0);  // a number of the warp, said so
  if (warpgroup == 2) {
    give_registers<kBwdProducerRegisters>();
    if (threadIdx.x == 256) feed(a, g, work, q, k, v, d_o);
    if (threadIdx.x == 288) send_sums(a, g, work, tiles, 0);
    if (threadIdx.x == 320) send_sums(a, g, work, tiles, 1);
#if !ATTN_DETERMINISTIC
    if (threadIdx.x >= 352) {
      // @phase dQ
      wait_for_launch_before();
      zero_ahead(a, g, mine.kv, mine.tile, tiles);
    }
#endif
  } else {
    take_registers<kBwdRegisters>();
    compute(a, g, work, warpgroup);
  }
}

__device__ __forceinline__ unsigned one_of(const unsigned (&x)[4], int n) {
  const unsigned low = n & 1 ? x[1] : x[0], high = n & 1 ? x[3] : x[2];
  return n & 2 ? high : low;
}

// Four times eight columns, of which each lane of four has two neighbours, of two rows. They exchange: each stores all
// eight of one.
extern "C" __global__ void __launch_bounds__(128)
    flash_bwd_hopper_dq(const __grid_constant__ HopperMap q, const __grid_constant__ HopperMap k,
                        const __grid_constant__ HopperMap v, const __grid_constant__ HopperMap d_o,
                        const __grid_constant__ HopperMap o, const Args a, const BackwardArgs g) {
  // @phase store
  wait_for_launch_before();
  constexpr int kParts = kOwn / 32;  // of half a tile, 32 columns each
  const int64 n = int64{blockIdx.x} / kParts;
  const int64 half = n % 2, row = n / 2 * kBwdQueries, head = row / g.rows;
  const int t = static_cast<int>(int64{blockIdx.x} % kParts) * 4, lane = threadIdx.x, own = lane % 4;
  const float4* from = reinterpret_cast<const float4*>(g.d_q_sum) + n * (kBwdQueries * ATTN_D / 8) + t * 128 + lane;
  unsigned x[2][4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float4 sum = from[i * 128];
    x[0][i] = packed(sum.x * a.scale, sum.y * a.scale);
    x[1][i] = packed(sum.z * a.scale, sum.w * a.scale);
  }
  const int64 r = row - head * g.rows + (kByRows ? 64 * half : 0) + lane / 32 * 16 + lane % 32 / 4;
  const int64 d = (kByRows ? 0 : half * kOwn) + 8 * (t + own);
  Element* to = static_cast<Element*>(g.d_q) + (head * a.Lq + r) * ATTN_D + d;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    // From lane own ^ i comes what it has of these eight columns.
    unsigned y[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) y[i] = __shfl_xor_sync(~0u, one_of(x[h], own ^ i), i);
    const uint4 all{one_of(y, own), one_of(y, own ^ 1), one_of(y, own ^ 2), one_of(y, own ^ 3)};
    if (r + 8 * h < a.Lq) *reinterpret_cast<uint4*>(to + 8 * h * ATTN_D) = all;
  }
}

}  // namespace attn::gpu
