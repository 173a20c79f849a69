// Is an answer right? One rule for every kernel (fp64 reference, same-dtype baseline).
//
//   max|out - ref| <= 2 max|baseline - ref| + 2 max|((ref + 0.3) - 0.3 in the dtype) - ref| + 4 * 2^-23 * max|V|
//                     + 2 * 2^-24 * max|S| * max|V|
//   |LSE - ref| <= c * max(1, max|S|),  c = 1e-5 for f32, 1e-3 for 16-bit types
//
// The first two terms are the rule of Dao-AILab's tests; the third covers D = 1, where the baseline is exact. The last
// is for scores in the hundreds: rounding S to fp32 alone, to 2^-24 |S|, changes P by that factor, and whether the
// baseline happens to round the other way is luck.
//
// What is not finite:
//   a key that the mask hides, whose bias is -inf or whose score is -inf carries no weight, whatever K and V hold there
//   a row with no key of any weight has O = 0 and LSE = -inf
//   a visible score that is NaN or +inf makes its row NaN, LSE too
//   a value of V that is not finite reaches its own column of O. Where its key's weight is large enough to be a number
//   in every dtype of the computation (min_weight), O there must not be finite. Where it is less, or where the mask
//   hides the key, 0 * inf may or may not be computed by a kernel that shares the key's tile: such elements are not
//   judged, for all rows of that (batch, key/value head), and the verdict counts them
//   where the baseline itself overflows and the reference does not, the dtype cannot hold the answer: not judged
//     either.
//   The row's LSE is judged all the same, unless one of its visible scores is itself beyond fp32
//
// A verdict that judged nothing at all neither passes nor fails; nor does an answer that would pass where O may be off
// by more than 2 max|V|, which is as far as two means of V's rows lie apart: there zeros would pass as well.
//
// A backward's gradients have the same rule with its factors tripled, each its own (gradients.h). Of a training step O
// and LSE have the forward's rule and the gradients the backward's: what the backward read of O and LSE is its own.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/pieces.h"
#include "kernels/base/result.h"
#include "kernels/base/stop.h"
#include "kernels/model/problem/problem.h"
#include "kernels/model/problem/tensors.h"

namespace attn {

// One query row of one head.
struct RowId {
  std::int64_t b = 0, h = 0, r = 0;
  bool operator==(const RowId&) const = default;
};

// The weight from which a V that is not finite must show in O: the least normal number of f16; for the others a weight
// that fp32 holds with room.
constexpr double min_weight(DType t) {
  return t == DType::f16 ? 0x1p-14 : 0x1p-100;
}

struct GradientRows;  // kernels/judge/gradients.h

// The definition in fp64 on the inputs as stored, for the given rows. Dv numbers and one LSE a row.
struct ReferenceRows {
  std::vector<RowId> rows;
  std::vector<double> out;                // rows x Dv
  std::vector<double> lse;                // rows
  std::vector<double> baseline;           // rows x Dv: the same mathematics in the dtype (products and sums in fp32,
                                          // index order; P rounded to the dtype before PV; result rounded to the dtype)
  std::vector<std::uint8_t> unjudged;     // rows x Dv: 1 where a non-finite V may or may not show; empty = none
  std::vector<std::uint8_t> beyond_fp32;  // rows: 1 where a visible score is finite, and not in fp32
  double max_abs_score = 0;               // over visible, finite scores of these rows
  double max_abs_v = 0;                   // over finite V
  // Of a backward, whose `out`, `baseline` and `unjudged` are empty.
  std::shared_ptr<const GradientRows> gradients = {};
  // Of a training step: the reference of its backward. All else here is its forward's.
  std::shared_ptr<const ReferenceRows> backward = {};
};

// Which rows a verdict looks at: all of them up to kMaxPairs query-key pairs, else in every sampled head at least 64
// rows (all where it has fewer): first, last, rows beside multiples of 128 and evenly spaced others. Heads: first,
// last and evenly spaced ones, at most kMaxHeads and fewer where the keys are many. `full` takes all. Keys of a
// backward are chosen as its rows are, in the heads of keys that belong to them.
constexpr std::int64_t kMaxPairs = std::int64_t{1} << 22;
constexpr std::int64_t kMaxHeads = 8;
struct RowSample {
  std::vector<RowId> rows;
  bool all = true;
  std::string words;  // "all 16384 rows" or "96 of 4096 rows in 8 of 16 heads"
};
RowSample choose_rows(const Problem& p, bool full);
// Those of a head that is sampled.
std::vector<std::int64_t> sampled_rows(std::int64_t Lq);

// How many rows that is at most, known without listing them.
std::int64_t rows_to_judge(const Problem& p, bool full);
// What choosing them and reference_rows_by() take at most, in bytes; saturates. `workers`: who take pieces at once.
std::uint64_t reference_bytes_by(std::int32_t workers, const Problem& p, bool full);
// Looks at `stop` between blocks of rows, which `take` has taken; cancelled is an error of its own kind.
Result<ReferenceRows> reference_rows_by(const TakePieces& take, const Problem& p, const Inputs& in,
                                        const std::vector<RowId>& rows, const Stop& stop);
// The same by threads, 0 = as many as there are processors (reference_on_threads.cpp).
std::uint64_t reference_bytes(const Problem& p, bool full, std::int32_t threads);
Result<ReferenceRows> reference_rows(const Problem& p, const Inputs& in, const std::vector<RowId>& rows,
                                     std::int32_t threads, const Stop& stop);

// Elements that the rule was not applied to, and why.
struct Unjudged {
  std::int64_t from_v = 0;       // a V that is not finite may or may not have reached them
  std::int64_t overflow = 0;     // beyond what the dtype can hold
  std::int64_t beyond_fp32 = 0;  // they need a score that fp32 cannot hold
  bool operator==(const Unjudged&) const = default;
};

// One output and its own rule.
struct OutputVerdict {
  Tensor tensor = Tensor::o;
  // max|got - ref|. Infinite or NaN where an element that should be finite is not, or the other way round.
  double error = 0;
  double allowed = 0;       // the right side of the rule
  std::int64_t judged = 0;  // elements that the rule was applied to
  Unjudged unjudged;
  std::string reason;  // empty where it passes; else what differed, where (b, h, row, column) and by how much
  bool within() const { return std::isfinite(error) && error <= allowed; }
  bool operator==(const OutputVerdict&) const = default;
};

struct Verdict {
  bool pass = false;
  std::string sample;  // which rows were looked at
  std::string reason;  // empty when it passes; else that of the first output that does not
  std::vector<OutputVerdict>
      outputs;  // those that were looked at, in the order of Tensor; none: the answer was refused

