#include "kernels/museum/run_verdict.h"

namespace attn {

Result<Verdict> verdict_of(const Recording& rec, const Stop& stop) {
  const RowSample sample = choose_rows(rec.problem, true);
  const auto reference = reference_rows_by(in_turn, rec.problem, rec.inputs, sample.rows, stop);
  if (!reference) return tl::unexpected(reference.error());
  return judge(rec.problem, rec.inputs, *reference, rec.outputs, sample);
}

}  // namespace attn
