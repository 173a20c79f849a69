#include "profiling/measure/gpu/one_run.h"

#include <fmt/format.h>

#include "kernels/ladder.h"
#include "kernels/model/fits.h"
#include "kernels/model/problem/validate.h"

namespace attn {

Result<Plan> plan_on_gpu(const Point& p, const GpuTools& tools) {
  const auto row = find_kernel(p.kernel, tools.own);
  if (!row) return tl::unexpected(row.error());
  if (!(*row)->parts.empty())
    return fail(ErrorKind::cannot_run, fmt::format("{} is {} followed by {}; profile one of the two on its own pass",
                                                   p.kernel, (*row)->parts.front()->id, (*row)->parts.back()->id));
  if (auto valid = validate(p.problem); !valid) return tl::unexpected(valid.error());
  const Device device = gpu::device_of(tools.properties);
  if (auto takes = (*row)->supports(**row, p.problem, p.options, device); !takes) return tl::unexpected(takes.error());
  auto plan = (*row)->plan(**row, p.problem, p.options, device);
  if (!plan) return plan;
  std::uint64_t room = p.memory_limit;
  if (room == 0) {
    const auto free = tools.queue->driver().free_memory();
    if (!free) return tl::unexpected(free.error());
    room = *free;
  }
  if (auto fits = check_memory(*plan, device, room); !fits) return tl::unexpected(fits.error());
  return plan;
}

Result<double> time_one_run(gpu::DeviceRun& run, gpu::Queue& queue) {
  gpu::Driver& driver = queue.driver();
  const auto first = driver.create_event(), second = driver.create_event();
  if (!first) return tl::unexpected(first.error());
  if (!second) return tl::unexpected(second.error());
  auto done = driver.record(*first, queue.stream());
  if (done) done = run.launch();
  if (done) done = driver.record(*second, queue.stream());
  auto ms = done ? driver.elapsed_ms(*first, *second) : Result<double>(tl::unexpected(done.error()));
  driver.destroy_event(*first);
  driver.destroy_event(*second);
  if (!ms) return ms;
  return *ms * 1000;
}

}  // namespace attn
