#include "viz/bench/sweep/to_step.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/problem/pages.h"
#include "kernels/museum/museum.h"
#include "viz/bench/sweep/sweep_fields.h"

namespace attn {
namespace {

constexpr std::int64_t kMaxLength = 64, kMaxDim = 64, kMaxHeads = 8;  // shown as they are
constexpr std::int64_t kLength = 16, kDim = 8, kTiles = 4;            // of the smaller example

bool is_small(const Problem& p) {
  return std::max(p.Lq, p.Lk) <= kMaxLength && std::max(p.D, p.Dv) <= kMaxDim && p.B * p.Hq <= kMaxHeads;
}

std::int64_t ceil_divide(std::int64_t n, std::int64_t by) {
  return (n + by - 1) / by;
}

// `x` of an extent `from` in an extent `to`, at least 1.
std::int64_t scaled(std::int64_t x, std::int64_t from, std::int64_t to) {
  return std::clamp<std::int64_t>(x * to / std::max<std::int64_t>(1, from), 1, to);
}

Mask smaller_mask(const Mask& mask, const Problem& before, const Problem& p) {
  Mask m = mask;
  if (m.window_left > 0) m.window_left = scaled(m.window_left, before.Lk, p.Lk);
  if (m.window_right > 0) m.window_right = scaled(m.window_right, before.Lk, p.Lk);
  if (!m.key_lengths.empty()) m.key_lengths = {scaled(mask.key_lengths.front(), before.Lk, p.Lk)};
  return m;
}

Problem smaller(const Problem& before) {
  Problem p = before;
  const std::int64_t longest = std::max(before.Lq, before.Lk);
  p.B = 1;
  p.Hkv = 1;
  p.Hq = std::min<std::int64_t>(before.Hkv > 0 ? before.Hq / before.Hkv : 1, 4);
  p.Lq = longest <= kLength ? before.Lq : scaled(before.Lq, longest, kLength);
  p.Lk = longest <= kLength ? before.Lk : scaled(before.Lk, longest, kLength);
  p.D = std::min(before.D, kDim);
  p.Dv = std::min(before.Dv, kDim);
  p.mask = smaller_mask(before.mask, before, p);
  const std::int64_t full[4] = {p.B, p.Hq, p.Lq, p.Lk};
  for (std::size_t axis = 0; axis < p.bias_shape.size() && axis < 4; ++axis)
    if (p.bias_shape[axis] != 1) p.bias_shape[axis] = full[axis];
  if (p.alibi && !p.alibi->empty()) p.alibi->resize(static_cast<std::size_t>(p.Hq));  // those of the first heads
  if (p.storage.kind() == Storage::paged) p = with_pages(p, scaled(p.storage.page, before.Lk, p.Lk));
  return p;
}

std::int32_t smaller_tile(std::int32_t tile, std::int64_t before, std::int64_t now) {
  const std::int64_t tiles = tile <= 0 ? 2 : std::clamp<std::int64_t>(ceil_divide(before, tile), 2, kTiles);
  return static_cast<std::int32_t>(std::max<std::int64_t>(1, ceil_divide(now, tiles)));
}

// The kernel itself, or the first of its order that can be recorded.
Result<const KernelRow*> recordable(std::string_view kernel) {
  auto row = find_kernel(kernel);
  if (!row || (*row)->record != nullptr) return row;
  for (const KernelRow* other : ladder())
    if (other->order == (*row)->order && other->record != nullptr) return other;
  return fail(ErrorKind::cannot_run, phrase("No kernel that can be recorded uses the order of {}.", kernel));
}

}  // namespace

Result<StepExample> step_example(std::string_view kernel, const Problem& p, const Options& o) {
  const auto row = recordable(kernel);
  if (!row) return tl::unexpected(row.error());
  StepExample e;
  e.kernel = (*row)->id;
  e.problem = is_small(p) ? p : smaller(p);
  if (!takes_pass(**row, p.pass)) e.problem.pass = (*row)->passes.front();  // of a training step, its backward
  const auto& storages = (*row)->storages;
  if (std::ranges::find(storages, e.problem.storage.kind()) == storages.end()) e.problem = without_pages(e.problem);
  e.options.br = is_small(p) ? o.br : smaller_tile(o.br, p.Lq, e.problem.Lq);
  e.options.bc = is_small(p) ? o.bc : smaller_tile(o.bc, p.Lk, e.problem.Lk);
  std::vector<std::string> words;
  if (e.kernel != kernel) words.push_back(phrase("{} on the CPU, in the same order as {}", e.kernel, kernel));
  const auto cut = [&](const char* name, std::int64_t now, std::int64_t before) {
    if (now != before) words.push_back(phrase("{} = {} instead of {}", name, now, before));
  };
  cut("B", e.problem.B, p.B);
  cut("H", e.problem.Hq, p.Hq);
  cut("L", e.problem.Lk, p.Lk);
  cut("D", e.problem.D, p.D);
  if (!words.empty()) e.words = phrase("Step shows {}.", fmt::join(words, ", "));
  return e;
}

SweepSpec sweep_of_step(SweepSpec sweep, const Document& d) {
  sweep.base = d.problem;
  sweep.tokens = 0;
  sweep.options.br = d.options.br;
  sweep.options.bc = d.options.bc;
  // An exhibit of the museum is nothing to measure: the right kernel is.
  const Piece* piece = piece_of(d.kernel);
  sweep = with_kernel(sweep, piece != nullptr ? piece->right : std::string_view(d.kernel), true);
  const ProblemAxis* axis = kind_of(sweep.axis).problem;
  // Along L both lengths are one: that of the keys.
  const std::int64_t own = axis == nullptr ? 0 : sweep.axis == Axis::L ? d.problem.Lk : axis->of(d.problem);
  auto& values = sweep.values;
  if (own > 0 && std::find(values.begin(), values.end(), own) == values.end()) {
    values.push_back(own);
    std::sort(values.begin(), values.end());
  }
  return sweep;
}

}  // namespace attn
