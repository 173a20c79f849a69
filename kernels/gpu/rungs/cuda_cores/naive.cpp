// naive on the host: what naive.cu is launched with.
#include "kernels/base/text.h"
#include "kernels/gpu/compile/occupancy.h"
#include "kernels/gpu/rungs/common.h"
#include "kernels/gpu/rungs/trace/trace.h"

namespace attn::gpu {
namespace {

std::vector<Launch> launches_of(const Problem& p, const Options& o) {
  const std::int64_t heads = p.B * p.Hq;
  const std::int64_t rows = o.threads / kWarp;
  return {launch_of("naive_scores", tiles(p.Lk, kWarp) * tiles(p.Lq, rows) * heads, kWarp, rows, 0),
          launch_of("naive_softmax", tiles(heads * p.Lq, rows), kWarp, rows, 0),
          launch_of("naive_output", tiles(p.Dv, kWarp) * tiles(p.Lq, rows) * heads, kWarp, rows, 0)};
}

Result<Plan> plan(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  if (const auto arch = limits_for(row, d); !arch) return tl::unexpected(arch.error());
  Result<Options> resolved = resolve(row, o, d);
  if (!resolved) return tl::unexpected(resolved.error());
  return plan_of(row, p, *resolved, launches_of(p, *resolved));
}

TraceFacts trace(const Problem& p, const Options&) {
  return stored_facts(p);
}

}  // namespace

KernelRow naive_row() {
  static constexpr OptionSpec kOptions[] = {{&Option::threads, 32, 1024, 32, 256}};
  KernelRow row = common_row();
  row.id = "naive";
  row.title = marked("naive, three kernels");
  row.rung = "3";
  row.order = Order::naive;
  row.options = kOptions;
  row.what = marked("Textbook attention on a GPU: S and P are whole matrices in device memory.");
  row.teaches =
      marked("Thousands of threads, and the cost of storing S and P. This is the baseline for every comparison.");
  row.source = "definition";
  row.stores_scores = true;
  row.score_reads = 3;
  row.betters.reads_together = "tiled";
  row.plan = plan;
  row.trace = trace;
  return row;
}

}  // namespace attn::gpu
