// The kernels that find how fast a GPU's memory is read: text that NVRTC compiles with the others of gpu_peaks.cpp.
#pragma once

namespace attn {

inline constexpr const char* kReadSource = R"(
// 16 bytes a load, and 16 loads of a thread on their way at once: two blocks keep 128 KiB on their way to an SM.
extern "C" __global__ void __launch_bounds__(256) attnscope_read(Work w) {
  const float4* p = (const float4*)w.from;
  float sum = 0;
  const unsigned long long share = 16ull * blockDim.x;
  for (unsigned long long at = blockIdx.x * share; at + share <= w.count; at += gridDim.x * share) {
    float4 v[16];
#pragma unroll
    for (int n = 0; n < 16; ++n) v[n] = __ldcg(p + at + n * blockDim.x + threadIdx.x);
#pragma unroll
    for (int n = 0; n < 16; ++n) sum += v[n].x + v[n].y + v[n].z + v[n].w;
  }
  if (sum == 12345.678f) ((float*)w.to)[0] = sum;
}

#if __CUDA_ARCH__ >= 900
// 16 KiB a bulk copy, two of each block: six blocks keep 192 KiB on their way to an SM. One thread asks for all.
extern "C" __global__ void __launch_bounds__(32) attnscope_read_bulk(Work w) {
  constexpr unsigned kBytes = 16384, kPlaces = 2;
  __shared__ __align__(128) unsigned char places[kPlaces * kBytes];
  __shared__ unsigned long long come[kPlaces];
  if (threadIdx.x != 0) return;
  const unsigned to = (unsigned)__cvta_generic_to_shared(places), barrier = (unsigned)__cvta_generic_to_shared(come);
  for (unsigned n = 0; n < kPlaces; ++n) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier + 8 * n));
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  const unsigned long long pieces = w.count * 16 / kBytes;
  const auto ask = [&](unsigned long long piece, unsigned place) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier + 8 * place), "r"(kBytes));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     to + place * kBytes),
                 "l"(w.from + piece * kBytes), "r"(kBytes), "r"(barrier + 8 * place)
                 : "memory");
  };
  unsigned long long asked = blockIdx.x;
  for (unsigned n = 0; n < kPlaces && asked < pieces; ++n, asked += gridDim.x) ask(asked, n);
  unsigned place = 0, parity = 0;
  for (unsigned long long piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    asm volatile(
        "{ .reg .pred p;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
        "@!p bra again; }" ::"r"(barrier + 8 * place),
        "r"(parity)
        : "memory");
    if (asked < pieces) {
      ask(asked, place);
      asked += gridDim.x;
    }
    if (++place == kPlaces) place = 0, parity ^= 1;
  }
}
#endif
)";

}  // namespace attn
