// What a pass costs whatever kernel runs it: FLOPs of its products and bytes of its tensors. One table a pass; what
// an order asks of memory besides is traffic.h.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/model/problem/problem.h"
#include "kernels/model/problem/tensors.h"

namespace attn {

// A product of two matrices. Each query and key that see each other cost 2 D FLOPs in it, or 2 Dv.
struct PassProduct {
  std::string_view formula;  // "S = Q K^T"
  bool over_dv = false;      // of Dv terms or columns; else of D
};

// forward    S = Q K^T (D), O = P V (Dv)
// backward   S = Q K^T (D, again), dP = dO V^T (Dv), dV = P^T dO (Dv), dQ = dS K (D), dK = dS^T Q (D): 2.5 times the
//            forward where D = Dv (FlashAttention-2, section 4.1). A kernel that computes S and dP twice, with dQ
//            apart, does 3.5 times: those FLOPs do not count.
// training   both: 3.5 times the forward where D = Dv
std::span<const PassProduct> products_of(Pass pass);

// The sum of 2 * pairs * D or Dv over the products of the problem's pass: what TFLOP/s counts, 2 * pairs * (D + Dv) of
// a forward. `pairs` are the problem's visible_pairs().
double flops_of(const Problem& p);

// Bytes that must cross the memory once: what is `in` is read, what is `out` is written. Scratch is none of it: a
// kernel can make delta on chip of O and dO, which it reads anyway. Lengths and slopes are not counted.
// Pages: the keys that key lengths leave, not the tails of pages, and each page once where batches share it; of the
// table the entries of those keys.
// A training step costs what its forward and its backward cost, one after the other: the backward reads again what the
// forward read and wrote.
struct TensorCosts {
  ByTensor<std::uint64_t> read, written;
  std::uint64_t total() const;
};
TensorCosts compulsory_costs(const Problem& p);

// What a forward must move of its tensors if of K and V only the keys are read that some row of their batch sees: fewer
// than compulsory_costs() has, which counts dense tensors whole. Bytes.
std::uint64_t needed_bytes(const Problem& p);

}  // namespace attn
