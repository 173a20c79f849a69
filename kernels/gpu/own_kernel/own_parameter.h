// What a launch hands its function, as a header of api 2 lists it: a tensor, one of its strides, a size, a number, room
// of the kernel's own, a tensor map. docs/own_kernel.md has the names. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kernels/gpu/device/tensor_map.h"
#include "kernels/gpu/own_kernel/header_fields.h"
#include "kernels/gpu/own_kernel/size_expression.h"
#include "kernels/model/problem/problem.h"
#include "kernels/model/problem/tensors.h"

namespace attn::gpu {

constexpr std::size_t kMaxOwnParameters = 64;
constexpr std::size_t kMapAxes = 4;  // column, row, head, batch

// How a tile is copied by a tensor map of q, k, v, o and the like.
struct OwnMap {
  std::array<SizeExpression, kMapAxes> box;  // elements, from the innermost axis
  Swizzle swizzle = Swizzle::none;
  L2Promotion promotion = L2Promotion::none;
  OutsideTensor outside = OutsideTensor::zero;
};

struct OwnParameter {
  enum class Kind : std::uint8_t { tensor, scores, weights, scratch, stride, size, real, shift, value, map, args };
  enum class Type : std::uint8_t { whole, longer, real };  // int, long long, float

  std::string name;  // as it is written: "q", "q.row", "Lq"; of an object "value" or "map"
  Kind kind = Kind::size;
  Tensor tensor = Tensor::q;  // tensor, stride, map
  // Of `scratch` its place in the header; of a stride its axis, the batch's first; of a size its SizeName; of a real
  // and a shift its place among their names.
  std::size_t index = 0;
  SizeExpression value;  // of `value`
  Type type = Type::whole;
  OwnMap map;

  // As the kernel must declare it; none: Args, whose size hangs on the problem.
  std::optional<std::uint32_t> bytes() const;
  std::string_view type_words() const;  // "a pointer", "long long", "int"
};

// What a kernel's list may name beside what every problem has.
struct OwnNames {
  Pass pass = Pass::forward;
  bool stores_scores = false;
  std::vector<std::string> scratch;
};

// The element of a list: what is wrong with it is refused in `fields`.
OwnParameter read_parameter(HeaderFields& fields, const nlohmann::json& j, const std::string& path,
                            const OwnNames& names);

}  // namespace attn::gpu
