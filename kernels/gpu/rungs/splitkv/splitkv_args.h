// What the host hands to flash_splitkv: one struct by value. Compiled by the program and by NVRTC, so it includes
// nothing, and what it uses lies alike on both sides. args.h stands before it.
//
// Rows. The query heads that share a head of keys are packed: row r of a key head is query r / group of its head
// r % group.
#pragma once

namespace attn::gpu {

struct SplitArgs {
  // In elements, from one batch (of K and V in pages: from one page), head and row to the next.
  long long q_b, q_h, q_r, k_b, k_h, k_r, v_b, v_h, v_r, out_b, out_h, out_r;
  const int* pages;   // [batches, table_b]: which page of the pool holds a batch's next keys; null: dense
  long long table_b;  // entries a batch
  float* part_o;      // [parts + batches - 1, Hq, Lq, Dv]: O of the parts of batches that are cut, divided by l
  float* part_lse;    // [parts + batches - 1, Hq, Lq]
  int parts;          // that the keys of a head are cut into, over all batches
  int batches, kv_heads, group, Lq, Lk;
  int rows, row_tiles;  // of a key head: Lq * group, and tiles of them
  // Query q sees keys from max(0, q + first_shift) to min(key length, q + last_shift), the last not among them.
  int first_shift, last_shift;
  Args problem;  // the last: it ends with members that not every build has
};

}  // namespace attn::gpu
