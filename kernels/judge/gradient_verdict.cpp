// The rule of kernels/judge/gradients.h, output by output.
#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/judge/gradients.h"
#include "kernels/judge/seen_output.h"

namespace attn {

std::uint64_t gradient_bytes_by(std::int32_t workers, const Problem& p, bool full) {
  const auto rows = static_cast<double>(rows_to_judge(p, full));
  const bool all = rows_to_judge(p, full) == p.B * p.Hq * p.Lq;
  const std::int64_t heads_of_a_key = p.Hq / p.Hkv;  // whole: Hkv divides Hq
  const auto group = static_cast<double>(heads_of_a_key);
  const double heads = std::min(static_cast<double>(p.B * p.Hkv), std::ceil(rows / 64));
  const double keys = heads * static_cast<double>(all ? p.Lk : std::ssize(sampled_rows(p.Lk)));
  const auto D = static_cast<double>(p.D), Dv = static_cast<double>(p.Dv), Lk = static_cast<double>(p.Lk);
  const double of_heads = heads * group * static_cast<double>(p.Lq) * (2 * sizeof(RowId) + 40);
  const double of_parts = 16 * (rows * (D + 8) + keys * (D + Dv + 4));
  // Of 64 rows or keys at once: scores, weights and their gradients in both precisions, K or V of the keys.
  const double of_worker = 8 * 64 * Lk * 3 + 8 * Lk * (D + Dv) + 32 * 64 * (D + Dv);
  const double bytes = of_heads + of_parts + static_cast<double>(workers) * of_worker;
  return bytes < 0x1p62 ? static_cast<std::uint64_t>(bytes) : std::uint64_t{1} << 62;
}

namespace {

// One output while its elements pass by.
class Part {
 public:
  Part(const Problem& p, Tensor tensor, const GradientPart* by) : p_(p), by_(by) { seen_.judgement.tensor = tensor; }

  void left_out(Left why) {
    auto& unjudged = seen_.judgement.unjudged;
    ++(why == Left::not_finite ? unjudged.from_v : unjudged.beyond_fp32);
  }

  // `where()`: "dQ (b 0, h 0, row 3) column 2".
  template <class Where>
  void look(std::size_t n, double got, const Where& where) {
    const double ref = by_->exact[n], baseline = by_->baseline[n];
    if (!std::isfinite(baseline)) {
      ++seen_.judgement.unjudged.overflow;
      return;
    }
    baseline_error_ = std::max(baseline_error_, std::fabs(baseline - ref));
    if (seen_.judgement.tensor != Tensor::delta) rounding_ = std::max(rounding_, rounding_of(p_.dtype, ref));
    look_at(got, ref, where);
  }
  template <class Where>
  void look_at(double got, double ref, const Where& where) {
    ++seen_.judgement.judged;
    const bool alike = got == ref || (std::isfinite(got) && std::isfinite(ref));  // both -inf, too
    alike ? seen_.note_error(where, got, ref) : seen_.note_wrong_kind(where, got, ref);
  }

  OutputVerdict judged(double max_abs_score) {
    const double A = by_->size;
    rounding_ = std::max(rounding_, by_->rounding);
    return judged_by(6 * baseline_error_ + 6 * rounding_ + 4 * 0x1p-23 * A + 2 * 0x1p-24 * max_abs_score * A);
  }
  OutputVerdict judged_by(double allowed) {
    seen_.judgement.allowed = allowed;
    return seen_.judged();
  }

