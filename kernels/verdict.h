// Is an answer right? One rule for every kernel (fp64 reference, same-dtype baseline).
//
//   max|out - ref| <= 2 max|baseline - ref| + 2 max|((ref + 0.3) - 0.3 in the dtype) - ref| + 4 * 2^-23 * max|V|
//   |LSE - ref| <= c * max(1, max|S|),  c = 1e-5 for f32, 1e-3 for 16-bit types
//
// The first two terms are the rule of Dao-AILab's tests; the last covers D = 1, where the baseline is exact.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/problem.h"
#include "kernels/result.h"

namespace attn {

// One query row of one head.
struct RowId {
  std::int64_t b = 0, h = 0, r = 0;
  bool operator==(const RowId&) const = default;
};

// The definition in fp64 on the inputs as stored, for the given rows. Dv numbers and one LSE a row.
struct ReferenceRows {
  std::vector<RowId> rows;
  std::vector<double> out;       // rows x Dv
  std::vector<double> lse;       // rows
  std::vector<double> baseline;  // rows x Dv: the same mathematics in the dtype (products and sums in fp32,
                                 // index order; P rounded to the dtype before PV; result rounded to the dtype)
  double max_abs_score = 0;      // over visible, finite scores of these rows
  double max_abs_v = 0;          // over finite V
};

// Which rows a verdict looks at: all of them up to `most_pairs` query-key pairs, else in every sampled head
// at least 64 rows: first, last, tile edges and evenly spaced others. `full` takes all.
struct RowSample {
  std::vector<RowId> rows;
  bool all = true;
  std::string words;  // "all 16384 rows" or "66 of 4096 rows in each of 8 of 16 heads"
};
RowSample choose_rows(const Problem& p, bool full);

Result<ReferenceRows> reference_rows(const Problem& p, const Inputs& in, const std::vector<RowId>& rows,
                                     std::int32_t threads, std::stop_token stop);

struct Verdict {
  bool pass = false;
  double error = 0;        // max|out - ref|
  double allowed = 0;      // the right side of the rule
  double lse_error = 0;
  double lse_allowed = 0;
  std::string sample;      // which rows were looked at
  std::string reason;      // empty when it passes; else what differed, where (b, h, row, column) and by how much
};

// Non-finite rows: a row whose reference is NaN must be NaN, a row with no visible key must be 0 with LSE -inf.
// A non-finite V may reach rows that share its tile: such rows are not judged (`unjudged_from_v` says so).
Verdict judge(const Problem& p, const Inputs& in, const ReferenceRows& ref, const Outputs& out,
              const RowSample& sample);

}  // namespace attn
