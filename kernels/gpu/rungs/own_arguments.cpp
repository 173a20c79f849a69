#include "kernels/gpu/rungs/own_arguments.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/gpu/compile/cubin.h"
#include "kernels/gpu/rungs/specialise.h"

namespace attn::gpu {
namespace {

using Kind = OwnParameter::Kind;

static_assert(sizeof(Args) <= kMaxArgsBytes);

constexpr std::int64_t kMostRoom = std::int64_t{1} << 46;

template <class T>
OwnBytes bytes_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  OwnBytes bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

// Everything that a value may be asked of.
struct Asked {
  const Plan& plan;
  const Buffers& buffers;
  SizeValues sizes;
  std::vector<TensorSpec> specs;
  Args args;
  OwnRooms rooms;
};

const void* address_of(const Asked& a, Tensor t) {
  const TensorSpec* spec = find(a.specs, t);
  if (spec == nullptr) return nullptr;
  if (t == Tensor::key_lengths) return key_lengths_at(a.plan, a.buffers);
  if (t == Tensor::slopes) return slopes_at(a.plan, a.buffers);
  return spec->role == Role::in ? a.buffers.in[t] : a.buffers.out[t];
}

std::int64_t stride_of(const Asked& a, const OwnParameter& p) {
  const TensorSpec* spec = find(a.specs, p.tensor);
  return spec == nullptr || p.index >= spec->strides.size() ? 0 : spec->strides[p.index];
}

Result<OwnBytes> number_of(const SizeValues& sizes, const OwnParameter& p) {
  const auto value = p.value.value(sizes);
  if (!value) return bad_input(phrase("its value cannot be computed: {}", value.error().message));
  if (p.type == OwnParameter::Type::longer) return bytes_of(static_cast<long long>(*value));
  if (p.type == OwnParameter::Type::real) return bytes_of(static_cast<float>(*value));
  if (*value < std::numeric_limits<std::int32_t>::min() || *value > std::numeric_limits<std::int32_t>::max())
    return bad_input(phrase("its value is {}, too large for an int", *value));
  return bytes_of(static_cast<std::int32_t>(*value));
}

// Without its address.
Result<TensorTiles> tiles_of(const Problem& problem, const SizeValues& sizes, std::span<const TensorSpec> specs,
                             const OwnParameter& p) {
  const TensorSpec& spec = *find(specs, p.tensor);
  const auto element = static_cast<std::int64_t>(size_of(spec.type));
  TensorTiles t;
  t.dtype = problem.dtype;
  t.rank = kMapAxes;
  t.swizzle = p.map.swizzle;
  t.promotion = p.map.promotion;
  t.outside = p.map.outside;
  for (std::size_t axis = 0; axis < kMapAxes; ++axis) {
    // From the innermost: column, row, head, batch; the tensor's own axes are batch, head, row, column.
    constexpr std::array<std::size_t, kMapAxes> kOwn{3, 2, 1, 0};
    const std::size_t own = kOwn.at(axis);
    t.extents.at(axis) = static_cast<std::uint64_t>(spec.shape[own]);
    if (axis > 0) t.strides.at(axis - 1) = static_cast<std::uint64_t>(spec.strides[own] * element);
    const auto box = p.map.box.at(axis).value(sizes);
    if (!box) return bad_input(phrase("its box cannot be computed: {}", box.error().message));
    t.box.at(axis) = static_cast<std::uint32_t>(std::clamp<std::int64_t>(*box, 0, kMostRoom >> 16));
  }
  return t;
}

// Of Args' numbers.
float real_of(const Args& a, std::size_t n) {
  const std::array<float, 4> reals{a.scale, a.scale_log2, a.softcap, a.softcap_inverse};
  return reals.at(n);
}

Result<OwnArgument> argument_of(const Asked& a, const OwnParameter& p) {
  switch (p.kind) {
    case Kind::tensor:
      return bytes_of(address_of(a, p.tensor));
    case Kind::scores:
      return bytes_of(a.args.s);
    case Kind::weights:
      return bytes_of(a.args.p);
    case Kind::scratch:
      return bytes_of(static_cast<std::byte*>(a.buffers.workspace) + a.rooms.rooms.at(p.index).at);
    case Kind::stride:
      return bytes_of(static_cast<long long>(stride_of(a, p)));
    case Kind::size:
      return bytes_of(static_cast<std::int32_t>(a.sizes.at(p.index)));
    case Kind::real:
      return bytes_of(real_of(a.args, p.index));
    case Kind::shift:
      return bytes_of(p.index == 0 ? a.args.first_shift : a.args.last_shift);
    case Kind::args:
      return bytes_of(a.args);
    case Kind::value: {
      auto number = number_of(a.sizes, p);
      if (!number) return tl::unexpected(number.error());
      return *std::move(number);
    }
    case Kind::map: {
      auto tiles = tiles_of(a.plan.problem, a.sizes, a.specs, p);
      if (!tiles) return tl::unexpected(tiles.error());
      tiles->address = reinterpret_cast<DevicePointer>(address_of(a, p.tensor));
      return *tiles;
    }
  }
  return OwnBytes();
}

Error of_parameter(const Error& e, const OwnEntry& entry, std::size_t n) {
  return {e.kind, phrase("parameters[{}] of {}, \"{}\": {}", n, entry.name, entry.parameters[n].name, e.message)};
}

Result<Asked> asked(const OwnHeader& header, const Plan& plan, const Buffers& buffers) {
  auto rooms = rooms_of(header, *plan.kernel, plan.problem, plan.options);
  if (!rooms) return tl::unexpected(rooms.error());
  return Asked{plan,
               buffers,
               sizes_of(plan.problem, plan.options),
               tensors_of(plan.problem),
               args_of(plan, buffers),
               *std::move(rooms)};
}

}  // namespace

SizeValues sizes_of(const Problem& p, const Options& o) {
  return {p.B, p.Hq, p.Hkv, p.Lq, p.Lk, p.D, p.Dv, o.br, o.bc, o.threads, o.stages};
}

Result<OwnRooms> rooms_of(const OwnHeader& header, const KernelRow& row, const Problem& p, const Options& resolved) {
  constexpr std::uint64_t kUnit = 256;
  OwnRooms all;
  all.total = workspace_of(row, p).total;
  for (const OwnScratch& room : header.scratch) {
    const auto bytes = room.bytes.value(sizes_of(p, resolved));
    if (!bytes)
      return bad_input(phrase("the bytes of \"{}\" cannot be computed: {}", room.name, bytes.error().message));
    if (*bytes < 0 || *bytes > kMostRoom)
      return bad_input(phrase("\"{}\" requests {} bytes ('{}'); use 0 to 2^46", room.name, *bytes, room.bytes.text()));
    all.rooms.push_back({all.total, static_cast<std::uint64_t>(*bytes), room.zero});
    all.total += (static_cast<std::uint64_t>(*bytes) + kUnit - 1) / kUnit * kUnit;
  }
  return all;
}

Result<std::vector<std::vector<OwnArgument>>> own_arguments(const OwnHeader& header, const Plan& plan,
                                                            const Buffers& buffers) {
  const auto all = asked(header, plan, buffers);
  if (!all) return tl::unexpected(all.error());
  std::vector<std::vector<OwnArgument>> lists;
  for (const OwnEntry& entry : header.entries) {
    std::vector<OwnArgument>& list = lists.emplace_back();
    for (std::size_t n = 0; n < entry.parameters.size(); ++n) {
      auto one = argument_of(*all, entry.parameters[n]);
      if (!one) return tl::unexpected(of_parameter(one.error(), entry, n));
      list.push_back(*std::move(one));
    }
  }
  return lists;
}

Result<void> check_arguments(const OwnHeader& header, const Plan& plan) {
  const SizeValues sizes = sizes_of(plan.problem, plan.options);
  const std::vector<TensorSpec> specs = tensors_of(plan.problem);
  const auto check = [&](const OwnParameter& p) -> Result<void> {
    if (p.kind == Kind::value) {
      const auto number = number_of(sizes, p);
      return number ? ok() : tl::unexpected(number.error());
    }
    if (p.kind != Kind::map) return ok();
    auto tiles = tiles_of(plan.problem, sizes, specs, p);
    if (!tiles) return tl::unexpected(tiles.error());
    tiles->address = 256;  // what is allocated begins at a multiple of it
    return validate(*tiles);
  };
  for (const OwnEntry& entry : header.entries)
    for (std::size_t n = 0; n < entry.parameters.size(); ++n)
      if (auto good = check(entry.parameters[n]); !good) return tl::unexpected(of_parameter(good.error(), entry, n));
  return ok();
}

Result<void> check_parameters(const OwnHeader& header, std::span<const std::byte> cubin) {
  if (header.api == 1) return ok();
  for (const OwnEntry& e : header.entries) {
    const auto declared = parameter_bytes(cubin, e.name);
    if (!declared) continue;
    if (declared->size() != e.parameters.size())
      return bad_input(phrase("the function {} has {} parameters, but its header lists {}", e.name, declared->size(),
                              e.parameters.size()));
    for (std::size_t n = 0; n < e.parameters.size(); ++n) {
      const OwnParameter& p = e.parameters[n];
      if (!p.bytes() || *p.bytes() == (*declared)[n]) continue;
      return bad_input(
          phrase("parameters[{}] of {}, \"{}\", is {} with {} bytes, but the function expects {} bytes there", n,
                 e.name, p.name, p.type_words(), *p.bytes(), (*declared)[n]));
    }
  }
  return ok();
}

}  // namespace attn::gpu
