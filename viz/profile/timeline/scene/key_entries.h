// What the marks of a timeline mean, of those that its rows have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {

struct KeyEntry {
  enum class Of : std::uint8_t { operation, look, joined, path, release, idle };
  Of of = Of::look;
  StretchLook look = StretchLook::work;
  Ink ink = Token::dim;
  std::string words;
  std::string brief = {};  // where the words of all take more than a line; empty: they are brief
};
// `width`: pixels of the rows' axis. No two look alike. `at_most`: also those that a click or a zoom would add.
std::vector<KeyEntry> key_entries(const PipelineScene& scene, float width, bool at_most = false);

// Narrower stretches of a row are joined to one grey one.
constexpr float kNarrowestStretch = 3;  // pixels

}  // namespace attn
