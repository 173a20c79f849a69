#include "kernels/gpu/ring/ring_gradients.h"

#include <utility>

#include "kernels/base/hash.h"
#include "kernels/base/text.h"
#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/launch/hopper_backward_parameters.h"
#include "kernels/gpu/rungs/backward/backward_plan.h"
#include "kernels/gpu/rungs/common.h"
#include "kernels/gpu/rungs/specialise.h"

namespace attn::gpu {
namespace {

constexpr std::string_view kRoundedQueries = "flash_bwd_hopper_dq";  // the rung's; the next one stands in its place
constexpr const char* kQueries = "attnscope_ring_dq";
constexpr const char* kAdd = "attnscope_ring_add";
constexpr const char* kRound = "attnscope_ring_round";
constexpr std::uint32_t kThreads = 256;
constexpr std::int64_t kAdded = 4, kRounded = 8;  // numbers of a thread

// What the kernels below are handed: the same text here and there.
// clang-format off
#define ATTNSCOPE_HERE_AND_THERE(name, ...) __VA_ARGS__ constexpr const char* name = #__VA_ARGS__;
ATTNSCOPE_HERE_AND_THERE(kArguments,
struct QueryArgs {
  unsigned long long sums;
  long long rows, first;
  int adds;
};
struct AddArgs {
  unsigned long long sums, part;
  long long rows, first, count;
};
struct RoundArgs {
  unsigned long long sums, to;
  long long numbers;
  float scale;
};
)
#undef ATTNSCOPE_HERE_AND_THERE
// clang-format on

struct Change {
  std::string_view from, to;
};

constexpr Change kChanges[] = {
    {"__device__ __forceinline__ void compute(const Args& a, const BackwardArgs& g,",
     R"(// This warpgroup's 64 keys of dK or dV as they were summed.
__device__ __forceinline__ void leave(void* to, const Args& a, const Work& work, int mine,
                                      const float (&sum)[ATTN_D / 2]) {
  const int lane = threadIdx.x % 32, row = 64 * mine + static_cast<int>(threadIdx.x % 128 / 32) * 16 + lane / 4;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int64 key = work.c0 + row + 8 * h;
    if (key >= a.Lk) continue;
    float2* rows = static_cast<float2*>(to) + ((work.kv * a.Lk + key) * ATTN_D + lane % 4 * 2) / 2;
#pragma unroll
    for (int t = 0; t < ATTN_D / 8; ++t) rows[4 * t] = make_float2(sum[4 * t + 2 * h], sum[4 * t + 2 * h + 1]);
  }
}

__device__ __forceinline__ void compute(const Args& a, const BackwardArgs& g,)"},
    {"store(static_cast<Element*>(g.d_k), kK, a, work, mine, a.scale, d_k);", "leave(g.d_k, a, work, mine, d_k);"},
    {"store(static_cast<Element*>(g.d_v), kV, a, work, mine, 1.0f, d_v);", "leave(g.d_v, a, work, mine, d_v);"},
};

constexpr const char* kEntries = R"(
// dQ from where flash_bwd_hopper_dq finds it. A thread has two neighbouring columns of two rows, four times.
extern "C" __global__ void __launch_bounds__(128)
    attnscope_ring_dq(const Args a, const BackwardArgs g, const QueryArgs to) {
  wait_for_launch_before();
  constexpr int kParts = kOwn / 32;
  const int64 n = int64{blockIdx.x} / kParts;
  const int64 half = n % 2, row = n / 2 * kBwdQueries, head = row / g.rows;
  const int t = static_cast<int>(int64{blockIdx.x} % kParts) * 4, lane = threadIdx.x, own = lane % 4;
  const float4* from = reinterpret_cast<const float4*>(g.d_q_sum) + n * (kBwdQueries * ATTN_D / 8) + t * 128 + lane;
  const int64 r = row - head * g.rows + (kByRows ? 64 * half : 0) + lane / 32 * 16 + lane % 32 / 4;
  const int64 d = (kByRows ? 0 : half * kOwn) + 8 * t + 2 * own;
  float* sums = reinterpret_cast<float*>(to.sums) + (head * to.rows + to.first + r) * ATTN_D + d;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float4 x = from[i * 128];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if (r + 8 * h >= a.Lq) continue;
      float2* place = reinterpret_cast<float2*>(sums + 8 * h * ATTN_D + 8 * i);
      float2 sum = h == 0 ? make_float2(x.x, x.y) : make_float2(x.z, x.w);
      if (to.adds) {
        const float2 before = *place;
        sum.x += before.x;
        sum.y += before.y;
      }
      *place = sum;
    }
  }
}

// A head in y.
extern "C" __global__ void __launch_bounds__(256) attnscope_ring_add(const AddArgs a) {
  const int64 n = 4 * (int64{blockIdx.x} * 256 + threadIdx.x), head = blockIdx.y;
  if (n >= a.count * ATTN_D) return;
  float4* place = reinterpret_cast<float4*>(reinterpret_cast<float*>(a.sums) + (head * a.rows + a.first) * ATTN_D + n);
  const float4 part = *reinterpret_cast<const float4*>(reinterpret_cast<float*>(a.part) + head * a.count * ATTN_D + n);
  float4 sum = *place;
  sum.x += part.x;
  sum.y += part.y;
  sum.z += part.z;
  sum.w += part.w;
  *place = sum;
}

