#include "app/worker/worker.h"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "app/worker/compiled_row.h"
#include "app/worker/messages.h"
#include "app/worker/open_gpu.h"
#include "kernels/base/bytes.h"
#include "kernels/base/on_threads.h"
#include "kernels/base/text.h"
#include "kernels/cpu/backward/forward.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/thread_crew.h"
#include "kernels/gpu/device/queue.h"
#include "kernels/gpu/launch/device_run.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/trace/trace.h"
#include "kernels/ladder.h"
#include "kernels/model/fits.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/recording/file/timeline_file.h"
#include "profiling/measure/cpu/on_cpu.h"
#include "profiling/measure/gpu/beat_on_gpu.h"
#include "profiling/measure/gpu/count_on_gpu.h"
#include "profiling/measure/gpu/gpu_timing.h"
#include "profiling/measure/gpu/sample_on_gpu.h"
#include "profiling/measure/gpu/stamp_on_gpu.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr int kExitLost = 3;

// One kernel with its tensors on the GPU, kept between its turns.
struct HeldRun {
  std::unique_ptr<Plan> plan;  // the run points to it
  std::unique_ptr<gpu::DeviceRun> run;
};

class Worker {
 public:
  Worker(Socket& socket, const WorkerParts& parts) : socket_(socket), parts_(parts), gpu_(parts) {}

  int live() {
    while (true) {
      auto message = socket_.receive({});
      if (!message) return 0;  // whoever asked is gone
      answer(*message);
      if (gpu_.lost()) return kExitLost;
    }
  }

 private:
  void answer(const Message& message) {
    Result<void> done = ok();
    try {
      done = answer_or_fail(message);
    } catch (const std::bad_alloc&) {
      done = fail(ErrorKind::cannot_run, "The worker ran out of memory; use a smaller L, B or H.");
    } catch (const std::exception& bug) {
      done = fail(ErrorKind::failed, fmt::format("The worker failed: {}. This is a bug in AttnScope.", bug.what()));
    }
    if (!done) send(error_json(done.error(), gpu_.lost()), {});
  }

  Result<void> answer_or_fail(const Message& message) {
    const auto request = parse_message(message.text);
    if (!request) return tl::unexpected(request.error());
    const std::string what = request->value("do", "");
    if (auto taken = take_own(*request); !taken) return taken;
    if (what == "hello") return hello(request->value("counters", true));
    if (what == "measure") return measure(*request);
    if (what == "compile") return compile(*request);
    if (what == "turn") return turn(*request);
    if (what == "let_go") return let_go();
    if (what == "sample" || what == "heartbeat" || what == "count" || what == "timeline")
      return profile(*request, what);
    if (what != "run" && what != "record") return bad_input(fmt::format("unknown request '{}'", what));
    auto read = run_request_from(*request);
    if (!read) return tl::unexpected(read.error());
    if (auto ready = gpu_.open(read->request.gpu); !ready) return ready;
    if (what == "record") return record(read->request, message.bytes);
    return run(*read, message.bytes);
  }

  // A kernel of the user's own comes with each request that names it.
  Result<void> take_own(const json& request) {
    const auto at = request.find("own");
    if (at == request.end()) return ok();
    auto kernel = own_kernel_from(*at);
    if (!kernel) return tl::unexpected(kernel.error());
    if (std::ranges::find(own_, (*kernel)->id, [](const auto& k) { return k->id; }) == own_.end())
      own_.push_back(*std::move(kernel));
    return ok();
  }

  void send(const json& text, std::span<const std::span<const std::byte>> bytes) {
    // If nobody listens any more, the next receive() ends the worker.
    (void)socket_.send(text.dump(), bytes, {});
  }
  void progress(const std::string& now) { send({{"is", "progress"}, {"now", now}}, {}); }

