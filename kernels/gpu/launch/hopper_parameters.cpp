#include "kernels/gpu/launch/hopper_parameters.h"

#include <algorithm>
#include <cmath>

#include "kernels/base/text.h"
#include "kernels/gpu/launch/strides.h"
#include "kernels/gpu/rungs/hopper/hopper_args.h"
#include "kernels/gpu/rungs/hopper/hopper_copy.h"
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

// A tensor as attention's kernel sees it: where it is, or its copy.
struct Seen {
  const TensorSpec* spec = nullptr;
  std::vector<std::int64_t> strides;
  DevicePointer at = 0;
};

TensorTiles tiles_of(const Problem& p, const Seen& seen) {
  TensorTiles t;
  t.address = seen.at;
  t.dtype = p.dtype;
  t.swizzle = Swizzle::bytes_128;
  t.promotion = L2Promotion::bytes_128;
  return t;
}

// Q and O: {column, head of the pack, query, packed head, batch}.
TensorTiles rows_of(const Problem& p, const HopperTile& tile, const Seen& seen, std::uint32_t rows) {
  const auto pack = static_cast<std::uint32_t>(tile.pack);
  TensorTiles t = tiles_of(p, seen);
  t.rank = 5;
  t.extents = {static_cast<std::uint64_t>(seen.spec->shape[3]), pack, static_cast<std::uint64_t>(p.Lq),
               static_cast<std::uint64_t>(p.Hq) / pack, static_cast<std::uint64_t>(p.B)};
  t.strides = {bytes_of(seen.strides[1]), bytes_of(seen.strides[2]), bytes_of(seen.strides[1] * tile.pack),
               bytes_of(seen.strides[0])};
  t.box = {kPanel, pack, rows / pack, 1, 1};
  return t;
}

// K and V: {column, key, head, batch}.
TensorTiles keys_of(const Problem& p, const HopperTile& tile, const Seen& seen) {
  TensorTiles t = tiles_of(p, seen);
  t.rank = 4;
  t.extents = {static_cast<std::uint64_t>(seen.spec->shape[3]), static_cast<std::uint64_t>(p.Lk),
               static_cast<std::uint64_t>(p.Hkv), static_cast<std::uint64_t>(p.B)};
  t.strides = {bytes_of(seen.strides[2]), bytes_of(seen.strides[1]), bytes_of(seen.strides[0])};
  t.box = {kPanel, static_cast<std::uint32_t>(tile.keys), 1, 1};
  return t;
}

void* pointer_to(DevicePointer at) {
  return reinterpret_cast<void*>(at);  // NOLINT(performance-no-int-to-ptr): the driver hands out addresses as numbers
}

int near(long long shift) {
  return static_cast<int>(std::clamp<long long>(shift, -kFar, kFar));
}

