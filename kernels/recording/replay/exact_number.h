#pragma once

namespace attn {

// A number in fp64 with a running error bound: |recorded - exact| <= bound for every finite element. How the bound is
// made stands in exact.cpp.
struct ExactNumber {
  double exact = 0;
  double bound = 0;
};

}  // namespace attn
