#include "kernels/gpu/launch/hopper_parameters.h"

#include <algorithm>
#include <cmath>

#include "kernels/gpu/rungs/hopper/hopper_args.h"
#include "kernels/gpu/rungs/hopper/hopper_tile.h"
#include "kernels/gpu/rungs/specialise.h"

namespace attn::gpu {
namespace {

constexpr std::int64_t kHalf = 2;           // bytes of an element
constexpr std::uint32_t kPanel = 64;        // columns of a panel
constexpr std::uint32_t kRowsOfWarp = 16;   // that leave at once
constexpr std::uint32_t kRowsOfPiece = 64;  // of Q that come at once
constexpr std::int64_t kFar = std::int64_t{1} << 30;

DevicePointer address(const void* p) {
  return reinterpret_cast<DevicePointer>(p);
}

std::uint64_t bytes_of(std::int64_t elements) {
  return static_cast<std::uint64_t>(elements * kHalf);
}

TensorTiles tiles_of(const Problem& p, const void* at) {
  TensorTiles t;
  t.address = address(at);
  t.dtype = p.dtype;
  t.swizzle = Swizzle::bytes_128;
  t.promotion = L2Promotion::bytes_128;
  return t;
}

// Q and O: {column, head of the pack, query, packed head, batch}.
TensorTiles rows_of(const Problem& p, const HopperTile& tile, const TensorSpec& spec, const void* at,
                    std::uint32_t rows) {
  const auto pack = static_cast<std::uint32_t>(tile.pack);
  TensorTiles t = tiles_of(p, at);
  t.rank = 5;
  t.extents = {static_cast<std::uint64_t>(spec.shape[3]), pack, static_cast<std::uint64_t>(p.Lq),
               static_cast<std::uint64_t>(p.Hq) / pack, static_cast<std::uint64_t>(p.B)};
  t.strides = {bytes_of(spec.strides[1]), bytes_of(spec.strides[2]), bytes_of(spec.strides[1] * tile.pack),
               bytes_of(spec.strides[0])};
  t.box = {kPanel, pack, rows / pack, 1, 1};
  return t;
}

// K and V: {column, key, head, batch}.
TensorTiles keys_of(const Problem& p, const HopperTile& tile, const TensorSpec& spec, const void* at) {
  TensorTiles t = tiles_of(p, at);
  t.rank = 4;
  t.extents = {static_cast<std::uint64_t>(spec.shape[3]), static_cast<std::uint64_t>(p.Lk),
               static_cast<std::uint64_t>(p.Hkv), static_cast<std::uint64_t>(p.B)};
  t.strides = {bytes_of(spec.strides[2]), bytes_of(spec.strides[1]), bytes_of(spec.strides[0])};
  t.box = {kPanel, static_cast<std::uint32_t>(tile.keys), 1, 1};
  return t;
}

int near(long long shift) {
  return static_cast<int>(std::clamp<long long>(shift, -kFar, kFar));
}

HopperArgs hopper_args(const Plan& plan, const Buffers& b, const HopperTile& t, const TensorSpec& o) {
  const Problem& p = plan.problem;
  const Args common = args_of(plan, b);
  HopperArgs a{};
  a.out = common.out;
  a.out_b = o.strides[0], a.out_h = o.strides[1], a.out_r = o.strides[2];
  a.lse = common.lse;
  a.counter = reinterpret_cast<int*>(static_cast<std::byte*>(b.workspace) + workspace_of(*plan.kernel, p).counters);
  a.key_lengths = common.key_lengths;
  a.bias = common.bias;
  a.slopes = common.slopes;
  a.bias_b = common.bias_b, a.bias_h = common.bias_h, a.bias_r = common.bias_r, a.bias_c = common.bias_c;
  a.slopes_b = common.slopes_b;
  a.batches = static_cast<int>(p.B);
  a.heads = static_cast<int>(p.Hq / t.pack);
  a.share = static_cast<int>(p.Hq / p.Hkv / t.pack);
  a.rows = static_cast<int>(packed_rows(p, t));
  a.Lq = static_cast<int>(p.Lq);
  a.Lk = static_cast<int>(p.Lk);
  // A grid smaller than the device has a block for every tile.
  const std::int64_t grid = plan.launches[0].grid[0], heads = packed_heads(p, t);
  a.tiles = static_cast<int>(std::max(query_tiles(p, t, static_cast<std::int32_t>(grid)), grid / heads));
  a.total = static_cast<int>(a.tiles * heads);
  a.section = static_cast<int>(heads_together(p, t));
  a.first_shift = near(common.first_shift);
  a.last_shift = near(common.last_shift);
  // The kernel's scale is positive; what it lacks goes to Q.
  a.query_factor = common.scale > 0 ? 1.0F : common.scale < 0 ? -1.0F : 0.0F;
  a.scale_log2 = common.scale == 0 ? 1.0F : std::fabs(common.scale_log2);
  a.softcap = common.softcap, a.softcap_inverse = common.softcap_inverse;
  return a;
}

}  // namespace

bool has_hopper_parameters(const KernelRow& row) {
  return spec_of(row, kHopperForm) != nullptr;
}

Result<std::vector<Parameters>> hopper_parameters(const Plan& plan, const Buffers& buffers, Queue& queue) {
  const Problem& p = plan.problem;
  const HopperTile t = tile_of(plan.options);
  const std::vector<TensorSpec> specs = tensors_of(p);
  const auto spec = [&](Tensor tensor) -> const TensorSpec& { return *find(specs, tensor); };
  const TensorTiles maps[] = {
      rows_of(p, t, spec(Tensor::q), buffers.in[Tensor::q], kRowsOfPiece),
      keys_of(p, t, spec(Tensor::k), buffers.in[Tensor::k]),
      keys_of(p, t, spec(Tensor::v), buffers.in[Tensor::v]),
      rows_of(p, t, spec(Tensor::o), buffers.out[Tensor::o], kRowsOfWarp),
  };
  Parameters parameters;
  for (const TensorTiles& tiles : maps) {
    auto map = queue.driver().encode(tiles);
    if (!map) return tl::unexpected(map.error());
    parameters.add(*map);
  }
  parameters.add(hopper_args(plan, buffers, t, spec(Tensor::o)));
  return std::vector<Parameters>(1, parameters);
}

}  // namespace attn::gpu
