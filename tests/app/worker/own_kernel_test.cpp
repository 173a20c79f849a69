// A kernel of the user's own through the worker, with no GPU: it comes with each request that names it, so a worker
// that is new knows it as well.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "app/worker/bench.h"
#include "app/worker/client.h"
#include "app/worker/disassemble.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/ladder.h"
#include "profiling/figures/metrics.h"
#include "profiling/spec/sweep_point.h"
#include "profiling/sweep/estimate.h"
#include "profiling/sweep/finished.h"
#include "tests/app/worker/double.h"

namespace attn {
namespace {

const std::string kText =
    R"cu(// attn: {"api": 1, "entries": [{"name": "mine", "grid": "Lq * B * Hq", "block": "threads"}],
// attn:  "dtypes": ["f32"], "D": [8], "masks": [],
// attn:  "options": {"threads": {"min": 32, "max": 128, "step": 32, "default": 64}}}
extern "C" __global__ void mine() {}
)cu";

// Says of every source that it has the entry `mine`.
class SayingCompiler final : public gpu::Compiler {
 public:
  std::string version() override { return "a double"; }
  Result<gpu::Cubin> compile(const gpu::KernelSource&, const std::vector<std::string>&) override {
    gpu::Cubin c;
    c.log = "ptxas info    : Compiling entry function 'mine' for 'sm_90a'\nptxas info    : Used 40 registers\n";
    return c;
  }
};

GpuClient::Starter starter(Fault fault) {
  return [first = true, fault = std::move(fault)]() mutable {
    WorkerParts parts = parts_with(first ? fault : Fault{});
    parts.compiler = []() -> Result<std::unique_ptr<gpu::Compiler>> { return std::make_unique<SayingCompiler>(); };
    first = false;
    return Child::copy([parts](Socket& socket) { return work(socket, parts); });
  };
}

std::shared_ptr<const gpu::OwnKernel> mine(const std::string& text = kText) {
  const auto kernel = gpu::own_kernel_from("mine.cu", text);
  EXPECT_TRUE(kernel) << kernel.error().message;
  return *kernel;
}

Point point_of(const gpu::OwnKernel& kernel) {
  Point p;
  p.kernel = kernel.name;
  p.problem.Lq = p.problem.Lk = 5;
  p.problem.D = p.problem.Dv = 8;
  p.seconds_per_point = 0.01;
  p.verify = false;
  return p;
}

TEST(WorkerOwnKernel, IsMeasuredAsAnyOther) {
  GpuClient client(starter({}));
  const auto kernel = mine();
  client.bring({kernel});
  const auto m = client.measure(point_of(*kernel), {kPlenty, {}});
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_EQ(m->state, RowState::done) << m->reason;
  EXPECT_EQ(m->key.kernel, kernel->name);
  EXPECT_EQ(m->key.source_hash, kernel->cu.hash);
  EXPECT_EQ(m->key.options.threads, 64);
  ASSERT_EQ(m->launches.size(), 1U);
  EXPECT_EQ(m->launches[0].name, "mine");
  EXPECT_DOUBLE_EQ(figure(*m, "registers_count").value, 40);
  EXPECT_EQ(figure(*m, "tile_load_bytes").reason, "AttnScope does not know which bytes your kernel must load");
}

TEST(WorkerOwnKernel, IsKnownToTheWorkerAfterOneThatDied) {
  GpuClient client(starter({"launch of mine", Fault::How::die}));
  const auto kernel = mine();
  client.bring({kernel});
  GpuRunRequest r;
  r.kernel = kernel->name;
  r.problem = point_of(*kernel).problem;
  EXPECT_FALSE(client.run(r, {kPlenty, {}}));
  const auto again = client.run(r, {kPlenty, {}});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->source, kernel->name);
  EXPECT_EQ(again->source_hash, kernel->cu.hash);
}

