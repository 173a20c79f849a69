// flash_hopper: attention on Hopper's own hardware. f16 or bf16 in, sums in fp32.
//
//   one warpgroup copies:     for each query tile that its block takes:   Q, and K_j, V_j into a ring
//   the others compute:       64 rows of the tile each:                   m = -inf, l = 0, O = 0
//     for each key tile j, from the last that the rows see to the first:
//       S = Q K_j^T                                                       started, and waited for
//       if some row's maximum rose by more than 2^8:  m, l, O             as in flash_mma; up to D = 64 only looked for
//                                                                         when P is there, and then all is done again
//       P = exp(scale S - m) of the first keys                            S becomes P where it is
//       O = O + P V_j of the first keys                                   started; under it P of the other keys
//       O = O + P V_j of the other keys                                   started, and waited for
//     O = O / l;  LSE = m + ln l                                          through the rows of Q, by TMA
//
// The idea. wgmma multiplies what lies in shared memory, 64 rows at a time, while its four warps do something else, and
// TMA brings whole tiles there at the word of one thread. So nobody loads fragments, and the matrix pipe can be kept
// busy by others: three consumers (four where D is up to 64, two where it is above 128) that hold no more than 160
// registers a thread cover each other's exponentials. None overlaps the next tile's product with this tile's softmax,
// which would take S and P at once.
//
// New against the rung before (flash_mma). Tensor maps and barriers in place of cp.async and __syncthreads; a warpgroup
// that only copies and gives its registers away; Q, K and V read by the matrix pipe itself; blocks that stay and take
// tiles from a counter, the longest first; a half step on the diagonal, and key tiles left out for 64 rows at a time.
//
// What limits it now. With D = 128 at long lengths the matrix pipe is busy nine tenths of the time, and the card lowers
// its clock to stay within its power. At 1k the seams between tiles show; with D = 64 an exponential costs as much as
// what it weighs: there the maximum is not waited for, and consumers take turns at S, which keeps them a product apart.
//
// Constants beside those of device.cuh: ATTN_STAGES slots of the ring; ATTN_QUERIES buffers of Q; ATTN_PACK heads packed
// as rows; ATTN_SPLIT eighths of the keys whose product goes first; ATTN_HALF keys of the shorter step (0: none);
// ATTN_LATE whether O's rows are handed back under the next tile, and maps fetched early;
// ATTN_TURNS whether overlapping consumers take turns at starting products; ATTN_SUMS_LEAVE whether O is stored in fp32;
// ATTN_COPIES whether tensors go through copies whose rows begin on 16 bytes (0: none do).
#include "kernels/gpu/hopper_block.cuh"
#include "kernels/gpu/hopper_copy.cuh"
#include "kernels/gpu/hopper_covering.cuh"
#include "kernels/gpu/hopper_overlapped.cuh"
#include "kernels/gpu/hopper_ring.cuh"

namespace attn::gpu {

#if ATTN_COPIES
// Before and after: only for tensors that no map can be made of.
extern "C" __global__ void __launch_bounds__(32 * kCopyWarps) hopper_copy_in(const __grid_constant__ HopperCopies c) {
  // @phase setup
  copy_rows(c.of[blockIdx.y]);
}
extern "C" __global__ void __launch_bounds__(32 * kCopyWarps) hopper_copy_out(const __grid_constant__ HopperCopies c) {
  // @phase store
  copy_rows(c.of[blockIdx.y]);
}
#endif

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    flash_hopper(const __grid_constant__ HopperMap q, const __grid_constant__ HopperMap k,
                 const __grid_constant__ HopperMap v, const __grid_constant__ HopperMap out,
                 const __grid_constant__ HopperArgs a) {
  // @phase setup
  extern __shared__ __align__(1024) unsigned char bytes[];
  if (shared_address(bytes) != kBase) return;
  if (kHandsBackLate && threadIdx.x == 32) {
    fetch_map(q);
    fetch_map(k);
    fetch_map(v);
    fetch_map(out);
  }
  if (threadIdx.x == 0) Shared::make_barriers();
  __syncthreads();
  const int warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0);  // a number of the warp, said so
  if (warpgroup == 0) {
    give_registers<kAt.producer_registers>();
    if (threadIdx.x == 0) feed_keys(a, k, v);
    if (threadIdx.x == 32) feed_queries(a, q);
  } else {
    take_registers<kAt.registers>();
    if constexpr (kOverlapped) {
      consume_overlapped(a, warpgroup - 1);
    } else {
      consume_covering(a, out, warpgroup - 1);
    }
  }
}

}  // namespace attn::gpu
