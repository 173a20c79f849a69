#include "kernels/judge/verdict.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"
#include "kernels/model/problem/validate.h"

namespace attn {
namespace {

constexpr std::int64_t kRowsOfHead = 64;   // least sample of a head
constexpr std::int64_t kEdge = 128;        // a multiple of every usual query tile
constexpr std::int64_t kEdgesOfHead = 16;  // at most so many edges are looked at

// `count` numbers of 0 .. n - 1, evenly spaced, first and last among them.
std::vector<std::int64_t> spread(std::int64_t n, std::int64_t count) {
  std::vector<std::int64_t> chosen;
  if (count >= n) count = n;
  for (std::int64_t k = 0; k < count; ++k) {
    // n * k / count without leaving 63 bits: n may be near 2^61.
    const auto at = static_cast<__int128>(n - 1) * k / std::max<std::int64_t>(1, count - 1);
    chosen.push_back(static_cast<std::int64_t>(at));
  }
  return chosen;
}

}  // namespace

double rounding_of(DType t, double ref) {
  const double third = round_to(t, 0.3);
  return std::fabs(round_to(t, round_to(t, round_to(t, ref) + third) - third) - ref);
}

double lse_allowed(DType t, double max_abs_score) {
  return (t == DType::f32 ? 1e-5 : 1e-3) * std::max(1.0, max_abs_score);
}

std::vector<std::int64_t> sampled_rows(std::int64_t Lq) {
  std::vector<std::int64_t> rows = spread(Lq, kRowsOfHead);
  const std::int64_t edges = (Lq - 1) / kEdge;
  for (const std::int64_t n : spread(edges, kEdgesOfHead)) {
    rows.push_back((n + 1) * kEdge - 1);
    rows.push_back((n + 1) * kEdge);
  }
  std::ranges::sort(rows);
  const auto repeated = std::ranges::unique(rows);
  rows.erase(repeated.begin(), repeated.end());
  return rows;
}

namespace {

bool judges_all(const Problem& p) {
  const double pairs = static_cast<double>(p.B * p.Hq) * static_cast<double>(p.Lq) * static_cast<double>(p.Lk);
  return pairs <= static_cast<double>(kMaxPairs);
}

std::string place_words(const RowId& id) {
  return phrase("(b {}, h {}, row {})", id.b, id.h, id.r);
}

// How one number stands to its reference.
enum class Match : std::uint8_t { finite, same_kind, wrong_kind };

// NaN must be NaN, -inf must be -inf; an infinite reference (V's) may also be met by NaN, since inf * 0 or inf - inf
// stands on the way in an order that rescales.
Match match_of(double got, double reference) {
  if (std::isfinite(reference)) return std::isfinite(got) ? Match::finite : Match::wrong_kind;
  if (std::isnan(reference)) return std::isnan(got) ? Match::same_kind : Match::wrong_kind;
  return std::isnan(got) || got == reference ? Match::same_kind : Match::wrong_kind;
}

// What is known of one output while its elements pass by.
struct Seen {
  OutputVerdict judgement;
  std::string worst, wrong_kind;
  double beyond = 0;  // the error of what is of another kind than its reference: infinite, or NaN

  void note_error(double error, std::string_view what, double got, double ref) {
    if (error <= judgement.error && !worst.empty()) return;
    judgement.error = error;
    worst = phrase("{} is {:.9g}, the reference {:.9g}", what, got, ref);
  }

  void note_wrong_kind(double got, double ref) {
    if (std::isnan(got) || std::isnan(ref)) {
      beyond = std::numeric_limits<double>::quiet_NaN();
    } else if (beyond == 0) {
      beyond = HUGE_VAL;
    }
  }

  OutputVerdict judged() const {
    OutputVerdict j = judgement;
    if (!wrong_kind.empty()) {
      j.error = beyond;
      j.reason = wrong_kind;
    } else if (!j.within()) {
      j.reason = phrase("{}: off by {:.3g}, allowed {:.3g}", worst, j.error, j.allowed);
    }
    return j;
  }
};

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
      v.reason = phrase("not judged: O may be off by {:.3g}, and no two means of V differ by more than {:.3g}",
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
    const std::int64_t flat_row = (id.b * p_.Hq + id.h) * p_.Lq + id.r;
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
    const auto what = [&] { return phrase("O {} column {}", place_words(id), d); };
    switch (match_of(got, ref)) {
      case Match::same_kind:
        return;
      case Match::wrong_kind:
        note_wrong_kind(seen_o_, what, got, ref);
        return;
      case Match::finite:
        break;
    }
    baseline_error_ = std::max(baseline_error_, std::fabs(baseline - ref));
    rounding_ = std::max(rounding_, rounding_of(p_.dtype, ref));
    const double error = std::fabs(got - ref);
    if (error > seen_o_.judgement.error || seen_o_.worst.empty()) seen_o_.note_error(error, what(), got, ref);
  }

