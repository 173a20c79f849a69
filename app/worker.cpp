#include "app/worker.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>

#include <fmt/format.h>

#include "app/worker_messages.h"
#include "kernels/gpu/queue.h"
#include "kernels/memory.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr std::uint8_t kPoison = 0xff;  // NaN in f32, f16 and bf16
constexpr int kExitLost = 3;
constexpr int kMostSamples = 10000;

// Kernels that break on purpose: a worker's end is tried on the machine where it will happen.
constexpr const char* kBreaking =
    "extern \"C\" __global__ void hang(volatile int* p) { while (p[0] != 1) {} }\n"
    "extern \"C\" __global__ void illegal_address(int* p) { p[1ull << 40] = 1; }\n";

// The driver, compiler and queue of one GPU.
struct Gpu {
  std::unique_ptr<gpu::CompileService> service;
  gpu::GpuProperties properties;
  std::optional<gpu::Queue> queue;
};

// The tensors of one run, on the device.
struct OnDevice {
  std::vector<gpu::Memory> memories;
  Buffers buffers;
  std::uint64_t out_bytes = 0, lse_bytes = 0;
};

class Worker {
 public:
  Worker(Socket& socket, const WorkerParts& parts) : socket_(socket), parts_(parts) {}

  int live() {
    while (true) {
      auto message = socket_.receive({});
      if (!message) return 0;  // whoever asked is gone
      answer(*message);
      if (driver_ && driver_->lost()) return kExitLost;
    }
  }

 private:
  void answer(const Message& message) {
    Result<void> done = ok();
    try {
      done = answer_or_fail(message);
    } catch (const std::bad_alloc&) {
      done = fail(ErrorKind::cannot_run, "The worker has not enough memory; a smaller L, B or H would do.");
    } catch (const std::exception& bug) {
      done = fail(ErrorKind::failed, fmt::format("The worker broke: {}. This is a fault of the program.", bug.what()));
    }
    if (!done) send(error_json(done.error(), driver_ && driver_->lost()), {});
  }

  Result<void> answer_or_fail(const Message& message) {
    const auto request = parse_message(message.text);
    if (!request) return tl::unexpected(request.error());
    const std::string what = request->value("do", "");
    if (what == "hello") return hello();
    if (what != "run") return bad_input(fmt::format("the worker does not know the request '{}'", what));
    auto read = run_request_from(*request);
    if (!read) return tl::unexpected(read.error());
    if (auto ready = open(read->request.gpu); !ready) return ready;
    return read->break_on_purpose.empty() ? run(*read, message.bytes) : break_down(read->break_on_purpose);
  }

  void send(const json& text, std::span<const std::span<const std::byte>> bytes) {
    // If nobody listens any more, the next receive() ends the worker.
    (void)socket_.send(text.dump(), bytes, {});
  }
  void progress(const std::string& now) { send({{"is", "progress"}, {"now", now}}, {}); }

  Result<void> open_libraries() {
    if (!driver_) {
      auto driver = parts_.driver();
      if (!driver) return tl::unexpected(driver.error());
      driver_ = std::move(*driver);
    }
    if (!compiler_) {
      auto compiler = parts_.compiler();
      if (!compiler) return tl::unexpected(compiler.error());
      compiler_ = std::move(*compiler);
    }
    return ok();
  }

  Result<void> hello() {
    GpuHello h;
    const auto opened = open_libraries();
    if (!driver_) return tl::unexpected(opened.error());
    if (!opened)
      h.compiler_error = opened.error().message;
    else
      h.compiler = compiler_->version();
    const auto version = driver_->version();
    const auto count = driver_->device_count();
    if (!version) return tl::unexpected(version.error());
    if (!count) return tl::unexpected(count.error());
    h.driver = *version;
    for (std::int32_t n = 0; n < *count; ++n) {
      auto p = driver_->properties(n);
      if (!p) return tl::unexpected(p.error());
      h.gpus.push_back(std::move(*p));
    }
    send(to_json(h), {});
    return ok();
  }

