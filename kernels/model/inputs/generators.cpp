// Only integer arithmetic and IEEE + - * / on doubles, then one rounding to fp32: the same bits on every machine.
#include "kernels/model/inputs/generators.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

namespace attn {
namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// floor((n + d/2) / d): the nearest whole number, halves up.
std::int64_t divide_rounding(std::int64_t n, std::int64_t d) {
  const std::int64_t shifted = n + d / 2;
  const std::int64_t quotient = shifted / d;
  return shifted % d < 0 ? quotient - 1 : quotient;
}

// Seeded numbers by index, with one decimal for problems small enough to be checked by hand.
class Numbers {
 public:
  Numbers(std::uint64_t seed, InputTensor tensor, bool one_decimal)
      : key_(mix(seed + kGolden * (static_cast<std::uint64_t>(tensor) + 1))), one_decimal_(one_decimal) {}

  // [-1, 1)
  double uniform(std::int64_t index) const {
    const std::uint64_t bits = random_bits(key_, static_cast<std::uint64_t>(index));
    if (one_decimal_) {
      const std::uint64_t tenths = ((bits >> 32) * 20) >> 32;  // 0..19
      return (static_cast<double>(tenths) - 10.0) / 10.0;
    }
    return static_cast<double>(bits >> 40) * 0x1p-23 - 1.0;  // 24 bits: exact in fp32
  }

  // Irwin-Hall of order 12: the sum of twelve uniform 16-bit numbers, centred. Mean 0, variance 1 - 2^-32,
  // |x| < 6; fourth moment 2.9 where a Gaussian has 3.
  double normal(std::int64_t index) const {
    std::int64_t sum = 0;
    for (std::uint64_t draw = 0; draw < 3; ++draw) {
      const std::uint64_t bits = random_bits(key_, 3 * static_cast<std::uint64_t>(index) + draw);
      for (int part = 0; part < 64; part += 16) sum += static_cast<std::int64_t>((bits >> part) & 0xffffU);
    }
    const std::int64_t centred = sum - 6 * 65535;
    if (one_decimal_) return static_cast<double>(divide_rounding(10 * centred, 65536)) / 10.0;
    return static_cast<double>(centred) * 0x1p-16;
  }

 private:
  std::uint64_t key_;
  bool one_decimal_;
};

// Where an element stands: in `head` (batch * heads + head), at row and column of its matrix.
struct Element {
  std::int64_t flat = 0, head = 0, row = 0, col = 0;
  std::int64_t heads = 1, rows = 1, cols = 1;
};

// Restarts in every head, and after 1000 numbers, so that long sequences stay within what f16 can hold.
double progression(InputTensor t, const Element& at) {
  const double n = static_cast<double>((at.row * at.cols + at.col) % 1000);
  switch (t) {
    case InputTensor::q:
      return n + 1.0;
    case InputTensor::k:
      return n + 0.5;
    case InputTensor::v:
      return (n + 1.0) / 10.0;
    case InputTensor::d_o:
      return static_cast<double>((at.row * at.cols + at.col) % 5 - 2) / 2.0;  // -1, -0.5, 0, 0.5, 1
    case InputTensor::bias:
      break;
  }
  return 0;
}

// ALiBi (Press, Smith, Lewis 2021): the score falls with the distance between a query's own key and the key, by 1/2
// a step in head 0, 1/4 in head 1 ..., again from head 8. Exact in fp32. An axis the bias repeats over counts as the
// last query, or as the query's own key.
double distance_bias(const Problem& p, const Element& at) {
  const std::int64_t own = at.rows == p.Lq ? at.row + p.Lk - p.Lq : p.Lk - 1;
  const std::int64_t distance = at.cols == p.Lk ? std::abs(own - at.col) : 0;
  const std::int64_t divisor = std::int64_t{2} << (at.head % at.heads % 8);
  return static_cast<double>(-distance) / static_cast<double>(divisor);
}

double bias_at(Generator g, const Problem& p, const Element& at) {
  if (g == Generator::equal_scores) return 0.0;
  const bool no_key = g == Generator::masked_row && at.row == 0 && at.rows == p.Lq;
  return no_key ? -std::numeric_limits<double>::infinity() : distance_bias(p, at);
}

// Every query has a first component of at least 2; the outlier key is (c, 0, 0, ...) with c >= 4 sqrt(D), so its
// score at the default scale is at least 8. Other keys' scores have a deviation near 1, and their first component is
// at most 1, so the outlier also wins at D = 1.
double late_outlier(InputTensor t, const Element& at, double normal) {
  if (t == InputTensor::q && at.col == 0) return 2.0 + std::fabs(normal);
  if (t != InputTensor::k) return normal;
  if (at.row != late_outlier_key(at.rows)) return at.col == 0 ? std::min(normal, 1.0) : normal;
  if (at.col != 0) return 0.0;
  std::int64_t c = 1;
  while (c * c < 16 * at.cols) ++c;
  return static_cast<double>(c);
}

// Known places in the first head: Q rows Lq/4 (+inf) and Lq/2 (NaN), the last key (-inf), and V of the keys
// 5/8 Lk (NaN) and 3/4 Lk (+inf).
double planted(InputTensor t, const Element& at, double normal) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (at.head != 0) return normal;
  const bool first = at.col == 0, last = at.col == at.cols - 1;
  switch (t) {
    case InputTensor::q:
      if (at.row == at.rows / 2 && last) return kNan;
      if (at.row == at.rows / 4 && first) return kInf;
      return normal;
    case InputTensor::k:
      return at.row == at.rows - 1 && first ? -kInf : normal;
    case InputTensor::v:
      if (at.row == at.rows / 8 * 5 + at.rows % 8 * 5 / 8 && last) return kNan;
      if (at.row == at.rows / 4 * 3 + at.rows % 4 * 3 / 4 && first) return kInf;
      return normal;
    case InputTensor::d_o:
    case InputTensor::bias:
      break;
  }
  return normal;
}

