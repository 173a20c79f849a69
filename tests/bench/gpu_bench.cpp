// NVRTC and the GPU's worker. The compiler needs no GPU; the rest says that it does.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "app/worker/client.h"
#include "budget.h"
#include "kernels/base/clock.h"
#include "kernels/gpu/rungs/inspect.h"
#include "kernels/gpu/rungs/rows.h"

namespace attn::bench {
namespace {

constexpr const char* kArch = "sm_90a";

// A kernel at its default options, D = 64: compiled, then taken from the cache.
Result<std::pair<double, double>> compile_times(gpu::Compiler& compiler, const KernelRow& row,
                                                const std::filesystem::path& cache) {
  Problem p;
  p.Lq = p.Lk = 4096;
  p.D = p.Dv = 64;
  const auto device = gpu::device_for(kArch);
  if (!device) return tl::unexpected(device.error());
  const auto plan = row.plan(row, p, {}, *device);
  if (!plan) return tl::unexpected(plan.error());
  double seconds[2] = {0, 0};
  for (int again = 0; again < 2; ++again) {
    gpu::CompileService service(compiler, cache);
    const auto report = gpu::inspect(service, *plan, *device, {});
    if (!report) return tl::unexpected(report.error());
    if (report->compiled.from_cache != (again == 1)) return fail(ErrorKind::failed, "the cache did not do its part");
    seconds[again] = report->compiled.seconds;
  }
  return std::pair{seconds[0], seconds[1]};
}

void compile_budgets(std::vector<Budget>& budgets) {
  const auto compiler = gpu::open_nvrtc();
  if (!compiler) {
    budgets.push_back({"NVRTC, first use and from the cache", "<= 5 s", compiler.error().message, Outcome::not_here});
    return;
  }
  const std::filesystem::path cache =
      std::filesystem::temp_directory_path() / fmt::format("attnscope-bench-cubins-{}", ::getpid());
  for (const KernelRow& row : gpu::gpu_kernel_table()) {
    const auto times = compile_times(**compiler, row, cache);
    if (!times) {
      budgets.push_back(
          {fmt::format("NVRTC, {} for {}", row.id, kArch), "<= 5 s", times.error().message, Outcome::missed});
      continue;
    }
    budgets.push_back({fmt::format("NVRTC, {} for {}, first use", row.id, kArch), "<= 5 s",
                       fmt::format("{:.2f} s", times->first), held(times->first <= 5)});
    budgets.push_back({fmt::format("NVRTC, {} for {}, from the cache", row.id, kArch), "<= 20 ms",
                       fmt::format("{:.2f} ms", times->second * 1e3), held(times->second <= 0.02)});
  }
  std::error_code ignored;
  std::filesystem::remove_all(cache, ignored);
}

}  // namespace

std::vector<Budget> gpu_budgets() {
  std::vector<Budget> budgets;
  compile_budgets(budgets);
  GpuClient client;  // starts this program as `attnscope_bench worker`
  const double begin = steady_seconds();
  const auto hello = client.hello({30, {}});
  const double seconds = steady_seconds() - begin;
  if (hello && !hello->gpus.empty()) {
    budgets.push_back(
        {"worker started, driver and compiler open", "<= 1 s", fmt::format("{:.2f} s", seconds), held(seconds <= 1)});
    budgets.push_back(
        {"profiling overhead, lean metric set", "<= 1 s", "not timed by this program", Outcome::not_here});
    return budgets;
  }
  const std::string why = "needs a GPU" + (hello ? std::string() : ": " + hello.error().message);
  budgets.push_back({"worker started, driver and compiler open", "<= 1 s", why, Outcome::not_here});
  budgets.push_back({"profiling overhead, lean metric set", "<= 1 s", "needs a GPU", Outcome::not_here});
  return budgets;
}

}  // namespace attn::bench
