#include "kernels/model/inputs/shape_list.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "kernels/model/inputs/inputs.h"

namespace attn {
namespace {

struct Shape {
  std::int64_t Lq, Lk, D, Dv;  // D and Dv: its partner in the paired list
};

// Ragged against every power of two, both orders of long and short, decoding; and each head dimension with one of them.
constexpr std::array<Shape, 21> kShapes{{
    {1, 1, 8, 8},           {1, 3, 1, 1},          {2, 1, 32, 32},       {1, 239, 40, 24},     {239, 1, 96, 96},
    {3, 513, 80, 80},       {511, 1, 111, 111},    {799, 3, 160, 160},   {113, 203, 64, 64},   {113, 211, 192, 128},
    {128, 217, 224, 224},   {108, 256, 256, 256},  {127, 513, 59, 59},   {384, 256, 128, 128}, {640, 128, 80, 1},
    {1023, 1024, 128, 128}, {1024, 1023, 96, 111}, {4096, 4096, 32, 32}, {4224, 4224, 64, 64}, {16, 20000, 128, 128},
    {1, 131072, 64, 64},
}};
constexpr std::array<std::int64_t, 14> kHeadDims{1, 8, 32, 40, 59, 64, 80, 96, 111, 128, 160, 192, 224, 256};
constexpr std::array<MaskKind, 7> kMasks{MaskKind::none,
                                         MaskKind::causal,
                                         MaskKind::window,
                                         MaskKind::key_lengths,
                                         MaskKind::causal_window,
                                         MaskKind::bias,
                                         MaskKind::bias_with_minus_inf};

struct Heads {
  std::int64_t B, Hq, Hkv;
};
constexpr std::array<Heads, 5> kHeads{{{1, 1, 1}, {2, 2, 2}, {1, 4, 1}, {2, 4, 2}, {3, 6, 3}}};

// Shapes with more pairs than this have one batch and one head; kMaxMaskedPairs: and not every mask.
constexpr std::int64_t kMaxHeadPairs = 70'000;
constexpr std::int64_t kMaxMaskedPairs = 100'000;

void set_mask(MaskKind kind, std::size_t salt, Problem& p) {
  switch (kind) {
    case MaskKind::none:
      break;
    case MaskKind::causal:
      p.mask.causal = true;
      break;
    case MaskKind::window:
      p.mask.window_left = salt % 3 == 0 ? p.Lk / 4 : static_cast<std::int64_t>(salt % 7);
      p.mask.window_right = salt % 2 == 0 ? p.Lk / 8 : 0;
      break;
    case MaskKind::key_lengths:
      // Every batch another one; with three batches one of them has no key at all.
      for (std::int64_t b = 0; b < p.B; ++b) p.mask.key_lengths.push_back(b == 2 ? 0 : p.Lk - p.Lk / (b + 2));
      break;
    case MaskKind::causal_window:
      p.mask.causal = true;
      p.mask.window_left = p.Lk / 3;
      break;
    case MaskKind::bias:
    case MaskKind::bias_with_minus_inf: {
      const std::array<std::vector<std::int64_t>, 4> extents{
          {{p.B, p.Hq, p.Lq, p.Lk}, {1, p.Hq, p.Lq, p.Lk}, {p.B, 1, 1, p.Lk}, {1, 1, p.Lq, 1}}};
      p.bias_shape = extents[salt % (kind == MaskKind::bias ? 4 : 3)];
      break;
    }
  }
}

CheckCase make_case(const Shape& shape, MaskKind mask, DType dtype, std::size_t salt) {
  CheckCase c;
  Problem& p = c.problem;
  p.dtype = dtype;
  p.Lq = shape.Lq;
  p.Lk = shape.Lk;
  p.D = shape.D;
  p.Dv = shape.Dv;
  if (shape.Lq * shape.Lk <= kMaxHeadPairs) {
    const Heads heads = kHeads[salt % kHeads.size()];
    p.B = heads.B;
    p.Hq = heads.Hq;
    p.Hkv = heads.Hkv;
  }
  if (salt % 11 == 5) p.scale = 0.3;
  c.mask = mask;
  set_mask(mask, salt, p);
  c.inputs.generator = Generator::normal;
  c.inputs.seed = salt + 1;
  return c;
}

void add_shape(const Shape& shape, DType dtype, std::vector<CheckCase>& cases) {
  const std::size_t salt = cases.size();
  if (shape.Lq * shape.Lk <= kMaxMaskedPairs) {
    for (std::size_t m = 0; m < kMasks.size(); ++m) cases.push_back(make_case(shape, kMasks[m], dtype, salt + m));
    return;
  }
  // Nearly square: causal says most. Decoding: bottom-right alignment lets every key through, so padding says more.
  const bool decoding = shape.Lk > 100 * shape.Lq;
  if (shape.Lq < 4096) cases.push_back(make_case(shape, MaskKind::none, dtype, salt));
  cases.push_back(make_case(shape, decoding ? MaskKind::key_lengths : MaskKind::causal, dtype, salt + 1));
}

// Each generator on one ragged problem with a mask.
void add_generators(DType dtype, std::vector<CheckCase>& cases) {
  for (const Generator g : all_generators()) {
    CheckCase c = make_case({37, 33, 16, 16}, MaskKind::causal, dtype, 1);
    c.inputs.generator = g;
    cases.push_back(c);
  }
}

}  // namespace

std::string_view name_of(MaskKind m) {
  switch (m) {
    case MaskKind::none:
      return "none";
    case MaskKind::causal:
      return "causal";
    case MaskKind::window:
      return "window";
    case MaskKind::key_lengths:
      return "key_lengths";
    case MaskKind::causal_window:
      return "causal_window";
    case MaskKind::bias:
      return "bias";
    case MaskKind::bias_with_minus_inf:
      return "bias_with_minus_inf";
  }
  return "?";
}

std::span<const MaskKind> all_mask_kinds() {
  return kMasks;
}

std::vector<CheckCase> paired_cases(DType dtype) {
  std::vector<CheckCase> cases;
  for (const Shape& shape : kShapes) add_shape(shape, dtype, cases);
  add_generators(dtype, cases);
  return cases;
}

std::vector<CheckCase> all_cases(DType dtype) {
  std::vector<CheckCase> cases;
  for (const Shape& shape : kShapes) {
    for (const std::int64_t D : kHeadDims) {
      // The paired list's own Dv where it has one, so that it is part of this list.
      add_shape({shape.Lq, shape.Lk, D, D == shape.D ? shape.Dv : D}, dtype, cases);
    }
  }
  add_generators(dtype, cases);
  return cases;
}

std::vector<CheckCase> repeat_cases(DType dtype) {
  constexpr std::array<Shape, 6> kRepeated{{{1, 1, 8, 8},
                                            {113, 203, 64, 64},
                                            {127, 513, 59, 59},
                                            {1023, 1024, 128, 128},
                                            {4224, 4224, 64, 64},
                                            {16, 20000, 128, 128}}};
  std::vector<CheckCase> cases;
  cases.reserve(kRepeated.size());
  for (const Shape& shape : kRepeated) {
    cases.push_back(make_case(shape, shape.Lq == 1023 ? MaskKind::causal : MaskKind::none, dtype, cases.size()));
  }
  return cases;
}

std::vector<CheckCase> score_cases(DType dtype) {
  enum class Slopes : std::uint8_t { none, usual, own, of_each_batch };
  struct Row {
    Shape shape;
    MaskKind mask;
    double softcap;  // 0: none
    Slopes slopes;
    Generator generator = Generator::normal;
  };
  using enum MaskKind;
  static constexpr Row kRows[] = {
      {{113, 203, 64, 64}, none, 1.5, Slopes::usual},
      {{127, 513, 59, 59}, causal, 1.5, Slopes::none},
      {{113, 211, 128, 128}, window, 0, Slopes::usual},
      {{37, 133, 36, 100}, key_lengths, 0.75, Slopes::own},
      {{128, 217, 40, 24}, causal_window, 0, Slopes::usual},
      {{384, 256, 128, 128}, causal, 20, Slopes::usual},
      {{108, 256, 256, 256}, none, 0, Slopes::of_each_batch},
      {{130, 70, 111, 1}, bias, 1.5, Slopes::none},
      {{65, 300, 80, 80}, bias_with_minus_inf, 1.5, Slopes::usual},
      {{37, 33, 16, 16}, causal, 30, Slopes::none, Generator::large_logits},
      {{37, 33, 16, 16}, causal, 5, Slopes::usual, Generator::non_finite},
      {{1, 777, 64, 64}, key_lengths, 0, Slopes::usual},
      {{300, 1, 32, 32}, none, 1.5, Slopes::own},
      {{129, 257, 100, 36}, window, 1.5, Slopes::of_each_batch},
      {{1023, 1024, 64, 64}, causal, 2, Slopes::none},
      {{96, 160, 256, 33}, causal, 2, Slopes::own},
  };
  std::vector<CheckCase> cases;
  for (const Row& row : kRows) {
    const std::size_t salt = cases.size();
    CheckCase c = make_case(row.shape, row.mask, dtype, salt);
    c.inputs.generator = row.generator;
    if (row.softcap > 0) c.problem.softcap = row.softcap;
    if (row.slopes != Slopes::none) c.problem.alibi.emplace();
    const std::int64_t own = row.slopes == Slopes::own             ? c.problem.Hq
                             : row.slopes == Slopes::of_each_batch ? c.problem.B * c.problem.Hq
                                                                   : 0;
    // Of both signs, and one that is 0.
    for (std::int64_t n = 0; n < own; ++n) c.problem.alibi->push_back(static_cast<float>(n * 5 % 7 - 2) * 0.0625F);
    cases.push_back(std::move(c));
  }
  return cases;
}

std::vector<CheckCase> random_cases(DType dtype, std::int64_t count, std::uint64_t seed) {
  // splitmix64 (Steele, Lea and Flood 2014): the same everywhere.
  std::uint64_t state = seed;
  const auto draw = [&state](std::uint64_t below) {
    state += 0x9e3779b97f4a7c15ULL;
    std::uint64_t x = state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<std::int64_t>((x ^ (x >> 31)) % below);
  };
  constexpr std::uint64_t kLongest = 513;
  std::vector<CheckCase> cases;
  for (std::int64_t n = 0; n < count; ++n) {
    Shape shape{};
    shape.Lq = 1 + draw(kLongest);
    shape.Lk = 1 + draw(kLongest);
    shape.D = kHeadDims[static_cast<std::size_t>(draw(kHeadDims.size()))];
    shape.Dv = draw(2) == 0 ? shape.D : kHeadDims[static_cast<std::size_t>(draw(kHeadDims.size()))];
    const MaskKind mask = kMasks[static_cast<std::size_t>(draw(kMasks.size()))];
    cases.push_back(make_case(shape, mask, dtype, static_cast<std::size_t>(draw(1000))));
    cases.back().inputs.seed = seed + static_cast<std::uint64_t>(n);
  }
  return cases;
}

Result<Inputs> inputs_of(const CheckCase& c) {
  Result<Inputs> in = make_inputs(c.problem, c.inputs);
  if (!in || c.mask != MaskKind::bias_with_minus_inf) return in;
  std::optional<Array>& bias = in->bias;
  if (!bias) return in;
  // Every seventh element, and the whole first row of the bias: where it is not repeated, a row without any key.
  const std::int64_t first_row = c.problem.bias_shape[2] > 1 ? c.problem.bias_shape[3] : 0;
  for (std::int64_t n = 0; n < bias->size(); ++n) {
    if (n < first_row || n % 7 == 3) bias->set(n, -std::numeric_limits<float>::infinity());
  }
  return in;
}

std::string describe(const CheckCase& c) {
  std::string words = describe(c.problem);
  if (c.mask == MaskKind::bias_with_minus_inf) words += " with -inf";
  return words + ", " + std::string(name_of(c.inputs.generator));
}

}  // namespace attn
