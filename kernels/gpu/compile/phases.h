// Which part of the algorithm a line of a kernel's source belongs to, in the paper's letters. The source says it
// itself:
//
//   // @phase S
//
// alone on a line holds to the next such line or the end of the function that it stands in. An instruction belongs to
// the first line with a phase, from the innermost outwards along its inline chain: a copy that serves Q, K and V has no
// phase of its own and takes that of its call. `caller` ends a phase within a function: from there on its caller's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"

namespace attn::gpu {

// In the order in which they are listed; `none` is what no line says.
enum class CodePhase : std::uint8_t {
  setup,
  loop,
  barrier,
  q,
  k,
  v,
  s,
  mask,
  m,
  alpha,
  p,
  l,
  o,
  normalise,
  // Of a backward.
  d_o,
  delta,
  d_p,
  d_s,
  d_v,
  d_k,
  d_q,
  store,
  none
};
constexpr std::size_t kCodePhases = 23;
constexpr std::array<CodePhase, kCodePhases> all_code_phases() {
  std::array<CodePhase, kCodePhases> all{};
  for (std::size_t n = 0; n < kCodePhases; ++n) all[n] = static_cast<CodePhase>(n);
  return all;
}
// As it stands behind "@phase": "setup", "Q", "alpha"; "untagged" for none. Also in JSON and CSV.
std::string_view name_of(CodePhase phase);
// What is done in it, for people: "scores, Q times K transposed".
std::string_view words_of(CodePhase phase);
std::optional<CodePhase> code_phase_from_name(std::string_view name);

// Of a line that holds a phase comment and nothing else, what it names; else nothing.
std::optional<std::string_view> phase_named_by(std::string_view line);
// The text without those lines: what a kernel's hash is made of, so that a tag is no new kernel.
std::string without_phase_lines(std::string_view text);

// The phase of each line of a source text, the first at [0]. A name that is none is refused with its line.
Result<std::vector<CodePhase>> phases_of_lines(std::string_view text);

}  // namespace attn::gpu