  // One GPU a worker: the first that is asked for.
  Result<void> open(std::int32_t index) {
    if (auto opened = open_libraries(); !opened) return opened;
    if (gpu_.queue) {
      if (gpu_.properties.index == index) return ok();
      return bad_input(fmt::format("this worker has GPU {} open", gpu_.properties.index));
    }
    const auto count = driver_->device_count();
    if (!count) return tl::unexpected(count.error());
    if (index < 0 || index >= *count) {
      return fail(ErrorKind::cannot_run, fmt::format("there is no GPU {}: this machine has {}", index, *count));
    }
    auto properties = driver_->properties(index);
    if (!properties) return tl::unexpected(properties.error());
    if (auto opened = driver_->open_device(index); !opened) return opened;
    gpu_.properties = *properties;
    gpu_.service = std::make_unique<gpu::CompileService>(*compiler_, parts_.cache);
    auto queue = gpu::Queue::make(*driver_, *gpu_.service, properties->arch(), parts_.edited_kernels);
    if (!queue) return tl::unexpected(queue.error());
    gpu_.queue.emplace(std::move(*queue));
    return ok();
  }

  Result<void> run(const ReadRequest& read, std::span<const std::byte> tensors);
  Result<Plan> plan_of(const GpuRunRequest& r);
  Result<OnDevice> place(const Plan& plan, const Inputs* made, std::span<const std::byte> tensors);
  Result<void> once(const Plan& plan, const OnDevice& at);
  Result<void> fetch(const OnDevice& at, Outputs& out);
  Result<std::vector<double>> time(const Plan& plan, const OnDevice& at, const GpuTiming& t);
  Result<void> break_down(const std::string& how);

  Socket& socket_;
  const WorkerParts& parts_;
  // The order of destruction is the reverse: queue, service, compiler, driver.
  std::unique_ptr<gpu::Driver> driver_;
  std::unique_ptr<gpu::Compiler> compiler_;
  Gpu gpu_;
};

Error on(Error e, const Plan& plan) {
  // Errors of enqueue already say which kernel and problem.
  if (e.message.find(plan.kernel->id) == std::string::npos) {
    e.message = fmt::format("{} on {}: {}", plan.kernel->id, describe(plan.problem), e.message);
  }
  return e;
}

Result<Plan> Worker::plan_of(const GpuRunRequest& r) {
  const auto row = find_kernel(r.kernel);
  if (!row) return tl::unexpected(row.error());
  const Device device = device_of(gpu_.properties);
  if (auto takes = (*row)->supports(r.problem, r.options, device); !takes) return tl::unexpected(takes.error());
  auto plan = (*row)->plan(**row, r.problem, r.options, device);
  if (!plan) return plan;
  std::uint64_t room = r.memory_limit;
  if (room == 0) {
    const auto free = driver_->free_memory();
    if (!free) return tl::unexpected(free.error());
    room = *free;
  }
  if (auto fits = check_memory(*plan, device, room); !fits) return tl::unexpected(fits.error());
  return plan;
}

