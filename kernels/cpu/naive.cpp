// cpu_sequential and cpu_multicore: the definition, three passes over a stored S (naive order).
//
// The idea. Softmax needs a whole row of scores before it can weigh one value, so S is written to memory, read back
// for the maximum, for the sum and for the weights P, and P is written and read for the output. Sums run in index
// order in fp32, P is rounded to the input dtype before PV: the textbook.
//
// cpu_sequential does it in one thread. cpu_multicore does the same arithmetic, the same bits, with the rows of a head
// shared by all cores: the baseline among the CPU kernels.
//
// What limits them: one multiply and one add at a time in each row's dot product, and memory that grows with Lq * Lk.
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
  return cpu_plan(row, p, *resolved, Rules::scalar, marked("row tiles of one head and pass"), ti);
}

Result<void> launch(const Prepared& ready, const Stream& stream) {
  Team team(ready.plan.options.threads, stream);
  const Problem p = problem_now(ready);
  const Call call(p, ready.plan.options, ready.buffers, Order::naive, Rules::scalar);
  call.pack(team);
  NoTrace none;
  StoredScores<NoTrace>(call, team, none, Order::naive).run();
  return finish(team, ready.plan.kernel->id);
}

Result<std::unique_ptr<RecordingRun>> begin_recording(const KernelRow& row, const Problem& p, const Options& o,
                                                      Inputs in, Stop stop) {
  const auto walk = [](const Call& call, Team& team, Recorder& recorder) {
    StoredScores<Recorder>(call, team, recorder, Order::naive).run();
  };
  return begin_walk(row, {Rules::scalar, walk}, p, o, std::move(in), std::move(stop));
}

KernelRow naive_row() {
  KernelRow row;
  row.order = Order::naive;
  row.dtypes = kAllDTypes;
  row.source = marked("the definition; Dao et al. 2022, FlashAttention, algorithm 0");
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

}  // namespace

KernelRow cpu_sequential_row() {
  // One thread: least and most are 1.
  static constexpr OptionSpec kOptions[] = {
      {&Option::br, 1, 4096, 1, 16}, {&Option::bc, 1, 4096, 1, 64}, {&Option::threads, 1, 1, 1, 1}};
  KernelRow row = naive_row();
  row.id = "cpu_sequential";
  row.title = marked("naive, one thread");
  row.rung = "0";
  row.options = kOptions;
  row.what = marked("The definition: three passes over a stored S, on one thread.");
  row.teaches = marked("Shows what softmax attention is, and where each pass waits for the previous one.");
  return row;
}

KernelRow cpu_multicore_row() {
  static constexpr OptionSpec kOptions[] = {
      {&Option::br, 1, 4096, 1, 16}, {&Option::bc, 1, 4096, 1, 64}, {&Option::threads, 1, 1024, 1, 0}};
  KernelRow row = naive_row();
  row.id = "cpu_multicore";
  row.title = marked("naive, all cores");
  row.rung = "1";
  row.options = kOptions;
  row.what =
      marked("The definition, with a head's rows divided among all cores. This is the baseline among the CPU kernels.");
  row.teaches = marked(
      "Rows are independent, so the cores can compute them in parallel. The number of bytes moved stays the same.");
  return row;
}

}  // namespace attn::cpu
