#include "viz/state/view_step.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace attn {

std::string_view name_of(StepChart c) {
  switch (c) {
    case StepChart::row:
      return "row";
    case StepChart::hindsight:
      return "hindsight";
    case StepChart::passes:
      return "passes";
    case StepChart::error:
      return "error";
    case StepChart::attention:
      return "attention";
    case StepChart::fragments:
      return "fragments";
    case StepChart::pages:
      return "pages";
    case StepChart::sentence:
      return "sentence";
  }
  return "?";
}

std::optional<StepPanel> panel_named(std::string_view name) {
  if (name == "run") return StepPanel::run;
  if (name == "tiles") return StepPanel::tiles;
  if (name == "chart") return StepPanel::chart;
  if (name == "traffic") return StepPanel::traffic;
  if (name == "timeline") return StepPanel::timeline;
  return std::nullopt;
}

std::string_view name_of(FragmentTile t) {
  switch (t) {
    case FragmentTile::q:
      return "q";
    case FragmentTile::k:
      return "k";
    case FragmentTile::s:
      return "s";
    case FragmentTile::p:
      return "p";
    case FragmentTile::v:
      return "v";
    case FragmentTile::o:
      return "o";
  }
  return "?";
}

float next_speed(float now, int direction) {
  if (direction > 0) {
    const float* faster = std::upper_bound(std::begin(kSpeeds), std::end(kSpeeds), now);
    return faster == std::end(kSpeeds) ? now : *faster;
  }
  const float* slower = std::lower_bound(std::begin(kSpeeds), std::end(kSpeeds), now);
  return slower == std::begin(kSpeeds) ? now : *(slower - 1);
}

std::string speed_text(float steps_per_second) {
  return fmt::format("{:.3g}/s", steps_per_second);
}

}  // namespace attn
