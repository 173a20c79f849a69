// The rule of kernels/judge/verdict.h for a forward: O and LSE; and for a training step, which has both passes'.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/text.h"
#include "kernels/judge/gradients.h"
#include "kernels/judge/seen_output.h"
#include "kernels/model/problem/validate.h"

namespace attn {
namespace {

// How one number stands to its reference.
enum class Match : std::uint8_t { finite, same_kind, wrong_kind };

// NaN must be NaN, -inf must be -inf; an infinite reference (V's) may also be met by NaN, since inf * 0 or inf - inf
// stands on the way in an order that rescales.
Match match_of(double got, double reference) {
  if (std::isfinite(reference)) return std::isfinite(got) ? Match::finite : Match::wrong_kind;
  if (std::isnan(reference)) return std::isnan(got) ? Match::same_kind : Match::wrong_kind;
  return std::isnan(got) || got == reference ? Match::same_kind : Match::wrong_kind;
}

// Collects what the rule speaks of while the elements pass by.
class Judge {
 public:
  // `lse` null: the answer came without.
  Judge(const Problem& p, const ReferenceRows& ref, const Array& out, const Array* lse)
      : p_(p), ref_(ref), out_(out), lse_(lse) {
    seen_lse_.judgement.tensor = Tensor::lse;
  }

  Verdict verdict(const RowSample& sample) {
    for (std::size_t n = 0; n < ref_.rows.size(); ++n) look_at_row(n);
    seen_o_.judgement.allowed = 2 * baseline_error_ + 2 * rounding_ + 4 * 0x1p-23 * ref_.max_abs_v +
                                2 * 0x1p-24 * ref_.max_abs_score * ref_.max_abs_v;
    Verdict v;
    v.sample = sample.words;
    v.outputs.push_back(seen_o_.judged());
    if (lse_ != nullptr) {
      seen_lse_.judgement.allowed = lse_allowed(p_.dtype, ref_.max_abs_score);
      v.outputs.push_back(seen_lse_.judged());
    }
    v.reason = first_wrong_kind_;
    for (const OutputVerdict& j : v.outputs) {
      if (v.reason.empty()) v.reason = j.reason;
    }
    v.not_judged = v.judged() == 0 && v.reason.empty();
    if (v.not_judged) v.reason = "not judged: " + unjudged_words(v);
    if (v.reason.empty() && allows_anything()) {
      v.not_judged = true;
      v.reason = phrase("not judged: O may be off by {:.3g}, but weighted means of V differ by at most {:.3g}",
                        seen_o_.judgement.allowed, 2 * ref_.max_abs_v);
    }
    v.pass = v.reason.empty();
    return v;
  }

 private:
  // O is a mean of V's rows. Where the rule allows more than two such means differ by, zeros would pass.
  bool allows_anything() const {
    return seen_o_.judgement.judged > 0 && seen_o_.judgement.allowed > 2 * ref_.max_abs_v;
  }

  void look_at_row(std::size_t n) {
    const RowId& id = ref_.rows[n];
    const std::int64_t flat_row = query_row(p_, id);
    OutputVerdict &o = seen_o_.judgement, &lse = seen_lse_.judgement;
    for (std::int64_t d = 0; d < p_.Dv; ++d) {
      const std::size_t element = n * static_cast<std::size_t>(p_.Dv) + static_cast<std::size_t>(d);
      const double ref = ref_.out[element];
      if (!ref_.unjudged.empty() && ref_.unjudged[element] != 0) {
        ++o.unjudged.from_v;
      } else if (std::isfinite(ref) && !std::isfinite(ref_.baseline[element])) {
        ++o.unjudged.overflow;
      } else {
        ++o.judged;
        look_at(id, d, static_cast<double>(out_.get(flat_row * p_.Dv + d)), ref, ref_.baseline[element]);
      }
    }
    if (lse_ == nullptr) return;
    if (ref_.beyond_fp32[n] != 0) {
      ++lse.unjudged.beyond_fp32;
    } else {
      ++lse.judged;
      look_at_lse(id, static_cast<double>(lse_->get(flat_row)), ref_.lse[n]);
    }
  }

  void look_at(const RowId& id, std::int64_t d, double got, double ref, double baseline) {
    if (!note(
            seen_o_, [&] { return phrase("O {} column {}", place_words(id), d); }, got, ref))
      return;
    baseline_error_ = std::max(baseline_error_, std::fabs(baseline - ref));
    rounding_ = std::max(rounding_, rounding_of(p_.dtype, ref));
  }

