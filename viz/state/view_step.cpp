#include "viz/state/view_step.h"

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
  }
  return "?";
}

std::string_view name_of(FragmentRung r) {
  return r == FragmentRung::flash_mma ? "flash_mma" : "flash_tf32x3";
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

}  // namespace attn
