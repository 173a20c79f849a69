// The problems that every kernel must get right: `attnscope verify` and the tests walk these lists.
// Shapes, head dimensions and masks are those of the project's rule of correctness (see tests/kernels).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/problem/problem.h"

namespace attn {

enum class MaskKind : std::uint8_t { none, causal, window, key_lengths, causal_window, bias, bias_with_minus_inf };
std::string_view name_of(MaskKind m);  // "none", "causal", ...
std::span<const MaskKind> all_mask_kinds();

// One problem with its inputs. The same in every run and on every machine.
struct CheckCase {
  Problem problem;
  InputSpec inputs;
  MaskKind mask = MaskKind::none;
};

// Every shape and every head dimension once or more, paired; all masks on the shapes up to 640 x 128 or so, one or two
// on the longer ones; grouped and shared heads, Dv != D, an explicit scale; and each input generator once.
std::vector<CheckCase> paired_cases(DType dtype);
// Every shape with every head dimension; masks as in the paired list.
std::vector<CheckCase> all_cases(DType dtype);

// The six shapes that are repeated many times to see that the bits stay the same: one query to thousands, ragged,
// causal, decoding.
std::vector<CheckCase> repeat_cases(DType dtype);

// Softcap, ALiBi and both with every mask, odd and wide head dimensions, own slopes, grouped heads, scores that are
// very large or not finite.
std::vector<CheckCase> score_cases(DType dtype);

// `count` problems drawn at random, up to 513 queries and keys, every mask, grouped heads; the same for the same seed.
std::vector<CheckCase> random_cases(DType dtype, std::int64_t count, std::uint64_t seed);

// make_inputs, with the -inf of bias_with_minus_inf planted.
Result<Inputs> inputs_of(const CheckCase& c);

// "B=2 H=4/2 L=113x203 D=64 f32 causal, normal": one line for reports.
std::string describe(const CheckCase& c);

}  // namespace attn
