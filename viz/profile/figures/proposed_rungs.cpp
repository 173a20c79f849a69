#include "viz/profile/figures/proposed_rungs.h"

#include <array>
#include <cstddef>

namespace attn {
namespace {

struct Proposed {
  std::string_view keeps_scores, on_tensor_cores;
};

// Index with DType.
constexpr std::array<Proposed, 3> kProposed{
    {{"flash_simt", "flash_tf32x3"}, {"flash_mma", "flash_mma"}, {"flash_mma", "flash_mma"}}};

// Hopper multiplies by warpgroups; what other chips do best reaches two thirds of that there.
constexpr std::string_view kWarpgroups = "sm_90a", kOfWarpgroups = "flash_hopper";

}  // namespace

std::string_view keeps_scores(DType dtype) {
  return kProposed.at(static_cast<std::size_t>(dtype)).keeps_scores;
}

std::string_view on_tensor_cores(DType dtype, std::string_view arch) {
  if (arch == kWarpgroups && dtype != DType::f32) return kOfWarpgroups;
  return kProposed.at(static_cast<std::size_t>(dtype)).on_tensor_cores;
}

}  // namespace attn