  // Nothing was judged: `pass` is false, and `reason` says what stood in the way. Such an answer is not wrong.
  bool not_judged = false;

  // Null: it was not looked at.
  const OutputVerdict* of(Tensor t) const;
  // Adds it, empty, where it is missing.
  OutputVerdict& at(Tensor t);
  // Of the output (LSE and delta apart) whose error is the largest share of what it is allowed: O, or the worst
  // gradient. 0 where there is none.
  double error() const;
  double allowed() const;
  double lse_error() const;    // 0 where LSE was not looked at
  double lse_allowed() const;  // the same
  // The answer came without LSE (a peer's).
  bool no_lse() const { return !outputs.empty() && of(Tensor::lse) == nullptr; }
  std::int64_t judged() const;  // of all outputs
};

enum class Outcome : std::uint8_t { pass, wrong, not_judged };
Outcome outcome_of(const Verdict& v);
std::string_view name_of(Outcome o);  // "pass", "wrong", "not judged"

// "", or what was left out: "3 elements of O not judged (a V that is not finite may or may not reach them)".
std::string unjudged_words(const Verdict& v);

// One rule for every kernel: see the top of this file. `allowed` is over the finite elements; an element that should or
// should not be finite and is otherwise makes the verdict fail with a reason.
Verdict judge(const Problem& p, const Inputs& in, const ReferenceRows& ref, const Outputs& out,
              const RowSample& sample);
// The same rule for an answer without LSE: attention of others hands out O or gradients alone.
Verdict judge_without_lse(const Problem& p, const Inputs& in, const ReferenceRows& ref, const Outputs& out,
                          const RowSample& sample);

// ((ref + 0.3) - 0.3 in the dtype) - ref: what the dtype alone costs.
double rounding_of(DType t, double ref);
// How far a number may move when it is rounded to the dtype, as a share of it: u.
double unit_roundoff(DType t);
// What an LSE may be off by, where scores are as large as this.
double lse_allowed(DType t, double max_abs_score);

// The same of a backward, which the functions above hand on to (gradients.h).
std::uint64_t gradient_bytes_by(std::int32_t workers, const Problem& p, bool full);
Result<ReferenceRows> gradient_rows_by(const TakePieces& take, const Problem& p, const Inputs& in,
                                       const std::vector<RowId>& rows, const Stop& stop);
// `given_lse`: the LSE among the inputs was read by who is judged, and is judged too.
Verdict judge_gradients(const Problem& p, const Inputs& in, const ReferenceRows& ref, const Outputs& out,
                        const RowSample& sample, bool given_lse = true);

}  // namespace attn
