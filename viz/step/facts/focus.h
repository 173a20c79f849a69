// What a lesson speaks of: the rest of Step is folded away, so that nobody wonders about it. Pure.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "viz/draw/inks.h"

namespace attn {

// orders: the bars of HBM traffic beyond the two that are compared; travel: of a ring, what goes from rank to rank.
enum class StepPart : std::uint8_t {
  q,
  k,
  v,
  s,
  m,
  alpha,
  p,
  l,
  o,
  chart,
  traffic,
  timeline,
  strip,
  chip,
  legend,
  orders,
  travel
};
constexpr std::size_t kStepParts = 17;
// As a lesson's file has them.
constexpr std::array<std::string_view, kStepParts> kStepPartNames{
    "Q",     "K",       "V",        "S",     "m",    "alpha",  "P",      "l",     "O",
    "chart", "traffic", "timeline", "strip", "chip", "legend", "orders", "travel"};
inline std::optional<StepPart> step_part_named(std::string_view name) {
  for (std::size_t n = 0; n < kStepParts; ++n)
    if (kStepPartNames[n] == name) return static_cast<StepPart>(n);
  return std::nullopt;
}

// In the order of TensorColour.
constexpr std::array<StepPart, kTensorColourCount> kPartOfTensor{StepPart::q, StepPart::k, StepPart::v,
                                                                 StepPart::s, StepPart::p, StepPart::m,
                                                                 StepPart::l, StepPart::o, StepPart::alpha};

struct StepFocus {
  std::bitset<kStepParts> parts;  // none: all are meant
  bool has(StepPart part) const { return parts.none() || parts.test(static_cast<std::size_t>(part)); }
  // Some tile of the rows, which lie lower than K and V.
  bool names_tiles() const {
    using enum StepPart;
    for (const StepPart part : {q, s, m, alpha, p, l, o})
      if (parts.test(static_cast<std::size_t>(part))) return true;
    return false;
  }
  // m, l or what follows from them.
  bool names_statistics() const { return has(StepPart::m) || has(StepPart::alpha) || has(StepPart::l); }
  bool has(TensorColour tensor) const { return has(kPartOfTensor[static_cast<std::size_t>(tensor)]); }
};

}  // namespace attn
