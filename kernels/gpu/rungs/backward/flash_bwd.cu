// flash_bwd: the backward of FlashAttention-2 (Dao 2023, algorithm 2) on tensor cores, by the instructions themselves.
// f16 or bf16 in, sums in fp32.
//
//   flash_bwd_rows     delta = rowsum(dO * O), LSE in base 2; sums of dQ = 0      one block a query tile
//   flash_bwd_keys     for each key tile j (one block):               K_j, V_j to shared memory; dK = dV = 0
//     for each query tile i that sees it:                             Q_i, dO_i through a ring
//       S = Q_i K_j^T, masked;  P = exp(scale S - LSE)                in registers
//       dP = dO_i V_j^T;  dS = P (dP - delta)                         in registers, dS to shared memory
//       dV += P^T dO_i;  dK += dS^T Q_i                               in registers
//       dQ_i += dS K_j                                                in device memory, by fp32 reductions
//     dK = scale dK
//   flash_bwd_dq       dQ = scale dQ, rounded
//
// The idea. Five products a tile, each on tensor cores; P and dS, rounded to the input's type, are factors of the last
// three. Where they lie decides what a tile costs, for mma.sync takes both factors from registers and each must be read
// from shared memory. Up to D = 64 keys are the rows of a tile: the products give S^T and dP^T, and what a warp has of
// P^T and dS^T is, register by register, its left factor of dV and dK (flash_bwd_key_rows.cuh). dS alone is stored, for
// dQ. A block has four warps, and two blocks an SM cover each other's barriers and exponentials.
//
// Wider heads leave no registers for that: dK and dV of 32 keys would take them all. There, and where something is
// added to scores, queries are the rows, and P and dS both go through shared memory (flash_bwd_query_rows.cuh).
//
// The key tile is outside: dK and dV stay in registers while the query tiles go by. A row of dQ gets a part from each
// key tile, so blocks add into it, in fp32 and in whatever order they come: the bits of dQ are not the same each time.
// The sums lie as the fragments do, so that the reductions of a warp are neighbours; flash_bwd_dq puts them in order.
//
// With `deterministic` they add in one order, that of the key tiles: a number a query tile counts who has added, and
// the next waits for its turn. Blocks take tickets, so that whoever is waited for has begun before; they walk from the
// last query tile to the first, each a little behind the one before it, and some heads go side by side, for a head's
// blocks can begin no closer after one another than half a tile.
//
// New against the rung before (flash_bwd_simt): tensor cores, a ring of Q and dO by cp.async, a swizzle in place of
// padding, and keys as rows.
//
// What limits it now. At D = 64 shared memory and the tensor cores about evenly: K and V are read anew for each 32
// queries, for dK and dV take half of the registers. At D = 128 shared memory: P and dS are written once and read
// twice, and each fragment serves two products at most.
#undef ATTN_MASKED
#define ATTN_MASKED 1  // one build for every mask and for none: before device.cuh
#include "kernels/gpu/backward_turns.cuh"
#include "kernels/gpu/flash_bwd_parts.cuh"
#include "kernels/gpu/flash_bwd_sums.cuh"
#if ATTN_D == ATTN_DV && ATTN_D <= 64 && ATTN_D % 8 == 0 && ATTN_BC == ATTN_THREADS && !ATTN_BIAS
#include "kernels/gpu/flash_bwd_key_rows.cuh"
#else
#include "kernels/gpu/flash_bwd_query_rows.cuh"
#endif

