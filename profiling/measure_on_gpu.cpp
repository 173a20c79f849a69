#include "profiling/measure_on_gpu.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/gpu/device_run.h"
#include "kernels/gpu/sources.h"
#include "kernels/gpu/specialise.h"
#include "kernels/memory.h"
#include "kernels/verdict.h"
#include "profiling/compiled_figures.h"
#include "profiling/metrics.h"
#include "profiling/repeat.h"
#include "profiling/row_state.h"
#include "profiling/statistics.h"

namespace attn {
namespace {

constexpr double kWarmUpSeconds = 0.1;

// One point's way from request to figures.
class Point {
 public:
  Point(const GpuMeasureRequest& r, GpuTools& tools, Measurement& m)
      : r_(r), tools_(tools), m_(m), driver_(tools.queue->driver()), device_(gpu::device_of(tools.properties)) {}

  Result<void> take() {
    auto planned = plan();
    if (!planned) return planned;
    say("making the inputs");
    InputSpec spec;
    spec.generator = r_.generator;
    spec.seed = r_.seed;
    const auto inputs = make_inputs(r_.problem, spec);
    if (!inputs) return tl::unexpected(inputs.error());
    say("compiling and running " + r_.kernel);
    auto run = gpu::DeviceRun::place(*tools_.queue, plan_, gpu::tensor_bytes_of(*inputs));
    if (!run) return tl::unexpected(run.error());
    if (auto ran = run->once(); !ran) return ran;
    compiled_figures();
    if (auto verified = verify(*run, *inputs); !verified) return verified;
    say("timing " + r_.kernel);
    return time(*run);
  }

 private:
  void say(const std::string& now) const {
    if (tools_.progress) tools_.progress(now);
  }

  Result<void> plan();
  void compiled_figures();
  Result<void> verify(gpu::DeviceRun& run, const Inputs& inputs);
  Result<void> time(gpu::DeviceRun& run);
  Result<std::vector<double>> time_by_events(gpu::DeviceRun& run, gpu::Memory& flush);

  const GpuMeasureRequest& r_;
  GpuTools& tools_;
  Measurement& m_;
  gpu::Driver& driver_;
  Device device_;
  Plan plan_;
};

Result<void> Point::plan() {
  const auto row = find_kernel(r_.kernel);
  if (!row) return tl::unexpected(row.error());
  if (auto valid = validate(r_.problem); !valid) return valid;
  if (auto takes = (*row)->supports(r_.problem, r_.options, device_); !takes) return takes;
  auto plan = (*row)->plan(**row, r_.problem, r_.options, device_);
  if (!plan) return tl::unexpected(plan.error());
  plan_ = std::move(*plan);
  m_.key.options = plan_.options;
  m_.launches = plan_.launches;
  m_.workspace_bytes = plan_.workspace_bytes;
  if (const auto source = gpu::kernel_source(r_.kernel, tools_.edited_kernels)) {
    m_.key.source_hash = source->hash;
  }
  std::uint64_t room = r_.memory_limit;
  if (room == 0) {
    const auto free = driver_.free_memory();
    if (!free) return tl::unexpected(free.error());
    room = *free;
  }
  return check_memory(plan_, device_, room);
}

void Point::compiled_figures() {
  const auto loaded = tools_.queue->load(plan_.kernel->id, gpu::defines_of(plan_, gpu::may_be_aligned(plan_.problem)));
  if (!loaded) return put_no_compiled_figures(m_, loaded.error().message);
  const auto entries = gpu::report_entries((*loaded)->compiled, plan_, device_);
  if (!entries) return put_no_compiled_figures(m_, entries.error().message);
  put_compiled_figures(m_, *entries);
}

Result<void> Point::verify(gpu::DeviceRun& run, const Inputs& inputs) {
  if (!r_.verify) return ok();
  say(fmt::format("checking {} against fp64", r_.kernel));
  Outputs out = gpu::empty_outputs(r_.problem);
  if (auto got = run.fetch(out); !got) return got;
  const RowSample sample = choose_rows(r_.problem, r_.verify_full);
  const auto reference = reference_rows(r_.problem, inputs, sample.rows, 0, {});
  if (!reference) return tl::unexpected(reference.error());
  m_.verdict = judge(r_.problem, inputs, *reference, out, sample);
  return ok();
}

Result<void> Point::time(gpu::DeviceRun& run) {
  const bool cold = r_.l2 == L2State::cold;
  // Twice the L2's size: nothing of the kernel's own data stays.
  auto flush = gpu::Memory::allocate(driver_, cold ? static_cast<std::uint64_t>(2 * tools_.properties.l2_bytes) : 0);
  if (!flush) return tl::unexpected(run.on(flush.error()));
  auto samples = time_by_events(run, *flush);
  if (!samples) return tl::unexpected(run.on(samples.error()));
  m_.clock = "CUDA events";
  m_.samples_us = std::move(*samples);
  m_.time = statistics_of(m_.samples_us);
  return ok();
}

// One pair of events a repeat, around everything that an enqueue does.
Result<std::vector<double>> Point::time_by_events(gpu::DeviceRun& run, gpu::Memory& flush) {
  const gpu::StreamHandle stream = tools_.queue->stream();
  const auto first = driver_.create_event(), second = driver_.create_event();
  if (!first) return tl::unexpected(first.error());
  if (!second) return tl::unexpected(second.error());
  const auto once = [&]() -> Result<double> {
    auto done = driver_.fill(flush.address(), 0, flush.bytes(), stream);
    if (done) done = driver_.record(*first, stream);
    if (done) done = run.enqueue();
    if (done) done = driver_.record(*second, stream);
    if (!done) return tl::unexpected(done.error());
    return driver_.elapsed_ms(*first, *second);
  };
  std::vector<double> samples;
  Result<void> done = ok();
  const double warm_up = std::min(kWarmUpSeconds, r_.seconds / 10);
  for (const double begin = steady_seconds(); done && steady_seconds() - begin < warm_up;) {
    if (const auto ms = once(); !ms) done = tl::unexpected(ms.error());
  }
  StopRule rule(LeastRepeats{r_.least}, Settled{}, TimeLimit{r_.seconds});
  for (const double begin = steady_seconds(); done && !rule.stop({samples, steady_seconds() - begin});) {
    const auto ms = once();
    if (ms)
      samples.push_back(*ms * 1000);
    else
      done = tl::unexpected(ms.error());
  }
  driver_.destroy_event(*first);
  driver_.destroy_event(*second);
  if (!done) return tl::unexpected(done.error());
  return samples;
}

}  // namespace

Measurement measure_on_gpu(const GpuMeasureRequest& r, GpuTools& tools) {
  Measurement m;
  m.key.kernel = r.kernel;
  m.key.options = r.options;
  m.key.problem = r.problem;
  m.key.l2 = r.l2;
  m.key.device = tools.properties.name;
  m.place = Place::gpu;
  m.clock = "CUDA events";
  try {
    if (auto taken = Point(r, tools, m).take(); !taken) give_up(m, taken.error());
  } catch (const std::bad_alloc&) {
    give_up(m, {ErrorKind::cannot_run, "The worker has not enough memory; a smaller L, B or H would do."});
  } catch (const std::exception& bug) {
    give_up(m, {ErrorKind::failed, fmt::format("The worker broke: {}. This is a bug of the program.", bug.what())});
  }
  fill_figures(m);
  return m;
}

}  // namespace attn
