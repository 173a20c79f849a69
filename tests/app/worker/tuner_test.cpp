// Tuning on this machine: its CPU for true, a GPU by a double that computes on the CPU and is fast where the test says
// so.
#include "app/worker/tuner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/worker/compile_ahead.h"
#include "kernels/base/files.h"
#include "kernels/cpu/device.h"
#include "kernels/gpu/rungs/args.h"
#include "kernels/ladder.h"
#include "tests/app/worker/double.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

Problem gpu_problem() {
  Problem p;
  p.Lq = p.Lk = 32;
  p.D = p.Dv = 8;
  return p;
}

// Answers as cpu_sequential does; blocks of `fast_threads` take 0.1 ms, others 0.25 ms.
class ComputingDriver final : public BreakingDriver {
 public:
  ComputingDriver(std::uint32_t fast_threads, bool right)
      : BreakingDriver({}, std::make_shared<LaunchLog>()), fast_(fast_threads), right_(right) {}
  Result<void> launch(gpu::Function f, const gpu::LaunchShape& shape, gpu::StreamHandle s,
                      std::span<const void* const> parameters) override {
    if (auto launched = BreakingDriver::launch(f, shape, s, parameters); !launched) return launched;
    if (shape.shared_bytes == 0) return ok();  // the flush of the L2 cache
    threads_ = shape.block[0];
    const auto& a = *static_cast<const gpu::Args*>(parameters[0]);
    const KernelRow& row = **find_kernel("cpu_sequential");
    const auto plan = row.plan(row, gpu_problem(), {}, cpu_device());
    if (!plan) return tl::unexpected(plan.error());
    std::vector<std::byte> workspace(plan->workspace_bytes + 64);
    Buffers b;
    b.in[Tensor::q] = a.q;
    b.in[Tensor::k] = a.k;
    b.in[Tensor::v] = right_ ? a.v : a.q;
    b.out[Tensor::o] = a.out;
    b.out[Tensor::lse] = a.lse;
    void* at = workspace.data();
    std::size_t room = workspace.size();
    b.workspace = std::align(64, plan->workspace_bytes, at, room);
    return enqueue(*plan, b, {});
  }
  Result<double> elapsed_ms(gpu::Event, gpu::Event) override { return threads_ == fast_ ? 0.1 : 0.25; }

 private:
  std::uint32_t fast_, threads_ = 0;
  bool right_;
};

std::shared_ptr<GpuBench> gpu_that(std::uint32_t fast_threads, bool right = true) {
  return std::make_shared<GpuBench>(
      [fast_threads, right] {
        WorkerParts parts = parts_with({});
        parts.driver = [fast_threads, right]() -> Result<std::unique_ptr<gpu::Driver>> {
          return std::make_unique<ComputingDriver>(fast_threads, right);
        };
        return Child::copy([parts](Socket& socket) { return work(socket, parts); });
      },
      []() -> Result<std::unique_ptr<gpu::Compiler>> { return std::make_unique<NoCompiler>(); },
      std::filesystem::path());
}

TuneSpec gpu_spec() {
  TuneSpec s;
  s.kernel = "flash_simt";
  s.problem = gpu_problem();
  s.seconds_per_point = 0.005;
  s.budget_s = 60;
  return s;
}

