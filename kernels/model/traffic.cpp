#include "kernels/model/traffic.h"

#include <algorithm>
#include <iterator>

#include "kernels/model/costs.h"
#include "kernels/model/kernel.h"
#include "kernels/model/tensors.h"

namespace attn {
namespace {

constexpr std::uint64_t kFp32 = 4;

std::uint64_t as_bytes(std::int64_t elements, std::uint64_t size) {
  return static_cast<std::uint64_t>(elements) * size;
}

// Sizes of one tile's parts, in bytes.
struct Sizes {
  std::uint64_t q, k, v, bias, s, p, o, o_state, stat;
};

Sizes sizes_of(const Problem& p, std::int64_t rows, std::int64_t cols) {
  const std::uint64_t e = size_of(p.dtype);
  std::int64_t bias = 0;
  if (p.has_bias()) bias = (p.bias_shape[2] == 1 ? 1 : rows) * (p.bias_shape[3] == 1 ? 1 : cols);
  return {as_bytes(rows * p.D, e),  as_bytes(cols * p.D, e),      as_bytes(cols * p.Dv, e),
          as_bytes(bias, kFp32),    as_bytes(rows * cols, kFp32), as_bytes(rows * cols, e),
          as_bytes(rows * p.Dv, e), as_bytes(rows * p.Dv, kFp32), as_bytes(rows, kFp32)};
}

std::uint64_t& at(std::array<std::uint64_t, kTrafficParts>& bytes, TrafficPart part) {
  return bytes[static_cast<std::size_t>(part)];
}

// What a tile that the mask skips still asks of HBM: see the header.
Traffic skipped_traffic(Order order, std::int32_t pass, std::int64_t i, const Sizes& size, std::int32_t score_reads) {
  Traffic t;
  if (!stores_scores(order)) return t;
  const bool operand = order == Order::naive && i == 0;
  if (pass == 0) {
    at(t.written, TrafficPart::s) = size.s;
    if (operand) at(t.read, TrafficPart::k) = size.k;
    if (order == Order::naive) at(t.read, TrafficPart::bias) = size.bias;
  } else if (pass == 1) {
    at(t.read, TrafficPart::s) = size.s * static_cast<std::uint64_t>(score_reads);
    at(t.written, TrafficPart::p) = size.p;
  } else {
    at(t.read, TrafficPart::p) = size.p;
    if (operand) at(t.read, TrafficPart::v) = size.v;
  }
  return t;
}

// S is read back by the phases of the softmax pass: which of them reads it when it is read `score_reads` times.
bool reads_scores(Phase phase, std::int32_t score_reads) {
  switch (phase) {
    case Phase::max:
      return score_reads >= 1;
    case Phase::weights:
      return score_reads >= 2;
    case Phase::sum:
      return score_reads >= 3;
    default:
      return false;
  }
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

bool stores_scores(Order order) {
  return order == Order::naive || order == Order::tiled;
}

std::uint64_t Traffic::total() const {
  std::uint64_t sum = 0;
  for (std::size_t part = 0; part < kTrafficParts; ++part) sum += read[part] + written[part];
  return sum;
}

std::uint64_t Traffic::of(TrafficPart part) const {
  return read[static_cast<std::size_t>(part)] + written[static_cast<std::size_t>(part)];
}

Traffic& Traffic::operator+=(const Traffic& other) {
  for (std::size_t part = 0; part < kTrafficParts; ++part) {
    read[part] += other.read[part];
    written[part] += other.written[part];
  }
  return *this;
}

Traffic event_traffic(Order order, const Problem& p, Phase phase, std::int32_t pass, std::int64_t i, std::int64_t rows,
                      std::int64_t cols, std::int32_t score_reads) {
  const Sizes size = sizes_of(p, rows, cols);
  const bool again = order == Order::naive && i > 0;  // naive reads K and V once, for its first rows
  Traffic t;
  switch (phase) {
    case Phase::load_q:
      at(t.read, TrafficPart::q) = size.q;
      break;
    case Phase::load_k:
      if (!again) at(t.read, TrafficPart::k) = size.k;
      break;
    case Phase::load_v:
      if (!again) at(t.read, TrafficPart::v) = size.v;
      at(t.read, TrafficPart::p) = size.p;
      break;
    case Phase::load_kv:
      at(t.read, TrafficPart::k) = size.k;
      at(t.read, TrafficPart::v) = size.v;
      break;
    case Phase::load_state:
      at(t.read, TrafficPart::q) = size.q;
      at(t.read, TrafficPart::o) = size.o_state;
      at(t.read, TrafficPart::stats) = 2 * size.stat;
      break;
    case Phase::mask:
      at(t.read, TrafficPart::bias) = size.bias;
      break;
    case Phase::store_s:
      at(t.written, TrafficPart::s) = size.s;
      break;
    case Phase::max:
    case Phase::weights:
    case Phase::sum:
      if (!stores_scores(order)) break;
      if (reads_scores(phase, score_reads)) at(t.read, TrafficPart::s) = size.s;
      if (phase == Phase::weights) at(t.written, TrafficPart::p) = size.p;
      break;
    case Phase::store_state:
      at(t.written, TrafficPart::o) = size.o_state;
      at(t.written, TrafficPart::stats) = 2 * size.stat;
      break;
    case Phase::store_o:
      at(t.written, TrafficPart::o) = size.o;
      at(t.written, TrafficPart::stats) = size.stat;
      break;
    case Phase::skipped:
      return skipped_traffic(order, pass, i, size, score_reads);
    case Phase::scores:
    case Phase::rescale:
    case Phase::output:
    case Phase::normalise:
      break;
  }
  return t;
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
    at(t.read, TrafficPart::s) = at(t.written, TrafficPart::s) = as_bytes(pairs, kFp32);
    at(t.read, TrafficPart::p) = at(t.written, TrafficPart::p) = as_bytes(pairs, size_of(p.dtype));
  }
  return t;
}

Traffic compulsory(const KernelRow& row, const Problem& p) {
  return compulsory(row.order, p);
}

std::array<OnChip, 3> on_chip_of_passes(Order order, const Problem& p, const Options& o) {
  const std::int64_t rows = o.br > 0 ? std::min<std::int64_t>(o.br, p.Lq) : 1;
  const std::int64_t cols = o.bc > 0 ? std::min<std::int64_t>(o.bc, p.Lk) : p.Lk;
  const Sizes size = sizes_of(p, rows, cols);
  const auto parts = [](std::uint64_t q, std::uint64_t k, std::uint64_t v, std::uint64_t s, std::uint64_t weights,
                        std::uint64_t out, std::uint64_t stats) { return OnChip{q, k, v, 0, s, weights, out, stats}; };
  if (!stores_scores(order)) return {parts(size.q, size.k, size.v, size.s, 0, size.o_state, 2 * size.stat)};
  return {parts(size.q, size.k, 0, size.s, 0, 0, 0), parts(0, 0, 0, size.s, 0, 0, 2 * size.stat),
          parts(0, 0, size.v, 0, size.p, size.o_state, 0)};
}

OnChip on_chip_bytes(Order order, const Problem& p, const Options& o) {
  const std::array<OnChip, 3> passes = on_chip_of_passes(order, p, o);
  const auto total = [](const OnChip& pass) {
    std::uint64_t sum = 0;
    for (const std::uint64_t bytes : pass) sum += bytes;
    return sum;
  };
  return *std::ranges::max_element(passes, {}, total);
}

}  // namespace attn