Result<OnDevice> Worker::place(const Plan& plan, const Inputs* made, std::span<const std::byte> tensors) {
  const Problem& p = plan.problem;
  const auto e = size_of(p.dtype);
  const auto bytes = [&](std::int64_t elements, std::size_t size) {
    return static_cast<std::uint64_t>(elements) * size;
  };
  struct Part {
    std::uint64_t bytes;
    const Array* from;
  };
  const std::vector<Part> parts{
      {bytes(p.B * p.Hq * p.Lq * p.D, e), made ? &made->q : nullptr},
      {bytes(p.B * p.Hkv * p.Lk * p.D, e), made ? &made->k : nullptr},
      {bytes(p.B * p.Hkv * p.Lk * p.Dv, e), made ? &made->v : nullptr},
      {p.has_bias() ? bytes(element_count(p.bias_shape), 4) : 0, made && made->bias ? &*made->bias : nullptr}};
  OnDevice at;
  at.out_bytes = bytes(p.B * p.Hq * p.Lq * p.Dv, e);
  at.lse_bytes = bytes(p.B * p.Hq * p.Lq, 4);
  const gpu::StreamHandle stream = gpu_.queue->stream();
  std::uint64_t used = 0;
  for (const Part& part : parts) {
    auto memory = gpu::Memory::allocate(*driver_, part.bytes);
    if (!memory) return tl::unexpected(on(memory.error(), plan));
    const std::byte* from = nullptr;
    if (part.from != nullptr) {
      from = part.from->data();
    } else if (made == nullptr) {
      if (part.bytes > tensors.size() - used) return bad_input("the request's tensors are shorter than its problem");
      from = tensors.data() + used;
      used += part.bytes;
    }
    if (from != nullptr) {
      if (auto sent = driver_->upload(memory->address(), from, part.bytes, stream); !sent) {
        return tl::unexpected(on(sent.error(), plan));
      }
    }
    at.memories.push_back(std::move(*memory));
  }
  if (made == nullptr && used != tensors.size()) return bad_input("the request's tensors are longer than its problem");
  for (const std::uint64_t size : {at.out_bytes, at.lse_bytes, plan.workspace_bytes}) {
    auto memory = gpu::Memory::allocate(*driver_, size);
    if (!memory) return tl::unexpected(on(memory.error(), plan));
    if (auto filled = driver_->fill(memory->address(), kPoison, size, stream); !filled) {
      return tl::unexpected(on(filled.error(), plan));
    }
    at.memories.push_back(std::move(*memory));
  }
  Buffers& b = at.buffers;
  b.q = at.memories[0].pointer();
  b.k = at.memories[1].pointer();
  b.v = at.memories[2].pointer();
  b.bias = p.has_bias() ? static_cast<const float*>(at.memories[3].pointer()) : nullptr;
  b.out = at.memories[4].pointer();
  b.lse = static_cast<float*>(at.memories[5].pointer());
  b.workspace = at.memories[6].pointer();
  return at;
}

// Poisons what the run writes, runs, waits.
Result<void> Worker::once(const Plan& plan, const OnDevice& at) {
  const gpu::StreamHandle stream = gpu_.queue->stream();
  auto done = driver_->fill(at.memories[4].address(), kPoison, at.out_bytes, stream);
  if (done) done = driver_->fill(at.memories[5].address(), kPoison, at.lse_bytes, stream);
  if (done) done = plan.kernel->enqueue(plan, at.buffers, Stream{{}, &*gpu_.queue});
  if (done) done = driver_->synchronize(stream);
  if (!done) return tl::unexpected(on(done.error(), plan));
  return done;
}

Result<void> Worker::fetch(const OnDevice& at, Outputs& out) {
  const gpu::StreamHandle stream = gpu_.queue->stream();
  auto done = driver_->download(out.out.data(), at.memories[4].address(), at.out_bytes, stream);
  if (done) done = driver_->download(out.lse.data(), at.memories[5].address(), at.lse_bytes, stream);
  if (done) done = driver_->synchronize(stream);
  return done;
}

