#include "viz/step/hidden_answers.h"

#include <algorithm>
#include <cstddef>

namespace attn {

std::shared_ptr<const Recording> veiled_recording(const Recording& rec, EventIndex horizon) {
  auto veiled = std::make_shared<Recording>(rec);
  for (const Version& v : veiled->versions) {
    if (v.made_by <= horizon) continue;
    const auto first = veiled->arena.begin() + static_cast<std::ptrdiff_t>(v.offset);
    std::fill(first, first + static_cast<std::ptrdiff_t>(v.rows) * v.cols, 0.0F);
  }
  veiled->outputs.out = Array(rec.outputs.out.dtype(), rec.outputs.out.shape());
  veiled->outputs.lse = Array(rec.outputs.lse.dtype(), rec.outputs.lse.shape());
  return veiled;
}

}  // namespace attn
