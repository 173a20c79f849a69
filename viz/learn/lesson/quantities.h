// What expressions can ask without a run: bytes, tiles, blocks of a problem whose sizes are given, and the roundings
// and merges that the kernels do. Each is the program's own model of it, and none is written down a second time. Pure.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"

namespace attn {

struct Quantity {
  std::string_view name;
  std::string_view arguments;  // "L, D, Br, Bc, bytes": as many as there are names
  Result<double> (*read)(const std::vector<double>& arguments);

  // The error says how many arguments there are to be, or which of them cannot be.
  Result<double> of(const std::vector<double>& given) const;
};
std::span<const Quantity> all_quantities();
const Quantity* find_quantity(std::string_view name);  // null: there is none

}  // namespace attn
