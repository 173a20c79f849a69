#include "profiling/measure/gpu/count_on_gpu.h"

#include <utility>
#include <vector>

#include "kernels/base/clock.h"
#include "kernels/gpu/device/queue.h"
#include "kernels/gpu/launch/device_run.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/specialise.h"
#include "profiling/cupti/profiler.h"
#include "profiling/measure/gpu/one_run.h"

namespace attn {
namespace {

KernelCounts counts_of(InstructionCounts&& counted) {
  KernelCounts counts;
  for (std::size_t n = 0; n < kInstructionCounters; ++n) counts.metrics.at(n) = std::move(counted.names.at(n));
  counts.chip = std::move(counted.chip);
  for (InstructionCounts::Function& f : counted.functions) {
    CountedFunction& function = counts.functions.emplace_back();
    function.name = std::move(f.name);
    for (const InstructionCounts::Instruction& i : f.instructions) {
      CountedInstruction instruction;
      instruction.address = i.address;
      for (const InstructionCounterRow& row : instruction_counter_table())
        instruction.counts[row.counter] = i.values.at(static_cast<std::size_t>(row.counter));
      if (instruction.counts.any()) function.instructions.push_back(std::move(instruction));
    }
  }
  return counts;
}

Result<KernelCounts> count(gpu::DeviceRun& run, const Plan& plan, GpuTools& tools) {
  gpu::Queue& queue = *tools.counting_queue;
  const auto loaded = queue.load(plan.kernel->id, gpu::defines_of(plan, gpu::may_be_aligned(plan.problem)),
                                 gpu::own_source(*plan.kernel));
  if (!loaded) return tl::unexpected(loaded.error());
  std::vector<CounterNames> what;
  for (const InstructionCounterRow& row : instruction_counter_table()) what.push_back(row.metrics);
  const auto once = [&]() -> Result<void> {
    auto done = run.launch();
    return done ? queue.driver().synchronize(queue.stream()) : done;
  };
  auto counted = tools.profiler->count_instructions({what, (*loaded)->compiled.code}, once);
  if (!counted) return tl::unexpected(counted.error());
  return counts_of(std::move(*counted));
}

}  // namespace

Result<KernelCounts> count_on_gpu(const Point& p, GpuTools& tools) {
  const double begin = steady_seconds();
  if (tools.profiler == nullptr) return fail(ErrorKind::cannot_run, tools.no_profiler);
  const auto say = [&](const std::string& now) {
    if (tools.progress) tools.progress(now);
  };
  const auto plan = plan_on_gpu(p, tools);
  if (!plan) return tl::unexpected(plan.error());
  say("making the inputs");
  const auto inputs = tools.problem->inputs(p);
  if (!inputs) return tl::unexpected(inputs.error());
  auto run = gpu::DeviceRun::place(*tools.counting_queue, *plan, tensor_bytes_of(**inputs));
  if (!run) return tl::unexpected(run.error());
  say("compiling and warming up " + p.kernel);
  if (auto warm = run->once(); !warm) return tl::unexpected(run->on(warm.error()));
  say("counting the instructions of " + p.kernel);
  auto counts = count(*run, *plan, tools);
  if (!counts) return tl::unexpected(run->on(counts.error()));
  counts->method = tools.profiler->version() + ", SASS metrics";
  counts->arch = tools.properties.arch();
  counts->no_lines = "the counts were not matched with the machine code";
  counts->seconds = steady_seconds() - begin;
  return counts;
}

}  // namespace attn
