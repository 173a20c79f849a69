#include "kernels/judge/verdict.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"

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
double unit_roundoff(DType t) {
  return t == DType::f16 ? 0x1p-11 : t == DType::bf16 ? 0x1p-8 : 0x1p-24;
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
      parts.push_back(
          gradient
              ? phrase("{} elements of {}, which a non-finite number may or may not reach", j.unjudged.from_v, name)
              : phrase("{} elements of {}, which a non-finite V may or may not reach", j.unjudged.from_v, name));
    }
    if (j.unjudged.overflow > 0) {
      parts.push_back(phrase("{} elements of {}, which are outside the range of the dtype", j.unjudged.overflow, name));
    }
    if (j.unjudged.beyond_fp32 > 0) {
      parts.push_back(phrase("{} {}, whose scores are outside the range of fp32", j.unjudged.beyond_fp32, name));
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
  if (!makes_gradients(p.pass)) return std::clamp<std::int64_t>(2 * kMaxPairs / (rows_of_head * p.Lk), 1, kMaxHeads);
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
  if (makes_gradients(p.pass) && !sample.all)
    sample.words = phrase("{} of {} rows and {} of {} keys in {} of {} heads", rows.size(), p.Lq,
                          sampled_rows(p.Lk).size(), p.Lk, chosen.size(), heads);
  return sample;
}

}  // namespace attn
