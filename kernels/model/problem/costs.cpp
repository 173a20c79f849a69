#include "kernels/model/problem/costs.h"

#include <algorithm>

#include "kernels/base/bytes.h"

namespace attn {
namespace {

constexpr PassProduct kForward[] = {{"S = Q K^T"}, {"O = P V", true}};
constexpr PassProduct kBackward[] = {
    {"S = Q K^T"}, {"dP = dO V^T", true}, {"dV = P^T dO", true}, {"dQ = dS K"}, {"dK = dS^T Q"}};
// Those of a forward, then those of its backward.
constexpr PassProduct kTraining[] = {kForward[0],  kForward[1],  kBackward[0], kBackward[1],
                                     kBackward[2], kBackward[3], kBackward[4]};

// Keys and entries of the table that the key lengths leave.
struct Reached {
  std::int64_t keys = 0, entries = 0;
};

Reached reached_by(const Problem& p) {
  const auto entries = [&](std::int64_t keys) { return keys / p.storage.page + (keys % p.storage.page != 0 ? 1 : 0); };
  if (p.mask.key_lengths.empty()) return {p.B * p.Lk, p.B * entries(p.Lk)};
  Reached all;
  for (const std::int64_t keys : p.mask.key_lengths) {
    all.keys += keys;
    all.entries += entries(keys);
  }
  return all;
}

std::uint64_t bytes_of(const Problem& p, const TensorSpec& t) {
  if (p.storage.kind() == Storage::dense) return t.bytes();
  const auto size = static_cast<std::int64_t>(size_of(t.type));
  if (t.tensor == Tensor::page_table) return saturating_product({{size, reached_by(p).entries}});
  if (t.tensor != Tensor::k && t.tensor != Tensor::v) return t.bytes();
  return std::min(t.bytes(), saturating_product({{size, reached_by(p).keys, p.Hkv, t.shape.back()}}));
}

}  // namespace

std::span<const PassProduct> products_of(Pass pass) {
  constexpr std::span<const PassProduct> kAll[] = {kForward, kBackward, kTraining};
  return kAll[static_cast<std::size_t>(pass)];
}

double flops_of(const Problem& p) {
  std::int64_t terms = 0;
  for (const PassProduct& product : products_of(p.pass)) terms += product.over_dv ? p.Dv : p.D;
  return 2.0 * p.visible_pairs() * static_cast<double>(terms);
}

std::uint64_t TensorCosts::total() const {
  std::uint64_t sum = 0;
  for (std::size_t t = 0; t < kTensors; ++t) {
    sum = saturating_sum(sum, saturating_sum(read[static_cast<Tensor>(t)], written[static_cast<Tensor>(t)]));
  }
  return sum;
}

TensorCosts compulsory_costs(const Problem& p) {
  TensorCosts costs;
  if (p.pass == Pass::training) {
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      const TensorCosts part = compulsory_costs(with_pass(p, pass));
      for (std::size_t n = 0; n < kTensors; ++n) {
        const auto t = static_cast<Tensor>(n);
        costs.read[t] = saturating_sum(costs.read[t], part.read[t]);
        costs.written[t] = saturating_sum(costs.written[t], part.written[t]);
      }
    }
    return costs;
  }
  for (const TensorSpec& t : tensors_of(p)) {
    if (t.in_problem || t.role == Role::scratch) continue;
    (t.role == Role::in ? costs.read : costs.written)[t.tensor] = bytes_of(p, t);
  }
  return costs;
}

std::uint64_t needed_bytes(const Problem& p) {
  std::int64_t keys = 0;
  for (std::int64_t b = 0; b < p.B; ++b) {
    // Both ends of what a row sees move on from row to row.
    const KeyRange first = p.visible_keys(b, 0), last = p.visible_keys(b, p.Lq - 1);
    keys += std::max<std::int64_t>(0, std::max(first.last, last.last) - std::min(first.first, last.first));
    if (p.mask.key_lengths.empty()) {
      keys *= p.B;  // all batches are alike
      break;
    }
  }
  const TensorCosts costs = compulsory_costs(p);
  const auto size = static_cast<std::int64_t>(size_of(p.dtype));
  const std::uint64_t seen = saturating_product({{size, keys, p.Hkv, p.D + p.Dv}});
  const std::uint64_t whole = saturating_sum(costs.read[Tensor::k], costs.read[Tensor::v]);
  return costs.total() - whole + std::min(whole, seen);
}

}  // namespace attn