// Heads of Q and of K count apart; a query stands where the last keys do, as the causal mask has it.
double word_value(const Problem& p, InputTensor t, const Element& at, const WordNumbers& words) {
  if (t == InputTensor::d_o) return progression(t, at);
  const std::int64_t shift = t == InputTensor::q ? std::max<std::int64_t>(p.Lk - p.Lq, 0) : 0;
  return words.value(t, at.head % at.heads, at.row + shift, at.col, at.cols);
}

double value_at(Generator g, const Problem& p, InputTensor t, const Element& at, const Numbers& numbers,
                const WordNumbers& words) {
  if (t == InputTensor::bias) return bias_at(g, p, at);
  switch (g) {
    case Generator::blackboard:
      return progression(t, at);
    case Generator::uniform:
      return numbers.uniform(at.flat);
    case Generator::normal:
      return numbers.normal(at.flat);
    case Generator::late_outlier:
      return late_outlier(t, at, numbers.normal(at.flat));
    case Generator::large_logits:
      // Every component is above 10, so a score at the default scale is above 100 sqrt(D).
      return numbers.normal(at.flat) + (t == InputTensor::q || t == InputTensor::k ? 16.0 : 0.0);
    case Generator::equal_scores:
      // Every key of a head is its first.
      return numbers.normal(t == InputTensor::k ? at.head * at.rows * at.cols + at.col : at.flat);
    case Generator::masked_row:
      return numbers.normal(at.flat);
    case Generator::non_finite:
      return planted(t, at, numbers.normal(at.flat));
    case Generator::words:
      return word_value(p, t, at, words);
  }
  return 0;
}

}  // namespace

std::uint64_t random_bits(std::uint64_t key, std::uint64_t index) {
  return mix(key + kGolden * (index + 1));
}

std::int64_t late_outlier_key(std::int64_t lk) {
  return lk - 1 - lk / 8;
}

void generate_rows(Generator g, const Problem& p, std::uint64_t seed, InputTensor t, Array& out,
                   std::string_view sentence, std::int64_t first, std::int64_t last) {
  constexpr std::int64_t kByHand = 4096;
  const std::int64_t longest = std::max(p.Lq, p.Lk), widest = std::max(p.D, p.Dv);
  const Numbers numbers(seed, t, longest <= kByHand / widest);
  const WordNumbers words(sentence);
  assert(out.shape().size() == 4);
  Element at;
  at.heads = out.extent(1);
  at.rows = out.extent(2);
  at.cols = out.extent(3);
  for (std::int64_t row = first; row < last; ++row) {
    at.head = row / at.rows;
    at.row = row % at.rows;
    at.flat = row * at.cols;
    for (at.col = 0; at.col < at.cols; ++at.col, ++at.flat)
      out.set(at.flat, static_cast<float>(value_at(g, p, t, at, numbers, words)));
  }
}

void generate(Generator g, const Problem& p, std::uint64_t seed, InputTensor t, Array& out, const TakePieces& take,
              std::string_view sentence) {
  const std::int64_t rows = out.extent(0) * out.extent(1) * out.extent(2);
  constexpr std::int64_t kOfPiece = std::int64_t{1} << 20;  // elements that are worth a thread
  const std::int64_t pieces = std::clamp<std::int64_t>(out.size() / kOfPiece, 1, std::max<std::int64_t>(1, rows));
  take(pieces, [&](std::int64_t n) {
    generate_rows(g, p, seed, t, out, sentence, rows * n / pieces, rows * (n + 1) / pieces);
  });
}

}  // namespace attn