  void look_at_lse(const RowId& id, double got, double ref) {
    note(
        seen_lse_, [&] { return "LSE " + place_words(id); }, got, ref);
  }

  // Whether both are finite.
  template <class What>
  bool note(SeenOutput& seen, const What& what, double got, double ref) {
    switch (match_of(got, ref)) {
      case Match::same_kind:
        return false;
      case Match::wrong_kind:
        seen.note_wrong_kind(what, got, ref);
        if (first_wrong_kind_.empty()) first_wrong_kind_ = seen.wrong_kind;
        return false;
      case Match::finite:
        break;
    }
    seen.note_error(what, got, ref);
    return true;
  }

  const Problem& p_;
  const ReferenceRows& ref_;
  const Array& out_;
  const Array* lse_;
  SeenOutput seen_o_, seen_lse_;
  double baseline_error_ = 0, rounding_ = 0;
  std::string first_wrong_kind_;
};

std::string shape_words(const std::vector<std::int64_t>& shape) {
  std::string words;
  for (const std::int64_t extent : shape) words += (words.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + words + "]";
}

Result<void> fitting(const Problem& p, const Inputs& in, const Array& out) {
  if (auto fits = validate(p, in); !fits) return fits;
  const std::vector<std::int64_t> shape{p.B, p.Hq, p.Lq, p.Dv};
  if (out.shape() == shape && out.dtype() == p.output_dtype()) return ok();
  return bad_input(phrase("O is {} {}, but the problem needs {} {}", name_of(out.dtype()), shape_words(out.shape()),
                          name_of(p.output_dtype()), shape_words(shape)));
}

Verdict refused(std::string reason, const RowSample& sample) {
  Verdict v;
  v.sample = sample.words;
  v.reason = std::move(reason);
  return v;
}

}  // namespace

namespace {

// Both have to pass; where one is wrong, the step is.
Verdict judge_training(const Problem& p, const Inputs& in, const ReferenceRows& ref, const Outputs& out,
                       const RowSample& sample, bool with_lse) {
  if (const auto fits = validate(p, in); !fits) return refused(fits.error().message, sample);
  if (ref.backward == nullptr) return refused(tr("This reference is not for a training step."), sample);
  const Problem forward = with_pass(p, Pass::forward);
  Verdict all = (with_lse ? judge : judge_without_lse)(forward, in, ref, out, sample);
  Verdict backward = judge_gradients(with_pass(p, Pass::backward), in, *ref.backward, out, sample, false);
  const bool wrong = outcome_of(all) == Outcome::wrong;
  if (all.pass || (!wrong && outcome_of(backward) == Outcome::wrong)) all.reason = backward.reason;
  all.not_judged = !wrong && outcome_of(backward) != Outcome::wrong && (all.not_judged || backward.not_judged);
  all.pass = all.pass && backward.pass;
  for (OutputVerdict& j : backward.outputs) all.outputs.push_back(std::move(j));
  return all;
}

}  // namespace

Verdict judge(const Problem& p, const Inputs& in, const ReferenceRows& ref, const Outputs& out,
              const RowSample& sample) {
  if (p.pass == Pass::backward) {
    if (const auto fits = validate(p, in); !fits) return refused(fits.error().message, sample);
    return judge_gradients(p, in, ref, out, sample);
  }
  if (p.pass == Pass::training) return judge_training(p, in, ref, out, sample, true);
  if (const auto fits = fitting(p, in, out.out); !fits) return refused(fits.error().message, sample);
  const std::vector<std::int64_t> lse_shape{p.B, p.Hq, p.Lq};
  if (out.lse.shape() != lse_shape || out.lse.dtype() != DType::f32) {
    return refused(phrase("LSE is {} {}, but the problem needs f32 {}", name_of(out.lse.dtype()),
                          shape_words(out.lse.shape()), shape_words(lse_shape)),
                   sample);
  }
  return Judge(p, ref, out.out, &out.lse).verdict(sample);
}

Verdict judge_without_lse(const Problem& p, const Inputs& in, const ReferenceRows& ref, const Outputs& out,
                          const RowSample& sample) {
  if (p.pass == Pass::backward) {
    if (const auto fits = validate(p, in); !fits) return refused(fits.error().message, sample);
    return judge_gradients(p, in, ref, out, sample, false);
  }
  if (p.pass == Pass::training) return judge_training(p, in, ref, out, sample, false);
  if (const auto fits = fitting(p, in, out.out); !fits) return refused(fits.error().message, sample);
  return Judge(p, ref, out.out, nullptr).verdict(sample);
}

}  // namespace attn