HopperArgs hopper_args(const Plan& plan, const Buffers& b, const HopperTile& t, const Seen& o) {
  const Problem& p = plan.problem;
  const Args common = args_of(plan, b);
  HopperArgs a{};
  a.out = pointer_to(o.at);
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
  const auto launch = std::ranges::find(plan.launches, plan.kernel->id, &Launch::name);
  const std::int64_t grid = launch->grid[0], heads = packed_heads(p, t);
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

DevicePointer address_of(const Buffers& b, const TensorSpec& spec) {
  return address(spec.role == Role::in ? b.in[spec.tensor] : b.out[spec.tensor]);
}

Result<void> check_address(const Plan& plan, Tensor tensor, DevicePointer at) {
  constexpr DevicePointer kUnit = 16;
  if (at % kUnit == 0) return ok();
  return bad_input(
      phrase("{} starts at {:#x}, but {} needs tensors aligned to {} bytes. Set copies = 2 to copy the tensor.",
             words_of(tensor), at, plan.kernel->id, kUnit));
}

// O in fp32 is stored two columns at a time where a row has a whole number of such.
Result<void> check_sums_address(const Plan& plan, DevicePointer at) {
  const DevicePointer unit = plan.problem.Dv % 2 == 0 ? 8 : 4;
  if (at % unit == 0) return ok();
  return bad_input(phrase("{} starts at {:#x}, but {} stores it in f32 only at multiples of {} bytes.",
                          words_of(Tensor::o), at, plan.kernel->id, unit));
}

// From the tensors to their copies (Role::in), or from the copies to the tensors.
HopperCopies hopper_copies(const std::vector<TensorCopy>& copies, Role role, const Buffers& b) {
  constexpr DevicePointer kPair = 4;
  HopperCopies all{};
  std::size_t n = 0;
  for (const TensorCopy& copy : copies) {
    if (copy.spec.role != role) continue;
    TensorSpec spec = copy.spec;
    take_strides(spec, b);
    const bool in = role == Role::in;
    const DevicePointer tensor = address_of(b, spec), own = address(b.workspace) + copy.at;
    const bool pairs = tensor % kPair == 0 && std::all_of(spec.strides.begin(), spec.strides.end() - 1,
                                                          [](std::int64_t s) { return s % 2 == 0; });
    const std::vector<std::int64_t>&from = in ? spec.strides : copy.strides, &to = in ? copy.strides : spec.strides;
    HopperCopy& c = all.of[n++];
    c.from = pointer_to(in ? tensor : own);
    c.to = pointer_to(in ? own : tensor);
    c.from_b = from[0], c.from_h = from[1], c.from_r = from[2];
    c.to_b = to[0], c.to_h = to[1], c.to_r = to[2];
    c.batches = static_cast<int>(spec.shape[0]), c.heads = static_cast<int>(spec.shape[1]);
    c.rows = static_cast<int>(spec.shape[2]), c.columns = static_cast<int>(spec.shape[3]);
    c.from_pairs = !in || pairs ? 1 : 0, c.to_pairs = in || pairs ? 1 : 0;
  }
  return all;
}

}  // namespace

bool has_hopper_parameters(const KernelRow& row) {
  return spec_of(row, kHopperForm) != nullptr;
}

Result<std::vector<Parameters>> hopper_parameters(const Plan& plan, const Buffers& buffers, Queue& queue) {
  const Problem& p = plan.problem;
  const HopperTile t = tile_of(plan.options);
  const std::vector<TensorSpec> specs = tensors_at(p, buffers);
  const std::vector<TensorCopy> copies = copies_of(p, t.copies, workspace_of(*plan.kernel, p).total);
  const auto seen = [&](Tensor tensor) -> Seen {
    const TensorSpec& spec = *find(specs, tensor);
    if (const TensorCopy* copy = find(copies, tensor); copy != nullptr)
      return {&spec, copy->strides, address(buffers.workspace) + copy->at};
    return {&spec, spec.strides, address_of(buffers, spec)};
  };
  const bool sums_leave = p.output_dtype() == DType::f32;
  for (const Tensor tensor : {Tensor::q, Tensor::k, Tensor::v, Tensor::o}) {
    const DevicePointer at = seen(tensor).at;
    const bool of_sums = sums_leave && tensor == Tensor::o;
    const auto good = of_sums ? check_sums_address(plan, at) : check_address(plan, tensor, at);
    if (!good) return tl::unexpected(good.error());
  }
  const Seen o = seen(Tensor::o);
  // O in fp32 leaves without a map; the kernel's parameter is there all the same.
  const Seen mapped = sums_leave ? seen(Tensor::q) : o;
  const TensorTiles maps[] = {rows_of(p, t, seen(Tensor::q), kRowsOfPiece), keys_of(p, t, seen(Tensor::k)),
                              keys_of(p, t, seen(Tensor::v)), rows_of(p, t, mapped, kRowsOfWarp)};
  Parameters parameters;
  for (const TensorTiles& tiles : maps) {
    auto map = queue.driver().encode(tiles);
    if (!map) return tl::unexpected(map.error());
    parameters.add(*map);
  }
  parameters.add(hopper_args(plan, buffers, t, o));
  std::vector<Parameters> all;
  for (const Role role : {Role::in, Role::out}) {
    const HopperCopies each = hopper_copies(copies, role, buffers);
    if (each.of[0].from != nullptr) all.emplace_back().add(each);
    if (role == Role::in) all.push_back(parameters);
  }
  return all;
}

}  // namespace attn::gpu