// One event pair a repeat, around everything that an enqueue does. Cold: a buffer of twice the L2's size is written
// before, outside the measured range.
Result<std::vector<double>> Worker::time(const Plan& plan, const OnDevice& at, const GpuTiming& t) {
  const gpu::StreamHandle stream = gpu_.queue->stream();
  const std::uint64_t flush_bytes = t.cold ? static_cast<std::uint64_t>(2 * gpu_.properties.l2_bytes) : 0;
  auto flush = gpu::Memory::allocate(*driver_, flush_bytes);
  auto first = driver_->create_event(), second = driver_->create_event();
  if (!flush) return tl::unexpected(on(flush.error(), plan));
  if (!first) return tl::unexpected(first.error());
  if (!second) return tl::unexpected(second.error());
  std::vector<double> samples;
  const auto begin = std::chrono::steady_clock::now();
  const auto spent = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  Result<void> done = ok();
  while (done && static_cast<int>(samples.size()) < kMostSamples &&
         (static_cast<std::int32_t>(samples.size()) < t.least || spent() < t.seconds)) {
    done = driver_->fill(flush->address(), 0, flush_bytes, stream);
    if (done) done = driver_->record(*first, stream);
    if (done) done = plan.kernel->enqueue(plan, at.buffers, Stream{{}, &*gpu_.queue});
    if (done) done = driver_->record(*second, stream);
    if (!done) break;
    const auto ms = driver_->elapsed_ms(*first, *second);
    if (ms)
      samples.push_back(*ms * 1000);
    else
      done = tl::unexpected(ms.error());
  }
  driver_->destroy_event(*first);
  driver_->destroy_event(*second);
  if (!done) return tl::unexpected(on(done.error(), plan));
  return samples;
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
    auto inputs = make_inputs(r.problem, spec);
    if (!inputs) return tl::unexpected(inputs.error());
    made = std::move(*inputs);
  }
  auto at = place(*plan, made ? &*made : nullptr, tensors);
  if (!at) return tl::unexpected(at.error());
  progress(fmt::format("compiling and running {}", r.kernel));
  if (auto ran = once(*plan, *at); !ran) return ran;

  GpuRunAnswer answer;
  answer.options = plan->options;
  answer.workspace_bytes = plan->workspace_bytes;
  if (const auto source = gpu::kernel_source(r.kernel, parts_.edited_kernels)) {
    answer.source = source->label(r.kernel);
    answer.source_hash = source->hash;
  }
  const auto empty = [&] {
    const Problem& p = r.problem;
    return Outputs{Array(p.dtype, {p.B, p.Hq, p.Lq, p.Dv}), Array(DType::f32, {p.B, p.Hq, p.Lq})};
  };
  Outputs out = empty();
  if (auto got = fetch(*at, out); !got) return tl::unexpected(on(got.error(), *plan));
  Outputs again = r.repeats > 1 ? empty() : Outputs{};
  for (std::int32_t n = 1; n < r.repeats && answer.same_bits; ++n) {
    if (auto ran = once(*plan, *at); !ran) return ran;
    if (auto got = fetch(*at, again); !got) return tl::unexpected(on(got.error(), *plan));
    answer.same_bits = out.out == again.out && out.lse == again.lse;
  }
  if (r.timing.seconds > 0) {
    progress(fmt::format("timing {}", r.kernel));
    auto samples = time(*plan, *at, r.timing);
    if (!samples) return tl::unexpected(samples.error());
    answer.samples_us = std::move(*samples);
  }
  std::vector<std::span<const std::byte>> parts;
  if (!read.generate) parts = {{out.out.data(), out.out.bytes()}, {out.lse.data(), out.lse.bytes()}};
  send(to_json(answer), parts);
  return ok();
}

Result<void> Worker::break_down(const std::string& how) {
  gpu::KernelSource source{"break.cu", kBreaking, "break", true};
  auto compiled = gpu_.service->compile({source, gpu_.properties.arch(), {}});
  if (!compiled) return tl::unexpected(compiled.error());
  const auto module = driver_->load(compiled->code.data());
  if (!module) return tl::unexpected(module.error());
  const auto entry = driver_->function(*module, how);
  if (!entry) return tl::unexpected(entry.error());
  auto memory = gpu::Memory::allocate(*driver_, 4096);
  if (!memory) return tl::unexpected(memory.error());
  const gpu::DevicePointer argument = memory->address();
  auto done = driver_->fill(argument, 0, 4096, gpu_.queue->stream());
  if (done) done = driver_->launch(*entry, {}, gpu_.queue->stream(), &argument);
  if (done) done = driver_->synchronize(gpu_.queue->stream());
  if (!done) return done;
  send({{"is", "done"}}, {});
  return ok();
}

}  // namespace

int work(Socket& socket, const WorkerParts& parts) {
  return Worker(socket, parts).live();
}

}  // namespace attn