  void look_at_lse(const RowId& id, double got, double ref) {
    const auto what = [&] { return "LSE " + place_words(id); };
    switch (match_of(got, ref)) {
      case Match::same_kind:
        return;
      case Match::wrong_kind:
        note_wrong_kind(seen_lse_, what, got, ref);
        return;
      case Match::finite:
        break;
    }
    const double error = std::fabs(got - ref);
    if (error > seen_lse_.judgement.error || seen_lse_.worst.empty()) seen_lse_.note_error(error, what(), got, ref);
  }

  template <class What>
  void note_wrong_kind(Seen& seen, const What& what, double got, double ref) {
    seen.note_wrong_kind(got, ref);
    if (!seen.wrong_kind.empty()) return;
    // The sign of a NaN says nothing.
    seen.wrong_kind = phrase("{} is {}, the reference {}", what(), std::isnan(got) ? std::fabs(got) : got, ref);
    if (first_wrong_kind_.empty()) first_wrong_kind_ = seen.wrong_kind;
  }

  const Problem& p_;
  const ReferenceRows& ref_;
  const Array& out_;
  const Array* lse_;
  Seen seen_o_, seen_lse_;
  double baseline_error_ = 0, rounding_ = 0;
  std::string first_wrong_kind_;
};

// The output that `error` and `allowed` speak of; null where there is none.
const OutputVerdict* headline(const Verdict& v) {
  const auto share = [](const OutputVerdict& j) {
    if (!std::isfinite(j.error)) return HUGE_VAL;
    return j.allowed > 0 ? j.error / j.allowed : j.within() ? 0 : HUGE_VAL;
  };
  const OutputVerdict* worst = nullptr;
  for (const OutputVerdict& j : v.outputs) {
    if (j.tensor == Tensor::lse || j.tensor == Tensor::delta) continue;
    if (worst == nullptr || share(j) > share(*worst)) worst = &j;
  }
  return worst;
}

std::string shape_words(const std::vector<std::int64_t>& shape) {
  std::string words;
  for (const std::int64_t extent : shape) words += (words.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + words + "]";
}

Result<void> fitting(const Problem& p, const Inputs& in, const Array& out) {
  if (auto fits = validate(p, in); !fits) return fits;
  const std::vector<std::int64_t> shape{p.B, p.Hq, p.Lq, p.Dv};
  if (out.shape() == shape && out.dtype() == p.dtype) return ok();
  return bad_input(phrase("O is {} {}, the problem asks for {} {}", name_of(out.dtype()), shape_words(out.shape()),
                          name_of(p.dtype), shape_words(shape)));
}

Verdict refused(std::string reason, const RowSample& sample) {
  Verdict v;
  v.sample = sample.words;
  v.reason = std::move(reason);
  return v;
}

}  // namespace

Outcome outcome_of(const Verdict& v) {
  return v.pass ? Outcome::pass : v.not_judged ? Outcome::not_judged : Outcome::wrong;
}

std::string_view name_of(Outcome o) {
  constexpr std::string_view kNames[] = {"pass", "wrong", "not judged"};
  return kNames[static_cast<std::size_t>(o)];
}

const OutputVerdict* Verdict::of(Tensor t) const {
  const auto at = std::ranges::find(outputs, t, &OutputVerdict::tensor);
  return at == outputs.end() ? nullptr : &*at;
}

OutputVerdict& Verdict::at(Tensor t) {
  const auto place = std::ranges::lower_bound(outputs, t, {}, &OutputVerdict::tensor);
  if (place != outputs.end() && place->tensor == t) return *place;
  OutputVerdict j;
  j.tensor = t;
  return *outputs.insert(place, std::move(j));
}

double Verdict::error() const {
  const OutputVerdict* j = headline(*this);
  return j == nullptr ? 0 : j->error;
}

double Verdict::allowed() const {
  const OutputVerdict* j = headline(*this);
  return j == nullptr ? 0 : j->allowed;
}

double Verdict::lse_error() const {
  const OutputVerdict* j = of(Tensor::lse);
  return j == nullptr ? 0 : j->error;
}

double Verdict::lse_allowed() const {
  const OutputVerdict* j = of(Tensor::lse);
  return j == nullptr ? 0 : j->allowed;
}

std::int64_t Verdict::judged() const {
  std::int64_t sum = 0;
  for (const OutputVerdict& j : outputs) sum += j.judged;
  return sum;
}

std::string unjudged_words(const Verdict& v) {
  std::vector<std::string> parts;
  for (const OutputVerdict& j : v.outputs) {
    const std::string_view name = words_of(j.tensor);
    if (j.unjudged.from_v > 0) {
      const bool gradient = j.tensor != Tensor::o;
      parts.push_back(gradient ? phrase("{} elements of {}, which a number that is not finite may or may not reach",
                                        j.unjudged.from_v, name)
                               : phrase("{} elements of {}, which a V that is not finite may or may not reach",
                                        j.unjudged.from_v, name));
    }
    if (j.unjudged.overflow > 0) {
      parts.push_back(phrase("{} elements of {}, which the dtype cannot hold", j.unjudged.overflow, name));
    }
    if (j.unjudged.beyond_fp32 > 0) {
      parts.push_back(phrase("{} {}, whose scores fp32 cannot hold", j.unjudged.beyond_fp32, name));
    }
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::int64_t rows_to_judge(const Problem& p, bool full) {
  const std::int64_t heads = p.B * p.Hq;
  if (full || judges_all(p)) return heads * p.Lq;
  return std::min(heads, kMaxHeads) * static_cast<std::int64_t>(sampled_rows(p.Lq).size());
}

namespace {

// Of a forward few rows of a head are computed; of a backward all of them, for a key's gradient is a sum over them.
std::int64_t heads_to_judge(const Problem& p, std::int64_t rows_of_head) {
  if (p.pass == Pass::forward) return std::clamp<std::int64_t>(2 * kMaxPairs / (rows_of_head * p.Lk), 1, kMaxHeads);
  const std::int64_t group = p.Hq / p.Hkv;  // whole: Hkv divides Hq
  const double pairs = static_cast<double>(group) * static_cast<double>(p.Lq) * static_cast<double>(p.Lk);
  return static_cast<std::int64_t>(std::clamp(16.0 * static_cast<double>(kMaxPairs) / pairs, 1.0, double{kMaxHeads}));
}

}  // namespace

RowSample choose_rows(const Problem& p, bool full) {
  RowSample sample;
  const std::int64_t heads = p.B * p.Hq;
  const auto add = [&](std::int64_t head, std::int64_t r) { sample.rows.push_back({head / p.Hq, head % p.Hq, r}); };
  if (full || judges_all(p)) {
    for (std::int64_t head = 0; head < heads; ++head) {
      for (std::int64_t r = 0; r < p.Lq; ++r) add(head, r);
    }
    sample.words = phrase("all {} rows", sample.rows.size());
    return sample;
  }
  const std::vector<std::int64_t> rows = sampled_rows(p.Lq);
  const std::int64_t max = heads_to_judge(p, static_cast<std::int64_t>(rows.size()));
  const std::vector<std::int64_t> chosen = max == 1 ? std::vector<std::int64_t>{heads - 1} : spread(heads, max);
  for (const std::int64_t head : chosen) {
    for (const std::int64_t r : rows) add(head, r);
  }
  sample.all = static_cast<std::int64_t>(sample.rows.size()) == heads * p.Lq;
  sample.words = sample.all ? phrase("all {} rows", sample.rows.size())
                            : phrase("{} of {} rows in {} of {} heads", rows.size(), p.Lq, chosen.size(), heads);
  if (p.pass == Pass::backward && !sample.all)
    sample.words = phrase("{} of {} rows and {} of {} keys in {} of {} heads", rows.size(), p.Lq,
                          sampled_rows(p.Lk).size(), p.Lk, chosen.size(), heads);
  return sample;
}

Verdict judge(const Problem& p, const Inputs& in, const ReferenceRows& ref, const Outputs& out,
              const RowSample& sample) {
  if (p.pass == Pass::backward) {
    if (const auto fits = validate(p, in); !fits) return refused(fits.error().message, sample);
    return judge_gradients(p, in, ref, out, sample);
  }
  if (const auto fits = fitting(p, in, out.out); !fits) return refused(fits.error().message, sample);
  const std::vector<std::int64_t> lse_shape{p.B, p.Hq, p.Lq};
  if (out.lse.shape() != lse_shape || out.lse.dtype() != DType::f32) {
    return refused(phrase("LSE is {} {}, the problem asks for f32 {}", name_of(out.lse.dtype()),
                          shape_words(out.lse.shape()), shape_words(lse_shape)),
                   sample);
  }
  return Judge(p, ref, out.out, &out.lse).verdict(sample);
}

Verdict judge_without_lse(const Problem& p, const Inputs& in, const ReferenceRows& ref, const Array& out,
                          const RowSample& sample) {
  if (const auto fits = fitting(p, in, out); !fits) return refused(fits.error().message, sample);
  return Judge(p, ref, out, nullptr).verdict(sample);
}

}  // namespace attn
