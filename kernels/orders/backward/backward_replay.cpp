// A backward's phases again from what the recording holds, with the functions that the kernel calls: bit for bit.
#include <algorithm>
#include <vector>

#include "kernels/arithmetic/tile_math.h"
#include "kernels/orders/backward/names.h"
#include "kernels/orders/backward/options.h"
#include "kernels/orders/backward/sums.h"
#include "kernels/recording/replay/replayer.h"

namespace attn::orders::backward {
namespace {

const BackwardNames& names() {
  return backward_names();
}

// A tile of rows of keys (K, V) as the products want it.
Padded transposed(const Padded& rows, std::int64_t count, std::int64_t cols) {
  Padded out(cols, count);
  cpu::transpose(rows.read(), out.tile(), count, cols);
  return out;
}

// The sum as it stood, or zeros.
Padded sum_or_zero(const Replayer& r, VersionId before, const Version& made) {
  return before != kNoVersion ? r.load(before) : Padded(made.rows, made.cols);
}

void scale_and_round(const Problem& p, float scale, const Version& v, cpu::MutTile x) {
  for (std::int64_t row = 0; row < v.rows; ++row)
    for (std::int64_t c = 0; c < v.cols; ++c) x.data[row * x.ld + c] *= scale;
  cpu::round_tile(p.dtype, x, v.rows, v.cols);
}

// dV += P^T dO, dK += dS^T Q
void replay_key_sum(Replayer& r, Slot sum, Slot weights, Slot rows) {
  const Version& made = r.made(sum);
  Padded out = sum_or_zero(r, key_sum_before(r.recording(), r.index(), sum), made);
  const Padded a = r.operand(weights), b = r.operand(rows);
  cpu::transposed_product(a.read(), b.read(), out.tile(), made.rows, made.cols,
                          r.recording().version(r.recording().before(r.index(), weights)).rows);
  r.compare(sum, out);
}

float scale_of(const Replayer& r) {
  return static_cast<float>(r.recording().problem.effective_scale());
}

}  // namespace

// LSE as the run kept it.
void replay_load_rows(Replayer& r) {
  const Recording& rec = r.recording();
  const Version& v = r.made(Slot::lse);
  if (!rec.inputs.lse) return;
  std::vector<float> lse(static_cast<std::size_t>(v.rows));
  rec.inputs.lse->read((r.event().id.b * rec.problem.Hq + r.event().id.h) * rec.problem.Lq + v.first_row, v.rows,
                       lse.data());
  cpu::round_tile(lse_type(rec.options), {lse.data(), 1}, v.rows, 1);
  r.compare(Slot::lse, lse.data(), 1);
}

void replay_row_dots(Replayer& r) {
  const Version& made = r.made(names().delta);
  const Padded o = r.operand(names().o), d_o = r.operand(names().d_o);
  std::vector<float> out(static_cast<std::size_t>(made.rows));
  cpu::row_dots(d_o.read(), o.read(), made.rows, r.recording().problem.Dv, out.data());
  r.compare(names().delta, out.data(), 1);
}

void replay_weights(Replayer& r) {
  const Version& made = r.made(Slot::p);
  const std::vector<float> lse = r.column(Slot::lse);
  std::vector<float> shift(lse.size());
  cpu::shifts(lse.data(), made.rows, shift.data());
  Padded out(made.rows, made.cols);
  cpu::exp_rows(r.operand(Slot::s).read(), made.rows, made.cols, shift.data(), out.tile(), nullptr);
  r.compare(Slot::p, out);
}

void replay_value_gradient(Replayer& r) {
  replay_key_sum(r, names().dv, Slot::p, names().d_o);
}

void replay_weight_gradient(Replayer& r) {
  const Version& made = r.made(names().dp);
  const std::int64_t dv = r.recording().problem.Dv;
  const Padded v = transposed(r.operand(Slot::v), made.cols, dv);
  Padded out(made.rows, made.cols);
  cpu::scaled_product(r.operand(names().d_o).read(), v.read(), out.tile(), made.rows, made.cols, dv, 1.0F);
  r.compare(names().dp, out);
}

void replay_score_gradient(Replayer& r) {
  const Problem& p = r.recording().problem;
  const Version& made = r.made(names().ds);
  std::vector<float> delta = r.column(names().delta);
  if (!subtracts_delta(r.recording().options)) std::ranges::fill(delta, 0.0F);
  Padded out = r.operand(names().dp);
  cpu::softmax_gradient(r.operand(Slot::p).read(), out.read(), made.rows, made.cols, delta.data(), out.tile());
  if (const VersionId bare = scores_before_mask(r.recording(), r.index()); p.softcap && bare != kNoVersion) {
    Padded cap(made.rows, made.cols);
    cpu::cap_gradients(p, r.load(bare).read(), made.rows, made.cols, cap.tile());
    cpu::multiply_tile(out.tile(), cap.read(), made.rows, made.cols);
  }
  r.compare(names().ds, out);
}

void replay_key_gradient(Replayer& r) {
  replay_key_sum(r, names().dk, names().ds, Slot::q);
}

void replay_query_gradient(Replayer& r) {
  const Version& made = r.made(names().dq);
  Padded out = sum_or_zero(r, query_sum_before(r.recording(), r.index(), names().dq), made);
  const Padded k = r.operand(Slot::k);
  const std::int64_t keys = r.recording().version(r.recording().before(r.index(), Slot::k)).rows;
  cpu::rescaled_product(r.operand(names().ds).read(), k.read(), out.tile(), made.rows, made.cols, keys, nullptr);
  r.compare(names().dq, out);
}

void replay_store_dkv(Replayer& r) {
  for (const Slot sum : {names().dk, names().dv}) {
    const Version& made = r.made(sum);
    Padded out = sum_or_zero(r, key_sum_before(r.recording(), r.index(), sum), made);
    scale_and_round(r.recording().problem, sum == names().dk ? scale_of(r) : 1.0F, made, out.tile());
    r.compare(sum, out);
  }
  r.compare_written(names().dk, r.recording().outputs.d_k);
  r.compare_written(names().dv, r.recording().outputs.d_v);
}

void replay_store_dq(Replayer& r) {
  const Version& made = r.made(names().dq);
  Padded out = sum_or_zero(r, query_sum_before(r.recording(), r.index(), names().dq), made);
  scale_and_round(r.recording().problem, scale_of(r), made, out.tile());
  r.compare(names().dq, out);
  r.compare_written(names().dq, r.recording().outputs.d_q);
}

}  // namespace attn::orders::backward
