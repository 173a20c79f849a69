// How (m, l, O) of two parts of a row's keys become (m, l, O) of both. One text: the CPU's kernels, the tests and, by
// the name kernels/gpu/merge.h, the GPU's kernels compile it, so it uses no header.
//
// A part is a set A of keys. With any number m_A, the scores s and the values v of its keys,
//
//   l_A = sum exp(s - m_A)        O_A = sum exp(s - m_A) v
//
// so w(A) = exp(m_A) (l_A, O_A) = sum exp(s) (1, v): a sum over the keys of A, which does not depend on m_A. Merged are
//
//   m = max(m_A, m_B)    l = a l_A + b l_B    O = a O_A + b O_B    with a = exp(m_A - m), b = exp(m_B - m)
//
// Right: exp(m) (l, O) = w(A) + w(B), which is w of both where no key is in A and in B; O / l is then attention over
// the keys of both. Associative and commutative: addition is, and so is the maximum. Neutral: the part without keys,
// (-inf, 0, 0), adds nothing; merging two of them gives it again. So keys may be cut anywhere, into as many parts as
// one likes, and merged as a tree, along a line or round a ring.
//
// In floating point a and b are at most 1, and one of them is 1 exactly: nothing overflows that was finite, and the
// neutral part leaves l and O as they were. What a merge rounds depends on the order, so whoever merges fixes one, the
// order of the keys: then the same parts give the same bits at every run.
//
// Several parts at once, in the order of the keys: m is the maximum of all, and each counts exp(m_A - m).
//
// A part may come divided by its own l, as O and LSE: it is (LSE, 1, O), or the neutral one where LSE is -inf.
#pragma once

namespace attn {

struct PartSums {
  float m, l;
};

struct Merged {
  PartSums of_both;
  float first, second;  // what O of the first and of the second part is multiplied by, before they are added
};

// What a part counts among those whose maximum is m. `exp`: e^x or 2^x, the one in which m is kept.
template <class Exp>
constexpr float weight(float of_part, float m, Exp exp) {
  return of_part == m ? 1.0F : exp(of_part - m);  // where both are -inf, or +inf, their difference is NaN
}

template <class Exp>
constexpr Merged merge(PartSums a, PartSums b, Exp exp) {
  const float m = a.m < b.m ? b.m : a.m;
  const float first = weight(a.m, m, exp), second = weight(b.m, m, exp);
  return {{m, first * a.l + second * b.l}, first, second};
}

}  // namespace attn