namespace attn::gpu {

constexpr bool kDown = ATTN_DETERMINISTIC != 0;
constexpr int kWay = kDown ? -1 : 1;  // to the next query tile

// Beside a stage's Q and dO: what flash_bwd_rows left of these rows.
__device__ inline void copy_rows(const BackwardArgs& g, int64 head, int64 r0, unsigned to) {
  // @phase delta
  constexpr int kEach = ATTN_BR / 4;  // chunks
  const int n = threadIdx.x;
  if (n < 2 * kEach) {
    const float* from = (n < kEach ? g.shift : g.delta - ATTN_BR) + head * g.rows + r0 + 4 * n;
    copy_async<16>(to + kAt.rows_at + kChunk * n, from, true);
  }
}

// ---- kernels

// delta of a query tile: the diagonal of O dO^T, by the very products that make dP of dO and V. O and dO come by copies
// that nobody waits for: this launch does little else than read and clear, and wants many bytes on their way.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS) flash_bwd_rows(const Args a, const BackwardArgs g) {
  extern __shared__ __align__(128) unsigned char shared[];
  // @phase setup
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64 n0 = int64{blockIdx.x} * ATTN_BR;  // of the first row: all are of one head
  const int64 head = n0 / g.rows, r0 = n0 - head * g.rows, row0 = head * a.Lq + r0;
  const int rows = near(a.Lq - r0);
  const unsigned o = shared_address(shared), d_o = o + kAt.d_o_bytes;
  // @phase delta
  const int64 from = row0 * ATTN_DV + CopyO::first_from();
  CopyO::copy(o + CopyO::first_to(), static_cast<const Element*>(g.o) + from, rows);
  CopyO::copy(d_o + CopyO::first_to(), static_cast<const Element*>(g.d_o) + from, rows);
  commit_copies();
  // @phase dQ
  float4* d_q = reinterpret_cast<float4*>(g.d_q_sum + n0 * kAt.d);
#pragma unroll 4
  for (int d = threadIdx.x; d < ATTN_BR * kAt.d / 4; d += ATTN_THREADS) d_q[d] = make_float4(0, 0, 0, 0);
#if ATTN_DETERMINISTIC
  if (threadIdx.x == 0) g.turns[1 + blockIdx.x] = 0;
  if (threadIdx.x == 1 && blockIdx.x == 0) g.turns[0] = 0;
#endif
  // @phase barrier
  wait_for_copies<0>();
  __syncthreads();
  // @phase delta
  const Pieces<kVWidth> x_at(o + Pieces<kVWidth>::lane(ldmatrix_row(lane), ldmatrix_chunk(lane)));
  const Pieces<kVWidth> y_at(d_o + Pieces<kVWidth>::lane(ldmatrix_row_of_k(lane), ldmatrix_chunk_of_k(lane)));
#pragma unroll 1
  for (int row = 16 * warp; row < ATTN_BR; row += 16 * kWarps) {
    float upper[4] = {}, lower[4] = {};  // of the rows 0 to 7 of dO, and 8 to 15
#pragma unroll
    for (int step = 0; step < kVSteps; ++step) {
      unsigned x[4], y[4];
      ldmatrix(x, x_at.at(row, step));
      ldmatrix(y, y_at.at(row, step));
      mma(upper, x, y[0], y[1]);
      mma(lower, x, y[2], y[3]);
    }
    // Row and column are the same in one lane of each four.
    const int diagonal = lane / 4;
    if (lane % 4 == diagonal / 2) {
      keep_row(a, g, n0 + row + diagonal, diagonal % 2 == 0 ? upper[0] : upper[1], kLog2E);
      keep_row(a, g, n0 + row + diagonal + 8, diagonal % 2 == 0 ? lower[2] : lower[3], kLog2E);
    }
  }
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1) flash_bwd_keys(const Args a, const BackwardArgs g) {
  extern __shared__ __align__(128) unsigned char shared[];
  // @phase setup
  unsigned base = shared_address(shared);
  if (kKeysAreRows) asm volatile("mov.b32 %0, %0;" : "+r"(base));  // else it is worked out anew wherever it is used
  const unsigned tiles = static_cast<unsigned>((a.Lk + ATTN_BC - 1) / ATTN_BC);
#if ATTN_DETERMINISTIC
  const KeyTile mine =
      key_tile_of(take_ticket(g.turns, reinterpret_cast<int*>(shared)), tiles, static_cast<unsigned>(a.B * a.Hkv));
#else
  const KeyTile mine{blockIdx.x / tiles, blockIdx.x % tiles};
#endif
  const int64 kv = mine.kv, b = kv / a.Hkv, group = a.Hq / a.Hkv;
  const int64 first_head = b * a.Hq + (kv - b * a.Hkv) * group;
  const Warp w;
  const TileForm form(base, shared, w);
  Tile now{first_head, 0, int64{mine.tile} * ATTN_BC, key_length(a, first_head)};
  SumsOfK d_k;
  SumsOfV d_v;
  clear(d_k);
  clear(d_v);

  // The query tiles that see some key of this one: of each head from `begin` on so many.
  int64 begin = 0, many = 0;
  if (now.c0 < now.length) {
    const int64 c_last = (now.c0 + ATTN_BC < now.length ? now.c0 + ATTN_BC : now.length) - 1;
    const int64 first = first_row(a, now.c0), last = last_row(a, now.length, c_last);
    begin = first / ATTN_BR;
    many = last > first ? (last + ATTN_BR - 1) / ATTN_BR - begin : 0;
  }
  const int64 turns = group * many;
  if (kDown) begin += many - 1;
  now.r0 = begin * ATTN_BR;
  int64 next_head = now.head, next_r0 = now.r0;  // of the tile that is fetched next
  const int64 end_r0 = (begin + kWay * many) * ATTN_BR;
  const auto fetch = [&](unsigned stage) {
    copy_queries(a, g, next_head, next_r0, base + kAt.ring_at + stage);
    if (kKeysAreRows) copy_rows(g, next_head, next_r0, base + kAt.ring_at + stage);
    next_r0 += kWay * ATTN_BR;
    if (next_r0 == end_r0) {
      next_r0 = begin * ATTN_BR;
      ++next_head;
    }
  };
  if (turns > 0) {
    copy_keys(a, kv, now.c0, now.length, base);
    if (ATTN_STAGES > 1 || kKeysAreRows) fetch(0);
    commit_copies();
  }

  // @phase loop
  unsigned stage = 0;
#if ATTN_DETERMINISTIC
  int told = 0;  // place in `turns` of the query tile before
  const auto place = [&] { return static_cast<int>(1 + now.head * (g.rows / ATTN_BR) + now.r0 / ATTN_BR); };
#endif
#pragma unroll 1
  for (int64 turn = 0; turn < turns; ++turn) {
    // @phase barrier
    if constexpr (ATTN_STAGES == 1 && !kKeysAreRows) {
      __syncthreads();  // nobody reads the tiles before any more
      fetch(0);
      commit_copies();
    }
    wait_for_copies<0>();
    __syncthreads();  // the tile has come for all; P, dS and the other buffer are free
    if (ATTN_STAGES > 1 && turn + 1 < turns) fetch(stage == 0 ? kAt.stage : 0);
    commit_copies();
#if ATTN_DETERMINISTIC
    const int seen = threadIdx.x == 32 ? added_to(g.turns + place()) : 0;
#endif
    form.make(a, g, now, kAt.ring_at + stage, d_k, d_v);
    // @phase barrier
#if ATTN_DETERMINISTIC
    if (threadIdx.x == 0 && told != 0) tell_added(g.turns + told);  // by now its sums have come there
    told = place();
    if (threadIdx.x == 32) await_turn(g.turns + told, key_tiles_before(a, now.r0, mine.tile, ATTN_BC), seen);
#endif
    __syncthreads();                         // what of the tile goes through shared memory is whole
    if (ATTN_STAGES == 1 && kKeysAreRows) {  // and nobody reads Q and dO any more
      if (turn + 1 < turns) fetch(0);
      commit_copies();
    }
    form.add(w, kAt.ring_at + stage, d_k, d_v);
    // @phase dQ
    reduce_queries<0>(w, base + kAt.d_s_at, base, sums_of(g, w, now.head, now.r0));
    // @phase loop
    if (ATTN_STAGES > 1) stage = stage == 0 ? kAt.stage : 0;
    now.r0 += kWay * ATTN_BR;
    if (now.r0 == end_r0) {
      now.r0 = begin * ATTN_BR;
      ++now.head;
    }
  }
#if ATTN_DETERMINISTIC
  // @phase dQ
  __syncthreads();
  if (threadIdx.x == 0 && told != 0) tell_added(g.turns + told);
#endif
  // @phase store
  const int64 row0 = kv * a.Lk + now.c0 + w.k_row, rows = (kv + 1) * a.Lk;
  store<ATTN_D, kAt.k.across>(static_cast<Element*>(g.d_k), row0, rows, w.k_across, w.lane, a.scale, d_k);
  store<ATTN_DV, kAt.k.across>(static_cast<Element*>(g.d_v), row0, rows, w.k_across, w.lane, 1.0f, d_v);
}

