// Are gradients right? The reference is in fp64 on Q, K, V and dO as stored, whatever O and LSE the kernel was given:
//
//   P = softmax(S),  O = P V,  delta = rowsum(dO * O),  dP = dO V^T,  dS = P (dP - delta) slope
//   dQ = scale dS K,  dK = scale dS^T Q,  dV = P^T dO       (slope: that of the softcap, 1 without it; dK and dV are
//                                                            sums over all query heads that share the keys)
//
// The baseline is the same written plainly in the input dtype: sums in fp32 in index order; P, O and dS rounded to the
// dtype before they are used, the gradients at the end. dQ, dK, dV and delta have each a verdict of its own:
//
//   max|got - ref| <= 6 max|baseline - ref| + 6 max|((ref + 0.3) - 0.3 in the dtype) - ref|
//                     + 4 * 2^-23 * A + 2 * 2^-24 * max|S| * A
//
// The factors are those of the forward, tripled. A is the same sum in fp64 over absolute values, the largest of the
// tensor: sum |P| |dO| of dV, scale sum |dS| |K| of dQ, scale sum |dS| |Q| of dK, sum |dO| |O| of delta. delta is fp32,
// but made from an O that is stored in the dtype: in place of the dtype's term stands 6 times the largest error of
// delta that rounding O alone makes, at least u sqrt(sum (dO O)^2) with the dtype's unit roundoff u. Few rows would
// else fail by luck, where the baseline's roundings cancel, or those of the exact O; a training step rounds its own.
// The LSE that the kernel was given is held against the reference as a forward's is.
//
//   a row that sees no key has P = 0, delta = 0 and dQ = 0; a key that no row sees has dK = dV = 0
//   keys beyond a batch's length must not matter, whatever K and V hold there
//   any other number of Q, K, V, dO or a visible score that is not finite may reach all gradients of its head of keys:
//   those are not judged. Nor are they where a score is finite and not so in fp32, or the baseline overflows
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/judge/verdict.h"

namespace attn {

// One key of one head of keys.
struct KeyId {
  std::int64_t b = 0, h = 0, c = 0;
};

// Their places among all rows of the queries' and of the keys' tensors.
inline std::int64_t query_row(const Problem& p, const RowId& id) {
  return (id.b * p.Hq + id.h) * p.Lq + id.r;
}
inline std::int64_t key_row(const Problem& p, std::int64_t b, std::int64_t kv, std::int64_t c) {
  return (b * p.Hkv + kv) * p.Lk + c;
}

// What became of a row or a key.
enum class Left : std::uint8_t { judged, not_finite, beyond_fp32 };

// One tensor of the chosen rows or keys.
struct GradientPart {
  std::vector<double> exact, baseline;
  double size = 0;      // A
  double rounding = 0;  // of delta: its error where nothing but O is rounded to the dtype, at least the usual one
};

struct GradientRows {
  std::vector<KeyId> keys;
  GradientPart d_q, delta;  // of ReferenceRows::rows
  GradientPart d_k, d_v;    // of `keys`
  std::vector<Left> of_rows, of_keys;
};

}  // namespace attn
