#include "viz/step/hidden_answers.h"

#include <algorithm>
#include <cstddef>

namespace attn {

std::shared_ptr<const Recording> recording_until(const Recording& rec, EventIndex horizon) {
  auto cut = std::make_shared<Recording>(rec);
  for (const Version& v : cut->versions) {
    if (v.made_by <= horizon) continue;
    const auto first = cut->arena.begin() + static_cast<std::ptrdiff_t>(v.offset);
    std::fill(first, first + static_cast<std::ptrdiff_t>(v.rows) * v.cols, 0.0F);
  }
  cut->outputs.out = Array(rec.outputs.out.dtype(), rec.outputs.out.shape());
  cut->outputs.lse = Array(rec.outputs.lse.dtype(), rec.outputs.lse.shape());
  return cut;
}

}  // namespace attn