__device__ inline unsigned one_of(const unsigned (&x)[4], int n) {
  const unsigned low = n & 1 ? x[1] : x[0], high = n & 1 ? x[3] : x[2];
  return n & 2 ? high : low;
}

// A thread has what a lane had of two fragments side by side: pairs of 16 columns in two rows. Each four lanes exchange
// theirs, so that a thread stores eight neighbours at once.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS) flash_bwd_dq(const Args a, const BackwardArgs g) {
  // @phase dQ
  const int lane = threadIdx.x % 32, own = lane % 4;
  const int64 n = int64{blockIdx.x} * kWarps + threadIdx.x / 32;  // of the two fragments
  if (n >= a.B * a.Hq * g.rows * kAt.d / 256) return;
  const int pair = static_cast<int>(n % (kFragments / 2));
  const int64 of_warp = n / (kFragments / 2);
  const int warp = static_cast<int>(of_warp % kWarps);
  const int64 tile = of_warp / kWarps, tiles = g.rows / ATTN_BR, head = tile / tiles;
  const int i = pair / kAt.q_steps, step = pair % kAt.q_steps;
  const float4* from = reinterpret_cast<const float4*>(g.d_q_sum) + n * 64 + lane;
  const float4 x = from[0], y = from[32];
  const float f = a.scale;
  const unsigned u[4] = {pack(x.x * f, x.y * f), pack(y.x * f, y.y * f), pack(x.z * f, x.w * f),
                         pack(y.z * f, y.w * f)};
  unsigned z[4];
#pragma unroll
  for (int m = 0; m < 4; ++m) z[m] = __shfl_xor_sync(0xffffffffu, one_of(u, own ^ m), m);
  const unsigned all[4] = {one_of(z, own), one_of(z, own ^ 1), one_of(z, own ^ 2), one_of(z, own ^ 3)};
  // @phase store
  const int d = 16 * (warp % kAt.q.across + kAt.q.across * step) + 8 * (own % 2);
  const int64 r = (tile - head * tiles) * ATTN_BR + warp / kAt.q.across * 16 * kQm + 16 * i + lane / 4 + 8 * (own / 2);
  if (r >= a.Lq || d >= ATTN_D) return;
  Element* to = static_cast<Element*>(g.d_q) + (head * a.Lq + r) * ATTN_D + d;
  if constexpr (ATTN_ALIGNED && ATTN_D % 8 == 0) {
    *reinterpret_cast<uint4*>(to) = make_uint4(all[0], all[1], all[2], all[3]);
  } else {
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      if (d + e < ATTN_D) to[e].bits = static_cast<unsigned short>(all[e / 2] >> 16 * (e % 2));
    }
  }
}

}  // namespace attn::gpu
