// The definition in fp64 on the inputs as stored.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "kernels/judge/plain_attention.h"

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "kernels/model/problem/pages.h"

namespace attn {
namespace {

using plain::Group;
using plain::Scores;

// Scores of a group are kept whole, so its rows are bounded: 2^21 fp64 scores are 16 MiB a thread.
constexpr std::int64_t kScoresAtOnce = std::int64_t{1} << 21;
constexpr std::int64_t kRowsAtOnce = 64;

// What V of one (batch, key/value head) holds.
struct ValueFacts {
  double max_abs = 0;                    // over finite values
  std::vector<std::uint8_t> not_finite;  // by column: 1 where one of its values is not finite; empty = all finite
};
using HeadId = std::pair<std::int64_t, std::int64_t>;  // batch, key/value head

ValueFacts look_at_values(const Problem& p, const Inputs& in, const HeadId& head) {
  ValueFacts facts;
  std::vector<float> row(static_cast<std::size_t>(p.Dv));
  for (std::int64_t c = 0; c < p.Lk; ++c) {
    in.v.read(((head.first * p.Hkv + head.second) * p.Lk + c) * p.Dv, p.Dv, row.data());
    for (std::size_t d = 0; d < row.size(); ++d) {
      if (std::isfinite(row[d])) {
        facts.max_abs = std::max(facts.max_abs, static_cast<double>(std::fabs(row[d])));
      } else {
        facts.not_finite.resize(row.size());
        facts.not_finite[d] = 1;
      }
    }
  }
  return facts;
}

std::int64_t rows_at_once(const Problem& p) {
  return std::clamp<std::int64_t>(kScoresAtOnce / p.Lk, 1, kRowsAtOnce);
}

std::vector<Group> groups_of(const Problem& p, const std::vector<RowId>& rows) {
  const auto max = static_cast<std::size_t>(rows_at_once(p));
  std::vector<Group> groups;
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const std::int64_t kv = rows[n].h / (p.Hq / p.Hkv);
    if (groups.empty() || groups.back().b != rows[n].b || groups.back().kv != kv || groups.back().count == max) {
      groups.push_back({rows[n].b, kv, n, 0, {0, 0}});
    }
    Group& g = groups.back();
    ++g.count;
    const KeyRange seen = plain::seen_keys(p, rows[n].b, rows[n].r);
    if (seen.first >= seen.last) continue;
    const bool none_yet = g.keys.first >= g.keys.last;
    g.keys.first = none_yet ? seen.first : std::min(g.keys.first, seen.first);
    g.keys.last = none_yet ? seen.last : std::max(g.keys.last, seen.last);
  }
  return groups;
}

// One row's softmax: weights exp(s - m) in place.
struct Softmax {
  double m = 0, sum = 0;
};

Softmax weigh(double* s, std::int64_t keys) {
  Softmax row;
  row.m = plain::row_maximum(s, keys);
  if (row.m == -std::numeric_limits<double>::infinity()) {
    std::fill_n(s, keys, 0.0);
    return row;
  }
  for (std::int64_t c = 0; c < keys; ++c) row.sum += s[c] = std::exp(s[c] - row.m);
  return row;
}

double largest_finite(const std::vector<double>& values) {
  double largest = 0;
  for (const double x : values) {
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  }
  return largest;
}

bool any_beyond_fp32(const double* scores, std::int64_t keys) {
  constexpr double kMax = std::numeric_limits<float>::max();
  return std::any_of(scores, scores + keys, [](double s) { return std::isfinite(s) && std::fabs(s) > kMax; });
}

// Column d of V is not finite somewhere: adds what must show in O, and marks what may or may not (verdict.h).
void settle_column(const Problem& p, const Inputs& in, const Group& g, std::int64_t d, Scores<double>& weights,
                   const std::vector<Softmax>& softmax, ReferenceRows& ref) {
  const double min = min_weight(p.dtype);
  std::vector<std::pair<std::int64_t, double>> found;  // key, value
  for (std::int64_t c = g.keys.first; c < g.keys.last; ++c) {
    const float v = in.v.get(((g.b * p.Hkv + g.kv) * p.Lk + c) * p.Dv + d);
    if (!std::isfinite(v)) found.emplace_back(c - g.keys.first, static_cast<double>(v));
  }
  for (std::size_t i = 0; i < g.count; ++i) {
    const std::size_t element = (g.first + i) * static_cast<std::size_t>(p.Dv) + static_cast<std::size_t>(d);
    bool shows = std::isnan(softmax[i].sum);  // the whole row is NaN anyway
    for (const auto& [c, v] : found) {
      const double weight = weights.row(i)[c] / softmax[i].sum;
      if (!(weight >= min)) continue;
      ref.out[element] += weight * v;
      shows = true;
    }
    ref.unjudged[element] = shows ? 0 : 1;
  }
}

// Returns max|S| over the group's finite scores.
double reference_group(const Problem& p, const Inputs& in, const Group& g, const ValueFacts& values,
                       ReferenceRows& ref) {
  Scores<double> s = plain::scores_of<double>(p, in, ref, g);
  const double max_abs_score = largest_finite(s.values);
  std::vector<Softmax> softmax(g.count);
  for (std::size_t i = 0; i < g.count; ++i) {
    ref.beyond_fp32[g.first + i] = any_beyond_fp32(s.row(i), s.keys) ? 1 : 0;
    softmax[i] = weigh(s.row(i), s.keys);
    ref.lse[g.first + i] = softmax[i].m + std::log(softmax[i].sum);  // no key: -inf + ln 0
  }
  const std::vector<double> sums = plain::weighted_values(p, in, g, s);
  for (std::size_t n = 0; n < sums.size(); ++n) {
    const double sum = softmax[n / static_cast<std::size_t>(p.Dv)].sum;
    ref.out[g.first * static_cast<std::size_t>(p.Dv) + n] = sum == 0 ? 0 : sums[n] / sum;
  }
  for (std::size_t d = 0; d < values.not_finite.size(); ++d) {
    if (values.not_finite[d] != 0) settle_column(p, in, g, static_cast<std::int64_t>(d), s, softmax, ref);
  }
  return max_abs_score;
}

}  // namespace