  Result<void> hello(bool counters) {
    GpuHello h;
    const auto opened = gpu_.open_libraries();
    if (!gpu_.has_driver()) return tl::unexpected(opened.error());
    if (!opened)
      h.compiler_error = opened.error().message;
    else
      h.compiler = gpu_.compiler().version();
    const auto version = gpu_.driver().version();
    const auto count = gpu_.driver().device_count();
    if (!version) return tl::unexpected(version.error());
    if (!count) return tl::unexpected(count.error());
    h.driver = *version;
    for (std::int32_t n = 0; n < *count; ++n) {
      auto p = gpu_.driver().properties(n);
      if (!p) return tl::unexpected(p.error());
      h.gpus.push_back(std::move(*p));
    }
    fill_versions(h, counters);
    send(to_json(h), {});
    return ok();
  }

  static void fill_versions(GpuHello& h, bool counters) {
    const auto cupti = counters ? cupti_version(h.driver)
                                : Result<std::string>(fail(ErrorKind::cannot_run, "counters were turned off"));
    if (cupti)
      h.cupti = *cupti;
    else
      h.cupti_error = cupti.error().message;
    const auto sensors = sensors_version();
    if (sensors)
      h.sensors = *sensors;
    else
      h.sensors_error = sensors.error().message;
    if (const auto permitted = counters_permitted(); !permitted) h.counters_error = permitted.error().message;
  }

  Result<void> run(const ReadRequest& read, std::span<const std::byte> tensors);
  Result<void> record(const GpuRunRequest& r, std::span<const std::byte> tensors);
  Result<double> timed(gpu::DeviceRun& run, Outputs& out);
  Result<Plan> plan_of(const GpuRunRequest& r);
  Result<std::vector<double>> time(gpu::DeviceRun& run, const GpuTiming& t);
  Result<void> measure(const json& request);
  const KernelRow* cpu_row(const Point& p) const;
  Result<void> compile(const json& request);
  Result<void> profile(const json& request, const std::string& what);
  Result<GpuTools> tools_for(const Point& p);
  Result<void> turn(const json& request);
  Result<void> hold(const Point& p, const std::string& key);
  Result<void> let_go();

  Socket& socket_;
  const WorkerParts& parts_;
  OpenGpu gpu_;  // outlives what was placed on it
  ProblemCache problem_;
  gpu::OwnKernels own_;                  // plans point to them
  std::map<std::string, HeldRun> held_;  // of turns, by the request that they answer
};

Result<Plan> Worker::plan_of(const GpuRunRequest& r) {
  const auto row = find_kernel(r.kernel, own_);
  if (!row) return tl::unexpected(row.error());
  const Device device = device_of(gpu_.properties());
  if (auto takes = (*row)->supports(**row, r.problem, r.options, device); !takes) return tl::unexpected(takes.error());
  auto plan = (*row)->plan(**row, r.problem, r.options, device);
  if (!plan) return plan;
  std::uint64_t room = r.memory_limit;
  if (room == 0) {
    const auto free = gpu_.driver().free_memory();
    if (!free) return tl::unexpected(free.error());
    room = *free;
  }
  if (auto fits = check_memory(*plan, device, room); !fits) return tl::unexpected(fits.error());
  return plan;
}

// By CUDA events, as a measurement without CUPTI is.
Result<std::vector<double>> Worker::time(gpu::DeviceRun& run, const GpuTiming& t) {
  const auto clocks = gpu_.clocks();
  if (!clocks) return tl::unexpected(run.on(clocks.error()));
  MeasureSpec spec;
  spec.seconds_per_point = t.seconds;
  spec.min_repeats = t.min;
  spec.l2 = t.cold ? L2State::cold : L2State::warm;
  auto times = time_on_gpu(run, spec, *clocks);
  if (!times) return tl::unexpected(times.error());
  return std::move(times->samples_us);
}