extern "C" __global__ void __launch_bounds__(256) attnscope_ring_round(const RoundArgs r) {
  const int64 n = 8 * (int64{blockIdx.x} * 256 + threadIdx.x);
  if (n >= r.numbers) return;
  const float4* from = reinterpret_cast<const float4*>(reinterpret_cast<float*>(r.sums) + n);
  const float4 x = from[0], y = from[1];
  *reinterpret_cast<uint4*>(reinterpret_cast<Element*>(r.to) + n) =
      make_uint4(packed(x.x * r.scale, x.y * r.scale), packed(x.z * r.scale, x.w * r.scale),
                 packed(y.x * r.scale, y.y * r.scale), packed(y.z * r.scale, y.w * r.scale));
}

)";

LaunchShape shape_of_grid(std::int64_t blocks, std::int64_t heads, std::uint32_t threads) {
  LaunchShape shape;
  shape.grid = {static_cast<std::uint32_t>(blocks), static_cast<std::uint32_t>(heads), 1};
  shape.block = {threads, 1, 1};
  return shape;
}

}  // namespace

bool has_ring_gradients(const KernelRow& row) {
  return has_hopper_backward_parameters(row);
}

Result<std::string> text_of_turns(std::string_view rung_text) {
  std::string text(rung_text);
  for (const Change& change : kChanges) {
    const std::size_t at = text.find(change.from);
    if (at == std::string::npos || text.find(change.from, at + 1) != std::string::npos)
      return fail(ErrorKind::cannot_run,
                  phrase("This kernel cannot leave its sums in f32, because its source does not contain this line "
                         "exactly once: {}",
                         change.from));
    text.replace(at, change.from.size(), change.to);
  }
  return text + "\nnamespace attn::gpu {\n" + kArguments + kEntries + "}\n";
}

Result<RingGradients> RingGradients::make(Queue& queue, const Plan& plan) {
  const KernelRow& row = *plan.kernel;
  auto source = kernel_source(row.id, edited_kernels_folder());
  if (!source) return tl::unexpected(source.error());
  auto text = text_of_turns(source->text);
  if (!text) return tl::unexpected(text.error());
  source->text = *std::move(text);
  source->hooked = source->text;
  source->hash = hash_of(source->hash + source->text);  // the rung's counts its headers
  source->text_hash = source->hash;
  const std::string name = std::string(row.id) + " in a ring";
  auto loaded = queue.load(name, defines_of(plan, may_be_aligned(plan.problem)), &*source);
  if (!loaded) return tl::unexpected(loaded.error());
  return RingGradients(queue, **loaded, plan.problem.D);
}

// The rung's launches but the last, which rounds dQ.
Result<RingTurn> RingGradients::prepare(const Plan& plan, const Buffers& buffers, const RingQuerySums& d_q) {
  if (const std::string_view last = plan.launches.empty() ? "" : std::string_view(plan.launches.back().name);
      last != kRoundedQueries)
    return fail(
        ErrorKind::cannot_run,
        phrase("A ring leaves dQ of {} in f32 by replacing the last launch, {}, but here the last launch is '{}'.",
               plan.kernel->id, kRoundedQueries, last));
  auto lists = hopper_backward_parameters(plan, buffers, *queue_);
  if (!lists) return tl::unexpected(lists.error());
  RingTurn turn;
  for (std::size_t n = 0; n < plan.launches.size(); ++n) {
    const Launch& l = plan.launches[n];
    const bool last = n + 1 == plan.launches.size();
    RingTurn::Entry entry{last ? kQueries : l.name, nullptr, shape_of(l), std::move((*lists)[n])};
    if (last) {
      entry.parameters = Parameters();
      entry.parameters.add(args_of(plan, buffers));
      entry.parameters.add(backward_args_of(plan, buffers));
      entry.parameters.add(QueryArgs{d_q.sums, d_q.rows, d_q.first, d_q.adds ? 1 : 0});
    }
    const auto function = queue_->entry(*loaded_, entry.name, last ? 0 : l.shared_bytes);
    if (!function) return tl::unexpected(function.error());
    entry.function = *function;
    turn.entries.push_back(std::move(entry));
  }
  return turn;
}

Result<void> RingGradients::launch(const RingTurn& turn) {
  Result<void> good = ok();
  for (const RingTurn::Entry& e : turn.entries)
    if (good) good = queue_->driver().launch(e.function, e.shape, queue_->stream(), e.parameters.addresses());
  return good;
}

Result<void> RingGradients::launch(const char* entry, const LaunchShape& shape, const Parameters& parameters) {
  const auto function = queue_->entry(*loaded_, entry, 0);
  if (!function) return tl::unexpected(function.error());
  return queue_->driver().launch(*function, shape, queue_->stream(), parameters.addresses());
}

Result<void> RingGradients::add(const RingAdd& a) {
  Parameters parameters;
  parameters.add(AddArgs{a.sums, a.part, a.rows, a.first, a.count});
  return launch(kAdd, shape_of_grid(tiles(a.count * columns_, kThreads * kAdded), a.heads, kThreads), parameters);
}

Result<void> RingGradients::round(const RingRound& r) {
  Parameters parameters;
  parameters.add(RoundArgs{r.sums, r.to, r.numbers, r.scale});
  return launch(kRound, shape_of_grid(tiles(r.numbers, kThreads * kRounded), 1, kThreads), parameters);
}

}  // namespace attn::gpu