std::uint64_t reference_bytes_by(std::int32_t workers, const Problem& p, bool full) {
  if (p.pass == Pass::backward) return gradient_bytes_by(workers, p, full);
  if (p.pass == Pass::training)
    return saturating_sum(reference_bytes_by(workers, with_pass(p, Pass::forward), full),
                          gradient_bytes_by(workers, p, full));
  const double rows = static_cast<double>(rows_to_judge(p, full));
  const double of_group = static_cast<double>(rows_at_once(p));
  const double groups = std::ceil(rows / of_group) + static_cast<double>(p.B * p.Hq);
  // Each row stands in the sample and in the answer, with an LSE and a mark; a list that grows holds itself twice.
  const double of_rows = rows * (3 * sizeof(RowId) + sizeof(double) + 1) + 2 * groups * sizeof(Group);
  // Reference, baseline and mark of each element.
  const double of_elements = rows * static_cast<double>(p.Dv) * (2 * sizeof(double) + 1);
  // Each worker: the scores in fp64, and again in fp32 with the weights; the sums.
  const double of_worker = of_group * (static_cast<double>(p.Lk) * (sizeof(double) + 2 * sizeof(float)) +
                                       2 * static_cast<double>(p.Dv) * sizeof(double));
  // K and V out of their pages.
  const std::int64_t dense[] = {p.B, p.Hkv, p.Lk, p.D + p.Dv, static_cast<std::int64_t>(size_of(p.dtype))};
  const double of_pages = p.storage.kind() == Storage::paged ? static_cast<double>(saturating_product(dense)) : 0;
  const double bytes = of_pages + of_rows + of_elements + of_worker * std::min<double>(workers, groups);
  return bytes < 0x1p62 ? static_cast<std::uint64_t>(bytes) : std::uint64_t{1} << 62;
}

Result<ReferenceRows> reference_rows_by(const TakePieces& take, const Problem& p, const Inputs& in,
                                        const std::vector<RowId>& rows, const Stop& stop) {
  if (p.pass == Pass::backward) return gradient_rows_by(take, p, in, rows, stop);
  if (p.pass == Pass::training) {
    auto forward = reference_rows_by(take, with_pass(p, Pass::forward), in, rows, stop);
    if (!forward) return forward;
    auto backward = gradient_rows_by(take, with_pass(p, Pass::backward), in, rows, stop);
    if (!backward) return backward;
    forward->backward = std::make_shared<const ReferenceRows>(*std::move(backward));
    return forward;
  }
  if (p.storage.kind() == Storage::paged) {
    if (auto good = check_page_table(p, in.page_table, tr("The inputs")); !good) return tl::unexpected(good.error());
    return reference_rows_by(take, without_pages(p), gathered(p, in), rows, stop);
  }
  const std::vector<Group> groups = groups_of(p, rows);
  std::map<HeadId, ValueFacts> values;
  ReferenceRows ref;
  ref.rows = rows;
  bool all_finite = true;
  for (const Group& g : groups) {
    const HeadId head{g.b, g.kv};
    if (values.contains(head)) continue;
    const ValueFacts& facts = values.emplace(head, look_at_values(p, in, head)).first->second;
    ref.max_abs_v = std::max(ref.max_abs_v, facts.max_abs);
    all_finite = all_finite && facts.not_finite.empty();
  }
  const std::size_t elements = rows.size() * static_cast<std::size_t>(p.Dv);
  ref.out.resize(elements);
  ref.baseline.resize(elements);
  ref.lse.resize(rows.size());
  ref.beyond_fp32.resize(rows.size());
  if (!all_finite) ref.unjudged.resize(elements);

  std::vector<double> max_abs_scores(groups.size());
  take(std::ssize(groups), [&](std::int64_t n) {
    if (stop.stop_requested()) return;
    const Group& g = groups[static_cast<std::size_t>(n)];
    max_abs_scores[static_cast<std::size_t>(n)] = reference_group(p, in, g, values.at({g.b, g.kv}), ref);
    plain::baseline_group(p, in, g, ref);
  });
  for (const double most : max_abs_scores) ref.max_abs_score = std::max(ref.max_abs_score, most);
  if (stop.stop_requested()) return fail(ErrorKind::cancelled, tr("Cancelled while the reference was being computed."));
  return ref;
}

}  // namespace attn