Result<void> Worker::run(const ReadRequest& read, std::span<const std::byte> tensors) {
  const GpuRunRequest& r = read.request;
  auto plan = plan_of(r);
  if (!plan) return tl::unexpected(plan.error());
  std::optional<Inputs> made;
  if (read.generate) {
    progress("making the inputs");
    InputSpec spec;
    spec.generator = r.generator;
    spec.seed = r.seed;
    cpu::ThreadCrew crew(cpu_device().cores);
    auto inputs = make_all_inputs(r.problem, spec, on_threads, r.memory_limit, Stream{{}, nullptr, &crew});
    if (!inputs) return tl::unexpected(inputs.error());
    made = std::move(*inputs);
  }
  auto placed = made ? Result<TensorBytes>(tensor_bytes_of(*made)) : split_inputs(r.problem, tensors);
  if (!placed) return tl::unexpected(placed.error());
  auto on_gpu = gpu::DeviceRun::place(gpu_.queue(), *plan, *placed);
  if (!on_gpu) return tl::unexpected(on_gpu.error());
  progress(fmt::format("compiling and running {}", r.kernel));
  if (auto ran = on_gpu->once(); !ran) return ran;

  GpuRunAnswer answer;
  answer.options = plan->options;
  answer.workspace_bytes = plan->workspace_bytes;
  if (const auto source = gpu::source_of(*plan->kernel, plan->problem, parts_.edited_kernels)) {
    answer.source = source->label(r.kernel);
    answer.source_hash = source->hash;
  }
  Outputs out = empty_outputs(r.problem);
  if (auto got = on_gpu->fetch(out); !got) return got;
  Outputs again = r.repeats > 1 ? empty_outputs(r.problem) : Outputs{};
  for (std::int32_t n = 1; n < r.repeats && answer.same_bits; ++n) {
    if (auto ran = on_gpu->once(); !ran) return ran;
    if (auto got = on_gpu->fetch(again); !got) return got;
    answer.same_bits = same_bits(out, again);
  }
  if (r.timing.seconds > 0) {
    progress(fmt::format("timing {}", r.kernel));
    auto samples = time(*on_gpu, r.timing);
    if (!samples) return tl::unexpected(samples.error());
    answer.samples_us = std::move(*samples);
  }
  std::vector<std::span<const std::byte>> parts;
  if (!read.generate) parts = parts_of(out);
  send(to_json(answer), parts);
  return ok();
}

// What a measurement needs.
Result<GpuTools> Worker::tools_for(const Point& p) {
  auto tools = gpu_.tools_for(p);
  if (!tools) return tools;
  tools->problem = &problem_;
  tools->own = own_;
  tools->progress = [this](const std::string& now) { progress(now); };
  return tools;
}

// One run after one that warmed up, by CUDA events; its answer.
Result<double> Worker::timed(gpu::DeviceRun& run, Outputs& out) {
  if (auto warm = run.once(); !warm) return tl::unexpected(warm.error());
  const auto begin = gpu_.driver().create_event(), end = gpu_.driver().create_event();
  Result<double> ms = 0.0;
  Result<void> done = begin && end ? gpu_.driver().record(*begin, gpu_.queue().stream())
                                   : Result<void>(tl::unexpected(begin ? end.error() : begin.error()));
  if (done) done = run.launch();
  if (done) done = gpu_.driver().record(*end, gpu_.queue().stream());
  if (done) ms = gpu_.driver().elapsed_ms(*begin, *end);
  if (begin) gpu_.driver().destroy_event(*begin);
  if (end) gpu_.driver().destroy_event(*end);
  if (done) done = run.fetch(out);
  if (!done) return tl::unexpected(run.on(done.error()));
  if (!ms) return tl::unexpected(run.on(ms.error()));
  return *ms * 1000;
}

