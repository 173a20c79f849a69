// What the host hands to the kernels of a backward beside Args (args.h): one struct by value. Compiled by the program
// and by NVRTC, so it uses no header and only types that both sides lay out alike. Args::lse is read here,
// Args::out is null.
#pragma once

namespace attn::gpu {

struct BackwardArgs {
  const void* o;     // [B,Hq,Lq,Dv]
  const void* d_o;   // the same
  void* d_q;         // [B,Hq,Lq,D]
  void* d_k;         // [B,Hkv,Lk,D]
  void* d_v;         // [B,Hkv,Lk,Dv]
  float* delta_out;  // [B,Hq,Lq]; null: nobody asks for it
  float* shift;  // [B,Hq,rows]: what is taken from a row's scores before exp(); +inf where no key is seen or no row is
  float* delta;  // [B,Hq,rows]
  float* d_q_sum;  // where dQ is summed in fp32 in an order of its own; null: no kernel of the plan does
  int* turns;      // where dQ is summed in one order: blocks that began; then, a query tile each, how many have added
  void* p;         // [B,Hq,Lq,Lk] in the input dtype, for a rung that stores them
  void* d_s;       // the same
  long long rows;  // of a head in shift and delta: Lq, rounded up to whole tiles
};

}  // namespace attn::gpu