TEST(WorkerOwnKernel, ThatNobodyBroughtIsNoKernel) {
  GpuClient client(starter({}));
  const auto m = client.measure(point_of(*mine()), {kPlenty, {}});
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_EQ(m->state, RowState::refused);
  EXPECT_NE(m->reason.find("unknown kernel 'mine@"), std::string::npos) << m->reason;
}

TEST(WorkerOwnKernel, WithoutTheEntryOfItsHeaderSaysSo) {
  std::string text = kText;
  text.replace(text.find("\"mine\""), 6, "\"his\"");
  GpuClient client(starter({}));
  const auto kernel = mine(text);
  client.bring({kernel});
  const auto m = client.measure(point_of(*kernel), {kPlenty, {}});
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_NE(m->state, RowState::done);
  EXPECT_NE(m->reason.find("the header names the entry his, but the source has no"), std::string::npos) << m->reason;
}

TEST(WorkerOwnKernel, IsSampledAsAnyOther) {
  GpuClient client(starter({}));
  const auto kernel = mine();
  client.bring({kernel});
  const auto samples = client.sample(point_of(*kernel), {kPlenty, {}});
  ASSERT_TRUE(samples) << samples.error().message;
  ASSERT_EQ(samples->functions.size(), 1U);
  EXPECT_EQ(samples->functions[0].name, "mine");
}

// A session has rows of it and no text; whoever opens one is told where the text is.
TEST(WorkerOwnKernel, HasNoSourceWhereItsFileWasNotNamed) {
  const auto listing = list_kernel_here({"mine@12345678", {}, {}, "sm_90a"}, {});
  ASSERT_FALSE(listing);
  EXPECT_EQ(listing.error().message,
            "mine@12345678 is your own kernel, but its file is not open here. Open the file, or list its lines with "
            "`attnscope profile mine.cu`.");
}

// A sweep of the program's own rungs and the user's; a point that gives no answer ends at its limit.
TEST(GpuBenchOwnKernel, StandsInASweepAndAHangIsOneRow) {
  const auto kernel = mine();
  SweepSpec spec;
  spec.kernels = {kernel->name, "naive"};
  spec.axis = Axis::L;
  spec.values = {5};
  spec.base.D = spec.base.Dv = 8;
  spec.seconds_per_point = 0.01;
  spec.verify = false;
  const KernelRow* const rows[] = {kernel.get(), *find_kernel("naive", {})};
  EXPECT_FALSE(validate(spec));
  ASSERT_TRUE(validate(spec, rows));
  EXPECT_NE(estimate(spec, rows, {}).words.find("2 points"), std::string::npos);
  GpuBench bench(starter({"launch of mine", Fault::How::hang}), gpu::open_nvrtc, {});
  bench.bring({kernel});
  bench.limit_points(1.5);
  SweepCallbacks callbacks;
  callbacks.gpu = bench.runner(spec, {});
  const auto taken = run_sweep(spec, rows, callbacks, {});
  ASSERT_TRUE(taken) << taken.error().message;
  ASSERT_EQ(taken->size(), 2U);
  for (const Measurement& m : *taken) {
    EXPECT_EQ(m.state, m.key.kernel == "naive" ? RowState::done : RowState::failed) << m.reason;
    if (m.key.kernel != "naive") {
      EXPECT_NE(m.reason.find("no answer within 1.5 s"), std::string::npos) << m.reason;
    }
  }
  // The worker after it is another one: now the point is measured, and finished with the same text alone.
  const auto again = run_sweep(spec, rows, callbacks, {});
  ASSERT_TRUE(again);
  EXPECT_EQ(count_finished(spec, rows, *again, callbacks.gpu->device).finished, 2U);
  const auto changed = mine(kText + "// changed\n");
  const KernelRow* const others[] = {changed.get(), rows[1]};
  EXPECT_EQ(count_finished(spec, others, *again, callbacks.gpu->device).finished, 1U);
}

}  // namespace
}  // namespace attn