Result<void> Worker::record(const GpuRunRequest& r, std::span<const std::byte> tensors) {
  auto plan = plan_of(r);
  if (!plan) return tl::unexpected(plan.error());
  const auto source = gpu::source_of(*plan->kernel, plan->problem, parts_.edited_kernels);
  if (!source) return tl::unexpected(source.error());
  if (auto can = gpu::check_traceable(*plan, *source); !can) return can;
  const auto placed = split_inputs(r.problem, tensors);
  if (!placed) return tl::unexpected(placed.error());
  auto run = gpu::DeviceRun::place(gpu_.queue(), *plan, *placed);
  if (!run) return tl::unexpected(run.error());
  GpuRecordAnswer answer;
  answer.options = plan->options;
  answer.source = source->label(r.kernel);
  answer.device = gpu_.properties().name;
  answer.uuid = gpu_.properties().uuid;
  answer.outputs = empty_outputs(r.problem);
  Outputs plain = empty_outputs(r.problem);
  progress(fmt::format("compiling and running {}", r.kernel));
  const auto plain_us = timed(*run, plain);
  if (!plain_us) return tl::unexpected(plain_us.error());

  progress(fmt::format("Recording {}", r.kernel));
  answer.trace.resize(gpu::trace_floats(*plan, *gpu::trace_facts(*plan->kernel, r.problem, plan->options)));
  const std::uint64_t bytes = answer.trace.size() * sizeof(float);
  const auto buffer = gpu::Memory::allocate(gpu_.driver(), bytes);
  if (!buffer) return tl::unexpected(run->on(buffer.error()));
  constexpr std::uint8_t kUnwritten = 0xff;
  if (auto filled = gpu_.driver().fill(buffer->address(), kUnwritten, bytes, gpu_.queue().stream()); !filled)
    return filled;
  gpu_.queue().trace_to(buffer->address());
  const auto traced = run->prepare();
  const auto traced_us = traced ? timed(*run, answer.outputs) : Result<double>(tl::unexpected(traced.error()));
  gpu_.queue().trace_to(0);
  if (!traced_us) return tl::unexpected(traced_us.error());
  auto got = gpu_.driver().download(answer.trace.data(), buffer->address(), bytes, gpu_.queue().stream());
  if (got) got = gpu_.driver().synchronize(gpu_.queue().stream());
  if (!got) return tl::unexpected(run->on(got.error()));
  answer.plain_us = *plain_us;
  answer.traced_us = *traced_us;
  answer.same_bits = same_bits(plain, answer.outputs);
  std::vector<std::span<const std::byte>> parts = parts_of(answer.outputs);
  parts.push_back(std::as_bytes(std::span(answer.trace)));
  send(to_json(answer), parts);
  return ok();
}

// Null: a kernel of a GPU, or none that is known.
const KernelRow* Worker::cpu_row(const Point& p) const {
  const auto row = find_kernel(p.kernel, own_);
  return row && (*row)->processor == Processor::cpu ? *row : nullptr;
}

Result<void> Worker::measure(const json& request) {
  const auto point = point_from(request);
  if (!point) return tl::unexpected(point.error());
  if (const KernelRow* row = cpu_row(*point); row != nullptr) {
    send(to_json(measure_on_cpu(*row, *point, CpuPeak{}, {}), false), {});  // who asked knows the peak
    return ok();
  }
  if (auto ready = gpu_.open(point->gpu); !ready) return ready;
  auto tools = tools_for(*point);
  if (!tools) return tl::unexpected(tools.error());
  const Measurement m = measure_on_gpu(*point, *tools);
  send(to_json(m, gpu_.driver().lost()), {});
  return ok();
}

Result<void> Worker::compile(const json& request) {
  const auto point = point_from(request);
  if (!point) return tl::unexpected(point.error());
  if (auto opened = gpu_.open_compiler(); !opened) return opened;
  gpu::CompileService service(gpu_.compiler(), parts_.cache);
  progress(fmt::format("compiling {} for {}", point->kernel, point->arch));
  send(to_json(compiled_row(*point, own_, service, parts_.edited_kernels), false), {});
  return ok();
}

