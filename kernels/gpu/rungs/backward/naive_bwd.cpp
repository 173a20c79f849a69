// naive_bwd on the host: what naive_bwd.cu is launched with.
#include "kernels/base/text.h"
#include "kernels/gpu/compile/occupancy.h"
#include "kernels/gpu/rungs/backward/backward_plan.h"
#include "kernels/gpu/rungs/common.h"

namespace attn::gpu {
namespace {

std::vector<Launch> launches_of(const Problem& p, const Options& o) {
  const std::int64_t heads = p.B * p.Hq, kv_heads = p.B * p.Hkv, rows = o.threads / kWarp;
  const auto elements = [&](std::string_view entry, std::int64_t matrices, std::int64_t down, std::int64_t across) {
    return launch_of(entry, tiles(across, kWarp) * tiles(down, rows) * matrices, kWarp, rows, 0);
  };
  return {launch_of("naive_bwd_rows", tiles(heads * p.Lq, rows), kWarp, rows, 0),
          elements("naive_bwd_weights", heads, p.Lq, p.Lk),
          elements("naive_bwd_scores", heads, p.Lq, p.Lk),
          elements("naive_bwd_dq", heads, p.Lq, p.D),
          elements("naive_bwd_dk", kv_heads, p.Lk, p.D),
          elements("naive_bwd_dv", kv_heads, p.Lk, p.Dv)};
}

Result<Plan> plan(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  if (const auto arch = limits_for(row, d); !arch) return tl::unexpected(arch.error());
  const Result<Options> resolved = resolve(row, o, d);
  if (!resolved) return tl::unexpected(resolved.error());
  return plan_of_backward(row, p, *resolved, launches_of(p, *resolved));
}

}  // namespace

KernelRow naive_bwd_row() {
  static constexpr OptionSpec kOptions[] = {{&Option::threads, 32, 1024, 32, 256}};
  KernelRow row = backward_row();
  row.id = "naive_bwd";
  row.title = marked("naive backward, six kernels");
  row.rung = "3b";
  row.order = *order_named("naive-backward");
  row.options = kOptions;
  row.what = marked("The textbook backward pass on a GPU: P and dS are whole matrices in device memory.");
  row.teaches =
      marked("Thousands of threads, and the cost of storing P and dS. This is the baseline for every backward pass.");
  row.source = marked("the definition; Dao et al. 2022, FlashAttention, algorithm 3");
  row.stores_scores = true;
  row.score_reads = 2;
  row.training = {"naive_train", marked("naive training step"), "3t", "naive"};
  row.plan = plan;
  return row;
}

}  // namespace attn::gpu
