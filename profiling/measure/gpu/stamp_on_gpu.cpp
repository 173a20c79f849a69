#include "profiling/measure/gpu/stamp_on_gpu.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/gpu/device/queue.h"
#include "kernels/gpu/launch/device_run.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "profiling/figures/statistics.h"
#include "profiling/measure/gpu/gpu_timing.h"
#include "profiling/measure/gpu/one_run.h"

namespace attn {
namespace {

constexpr int kTurns = 21;

// The median of the runs, and where their quartiles are.
double median_of(std::vector<double> times, TimelineQuartiles& quartiles) {
  std::ranges::sort(times);
  quartiles = {quantile(times, 0.25), quantile(times, 0.75)};
  return quantile(times, 0.5);
}

class StampPoint {
 public:
  StampPoint(const Point& p, const gpu::StampRequest& request, GpuTools& tools)
      : p_(p), request_(request), tools_(tools), driver_(tools.queue->driver()) {}

  Result<Timeline> take() {
    auto plan = plan_on_gpu(p_, tools_);
    if (!plan) return tl::unexpected(plan.error());
    const auto source = gpu::source_of(*plan->kernel, plan->problem, tools_.edited_kernels);
    if (!source) return tl::unexpected(source.error());
    auto stamps = gpu::plan_stamps(*plan, *source, request_);
    if (!stamps) return tl::unexpected(stamps.error());
    say("making the inputs");
    const auto inputs = tools_.problem->inputs(p_);
    if (!inputs) return tl::unexpected(inputs.error());
    auto run = gpu::DeviceRun::place(*tools_.queue, *plan, tensor_bytes_of(**inputs));
    if (!run) return tl::unexpected(run.error());
    entry_ = stamps->entry;
    const auto memory = gpu::Memory::allocate(driver_, stamps->bytes());
    if (!memory) return tl::unexpected(run->on(memory.error()));
    auto* const heads = static_cast<gpu::StampHead*>(memory->pointer());
    stamps->args.heads = heads;
    stamps->args.words = reinterpret_cast<unsigned*>(heads + stamps->heads());
    auto timeline = record(*run, *stamps, *memory);
    tools_.queue->stamp_to({});
    if (tools_.profiler != nullptr) tools_.profiler->stop_times();
    if (!timeline) return tl::unexpected(run->on(timeline.error()));
    timeline->kernel = p_.kernel;
    timeline->source_hash = source->hash;
    timeline->device = tools_.properties.name;
    timeline->device_uuid = tools_.properties.uuid;
    timeline->problem = p_.problem;
    timeline->options = plan->options;
    if (auto good = check_timeline(*timeline, "timeline"); !good) return tl::unexpected(good.error());
    return timeline;
  }

 private:
  void say(const std::string& now) const {
    if (tools_.progress) tools_.progress(now);
  }
  Result<void> wait() { return driver_.synchronize(tools_.queue->stream()); }

  Result<Timeline> record(gpu::DeviceRun& run, const gpu::StampPlan& stamps, const gpu::Memory& memory) {
    std::vector<std::byte> args(sizeof stamps.args);
    std::memcpy(args.data(), &stamps.args, sizeof stamps.args);
    std::vector<double> plain, traced;
    if (tools_.profiler != nullptr)
      if (auto started = tools_.profiler->start_times(); !started) return tl::unexpected(started.error());
    say("compiling " + p_.kernel + " with its recorder, and running both versions alternately");
    for (int n = -1; n < kTurns; ++n) {  // the first compiles and warms up
      for (const bool with : {false, true}) {
        tools_.queue->stamp_to(with ? args : std::vector<std::byte>());
        auto done = run.prepare();
        if (done && with) done = driver_.fill(memory.address(), 0, stamps.heads() * sizeof(gpu::StampHead), stream());
        if (done) done = prepare_l2(run, p_.l2, *tools_.peaks);
        if (done) done = wait();
        const auto us = done ? once(run) : Result<double>(tl::unexpected(done.error()));
        if (!us) return tl::unexpected(us.error());
        if (n >= 0) (with ? traced : plain).push_back(*us);
      }
    }
    auto timeline = read(stamps);
    if (!timeline) return timeline;
    timeline->plain_us = median_of(std::move(plain), timeline->plain_quartiles);
    timeline->traced_us = median_of(std::move(traced), timeline->traced_quartiles);
    timeline->launch_us = launch_us_;
    return timeline;
  }

  gpu::StreamHandle stream() const { return tools_.queue->stream(); }

  // Microseconds of the launch that is recorded, by its time stamps; by events where there are none.
  Result<double> once(gpu::DeviceRun& run) {
    if (tools_.profiler == nullptr) return time_one_run(run, *tools_.queue);
    if (auto before = tools_.profiler->take_times(); !before) return tl::unexpected(before.error());
    auto done = run.launch();
    if (done) done = wait();
    if (!done) return tl::unexpected(done.error());
    const auto times = tools_.profiler->take_times();
    if (!times) return tl::unexpected(times.error());
    const auto at = std::ranges::find(*times, entry_, &KernelTime::name);
    if (at == times->end()) return fail(ErrorKind::failed, "no kernel of the run has a timestamp");
    launch_us_ = static_cast<double>(at->end_ns - at->start_ns) * 1e-3;
    return launch_us_;
  }

  Result<Timeline> read(const gpu::StampPlan& plan) {
    gpu::Stamped stamped;
    stamped.heads.resize(plan.heads());
    stamped.words.resize(plan.heads());
    const auto get = [&](void* to, const void* from, std::size_t bytes) {
      return driver_.download(to, reinterpret_cast<gpu::DevicePointer>(from), bytes, stream());
    };
    auto got = get(stamped.heads.data(), plan.args.heads, stamped.heads.size() * sizeof(gpu::StampHead));
    if (got) got = wait();
    for (std::size_t n = 0; n < stamped.heads.size() && got; ++n) {
      const auto block = static_cast<int>(n / static_cast<std::size_t>(plan.args.lanes));
      const auto lane = static_cast<int>(n % static_cast<std::size_t>(plan.args.lanes));
      std::vector<std::uint32_t>& words = stamped.words[n];
      words.resize(std::min<std::size_t>(stamped.heads[n].count, plan.room_of(block)));
      if (!words.empty())
        got = get(words.data(), plan.args.words + gpu::stamp_place(plan.args, block, lane),
                  words.size() * sizeof(std::uint32_t));
    }
    if (got) got = wait();
    if (!got) return tl::unexpected(got.error());
    return gpu::timeline_of(plan, stamped);
  }

  const Point& p_;
  const gpu::StampRequest& request_;
  GpuTools& tools_;
  gpu::Driver& driver_;
  std::string entry_;
  double launch_us_ = 0;
};

}  // namespace

Result<Timeline> stamp_on_gpu(const Point& p, const gpu::StampRequest& request, GpuTools& tools) {
  return StampPoint(p, request, tools).take();
}

}  // namespace attn
