// cpu_tiled: the three passes of the definition, cut into tiles that stay in the cache (tiled order).
//
// The idea. A tile of Q and a tile of K meet in the cache and give a tile of S; the products run on the vector units.
// S and P still go to memory and come back.
//
// New against the rung before (cpu_multicore): an element of Q or K is used a whole tile long once it is in the
// cache; tiles that the mask skips are not computed.
//
// What limits it now: S is written once and read three times, P written and read, whatever the tile.
#include <memory>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/cpu/call.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/stored_scores.h"
#include "kernels/recording/recording_run.h"

namespace attn::cpu {

namespace {

Result<Plan> plan(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  Result<Options> resolved = resolve(row, o, d);
  if (!resolved) return tl::unexpected(resolved.error());
  const std::int64_t ti = (p.Lq + resolved->br - 1) / resolved->br;
  return cpu_plan(row, p, *resolved, Rules::vector, marked("query tiles of one head and pass"), ti);
}

Result<void> launch(const Prepared& ready, const Stream& stream) {
  Team team(ready.plan.options.threads, stream);
  const Problem p = problem_now(ready);
  const Call call(p, ready.plan.options, ready.buffers, Order::tiled, Rules::vector);
  call.pack(team);
  NoTrace none;
  StoredScores<NoTrace>(call, team, none, Order::tiled).run();
  return finish(team, ready.plan.kernel->id);
}

Result<std::unique_ptr<RecordingRun>> begin_recording(const KernelRow& row, const Problem& p, const Options& o,
                                                      Inputs in, Stop stop) {
  const auto walk = [](const Call& call, Team& team, Recorder& recorder) {
    StoredScores<Recorder>(call, team, recorder, Order::tiled).run();
  };
  return begin_walk(row, {Rules::vector, walk}, p, o, std::move(in), std::move(stop));
}

}  // namespace

KernelRow cpu_tiled_row() {
  static constexpr OptionSpec kOptions[] = {
      {&Option::br, 1, 4096, 1, 64}, {&Option::bc, 1, 4096, 1, 64}, {&Option::threads, 1, 1024, 1, 0}};
  KernelRow row;
  row.id = "cpu_tiled";
  row.title = marked("tiled, three passes");
  row.rung = "1b";
  row.order = Order::tiled;
  row.dtypes = kAllDTypes;
  row.options = kOptions;
  row.what = marked("The same three passes through cache-sized tiles, on the vector units of all cores.");
  row.teaches = marked("Tiles reuse Q, K and V, but S and P still go through memory.");
  row.source = marked("Dao et al. 2022, FlashAttention, section 2.2");
  row.stores_scores = true;
  row.score_reads = 3;
  row.supports = cpu_supports;
  row.plan = plan;
  row.prepare = cpu_prepare;
  row.launch = launch;
  row.begin_recording = begin_recording;
  row.record = record_at_once;
  return row;
}

}  // namespace attn::cpu
