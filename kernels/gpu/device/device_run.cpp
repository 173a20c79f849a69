#include "kernels/gpu/device/device_run.h"

#include <utility>

#include <fmt/format.h>

namespace attn::gpu {
namespace {

constexpr std::uint8_t kPoison = 0xff;  // NaN in f32, f16 and bf16
constexpr std::size_t kOut = 4, kLse = 5, kWorkspace = 6;

// Bytes of q, k, v, bias.
std::array<std::uint64_t, 4> sizes_of(const Problem& p) {
  const auto e = size_of(p.dtype);
  const auto bytes = [](std::int64_t elements, std::size_t size) {
    return static_cast<std::uint64_t>(elements) * size;
  };
  return {bytes(p.B * p.Hq * p.Lq * p.D, e), bytes(p.B * p.Hkv * p.Lk * p.D, e), bytes(p.B * p.Hkv * p.Lk * p.Dv, e),
          p.has_bias() ? bytes(element_count(p.bias_shape), 4) : 0};
}

std::span<const std::byte> bytes_of(const Array& a) {
  return {a.data(), a.bytes()};
}

}  // namespace

TensorBytes tensor_bytes_of(const Inputs& in) {
  return {bytes_of(in.q), bytes_of(in.k), bytes_of(in.v), in.bias ? bytes_of(*in.bias) : std::span<const std::byte>()};
}

Result<TensorBytes> split_tensors(const Problem& p, std::span<const std::byte> block) {
  TensorBytes parts;
  const auto sizes = sizes_of(p);
  for (std::size_t n = 0; n < sizes.size(); ++n) {
    if (sizes[n] > block.size()) return bad_input("the request's tensors are shorter than its problem");
    parts[n] = block.first(sizes[n]);
    block = block.subspan(sizes[n]);
  }
  if (!block.empty()) return bad_input("the request's tensors are longer than its problem");
  return parts;
}

Outputs empty_outputs(const Problem& p) {
  return {Array(p.dtype, {p.B, p.Hq, p.Lq, p.Dv}), Array(DType::f32, {p.B, p.Hq, p.Lq})};
}

Error DeviceRun::on(Error e) const {
  // Errors of the row already say which kernel and problem.
  if (e.message.find(plan_->kernel->id) == std::string::npos) {
    e.message = fmt::format("{} on {}: {}", plan_->kernel->id, describe(plan_->problem), e.message);
  }
  return e;
}

Result<DeviceRun> DeviceRun::place(Queue& queue, const Plan& plan, const TensorBytes& tensors) {
  DeviceRun run(queue, plan);
  if (auto placed = run.allocate(tensors); !placed) return tl::unexpected(run.on(placed.error()));
  return run;
}

Result<void> DeviceRun::poison(std::size_t part, std::uint64_t bytes) {
  return queue_->driver().fill(memories_[part].address(), kPoison, bytes, queue_->stream());
}

Result<void> DeviceRun::allocate(const TensorBytes& tensors) {
  const Problem& p = plan_->problem;
  Driver& driver = queue_->driver();
  for (const auto& part : tensors) {
    auto memory = Memory::allocate(driver, part.size());
    if (!memory) return tl::unexpected(memory.error());
    memories_.push_back(std::move(*memory));
    auto sent = driver.upload(memories_.back().address(), part.data(), part.size(), queue_->stream());
    if (!sent) return sent;
  }
  const auto rows = static_cast<std::uint64_t>(p.B * p.Hq * p.Lq);
  for (const std::uint64_t size :
       {rows * static_cast<std::uint64_t>(p.Dv) * size_of(p.dtype), rows * 4, plan_->workspace_bytes}) {
    auto memory = Memory::allocate(driver, size);
    if (!memory) return tl::unexpected(memory.error());
    memories_.push_back(std::move(*memory));
    if (auto filled = poison(memories_.size() - 1, size); !filled) return filled;
  }
  buffers_.q = memories_[0].pointer();
  buffers_.k = memories_[1].pointer();
  buffers_.v = memories_[2].pointer();
  buffers_.bias = p.has_bias() ? static_cast<const float*>(memories_[3].pointer()) : nullptr;
  buffers_.out = memories_[kOut].pointer();
  buffers_.lse = static_cast<float*>(memories_[kLse].pointer());
  buffers_.workspace = memories_[kWorkspace].pointer();
  return ok();
}

Result<void> DeviceRun::prepare() {
  auto prepared = plan_->kernel->prepare(*plan_, buffers_, Stream{{}, queue_});
  if (!prepared) return tl::unexpected(on(prepared.error()));
  prepared_ = std::move(*prepared);
  return ok();
}

Result<void> DeviceRun::launch() {
  if (!prepared_) return tl::unexpected(on({ErrorKind::failed, "it was launched before it was prepared"}));
  auto done = plan_->kernel->launch(*prepared_, Stream{{}, queue_});
  if (!done) return tl::unexpected(on(done.error()));
  return done;
}

Result<void> DeviceRun::once() {
  auto done = prepared_ ? ok() : prepare();
  if (done) done = poison(kOut, memories_[kOut].bytes());
  if (done) done = poison(kLse, memories_[kLse].bytes());
  if (done) done = launch();
  if (done) done = queue_->driver().synchronize(queue_->stream());
  if (!done) return tl::unexpected(on(done.error()));
  return done;
}

Result<void> DeviceRun::fetch(Outputs& out) {
  Driver& driver = queue_->driver();
  auto done = driver.download(out.out.data(), memories_[kOut].address(), memories_[kOut].bytes(), queue_->stream());
  if (done)
    done = driver.download(out.lse.data(), memories_[kLse].address(), memories_[kLse].bytes(), queue_->stream());
  if (done) done = driver.synchronize(queue_->stream());
  if (!done) return tl::unexpected(on(done.error()));
  return done;
}

}  // namespace attn::gpu