 private:
  const Problem& p_;
  const GradientPart* by_;
  SeenOutput seen_;
  double baseline_error_ = 0, rounding_ = 0;
};

std::string place_words(const KeyId& id) {
  return phrase("(b {}, h {}, key {})", id.b, id.h, id.c);
}

// A tensor with so many columns, of chosen rows or keys.
template <class Id, class RowOf>
OutputVerdict judge_rows(const Problem& p, Tensor tensor, const GradientPart& by, const Array& got,
                         const std::vector<Id>& ids, const std::vector<Left>& left, double max_abs_score,
                         const RowOf& row_of) {
  Part part(p, tensor, &by);
  const std::size_t columns = ids.empty() ? 0 : by.exact.size() / ids.size();
  for (std::size_t n = 0; n < ids.size(); ++n) {
    for (std::size_t d = 0; d < columns; ++d) {
      if (left[n] != Left::judged) {
        part.left_out(left[n]);
        continue;
      }
      const std::int64_t at = row_of(ids[n]) * static_cast<std::int64_t>(columns) + static_cast<std::int64_t>(d);
      part.look(n * columns + d, static_cast<double>(got.get(at)), [&] {
        const std::string where = fmt::format("{} {}", words_of(tensor), place_words(ids[n]));
        return columns == 1 ? where : phrase("{} column {}", where, d);
      });
    }
  }
  return part.judged(max_abs_score);
}

OutputVerdict judge_lse(const Problem& p, const Inputs& in, const ReferenceRows& ref) {
  Part part(p, Tensor::lse, nullptr);
  for (std::size_t n = 0; n < ref.rows.size(); ++n) {
    if (ref.gradients->of_rows[n] != Left::judged) {
      part.left_out(ref.gradients->of_rows[n]);
      continue;
    }
    part.look_at(static_cast<double>(in.lse->get(query_row(p, ref.rows[n]))), ref.lse[n],
                 [&] { return "LSE " + place_words(ref.rows[n]); });
  }
  return part.judged_by(lse_allowed(p.dtype, ref.max_abs_score));
}

// Empty: its gradients have the problem's shapes and dtypes.
std::string misshapen(const Problem& p, const Outputs& out) {
  const ByTensor<const Array*> arrays = arrays_of(out);
  for (const TensorSpec& spec : tensors_of(p)) {
    if (spec.role != Role::out) continue;
    const Array& a = *arrays[spec.tensor];
    if (a.shape() == spec.shape && element_type_of(a.dtype()) == spec.type) continue;
    return phrase("{} is {} [{}], but the problem needs {} [{}]", words_of(spec.tensor), name_of(a.dtype()),
                  fmt::join(a.shape(), ", "), name_of(spec.type), fmt::join(spec.shape, ", "));
  }
  return {};
}

}  // namespace

Verdict judge_gradients(const Problem& p, const Inputs& in, const ReferenceRows& ref, const Outputs& out,
                        const RowSample& sample, bool given_lse) {
  Verdict v;
  v.sample = sample.words;
  v.reason = misshapen(p, out);
  if (v.reason.empty() && ref.gradients == nullptr) v.reason = tr("The reference does not belong to a backward pass.");
  if (!v.reason.empty()) return v;
  const GradientRows& by = *ref.gradients;
  const auto of_query = [&](const RowId& id) { return query_row(p, id); };
  const auto of_key = [&](const KeyId& id) { return key_row(p, id.b, id.h, id.c); };
  const double most = ref.max_abs_score;
  if (given_lse) v.outputs.push_back(judge_lse(p, in, ref));
  if (!out.delta.empty())
    v.outputs.push_back(judge_rows(p, Tensor::delta, by.delta, out.delta, ref.rows, by.of_rows, most, of_query));
  v.outputs.push_back(judge_rows(p, Tensor::d_q, by.d_q, out.d_q, ref.rows, by.of_rows, most, of_query));
  v.outputs.push_back(judge_rows(p, Tensor::d_k, by.d_k, out.d_k, by.keys, by.of_keys, most, of_key));
  v.outputs.push_back(judge_rows(p, Tensor::d_v, by.d_v, out.d_v, by.keys, by.of_keys, most, of_key));
  for (const OutputVerdict& j : v.outputs)
    if (v.reason.empty()) v.reason = j.reason;
  v.not_judged = v.judged() == 0 && v.reason.empty();
  v.pass = v.reason.empty() && !v.not_judged;
  if (v.not_judged) v.reason = "not judged: " + unjudged_words(v);
  return v;
}

}  // namespace attn
