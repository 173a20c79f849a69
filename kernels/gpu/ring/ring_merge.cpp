#include "kernels/gpu/ring/ring_merge.h"

#include <string>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/gpu/compile/sources.h"

namespace attn::gpu {
namespace {

// One struct by value, as all kernels of ours take their arguments.
struct MergeArgs {
  unsigned long long o, lse, part_o, part_lse, final_o;
  long long rows, heads, columns, first, count;
};

constexpr std::uint32_t kWarps = 8;  // of a block; each has a row of a head

// The merge's own text comes before it.
constexpr const char* kSource = R"(
struct MergeArgs {
  unsigned long long o, lse, part_o, part_lse, final_o;
  long long rows, heads, columns, first, count;
};

#if BF16
__device__ __forceinline__ unsigned packed(float x, float y) {
  unsigned r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
  return r;
}
#else
__device__ __forceinline__ unsigned packed(float x, float y) {
  unsigned r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
  return r;
}
#endif

// A warp has a row of a head: 8 columns a lane and turn. Parts come divided by their l.
extern "C" __global__ void __launch_bounds__(256) attnscope_ring_merge(MergeArgs a) {
  const long long n = blockIdx.x * (long long)(blockDim.x / 32) + threadIdx.x / 32;
  const bool all = a.final_o != 0;
  if (n >= (all ? a.rows : a.count) * a.heads) return;
  const long long row = n / a.heads + (all ? 0 : a.first), head = n % a.heads;
  const bool merged = row >= a.first && row < a.first + a.count;
  const float infinity = __int_as_float(0x7f800000);
  float first = 1, second = 0;
  if (merged) {
    float* lse = (float*)a.lse + head * a.rows + row;
    const float x = *lse, y = ((const float*)a.part_lse)[head * a.count + row - a.first];
    const attn::Merged both =
        attn::merge(attn::PartSums{x, x == -infinity ? 0.f : 1.f}, attn::PartSums{y, y == -infinity ? 0.f : 1.f},
                    [](float z) { return expf(z); });
    const float l = both.of_both.l, inverse = l == 0 ? 0 : 1 / l;
    first = both.first * inverse;
    second = both.second * inverse;
    __syncwarp();
    if (threadIdx.x % 32 == 0) *lse = x != x ? x : l == 0 ? -infinity : both.of_both.m + logf(l);
  }
  float* o = (float*)a.o + (row * a.heads + head) * a.columns;
  const float* part = (const float*)a.part_o + ((row - a.first) * a.heads + head) * a.columns;
  for (int c = 8 * (threadIdx.x % 32); c < a.columns; c += 256) {
    float v[8], w[8];
    *(float4*)v = *(const float4*)(o + c);
    *(float4*)(v + 4) = *(const float4*)(o + c + 4);
    if (merged) {
      *(float4*)w = __ldcs((const float4*)(part + c));
      *(float4*)(w + 4) = __ldcs((const float4*)(part + c + 4));
#pragma unroll
      for (int i = 0; i < 8; ++i) v[i] = first * v[i] + second * w[i];
    }
    if (all) {
      *(uint4*)((unsigned short*)a.final_o + (row * a.heads + head) * a.columns + c) =
          make_uint4(packed(v[0], v[1]), packed(v[2], v[3]), packed(v[4], v[5]), packed(v[6], v[7]));
    } else {
      *(float4*)(o + c) = *(float4*)v;
      *(float4*)(o + c + 4) = *(float4*)(v + 4);
    }
  }
}
)";

// The text of the function that merges, as the kernels include it.
Result<std::string> merge_text() {
  for (const SourceText& source : written_sources())
    if (source.name == "kernels/gpu/merge.h") {
      std::string text(source.text);
      const std::string once = "#pragma once";
      if (const auto at = text.find(once); at != std::string::npos) text.erase(at, once.size());
      return text;
    }
  return fail(ErrorKind::failed, "the merge's text is not in the program");
}

}  // namespace

Result<RingMerger> RingMerger::make(Queue& queue, DType type) {
  const auto merge = merge_text();
  if (!merge) return tl::unexpected(merge.error());
  const std::string text = *merge + kSource;
  auto loaded = queue.load_text("ring_merge", text, {type == DType::bf16 ? "BF16=1" : "BF16=0"});
  if (!loaded) return tl::unexpected(loaded.error());
  RingMerger made(queue);
  made.module_ = *loaded;
  auto entry = queue.driver().function(made.module_, "attnscope_ring_merge");
  if (!entry) return tl::unexpected(entry.error());
  made.merge_ = *entry;
  return made;
}

RingMerger::RingMerger(RingMerger&& other) noexcept
    : queue_(other.queue_), module_(std::exchange(other.module_, nullptr)), merge_(other.merge_) {}

RingMerger::~RingMerger() {
  if (module_ != nullptr) queue_->driver().unload(module_);
}

Result<void> RingMerger::merge(const RingMerge& m) {
  const MergeArgs args{m.o, m.lse, m.part_o, m.part_lse, m.final_o, m.rows, m.heads, m.columns, m.first, m.count};
  const std::int64_t rows = (m.final_o != 0 ? m.rows : m.count) * m.heads;
  if (rows == 0) return ok();
  LaunchShape shape;
  shape.grid[0] = static_cast<std::uint32_t>((rows + kWarps - 1) / kWarps);
  shape.block[0] = 32 * kWarps;
  const void* const parameters[] = {&args};
  return queue_->driver().launch(merge_, shape, queue_->stream(), parameters);
}

}  // namespace attn::gpu