TEST(Tuner, OnAGpuTheFastestIsChosenKeptAndFoundAgain) {
  const TempFolder folder;
  const auto gpu = gpu_that(64);
  Tuner tuner(gpu.get(), folder.path());
  std::size_t changes = 0;
  const auto r = tuner.tune(gpu_spec(), {{}, [&](const TuneResult&) { ++changes; }}, {});
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_EQ(r->decision, TuneDecision::faster) << r->words;
  EXPECT_EQ(r->tiles[r->chosen].tile.options.threads, 64);
  EXPECT_FALSE(r->date.empty());
  EXPECT_EQ(r->device, "a double");
  EXPECT_EQ(changes, r->fitting() + 1);
  const KernelRow& row = **find_kernel("flash_simt");
  const auto on = tuner.place(row, 0);
  ASSERT_TRUE(on) << on.error().message;
  const auto with = tuner.options(0)(row, gpu_problem(), {}, on->device);
  ASSERT_TRUE(with) << with.error().message;
  EXPECT_EQ(*with, r->tiles[r->chosen].tile.options);
  SweepSpec sweep;
  sweep.kernels = {"flash_simt"};
  sweep.base = gpu_problem();
  sweep.values = {32};
  sweep.seconds_per_point = 0.005;
  sweep.tuned = true;
  SweepCallbacks callbacks;
  callbacks.gpu = gpu->runner(sweep, {});
  callbacks.tuned = tuner.options(0);
  const auto rows = run_sweep(sweep, callbacks, {});
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->front().state, RowState::done) << rows->front().reason;
  EXPECT_EQ(rows->front().key.options, *with);
  EXPECT_EQ(rows->front().tile_from, "tuned");
  // The compiler is asked of the same tile, and of no point for which none is kept.
  sweep.values = {32, 200};
  const auto compiled = gpu->compiled(sweep, tuner.options(0), {});
  ASSERT_EQ(compiled.size(), 1U);
  EXPECT_EQ(compiled.front().key.problem.Lq, 32);
  EXPECT_EQ(compiled.front().key.options.br, with->br);
  EXPECT_EQ(compiled.front().key.options.threads, 64);
}

TEST(Tuner, OnAGpuWithWrongAnswersNothingIsChosenNorKept) {
  const TempFolder folder;
  const auto gpu = gpu_that(64, false);
  Tuner tuner(gpu.get(), folder.path());
  const auto r = tuner.tune(gpu_spec(), {}, {});
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_FALSE(r->decision);
  EXPECT_GT(std::ranges::count(r->tiles, TileFate::wrong, &TriedTile::fate), 3);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Tuner, WithoutAGpuItSaysSo) {
  const auto r = Tuner(nullptr, {}).tune(gpu_spec(), {}, {});
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().kind, ErrorKind::cannot_run);
  EXPECT_NE(r.error().message.find("flash_simt runs on a GPU"), std::string::npos) << r.error().message;
}

TEST(Tuner, OnTheCpuEveryTileIsCheckedAndOneIsDecided) {
  const TempFolder folder;
  TuneSpec s;
  s.kernel = "cpu_flash";
  s.problem = gpu_problem();
  s.problem.Lq = s.problem.Lk = 96;
  s.options.threads = 1;
  s.seconds_per_point = 0.002;
  s.budget_s = 20;
  const auto r = Tuner(nullptr, folder.path()).tune(s, {}, {});
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_TRUE(r->decision) << r->words;
  EXPECT_EQ(r->tried(), r->fitting());
  for (const TriedTile& t : r->tiles) EXPECT_TRUE(t.fate != TileFate::timed || t.verdict == "pass") << t.verdict;
  const auto kept = Tuner(nullptr, folder.path()).kept(**find_kernel("cpu_flash"), s.problem, {cpu_device(), ""});
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->words, r->words);
}

TEST(Tuner, WhereItCannotBeKeptTheSentenceSaysSo) {
  const TempFolder folder;
  const auto file = folder / "a_file";
  ASSERT_TRUE(write_file_atomically(file, std::vector<std::byte>(1)));
  const auto gpu = gpu_that(64);
  const auto r = Tuner(gpu.get(), file).tune(gpu_spec(), {}, {});
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_TRUE(r->date.empty());
  EXPECT_NE(r->words.find("It is not kept: "), std::string::npos) << r->words;
}

TEST(CompileAhead, EveryPointGetsAnAnswerWhateverTheOrderAndTheThreads) {
  std::vector<Point> points;
  for (const std::int32_t threads : {64, 128, 256}) {
    Point p;
    p.kernel = "flash_simt";
    p.problem = gpu_problem();
    p.options.br = 32;
    p.options.threads = threads;
    points.push_back(p);
  }
  Device d;
  d.processor = Processor::gpu;
  d.arch = "sm_90a";
  const auto open = []() -> Result<std::unique_ptr<gpu::Compiler>> {
    return fail(ErrorKind::cannot_run, "no compiler here");
  };
  CompileAhead ahead(points, d, open, {}, 2);
  for (const std::size_t n : {2U, 0U, 1U}) {
    const auto report = ahead.report(n);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().message, "no compiler here");
  }
}

}  // namespace
}  // namespace attn
