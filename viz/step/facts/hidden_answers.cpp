#include "viz/step/facts/hidden_answers.h"

#include <algorithm>
#include <cstddef>

#include "kernels/model/problem/tensors.h"

namespace attn {

std::shared_ptr<const Recording> recording_until(const Recording& rec, EventIndex horizon) {
  auto cut = std::make_shared<Recording>(rec);
  for (const Version& v : cut->versions) {
    if (v.made_by <= horizon) continue;
    const auto first = cut->arena.begin() + static_cast<std::ptrdiff_t>(v.offset);
    std::fill(first, first + static_cast<std::ptrdiff_t>(v.rows) * v.cols, 0.0F);
  }
  const ByTensor<Array*> outputs = arrays_of(cut->outputs);
  for (std::size_t n = 0; n < kTensors; ++n)
    if (Array* const a = outputs[static_cast<Tensor>(n)]; a != nullptr) *a = Array(a->dtype(), a->shape());
  return cut;
}

StepFocus seen_of(const StepFocus& look, const HiddenAnswers& hidden) {
  using enum StepPart;
  if (look.parts.none()) return look;
  StepFocus seen = look;
  // An empty card would take the room of what the question shows.
  if (hidden.map) seen.parts.reset(static_cast<std::size_t>(chart));
  if (hidden.traffic) seen.parts.reset(static_cast<std::size_t>(traffic));
  const bool tiles = look.names_tiles() || look.has(k) || look.has(v);
  if (tiles || seen.parts.test(static_cast<std::size_t>(chart)) || seen.parts.test(static_cast<std::size_t>(traffic)))
    return seen;
  for (const StepPart part : {q, k, v, s, m, alpha, p, l, o}) seen.parts.set(static_cast<std::size_t>(part));
  return seen;
}

}  // namespace attn
