#include "kernels/gpu/launch/device_run.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/gpu/launch/launching.h"

namespace attn::gpu {
namespace {

constexpr std::uint8_t kPoison = 0xff;  // NaN in f32, f16 and bf16

}  // namespace

Error DeviceRun::on(Error e) const {
  // Errors of the row already say which kernel and problem.
  if (e.message.find(plan_->kernel->id) == std::string::npos) {
    e.message = fmt::format("{} on {}: {}", plan_->kernel->id, describe(plan_->problem), e.message);
  }
  return e;
}

namespace {

// Whether the tensor lies otherwise on the device than in an Array.
bool is_swapped(const Problem& p, const TensorSpec& spec) {
  return p.layout == AxisOrder::blhd && spec.shape.size() == 4 && spec.tensor != Tensor::bias;
}

MiddleAxes middle_of(const TensorSpec& spec) {
  const std::int64_t row = spec.shape[3] * static_cast<std::int64_t>(size_of(spec.type));
  return {spec.shape[0], spec.shape[1], spec.shape[2], row};
}

}  // namespace

Result<DeviceRun> DeviceRun::place(Queue& queue, const Plan& plan, const TensorBytes& tensors) {
  DeviceRun run(queue, plan);
  if (auto placed = run.allocate(tensors); !placed) return tl::unexpected(run.on(placed.error()));
  return run;
}

Result<void> DeviceRun::fill(const Memory& memory) {
  return queue_->driver().fill(memory.address(), kPoison, memory.bytes(), queue_->stream());
}

Result<void> DeviceRun::poison() {
  for (std::size_t n = 0; n < kTensors; ++n) {
    const auto t = static_cast<Tensor>(n);
    if (!buffers_.out.has(t)) continue;
    if (auto filled = fill(*memories_[t]); !filled) return tl::unexpected(on(filled.error()));
  }
  return ok();
}

Result<void> DeviceRun::allocate_input(const TensorSpec& spec, std::span<const std::byte> bytes) {
  if (bytes.empty() && spec.in_problem) return ok();
  if (bytes.size() != spec.bytes()) {
    return bad_input(
        phrase("{} has {} bytes, but the problem needs {}", words_of(spec.tensor), bytes.size(), spec.bytes()));
  }
  auto memory = Memory::allocate(queue_->driver(), bytes.size());
  if (!memory) return tl::unexpected(memory.error());
  const Memory& placed = memories_[spec.tensor].emplace(std::move(*memory));
  buffers_.in[spec.tensor] = placed.pointer();
  if (!is_swapped(plan_->problem, spec))
    return queue_->driver().upload(placed.address(), bytes.data(), bytes.size(), queue_->stream());
  std::vector<std::byte> ordered(bytes.size());
  swap_middle(bytes, ordered, middle_of(spec));
  auto sent = queue_->driver().upload(placed.address(), ordered.data(), ordered.size(), queue_->stream());
  if (sent) sent = queue_->driver().synchronize(queue_->stream());  // the copy goes with this call
  return sent;
}

Result<void> DeviceRun::allocate(const TensorBytes& tensors) {
  const std::vector<TensorSpec> specs = tensors_of(plan_->problem);
  for (const TensorSpec& spec : specs) {
    if (spec.role != Role::in) continue;
    if (auto placed = allocate_input(spec, tensors[spec.tensor]); !placed) return placed;
  }
  for (const TensorSpec& spec : specs) {
    // delta is a kernel's own; one that finds a place for it here leaves it there, to be judged.
    if (spec.role != Role::out && spec.tensor != Tensor::delta) continue;
    auto memory = Memory::allocate(queue_->driver(), spec.bytes());
    if (!memory) return tl::unexpected(memory.error());
    buffers_.out[spec.tensor] = memories_[spec.tensor].emplace(std::move(*memory)).pointer();
  }
  if (auto filled = poison(); !filled) return filled;
  auto memory = Memory::allocate(queue_->driver(), plan_->workspace_bytes);
  if (!memory) return tl::unexpected(memory.error());
  buffers_.workspace = workspace_.emplace(std::move(*memory)).pointer();
  return fill(*workspace_);
}

Result<void> DeviceRun::prepare() {
  auto prepared = gpu::prepare(*plan_, buffers_, Stream{{}, queue_});
  if (!prepared) return tl::unexpected(on(prepared.error()));
  prepared_ = std::move(*prepared);
  return ok();
}

Result<void> DeviceRun::launch() {
  if (!prepared_) return tl::unexpected(on({ErrorKind::failed, tr("launched before it was prepared")}));
  auto done = gpu::launch(*prepared_, Stream{{}, queue_});
  if (!done) return tl::unexpected(on(done.error()));
  return done;
}

Result<void> DeviceRun::once() {
  auto done = prepared_ ? ok() : prepare();
  if (done) done = poison();
  if (done) done = launch();
  if (done) done = queue_->driver().synchronize(queue_->stream());
  if (!done) return tl::unexpected(on(done.error()));
  return done;
}

Result<void> DeviceRun::fetch(Outputs& out) {
  const ByTensor<Array*> arrays = arrays_of(out);
  Result<void> done = ok();
  for (std::size_t n = 0; n < kTensors && done; ++n) {
    const auto t = static_cast<Tensor>(n);
    if (!buffers_.out.has(t) || !arrays.has(t)) continue;
    const Memory& memory = *memories_[t];
    done = queue_->driver().download(arrays[t]->data(), memory.address(), memory.bytes(), queue_->stream());
  }
  if (done) done = queue_->driver().synchronize(queue_->stream());
  for (const TensorSpec& spec : tensors_of(plan_->problem)) {
    if (!done || !buffers_.out.has(spec.tensor) || !arrays.has(spec.tensor)) continue;
    if (!is_swapped(plan_->problem, spec)) continue;
    const std::span<std::byte> bytes(arrays[spec.tensor]->data(), arrays[spec.tensor]->bytes());
    const std::vector<std::byte> ordered(bytes.begin(), bytes.end());
    MiddleAxes axes = middle_of(spec);
    std::swap(axes.x, axes.y);
    swap_middle(ordered, bytes, axes);
  }
  if (!done) return tl::unexpected(on(done.error()));
  return done;
}

}  // namespace attn::gpu
