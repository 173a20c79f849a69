#include "kernels/gpu/launch/hopper_backward_parameters.h"

#include "kernels/base/text.h"
#include "kernels/gpu/launch/strides.h"
#include "kernels/gpu/rungs/backward/backward_plan.h"
#include "kernels/gpu/rungs/backward/flash_bwd_hopper_layout.h"
#include "kernels/gpu/rungs/specialise.h"

namespace attn::gpu {
namespace {

constexpr std::uint64_t kHalf = 2;  // bytes of an element
constexpr std::uint32_t kPanel = 64;
constexpr DevicePointer kUnit = 16;

// {column, row, head, batch}, so many rows a tile.
TensorTiles tiles_of(const Problem& p, const TensorSpec& spec, DevicePointer at, int rows) {
  TensorTiles t;
  t.address = at;
  t.dtype = p.dtype;
  t.swizzle = Swizzle::bytes_128;
  t.promotion = L2Promotion::bytes_128;
  t.rank = 4;
  for (std::size_t axis = 0; axis < 4; ++axis) t.extents[axis] = static_cast<std::uint64_t>(spec.shape[3 - axis]);
  for (std::size_t axis = 0; axis < 3; ++axis)
    t.strides[axis] = static_cast<std::uint64_t>(spec.strides[2 - axis]) * kHalf;
  t.box = {kPanel, static_cast<std::uint32_t>(rows), 1, 1};
  return t;
}

}  // namespace

bool has_hopper_backward_parameters(const KernelRow& row) {
  return row.products.pipe == Pipe::warpgroup_half && row.passes.front() == Pass::backward;
}

Result<std::vector<Parameters>> hopper_backward_parameters(const Plan& plan, const Buffers& buffers, Queue& queue) {
  const std::vector<TensorSpec> specs = tensors_at(plan.problem, buffers);
  for (const TensorSpec& spec : specs) {
    const Tensor tensor = spec.tensor;
    const void* const place = spec.role == Role::in ? buffers.in[tensor] : buffers.out[tensor];
    const auto at = reinterpret_cast<DevicePointer>(place);
    if (spec.shape.size() == 4 && at % kUnit != 0)
      return bad_input(
          phrase("{} starts at {:#x}, but {} needs tensors aligned to {} bytes. flash_bwd accepts any alignment.",
                 words_of(tensor), at, plan.kernel->id, kUnit));
  }
  Parameters parameters;
  for (const Tensor tensor : {Tensor::q, Tensor::k, Tensor::v, Tensor::d_o, Tensor::o}) {
    const auto at = reinterpret_cast<DevicePointer>(buffers.in[tensor]);
    const bool of_keys = tensor == Tensor::k || tensor == Tensor::v;
    const int rows = of_keys ? kBwdKeys : flash_bwd_hopper_queries(static_cast<int>(plan.problem.D));
    auto map = queue.driver().encode(tiles_of(plan.problem, *find(specs, tensor), at, rows));
    if (!map) return tl::unexpected(map.error());
    parameters.add(*map);
  }
  parameters.add(args_of(plan, buffers));
  parameters.add(backward_args_of(plan, buffers));
  return std::vector<Parameters>(plan.launches.size(), parameters);
}

}  // namespace attn::gpu