// What was placed for an earlier turn is used again; where there is no room beside it, it goes.
Result<void> Worker::hold(const Point& p, const std::string& key) {
  if (held_.contains(key)) return ok();
  const auto inputs = problem_.inputs(p);
  if (!inputs) return tl::unexpected(inputs.error());
  GpuRunRequest r;
  r.kernel = p.kernel;
  r.problem = p.problem;
  r.options = p.options;
  r.memory_limit = p.memory_limit;
  auto plan = plan_of(r);
  if (!plan && !held_.empty()) {
    held_.clear();
    plan = plan_of(r);
  }
  if (!plan) return tl::unexpected(plan.error());
  HeldRun held{std::make_unique<Plan>(std::move(*plan)), nullptr};
  auto run = gpu::DeviceRun::place(gpu_.queue(), *held.plan, tensor_bytes_of(**inputs));
  if (!run) return tl::unexpected(run.error());
  held.run = std::make_unique<gpu::DeviceRun>(std::move(*run));
  if (auto ran = held.run->once(); !ran) return ran;
  held_.emplace(key, std::move(held));
  return ok();
}

Result<void> Worker::turn(const json& request) {
  const auto point = point_from(request);
  if (!point) return tl::unexpected(point.error());
  const auto asked = turn_from(request);
  if (!asked) return tl::unexpected(asked.error());
  if (const KernelRow* row = cpu_row(*point); row != nullptr) {
    const auto inputs = problem_.inputs(*point);
    const auto samples = inputs ? turn_on_cpu(*row, *point, **inputs, *asked, {})
                                : Result<std::vector<double>>(tl::unexpected(inputs.error()));
    if (!samples) return tl::unexpected(samples.error());
    send({{"is", "turn"}, {"samples_us", *samples}}, {});
    return ok();
  }
  if (auto ready = gpu_.open(point->gpu); !ready) return ready;
  const auto clocks = gpu_.clocks();
  if (!clocks) return tl::unexpected(clocks.error());
  const std::string key = to_json(*point).dump();
  if (auto held = hold(*point, key); !held) return held;
  const auto samples = time_turn(*held_.at(key).run, *asked, point->l2, *clocks);
  // A stored S of gigabytes is placed again for the next turn: a peer may need the room in its own.
  constexpr std::uint64_t kMayStay = std::uint64_t{1} << 30;
  if (held_.at(key).plan->workspace_bytes > kMayStay) held_.erase(key);
  if (!samples) return tl::unexpected(samples.error());
  send({{"is", "turn"}, {"samples_us", *samples}}, {});
  return ok();
}

Result<void> Worker::let_go() {
  held_.clear();
  problem_.clear();
  send({{"is", "done"}}, {});
  return ok();
}

Result<void> Worker::profile(const json& request, const std::string& what) {
  const auto point = point_from(request);
  if (!point) return tl::unexpected(point.error());
  if (auto ready = gpu_.open(point->gpu); !ready) return ready;
  auto tools = tools_for(*point);
  if (!tools) return tl::unexpected(tools.error());
  const auto answer = [&](const auto& got) -> Result<void> {
    if (!got) return tl::unexpected(got.error());
    send(to_json(*got, gpu_.driver().lost()), {});
    return ok();
  };
  if (what == "heartbeat") return answer(beat_on_gpu(*point, *tools));
  if (what == "timeline") {
    const auto bytes = stamp_on_gpu(*point, stamp_request_from(request), *tools).and_then(timeline_bytes);
    if (!bytes) return tl::unexpected(bytes.error());
    const std::span<const std::byte> part = *bytes;
    send({{"is", "timeline"}, {"lost", gpu_.driver().lost()}}, std::span(&part, 1));
    return ok();
  }
  const bool counts = what == "count";
  const auto queue = counts ? gpu_.counting_queue() : gpu_.sampling_queue();
  if (!queue) return tl::unexpected(queue.error());
  (counts ? tools->counting_queue : tools->sampling_queue) = *queue;
  return counts ? answer(count_on_gpu(*point, *tools)) : answer(sample_on_gpu(*point, *tools));
}

}  // namespace

int work(Socket& socket, const WorkerParts& parts) {
  const InEnglish recorded;  // rows keep its reasons
  return Worker(socket, parts).live();
}

}  // namespace attn
