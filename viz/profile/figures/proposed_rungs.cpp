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

}  // namespace

std::string_view keeps_scores(DType dtype) {
  return kProposed.at(static_cast<std::size_t>(dtype)).keeps_scores;
}

std::string_view on_tensor_cores(DType dtype) {
  return kProposed.at(static_cast<std::size_t>(dtype)).on_tensor_cores;
}

}  // namespace attn
