// tiled on the host: what tiled.cu is launched with.
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/common.h"
#include "kernels/gpu/rungs/trace/trace.h"

namespace attn::gpu {
namespace {

std::vector<Launch> launches_of(const Problem& p, const Options& o) {
  const std::int64_t heads = p.B * p.Hq;
  const std::int64_t bd = p.Dv <= 64 ? 64 : 128;
  return {launch_of("tiled_scores", tiles(p.Lk, o.bc) * tiles(p.Lq, o.br) * heads, o.threads, 1, 0),
          launch_of("tiled_softmax", heads * p.Lq, o.threads, 1, 0),
          launch_of("tiled_output", tiles(p.Dv, bd) * tiles(p.Lq, o.br) * heads, o.threads, 1, 0)};
}

Result<Plan> plan(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  if (const auto arch = limits_for(row, d); !arch) return tl::unexpected(arch.error());
  Options asked = o;
  if (asked.threads == 0 && asked.br > 0) asked.threads = default_threads(asked.br);
  Result<Options> resolved = resolve(row, asked, d);
  if (!resolved) return tl::unexpected(resolved.error());
  if (auto good = check_rows_per_thread(row, *resolved); !good) return tl::unexpected(good.error());
  return plan_of(row, p, *resolved, launches_of(p, *resolved));
}

TraceFacts trace(const Problem& p, const Options&) {
  return stored_facts(p);
}

}  // namespace

KernelRow tiled_row() {
  static constexpr OptionSpec kOptions[] = {
      {&Option::br, 16, 128, 16, 128}, {&Option::bc, 16, 128, 16, 128}, {&Option::threads, 32, 1024, 32, 256}};
  KernelRow row = common_row();
  row.id = "tiled";
  row.title = marked("tiled products");
  row.rung = "4";
  row.order = Order::tiled;
  row.options = kOptions;
  row.what = marked("The same three passes, with tiles in shared memory and registers. This is a fair baseline.");
  row.teaches = marked("On-chip reuse makes the products fast, but S and P still live in memory.");
  row.source = "definition";
  row.stores_scores = true;
  row.score_reads = 2;
  row.plan = plan;
  row.trace = trace;
  return row;
}

}  // namespace attn::gpu
