#include "kernels/model/traffic.h"

#include <algorithm>
#include <iterator>

#include "kernels/model/kernel.h"
#include "kernels/model/order_row.h"
#include "kernels/model/problem/costs.h"
#include "kernels/model/problem/tensors.h"

namespace attn {
namespace {

constexpr std::uint64_t kFp32 = 4;

std::uint64_t as_bytes(std::int64_t elements, std::uint64_t size) {
  return static_cast<std::uint64_t>(elements) * size;
}

std::uint64_t& at(std::array<std::uint64_t, kTrafficParts>& bytes, TrafficPart part) {
  return bytes[static_cast<std::size_t>(part)];
}

// The part that a tensor counts in: a gradient with what it is of, the table of pages with K.
TrafficPart part_of(Tensor t) {
  constexpr TrafficPart kParts[] = {
      TrafficPart::q,     TrafficPart::k,     TrafficPart::v,     TrafficPart::bias,  // q, k, v, bias
      TrafficPart::o,     TrafficPart::stats, TrafficPart::stats,                     // o, lse, delta
      TrafficPart::o,     TrafficPart::q,     TrafficPart::k,     TrafficPart::v,     // do, dq, dk, dv
      TrafficPart::stats, TrafficPart::stats, TrafficPart::k,                         // key_lengths, slopes, page_table
      TrafficPart::o,     TrafficPart::stats,                                         // partial_o, partial_lse
  };
  static_assert(std::size(kParts) == kTensors);
  return kParts[static_cast<std::size_t>(t)];
}

}  // namespace

Traffic event_traffic(Order order, const Problem& p, Phase phase, std::int32_t pass, std::int64_t i, std::int64_t rows,
                      std::int64_t cols, std::int32_t score_reads) {
  const OrderPhase* as = order_row(order).phase(phase);
  if (as == nullptr || as->bytes == nullptr) return {};
  return as->bytes({p, tile_bytes(p, rows, cols), pass, i, score_reads});
}

void add_traffic(const Traffic& event, std::array<std::uint64_t, kTrafficParts>& counters) {
  for (std::size_t part = 0; part < kTrafficParts; ++part) counters[part] += event.read[part] + event.written[part];
}

Traffic compulsory(Order order, const Problem& p) {
  const TensorCosts costs = compulsory_costs(p);
  Traffic t;
  for (std::size_t n = 0; n < kTensors; ++n) {
    const auto tensor = static_cast<Tensor>(n);
    at(t.read, part_of(tensor)) += costs.read[tensor];
    at(t.written, part_of(tensor)) += costs.written[tensor];
  }
  if (stores_scores(order)) {
    const std::int64_t pairs = p.B * p.Hq * p.Lq * p.Lk;
    // A backward stores dS in its place, in the dtype.
    const std::uint64_t of_score = makes_gradients(p.pass) ? size_of(p.dtype) : kFp32;
    at(t.read, TrafficPart::s) = at(t.written, TrafficPart::s) = as_bytes(pairs, of_score);
    at(t.read, TrafficPart::p) = at(t.written, TrafficPart::p) = as_bytes(pairs, size_of(p.dtype));
  }
  return t;
}

Traffic compulsory(const KernelRow& row, const Problem& p) {
  if (row.parts.empty()) return compulsory(row.order, p);
  Traffic all;
  for (const KernelRow* part : row.parts) {
    const Traffic t = compulsory(*part, with_pass(p, part->passes.front()));
    for (std::size_t n = 0; n < kTrafficParts; ++n) {
      all.read[n] += t.read[n];
      all.written[n] += t.written[n];
    }
  }
  return all;
}

std::vector<OnChip> on_chip_of_passes(Order order, const Problem& p, const Options& o) {
  const std::int64_t rows = o.br > 0 ? std::min<std::int64_t>(o.br, p.Lq) : 1;
  const std::int64_t cols = o.bc > 0 ? std::min<std::int64_t>(o.bc, p.Lk) : p.Lk;
  return order_row(order).on_chip(tile_bytes(p, rows, cols));
}

OnChip on_chip_bytes(Order order, const Problem& p, const Options& o) {
  const std::vector<OnChip> passes = on_chip_of_passes(order, p, o);
  const auto total = [](const OnChip& pass) {
    std::uint64_t sum = 0;
    for (const std::uint64_t bytes : pass) sum += bytes;
    return sum;
  };
  return *std::ranges::max_element(passes, {}, total);
}

}  // namespace attn
