// The cases of `attnscope verify --tile tuned`: the problems that tiles are kept for.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/model/inputs/shape_list.h"
#include "kernels/model/kernel.h"

namespace attn {

struct TunedCases {
  std::vector<CheckCase> cases;
  std::vector<std::string> refused;  // files that cannot be read, each with why
};
// Of these kernels on this device; each problem once.
TunedCases tuned_cases(std::span<const KernelRow* const> kernels, const Device& device);

}  // namespace attn
