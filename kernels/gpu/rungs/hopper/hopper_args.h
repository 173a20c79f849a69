// What the host hands to flash_hopper beside its tensor maps: one struct by value. Compiled by the program and by
// NVRTC, so it uses no header and only types that both sides lay out alike.
//
// Rows. Heads that share keys may be packed: row r of a packed head is query r / PACK of its head r % PACK. Without
// packing PACK is 1 and a packed head is a head.
#pragma once

namespace attn::gpu {

struct HopperArgs {
  void* out;  // O, 16-bit or fp32; in elements from one batch, head and row to the next:
  long long out_b, out_h, out_r;
  float* lse;                    // [B,Hq,Lq]
  int* counter;                  // {next tile, blocks that have ended}: 0 before the first launch, and 0 after each
  const long long* key_lengths;  // one a batch; null = all Lk
  const float* bias;
  long long bias_b, bias_h, bias_r, bias_c;  // strides of the bias; 0 along an axis that it repeats
  int batches, heads, share;                 // packed heads of a batch; share: of them read one head of keys
  int rows, Lq, Lk;                          // rows of a packed head: Lq * PACK
  int total;                                 // query tiles of all heads and batches
  int tiles;                                 // query tiles of a packed head, 64-row pieces shared out evenly among them
  int section;                               // packed heads that are walked together, so that L2 keeps their K and V
  // Query q sees keys from max(0, q + first_shift) to min(key length, q + last_shift), the last not among them.
  int first_shift, last_shift;
  float scale_log2;                // of Q K^T, with log2 e; positive
  float query_factor;              // 1; -1 or 0 where the scale is negative or 0: Q is multiplied by it
  const float* slopes;             // @score ALiBi: one a head, from batch to batch slopes_b
  long long slopes_b;              // @score
  float softcap, softcap_inverse;  // @score c and 1 / c
};

// A tensor and its copy, whose rows begin on 16 bytes: what a tensor map can be made of. Strides in elements.
constexpr int kCopyRows = 64;  // of a block, all of one head
struct HopperCopy {
  const void* from;
  void* to;
  long long from_b, from_h, from_r, to_b, to_h, to_r;
  int batches, heads, rows, columns;
  int from_pairs, to_pairs;  // two neighbours lie on 4 bytes
};
struct HopperCopies {
  HopperCopy of[3];  // one a block's y
};

}  // namespace attn::gpu
