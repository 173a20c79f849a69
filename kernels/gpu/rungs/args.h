// What the host hands to every GPU kernel: one struct by value. Compiled by the program and by NVRTC, so it uses no
// header and only types that both sides lay out alike.
#pragma once

namespace attn::gpu {

struct Args {
  const void* q;  // [B,Hq,Lq,D]
  const void* k;  // [B,Hkv,Lk,D]
  const void* v;  // [B,Hkv,Lk,Dv]
  const float* bias;
  void* out;
  float* lse;
  const long long* key_lengths;  // one a batch; null = all Lk
  float* s;                      // [B,Hq,Lq,Lk] fp32, orders that store S
  void* p;                       // the same in the input dtype
  long long B, Hq, Hkv, Lq, Lk;
  // Row r sees keys from max(0, r + first_shift) to min(key length, r + last_shift), the last not among them.
  long long first_shift, last_shift;
  long long bias_b, bias_h, bias_r, bias_c;  // strides of the bias; 0 along an axis that it repeats
  float scale;                               // of Q K^T
  float scale_log2;                          // scale * log2(e): scores in base 2, for exp2
  const float* slopes;                       // @score ALiBi: one a head, from batch to batch slopes_b
  long long slopes_b;                        // @score
  float softcap, softcap_inverse;            // @score c and 1 / c; 0 without
};

}  // namespace attn::gpu
